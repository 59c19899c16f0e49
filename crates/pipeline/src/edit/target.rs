//! Finds the value at a concrete path of a document, and creates it if it is missing.

use document::{ArrayRef, Document, Value, ValueRef, shell};
use evaluation::{Error, Growth, Kind};

use super::path::array_index;

/// Maximum number of nulls inserted before a new element. A short path such as `a.999999999` could
/// otherwise exhaust the memory.
const MAX_PADDING: usize = 1_500_000;

/// The result of following a concrete path. The operator decides whether a missing value is
/// created.
#[derive(Debug)]
pub(super) enum ResolvedPath<'a> {
    Value(&'a mut Value),
    /// The field does not exist, but can be created.
    Missing,
    /// A value on the path cannot contain the next part of the path.
    Blocked(Blocked),
}

/// The value at which a path cannot continue, and the part it lacks.
#[derive(Debug)]
pub(super) struct Blocked {
    /// The path part that the value cannot contain.
    pub(super) part: String,
    pub(super) before: String,
    /// The value and its field name as text, for the error message.
    pub(super) element: String,
}

impl Blocked {
    /// Returns the error of an operator that would create a field in a value that cannot have it.
    pub(super) fn cannot_create(&self) -> Error {
        let text = format!("Cannot create field '{}' in element {}", self.part, self.element);
        Error::new(Kind::Invalid, 28, text)
    }

    /// Returns the error of an operator whose path cannot continue in this value.
    pub(super) fn cannot_use(&self, path: &str) -> Error {
        let text = format!(
            "Cannot use the part ({}) of ({path}) to traverse the element ({})",
            self.part, self.element
        );
        Error::new(Kind::Invalid, 28, text)
    }
}

/// Follows a path to a value that can be changed. A numeric part is an index in an array and a name
/// in a document. An index past the end is missing; a name in an array blocks the path.
pub(super) fn resolve_path<'a>(root: &'a mut Value, path: &[String]) -> ResolvedPath<'a> {
    let mut current = root;
    for (at, part) in path.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| path.get(at)).map_or("", String::as_str);
        current = match current {
            Value::Document(fields) => match fields.get_mut(part) {
                Some(value) => value,
                // The path can be created, since a document accepts any field name.
                None => return ResolvedPath::Missing,
            },
            Value::Array(values) => match array_index(part) {
                Some(at) => match values.get_mut(at) {
                    Some(value) => value,
                    None => return ResolvedPath::Missing,
                },
                None => {
                    let array = ValueRef::Array(ArrayRef::Tree(values));
                    return ResolvedPath::Blocked(blocked_by(part, before, array));
                }
            },
            other => return ResolvedPath::Blocked(blocked_by(part, before, other.as_ref())),
        };
    }
    ResolvedPath::Value(current)
}

/// Describes the blocking value for messages.
fn blocked_by(part: &str, before: &str, value: ValueRef<'_>) -> Blocked {
    Blocked {
        part: part.to_owned(),
        before: before.to_owned(),
        element: format!("{{{before}: {}}}", shell(value)),
    }
}

/// Creates a value at a path that [`resolve_path`] reported missing, with documents on the way; an
/// array is padded with nulls, whose memory is counted in `growth` beforehand. A name in an array,
/// and a value that is neither document nor array, is an error.
pub(super) fn create_path(
    root: &mut Value,
    path: &[String],
    value: Value,
    growth: &mut Growth<'_>,
) -> Result<(), Error> {
    let Some((part, rest)) = path.split_first() else {
        *root = value;
        return Ok(());
    };
    match root {
        Value::Document(fields) => match fields.get_mut(part) {
            Some(inner) => create_path(inner, rest, value, growth),
            None => {
                fields.push(part.as_str(), in_documents(rest, value));
                Ok(())
            }
        },
        Value::Array(values) => {
            let Some(at) = array_index(part) else {
                return Err(blocked_by(part, "", ValueRef::Null).cannot_create());
            };
            if let Some(inner) = values.get_mut(at) {
                return create_path(inner, rest, value, growth);
            }
            if at - values.len() > MAX_PADDING {
                let text = format!("can't backfill more than {MAX_PADDING} elements");
                return Err(Error::new(Kind::TooLarge, 34, text));
            }
            // Padding takes memory that no value of the request accounts for.
            growth.hold_beside((at - values.len()).saturating_mul(size_of::<Value>()))?;
            values.resize(at, Value::Null);
            values.push(in_documents(rest, value));
            Ok(())
        }
        other => Err(blocked_by(part, "", other.as_ref()).cannot_create()),
    }
}

/// Wraps a value in new documents, one for each part of the path. A numeric part becomes a field
/// name.
fn in_documents(path: &[String], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, part| {
        let mut fields = Document::new();
        fields.push(part.as_str(), inner);
        Value::Document(fields)
    })
}
