//! Conversion of values to strings and back, by JSON's rules.

use document::{Value, ValueRef, json};
use evaluation::{Error, Evaluated, MAX_VALUE_DEPTH, Size};

use super::{Call, Function, UNDEFINED, row};
use crate::number::number_or_nothing;

pub(super) const FUNCTIONS: &[Function] = &[
    row("STRINGTOARRAY", 1..=1, |call| parse_as(call, |value| matches!(value, Value::Array(_)))),
    row("STRINGTOBOOLEAN", 1..=1, |call| parse_as(call, |value| matches!(value, Value::Bool(_)))),
    row("STRINGTONULL", 1..=1, |call| parse_as(call, |value| matches!(value, Value::Null))),
    row("STRINGTONUMBER", 1..=1, to_number),
    row("STRINGTOOBJECT", 1..=1, |call| {
        parse_as(call, |value| matches!(value, Value::Document(_)))
    }),
    row("TOSTRING", 1..=1, to_string),
];

/// `TOSTRING`: a string is returned unchanged; another value as its JSON text.
fn to_string<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some(value) = call.argument(0) else { return UNDEFINED };
    let text = match value {
        ValueRef::String(text) => text.to_owned(),
        value => {
            call.spend_work(Size::of_value(value).memory)?;
            json::to_string(value)
        }
    };
    call.new_growth().add_size(Size::of_text(text.len()))?;
    Ok(Evaluated::Owned(Value::String(text)))
}

/// `STRINGTONUMBER`: parses a JSON number. A whole number becomes an integer, however it is
/// written.
fn to_number<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let got = parse_as(call, |value| value.as_ref().is_number())?;
    Ok(match got {
        Evaluated::Owned(Value::Double(value)) => number_or_nothing(value),
        other => other,
    })
}

/// Parses a JSON text and returns its value if it is of the wanted type. The memory is estimated
/// from the text before it is parsed.
fn parse_as<'a>(call: &Call<'_, 'a>, fits: fn(&Value) -> bool) -> Result<Evaluated<'a>, Error> {
    let Some(text) = call.text_at(0) else { return UNDEFINED };
    // Each value starts the text or follows one of these characters.
    let values = text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':')).count() + 1;
    let memory = values.saturating_mul(size_of::<(String, Value)>()).saturating_add(text.len());
    call.new_growth().add_size(Size { bytes: 0, memory })?;
    call.spend_work(memory)?;
    let value = json::parse(text.as_bytes(), MAX_VALUE_DEPTH).ok();
    Ok(Evaluated::from(value.filter(fits)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, evaluate};

    #[test]
    fn values_become_text() {
        check(&[
            ("TOSTRING(125)", "'125'"),
            ("TOSTRING(0.1234)", "'0.1234'"),
            ("TOSTRING(false)", "'false'"),
            ("TOSTRING(null)", "'null'"),
            ("TOSTRING([1,2,3])", "'[1,2,3]'"),
            ("TOSTRING({'department':'Bicycles'})", "'{\\'department\\':\\'Bicycles\\'}'"),
            ("TOSTRING('Hello World')", "'Hello World'"),
            ("TOSTRING(undefined)", "undefined"),
        ]);
    }

    #[test]
    fn text_becomes_values_of_the_kind_asked_for() {
        check(&[
            ("STRINGTONUMBER('100')", "100"),
            ("STRINGTONUMBER('3.14')", "3.14"),
            ("STRINGTONUMBER('   60   ')", "60"),
            ("STRINGTONUMBER('-1.79769e+308')", "-1.79769e+308"),
            ("STRINGTONUMBER('1e2')", "100"),
            ("STRINGTONUMBER('1e999')", "undefined"),
            ("STRINGTONUMBER('Hello')", "undefined"),
            ("STRINGTONUMBER('true')", "undefined"),
            ("STRINGTONUMBER('')", "undefined"),
            ("STRINGTONUMBER(100)", "undefined"),
            ("STRINGTONUMBER(undefined)", "undefined"),
            ("STRINGTOBOOLEAN('true  ')", "true"),
            ("STRINGTOBOOLEAN('  false')", "false"),
            ("STRINGTOBOOLEAN('TRUE')", "undefined"),
            ("STRINGTOBOOLEAN(true)", "undefined"),
            ("STRINGTONULL(' null ')", "null"),
            ("STRINGTONULL('Null')", "undefined"),
            ("STRINGTOARRAY('[1,[\\'a\\'],{}]')", "[1,['a'],{}]"),
            ("STRINGTOARRAY('[1, [2], {}]')", "[1,[2],{}]"),
            ("STRINGTOARRAY('[1,2')", "undefined"),
            ("STRINGTOARRAY('{}')", "undefined"),
            ("STRINGTOOBJECT('{ }')", "{}"),
            ("STRINGTOOBJECT('[]')", "undefined"),
            ("STRINGTOOBJECT('{a:1}')", "undefined"),
        ]);
    }

    #[test]
    fn a_text_that_is_too_deep_is_no_value() {
        let nested = |depth: usize| {
            evaluate(&format!("STRINGTOARRAY('{}{}')", "[".repeat(depth), "]".repeat(depth)))
        };
        assert_eq!(nested(100).unwrap(), format!("{}{}", "[".repeat(100), "]".repeat(100)));
        assert_eq!(nested(100_000).unwrap(), "undefined");
    }

    #[test]
    fn a_text_of_too_many_values_is_refused_before_they_are_made() {
        let call = format!("STRINGTOARRAY('[{}0]')", "0,".repeat(2_000_000));
        assert_eq!(evaluate(&call).unwrap_err().kind, evaluation::Kind::TooLarge);
    }
}
