//! Tests of parts of filters; whole filters are tested together with their parser in `mongo-query`.

use document::{Value, array};
use evaluation::Pattern;

use super::*;

#[test]
fn comparisons_stay_within_a_class() {
    use Comparison::{Eq, Gt, Gte, Lt, Lte};
    let nan = || Value::Double(f64::NAN);
    let (missing, null) = (None, || Some(Value::Null));
    for (value, comparison, operand, expected) in [
        (Some(Value::from(1)), Lt, Value::from(2.5), true),
        (Some(Value::from("a")), Lt, Value::from(2), false),
        (Some(Value::from(2)), Gte, Value::from(2i64), true),
        (missing.clone(), Eq, Value::Null, true),
        (missing.clone(), Gte, Value::Null, true),
        (missing.clone(), Gt, Value::Null, false),
        (Some(Value::Undefined), Eq, Value::Null, false),
        (null(), Lte, Value::Null, true),
        (Some(nan()), Eq, nan(), true),
        (Some(nan()), Lt, Value::from(1), false),
        (Some(Value::from(1)), Gte, nan(), false),
        (Some(Value::from("a")), Gt, Value::MinKey, true),
        (Some(Value::MinKey), Gt, Value::MinKey, false),
        (missing.clone(), Lt, Value::MaxKey, true),
        (missing, Eq, Value::from(1), false),
        (Some(Value::MaxKey), Gt, Value::from(1), false),
        (Some(array![1, 2]), Gt, array![1], true),
        (Some(array![1, 2]), Gt, Value::from(0), false),
    ] {
        let found =
            meets_comparison(comparison, value.as_ref().map(Value::as_ref), operand.as_ref(), None);
        assert_eq!(found, expected, "{value:?} {comparison:?} {operand:?}");
    }
}

#[test]
fn sets_and_masks() {
    let set = InSet::new(vec![3.into(), 1.into(), 3.0.into(), "x".into()], Vec::new());
    assert_eq!(set.values().len(), 3);
    let context = Context::default();
    assert_eq!(set.meets_value(Some(Value::from(3i64).as_ref()), &context), Ok(true));
    assert_eq!(set.meets_value(None, &context), Ok(false));
    assert_eq!(InSet::new(vec![Value::Null], Vec::new()).meets_value(None, &context), Ok(true));
    for (mask, expected) in [
        (Mask::from_number(5), vec![0, 2]),
        (Mask::from_positions(vec![9, 0, 9]), vec![0, 9]),
        (Mask::from_bytes(&[1, 2]), vec![0, 9]),
    ] {
        assert_eq!(mask.bit_positions().collect::<Vec<u32>>(), expected);
    }
}

#[test]
fn bits_of_numbers_and_bytes() {
    let decimal = |text| Value::Decimal128(document::Decimal128::parse(text).unwrap());
    for (value, positions, set, clear) in [
        (Value::from(5), vec![0, 2], true, false),
        (Value::from(5.0), vec![0, 2], true, false),
        (Value::from(5.5), vec![0, 2], false, false),
        (Value::from(-1), vec![0, 200], true, false),
        (Value::from(8), vec![0, 200], false, true),
        (decimal("2.50"), vec![1], true, false),
        (decimal("NaN"), vec![1], false, true),
        (Value::Binary { subtype: 0, bytes: vec![0, 1] }, vec![8], true, false),
        (Value::Binary { subtype: 0, bytes: vec![] }, vec![8], false, true),
        (Value::from("a"), vec![0], false, false),
    ] {
        let test = |quantity| BitTest { quantity, mask: Mask::from_positions(positions.clone()) };
        let found = [Quantity::AllSet, Quantity::AllClear]
            .map(|quantity| test(quantity).meets_value(value.as_ref()));
        assert_eq!(found, [set, clear], "{value:?}");
    }
}

#[test]
fn anchored_patterns_have_a_prefix() {
    for (source, options, expected) in [
        ("^abc", "", Some("abc")),
        ("^abc", "s", Some("abc")),
        ("^abc", "i", None),
        ("^abc", "m", None),
        ("abc", "", None),
        ("^ab*c", "", Some("a")),
        ("^ab+c", "", Some("ab")),
        ("^ab?c", "", Some("a")),
        ("^a{2}", "", None),
        (r"^a\.b", "", Some("a.b")),
        (r"^a\d", "", Some("a")),
        ("^a|b", "", None),
        ("^a.c", "", Some("a")),
        ("^", "", None),
    ] {
        let prefix = Pattern::new(source, options).map(|pattern| pattern.required_prefix());
        assert_eq!(prefix, Ok(expected.map(str::to_owned)), "{source} {options}");
    }
}
