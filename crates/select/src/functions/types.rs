//! Type tests. Their result is defined even for an undefined argument.

use document::{Value, ValueRef};
use evaluation::{Error, Evaluated};

use super::{Call, Function, date, row, row_at_a_glance};
use crate::number::{to_f64, to_i64};

pub(super) const FUNCTIONS: &[Function] = &[
    row_at_a_glance("IS_ARRAY", 1..=1, |call| check_type(call, |value| value.as_array().is_some())),
    row_at_a_glance("IS_BOOL", 1..=1, |call| check_type(call, |value| value.as_bool().is_some())),
    row("IS_DATETIME", 1..=1, |call| {
        check_type(call, |value| value.as_str().is_some_and(|text| date::parse_iso(text).is_some()))
    }),
    row_at_a_glance("IS_DEFINED", 1..=1, |call| check_type(call, |_| true)),
    row_at_a_glance("IS_FINITE_NUMBER", 1..=1, |call| {
        check_type(call, |value| to_f64(value).is_some_and(f64::is_finite))
    }),
    row_at_a_glance("IS_INTEGER", 1..=1, |call| check_type(call, |value| to_i64(value).is_some())),
    row_at_a_glance("IS_NULL", 1..=1, |call| {
        check_type(call, |value| matches!(value, ValueRef::Null))
    }),
    row_at_a_glance("IS_NUMBER", 1..=1, |call| check_type(call, |value| value.is_number())),
    row_at_a_glance("IS_OBJECT", 1..=1, |call| {
        check_type(call, |value| value.as_document().is_some())
    }),
    row_at_a_glance("IS_PRIMITIVE", 1..=1, |call| check_type(call, is_primitive)),
    row_at_a_glance("IS_STRING", 1..=1, |call| check_type(call, |value| value.as_str().is_some())),
];

/// Returns whether the argument is of this type; false if the argument is undefined.
fn check_type<'a>(
    call: &Call<'_, 'a>,
    test: fn(ValueRef<'_>) -> bool,
) -> Result<Evaluated<'a>, Error> {
    Ok(Evaluated::Owned(Value::Bool(call.argument(0).is_some_and(test))))
}

/// Returns whether a value is a string, a number, a boolean or null.
pub(super) fn is_primitive(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Null | ValueRef::Bool(_) | ValueRef::String(_)) || value.is_number()
}

#[cfg(test)]
mod tests {
    use super::super::tests::evaluate;

    #[test]
    fn every_type_is_told_from_the_others() {
        let values = [
            ("undefined", ""),
            ("null", "DEFINED NULL PRIMITIVE"),
            ("true", "BOOL DEFINED PRIMITIVE"),
            ("1", "DEFINED FINITE_NUMBER INTEGER NUMBER PRIMITIVE"),
            ("1.0", "DEFINED FINITE_NUMBER INTEGER NUMBER PRIMITIVE"),
            ("1.5", "DEFINED FINITE_NUMBER NUMBER PRIMITIVE"),
            ("-9223372036854775808", "DEFINED FINITE_NUMBER INTEGER NUMBER PRIMITIVE"),
            ("9223372036854775808", "DEFINED FINITE_NUMBER NUMBER PRIMITIVE"),
            ("'1'", "DEFINED PRIMITIVE STRING"),
            ("'2024-12-12'", "DATETIME DEFINED PRIMITIVE STRING"),
            ("[1]", "ARRAY DEFINED"),
            ("{}", "DEFINED OBJECT"),
        ];
        for (value, want) in values {
            let found: Vec<&str> = super::FUNCTIONS
                .iter()
                .filter(|function| {
                    evaluate(&format!("{}({value})", function.name)).unwrap() == "true"
                })
                .filter_map(|function| function.name.strip_prefix("IS_"))
                .collect();
            assert_eq!(found.join(" "), want, "{value}");
        }
    }
}
