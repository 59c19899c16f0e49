//! Finds the value at a concrete path of a document, and makes it where it is missing.

use document::{ArrayRef, Document, Value, ValueRef, shell};
use evaluation::{Error, Growth, Kind};

use super::path::array_index;

/// Most nulls that are put before a new element.
/// A short path such as `a.999999999` would otherwise make a document that no memory holds.
const MAX_PADDING: usize = 1_500_000;

/// What is at a concrete path.
/// The caller decides by its operator whether a missing place is made or left alone.
#[derive(Debug)]
pub(super) enum PlaceFound<'a> {
    /// A value.
    Value(&'a mut Value),
    /// Nothing, but it could be made.
    Missing,
    /// Something on the way that has no such part.
    Blocked(Blocked),
}

/// What stands in the way of a path: a value that has no such part.
#[derive(Debug)]
pub(super) struct Blocked {
    /// The part that could not be followed.
    pub(super) part: String,
    /// The part before it.
    pub(super) before: String,
    /// The value there, with its name, as text.
    pub(super) element: String,
}

impl Blocked {
    /// The error of an operator that would make the field.
    pub(super) fn cannot_create(&self) -> Error {
        let text = format!("Cannot create field '{}' in element {}", self.part, self.element);
        Error::new(Kind::Invalid, 28, text)
    }

    /// The error of an operator that needs the field.
    pub(super) fn cannot_use(&self, path: &str) -> Error {
        let text = format!(
            "Cannot use the part ({}) of ({path}) to traverse the element ({})",
            self.part, self.element
        );
        Error::new(Kind::Invalid, 28, text)
    }
}

/// Follows a path to the value there, to change in place.
/// A part that is a number is an index in an array and a name in a document. An index past the end
/// is missing; a name in an array blocks the path.
pub(super) fn find_place<'a>(root: &'a mut Value, path: &[String]) -> PlaceFound<'a> {
    let mut current = root;
    for (at, part) in path.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| path.get(at)).map_or("", String::as_str);
        current = match current {
            Value::Document(fields) => match fields.get_mut(part) {
                Some(value) => value,
                // It may be made: a document takes any name.
                None => return PlaceFound::Missing,
            },
            Value::Array(values) => match array_index(part) {
                Some(at) => match values.get_mut(at) {
                    Some(value) => value,
                    None => return PlaceFound::Missing,
                },
                None => {
                    let array = ValueRef::Array(ArrayRef::Tree(values));
                    return PlaceFound::Blocked(blocked_by(part, before, array));
                }
            },
            other => return PlaceFound::Blocked(blocked_by(part, before, other.as_ref())),
        };
    }
    PlaceFound::Value(current)
}

/// What stands in the way, as messages show it.
fn blocked_by(part: &str, before: &str, value: ValueRef<'_>) -> Blocked {
    Blocked {
        part: part.to_owned(),
        before: before.to_owned(),
        element: format!("{{{before}: {}}}", shell(value)),
    }
}

/// Puts a value at a path that [`find_place`] called missing. Documents on the way are made; an
/// array is filled with nulls up to the new element.
/// `growth` counts the nulls before they are made. A name in an array, and anything that is not a
/// document or an array, is an error.
pub(super) fn create_place(
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
            Some(inner) => create_place(inner, rest, value, growth),
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
                return create_place(inner, rest, value, growth);
            }
            if at - values.len() > MAX_PADDING {
                let text = format!("can't backfill more than {MAX_PADDING} elements");
                return Err(Error::new(Kind::TooLarge, 34, text));
            }
            // Nulls in between take memory that no value of the request accounts for.
            growth.hold_beside((at - values.len()).saturating_mul(size_of::<Value>()))?;
            // Positions in between have to be there for the new one to have its own.
            values.resize(at, Value::Null);
            values.push(in_documents(rest, value));
            Ok(())
        }
        other => Err(blocked_by(part, "", other.as_ref()).cannot_create()),
    }
}

/// A value inside new documents, one for each part of the path.
/// A number makes a field of that name, never an array.
fn in_documents(path: &[String], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, part| {
        let mut fields = Document::new();
        fields.push(part.as_str(), inner);
        Value::Document(fields)
    })
}
