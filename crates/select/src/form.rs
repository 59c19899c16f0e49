//! Chooses one representation of equal values: `100000000000000000` and `1e17`, or objects whose
//! properties are in another order. DISTINCT, GROUP BY and sets must return the same one for any
//! order of rows: the shorter JSON text, and of equally long texts the lesser.

use document::{ValueRef, json::to_string};

/// Returns whether `form` is preferred over `other`, which represents the same value.
pub(super) fn takes_precedence(form: ValueRef<'_>, other: ValueRef<'_>) -> bool {
    if !has_forms(form) && !has_forms(other) {
        return false;
    }
    let (form, other) = (to_string(form), to_string(other));
    (form.len(), form) < (other.len(), other)
}

/// Returns whether a value of this type can have several representations. Integers and strings
/// cannot.
fn has_forms(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Double(_) | ValueRef::Array(_) | ValueRef::Document(_))
}

#[cfg(test)]
mod tests {
    use document::json::parse;

    use super::*;

    #[test]
    fn one_form_stands_for_all() {
        for (form, other, precedes_other) in [
            ("1", "1.0", false),
            ("1.0", "1", false),
            ("1e17", "100000000000000000", true),
            ("100000000000000000", "1e17", false),
            ("0", "-0.0", true),
            ("1", "1", false),
            ("\"a\"", "\"a\"", false),
            ("[1e17]", "[100000000000000000]", true),
            ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true),
            ("{\"b\":2,\"a\":1}", "{\"a\":1,\"b\":2}", false),
        ] {
            let (form, other) =
                (parse(form.as_bytes(), 9).unwrap(), parse(other.as_bytes(), 9).unwrap());
            assert_eq!(
                takes_precedence(form.as_ref(), other.as_ref()),
                precedes_other,
                "{form:?} {other:?}"
            );
        }
    }
}
