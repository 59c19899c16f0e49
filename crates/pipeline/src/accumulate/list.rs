//! Accumulators that collect values: lists, sets, merged objects.

use std::collections::HashSet;

use document::{Document, Value, ValueRef};
use evaluation::{Context, Error, Evaluated, memory_of};

use crate::{invalid_request, type_mismatch};

/// All values in the order of their rows (`$push`), null included. Missing values are skipped.
#[derive(Debug, Default)]
pub struct PushedValues(pub(crate) Vec<Value>);

impl PushedValues {
    /// Adds a value unless it is missing; returns its size in bytes.
    pub(crate) fn add_value(&mut self, got: Evaluated<'_>) -> usize {
        let Some(value) = got.into_value() else { return 0 };
        let bytes = memory_of(value.as_ref());
        self.0.push(value);
        bytes
    }

    pub(crate) fn into_array(self) -> Value {
        Value::Array(self.0)
    }
}

/// Distinct values in the order of first occurrence (`$addToSet`). They are compared by their
/// canonical encodings, so that `1` equals `1.0`. Documents with the same fields in another order
/// differ.
#[derive(Debug, Default)]
pub struct DistinctValues {
    /// The canonical encodings of the values, to detect duplicates.
    seen: HashSet<Box<[u8]>>,
    /// The values, in the order of first occurrence.
    values: Vec<Value>,
}

impl DistinctValues {
    /// Adds a value unless the set contains it; returns the growth in bytes, including the value's
    /// canonical encoding. The encoding of a long value contains a hash.
    pub(crate) fn add_distinct(&mut self, value: ValueRef<'_>, context: &Context) -> usize {
        let mut key = Vec::new();
        context.encode_value(value, &mut key);
        let bytes = memory_of(value) + key.len();
        if !self.seen.insert(key.into_boxed_slice()) {
            return 0;
        }
        self.values.push(value.to_value());
        bytes
    }

    pub(crate) fn into_distinct(self) -> Value {
        Value::Array(self.values)
    }
}

/// Adds the elements of an array to a set (`$setUnion`). A missing value adds nothing; anything
/// else, including null, is an error.
pub(crate) fn add_elements(
    held: &mut DistinctValues,
    got: &Evaluated<'_>,
    context: &Context,
) -> Result<usize, Error> {
    match got.value() {
        None => Ok(0),
        Some(ValueRef::Array(values)) => {
            Ok(values.iter().map(|value| held.add_distinct(value, context)).sum())
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

/// The elements of arrays, concatenated (`$concatArrays`).
#[derive(Debug, Default)]
pub struct JoinedArrays(pub(crate) Vec<Value>);

impl JoinedArrays {
    /// Appends the elements of an array and returns the bytes added. A missing value adds nothing;
    /// anything else, including null, is an error.
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

    pub(crate) fn into_joined(self) -> Value {
        Value::Array(self.0)
    }
}

/// Merges the fields of an object into another (`$mergeObjects`); later values replace earlier ones
/// in place. Null and missing change nothing. Returns the bytes added; the number is too high if
/// fields were replaced.
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
