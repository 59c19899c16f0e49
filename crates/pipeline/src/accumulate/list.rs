//! Accumulators that keep values: lists, sets, merged objects.

use std::collections::HashSet;

use document::{
    Document, Value, ValueRef,
    key::{TypeOrder, encode},
};
use evaluation::{Error, Evaluated, memory_of};

use crate::failure::{invalid_request, type_mismatch};

/// Every value that was there, in the order in which they came (`$push`).
/// A missing value adds nothing; null is a value.
#[derive(Debug, Default)]
pub struct PushedValues(pub(crate) Vec<Value>);

impl PushedValues {
    /// Adds a value if there is one; returns its bytes.
    pub(crate) fn add_value(&mut self, got: Evaluated<'_>) -> usize {
        let Some(value) = got.into_value() else { return 0 };
        let bytes = memory_of(value.as_ref());
        self.0.push(value);
        bytes
    }

    /// The values as an array.
    pub(crate) fn into_array(self) -> Value {
        Value::Array(self.0)
    }
}

/// Distinct values, in the order in which they came (`$addToSet`). They are told apart by their
/// sortable keys, so that `1` and `1.0` are one.
/// Documents with the same fields in another order are different values.
#[derive(Debug, Default)]
pub struct DistinctValues {
    /// The values' keys.
    seen: HashSet<Box<[u8]>>,
    /// Each once, in the order in which they came first.
    values: Vec<Value>,
}

impl DistinctValues {
    /// Adds a value that is not there yet; returns by how many bytes the set grew, its key
    /// included.
    /// Long values are told apart by a hash of them, which is a part of their key.
    pub(crate) fn add_distinct(&mut self, value: ValueRef<'_>) -> usize {
        let mut key = Vec::new();
        encode(value, TypeOrder::Bson, false, &mut key);
        let bytes = memory_of(value) + key.len();
        // The key is dropped again where the value is known.
        if !self.seen.insert(key.into_boxed_slice()) {
            return 0;
        }
        self.values.push(value.to_value());
        bytes
    }

    /// The distinct values as an array.
    pub(crate) fn into_distinct(self) -> Value {
        Value::Array(self.values)
    }
}

/// Adds the elements of an array to a set (`$setUnion`); nothing is added for a missing value, and
/// anything else is an error.
/// Null is such an error, too.
pub(crate) fn add_elements(held: &mut DistinctValues, got: &Evaluated<'_>) -> Result<usize, Error> {
    match got.value() {
        None => Ok(0),
        Some(ValueRef::Array(values)) => {
            Ok(values.iter().map(|value| held.add_distinct(value)).sum())
        }
        Some(value) => Err(type_mismatch(
            9_408_000,
            format!(
                "$setUnion requires array inputs, but input is of type {}",
                value.kind().name()
            ),
        )),
    }
}

/// Arrays one after the other (`$concatArrays`).
#[derive(Debug, Default)]
pub struct JoinedArrays(pub(crate) Vec<Value>);

impl JoinedArrays {
    /// Adds the elements of an array; anything but an array or a missing value is an error.
    /// Null is such an error. It returns the bytes that were added.
    pub(crate) fn add_array(&mut self, got: &Evaluated<'_>) -> Result<usize, Error> {
        match got.value() {
            None => Ok(0),
            Some(value @ ValueRef::Array(values)) => {
                self.0.extend(values.iter().map(ValueRef::to_value));
                Ok(memory_of(value))
            }
            Some(value) => Err(type_mismatch(
                9_408_001,
                format!(
                    "$concatArrays requires array inputs, but input is of type {}",
                    value.kind().name()
                ),
            )),
        }
    }

    /// The elements of all arrays as one.
    pub(crate) fn into_joined(self) -> Value {
        Value::Array(self.0)
    }
}

/// Sets the fields of an object in another (`$mergeObjects`); later ones win.
/// Null and missing change nothing. A field that comes again keeps its place and takes the new
/// value; the bytes returned count it twice, which only makes the stage count too much.
pub(crate) fn merge_fields(merged: &mut Document, got: &Evaluated<'_>) -> Result<usize, Error> {
    match got.value() {
        None => Ok(0),
        Some(value) if value.is_nullish() => Ok(0),
        Some(value @ ValueRef::Document(fields)) => {
            fields.iter().for_each(|(name, value)| merged.insert(name, value));
            Ok(memory_of(value))
        }
        Some(_) => Err(invalid_request(5_911_200, "$mergeObjects only supports objects")),
    }
}
