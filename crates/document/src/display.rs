//! Formats values in the shell's syntax for error messages and logs; this is not a wire format.
//!
//! ```text
//! { a: 1, b: [ "x", 2.0 ], at: new Date(0), id: ObjectId('65...') }
//! ```
//!
//! Whole doubles of up to 15 digits keep a point, so that `2.0` differs from the integer `2`.

use std::fmt;

use crate::value::{ArrayRef, DocBuf, DocRef, ValueRef};

/// A wrapper that displays a value in shell syntax: `{ a: 1, b: [ "x" ] }`.
#[derive(Clone, Copy)]
pub struct Shell<'a>(ValueRef<'a>);

/// Wraps a value for display: `format!("{}", shell(value))`.
pub fn shell(value: ValueRef<'_>) -> Shell<'_> {
    Shell(value)
}

impl fmt::Display for Shell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // With more than 15 digits the plain form would print digits that the double does not
            // hold.
            ValueRef::Double(v) if v.is_finite() && v.fract() == 0.0 && v.abs() < 1e15 => {
                write!(f, "{v:.1}")
            }
            ValueRef::Double(v) if v.is_nan() => f.write_str("nan.0"),
            ValueRef::Double(v) if v.is_infinite() => {
                f.write_str(if v < 0.0 { "-inf.0" } else { "inf.0" })
            }
            ValueRef::Double(v) => write!(f, "{v}"),
            ValueRef::String(v) => write!(f, "\"{}\"", Escaped(v)),
            ValueRef::Document(v) => write_document(f, v),
            ValueRef::Array(v) => write_list(f, "[", "]", v.iter().map(|value| (None, value))),
            ValueRef::Binary { subtype, bytes } => {
                write!(f, "BinData({subtype}, ")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                f.write_str(")")
            }
            ValueRef::Undefined => f.write_str("undefined"),
            ValueRef::ObjectId(v) => write!(f, "ObjectId('{v}')"),
            ValueRef::Bool(v) => write!(f, "{v}"),
            ValueRef::DateTime(v) => write!(f, "new Date({v})"),
            ValueRef::Null => f.write_str("null"),
            ValueRef::Regex { pattern, options } => write!(f, "/{pattern}/{options}"),
            ValueRef::DbPointer { namespace, id } => write!(f, "DBRef(\"{namespace}\", {id})"),
            ValueRef::JavaScript(v) => write!(f, "Code(\"{}\")", Escaped(v)),
            ValueRef::Symbol(v) => write!(f, "\"{}\"", Escaped(v)),
            ValueRef::JavaScriptWithScope { code, scope } => {
                write!(f, "CodeWScope(\"{}\", ", Escaped(code))?;
                write_document(f, scope)?;
                f.write_str(")")
            }
            ValueRef::Int32(v) => write!(f, "{v}"),
            ValueRef::Timestamp(v) => write!(f, "Timestamp({}, {})", v >> 32, v & 0xffff_ffff),
            ValueRef::Int64(v) => write!(f, "{v}"),
            ValueRef::Decimal128(v) => write!(f, "{v}"),
            ValueRef::MaxKey => f.write_str("MaxKey"),
            ValueRef::MinKey => f.write_str("MinKey"),
        }
    }
}

impl fmt::Debug for Shell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text with quotes, backslashes and control characters escaped, so that a message with a
/// client's text stays on one line.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '"' => f.write_str("\\\""),
            '\\' => f.write_str("\\\\"),
            '\n' => f.write_str("\\n"),
            '\r' => f.write_str("\\r"),
            '\t' => f.write_str("\\t"),
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c)),
            c => write!(f, "{c}"),
        })
    }
}

fn write_document(f: &mut fmt::Formatter<'_>, value: DocRef<'_>) -> fmt::Result {
    write_list(f, "{", "}", value.iter().map(|(name, value)| (Some(name), value)))
}

/// Writes items separated by commas between brackets, each preceded by its name if it has one. An
/// empty list has no space between its brackets.
fn write_list<'a>(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    close: &str,
    items: impl Iterator<Item = (Option<&'a str>, ValueRef<'a>)>,
) -> fmt::Result {
    f.write_str(open)?;
    let mut empty = true;
    for (name, value) in items {
        f.write_str(if empty { " " } else { ", " })?;
        empty = false;
        if let Some(name) = name {
            write!(f, "{name}: ")?;
        }
        write!(f, "{}", shell(value))?;
    }
    f.write_str(if empty { "" } else { " " })?;
    f.write_str(close)
}

impl fmt::Debug for DocBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shell(ValueRef::Document(self.as_ref())))
    }
}

impl fmt::Debug for DocRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shell(ValueRef::Document(*self)))
    }
}

impl fmt::Debug for ArrayRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shell(ValueRef::Array(*self)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{array, display::shell, doc, value::Value};

    #[test]
    fn shell_syntax() {
        let tree = doc! {
            "a": 1, "b": 2.0, "c": array!["x\"", Value::Null], "d": doc! {},
            "e": Value::DateTime(5),
        };
        let text = shell(Value::Document(tree).as_ref()).to_string();
        assert_eq!(text, r#"{ a: 1, b: 2.0, c: [ "x\"", null ], d: {}, e: new Date(5) }"#);
    }
}
