//! Properties of the key encoding over random values: order, equality, self-delimiting, round trip.

use proptest::prelude::*;

use super::{Component, TypeOrder, decode, encode};
use crate::{decimal::Decimal128, object_id::ObjectId, order::compare, value::Value};

fn number() -> impl Strategy<Value = Value> {
    let decimal = (any::<i64>(), -40..40_i32).prop_map(|(coefficient, exponent)| {
        Value::Decimal128(Decimal128::parse(&format!("{coefficient}E{exponent}")).unwrap())
    });
    let edge = prop::sample::select(vec![
        Value::Double(f64::NAN),
        Value::Double(-0.0),
        Value::Double(f64::INFINITY),
        Value::Double(f64::MIN_POSITIVE),
        Value::Double(9_007_199_254_740_993.0),
        Value::Int64(9_007_199_254_740_993),
        Value::Int64(i64::MIN),
        Value::Int64(i64::MAX),
        Value::Decimal128(Decimal128::parse("1E+6000").unwrap()),
        Value::Decimal128(Decimal128::parse("-1E-6000").unwrap()),
        Value::Decimal128(Decimal128::parse("NaN").unwrap()),
        Value::Decimal128(Decimal128::parse("0.1").unwrap()),
        Value::Double(0.1),
    ]);
    prop_oneof![
        (-3..4_i32).prop_map(Value::Int32),
        (-3..4_i64).prop_map(|value| Value::Double(value as f64 / 2.0)),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_map(Value::Double),
        decimal,
        edge,
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => number(),
        2 => "[\\x00-\\x02a-c]{0,4}".prop_map(Value::String),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => (-2..2_i64).prop_map(Value::DateTime),
        1 => prop::collection::vec(any::<u8>(), 0..4)
            .prop_map(|bytes| Value::Binary { subtype: 0, bytes }),
        1 => prop::sample::select(vec![
            Value::Null, Value::MinKey, Value::MaxKey, Value::Undefined,
            Value::ObjectId(ObjectId([7; 12])), Value::Timestamp(9),
            Value::Regex { pattern: "a".into(), options: "i".into() },
        ]),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec(("[ab\\x00]{0,2}", inner), 0..3)
                .prop_map(|fields| Value::Document(fields.into_iter().collect())),
        ]
    })
}

fn key(value: &Value, descending: bool) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value.as_ref(), TypeOrder::Bson, descending, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn bytes_compare_as_values(a in value(), b in value()) {
        let want = compare(a.as_ref(), b.as_ref());
        prop_assert_eq!(key(&a, false).cmp(&key(&b, false)), want);
        prop_assert_eq!(key(&b, true).cmp(&key(&a, true)), want);
    }

    #[test]
    fn numbers_compare_as_one(a in number(), b in number()) {
        let want = compare(a.as_ref(), b.as_ref());
        prop_assert_eq!(key(&a, false).cmp(&key(&b, false)), want);
    }

    #[test]
    fn components_delimit_themselves_and_come_back(a in value(), b in value(), down: bool) {
        let mut both = key(&a, down);
        both.extend(key(&b, !down));
        let (first, rest) = decode(&both, down).unwrap();
        let (second, rest) = decode(rest, !down).unwrap();
        prop_assert!(rest.is_empty());
        prop_assert_eq!(first, Component::Value(a));
        prop_assert_eq!(second, Component::Value(b));
    }
}

#[test]
fn a_nan_inside_a_document_is_a_number_first() {
    let field = |name: &str, value: Value| {
        let mut fields = crate::value::Document::new();
        fields.push(name, value);
        Value::Document(fields)
    };
    let (zero, nan) = (field("a", Value::Int32(0)), field("b", Value::Double(f64::NAN)));
    assert!(compare(zero.as_ref(), nan.as_ref()).is_lt());
    assert!(key(&zero, false) < key(&nan, false));
    assert!(key(&Value::Double(f64::NAN), false) < key(&Value::Double(f64::NEG_INFINITY), false));
}

#[test]
fn long_components_keep_equality() {
    let long = |tail: &str| Value::String("x".repeat(5000) + tail);
    let (a, b) = (key(&long("a"), false), key(&long("b"), false));
    assert_eq!(a.len(), 1016);
    assert_ne!(a, b);
    assert_eq!(a, key(&long("a"), false));
    assert!(key(&Value::String("w".into()), false) < a);
    assert!(a < key(&Value::String("y".into()), false));
    let mut two = a.clone();
    two.extend(key(&Value::Int32(1), true));
    let (first, rest) = decode(&two, false).unwrap();
    assert_eq!(first, Component::Cut);
    assert_eq!(decode(rest, true).unwrap().0, Component::Value(Value::Int32(1)));
}

#[test]
fn json_orders_types_as_cosmos_does() {
    let ascending = [
        Value::Undefined,
        Value::Null,
        Value::Bool(false),
        Value::Int32(1),
        Value::String("a".into()),
        Value::Array(vec![]),
        Value::Document(crate::value::Document::new()),
    ];
    let keys: Vec<Vec<u8>> = ascending
        .iter()
        .map(|value| {
            let mut out = Vec::new();
            encode(value.as_ref(), TypeOrder::Json, false, &mut out);
            out
        })
        .collect();
    assert!(keys.is_sorted());
}
