//! Array operations of a find's projection: slices and the positional `$`.

use document::{DocRef, Document, Path, Value};
use evaluation::{Context, Error, Kind};

use crate::filter::Filter;

/// One array operation, applied in place to the projected document. It needs the positions of
/// elements, which field-wise copying does not have.
#[derive(Clone, Debug)]
pub enum Special {
    /// Keeps a range of an array's elements.
    Slice {
        /// The path of the array.
        path: Path,
        /// Start of the range, from the end if negative. `None` for the first elements, or for the
        /// last ones if `limit` is negative.
        skip: Option<i64>,
        /// The number of elements to keep.
        limit: i64,
    },
    /// Keeps the array element at which the filter matched.
    Positional {
        /// The path of the array, without the `$`.
        path: Path,
    },
}

impl Special {
    /// Applies the operation to the projected document `out`. The filter of the find is matched
    /// against the `original` document; without one a positional operation fails.
    pub(super) fn apply_to(
        &self,
        out: &mut Document,
        original: DocRef<'_>,
        filter: Option<&Filter>,
        context: &Context,
    ) -> Result<(), Error> {
        match self {
            Self::Slice { path, skip, limit } => {
                slice_at(out, path, 0, *skip, *limit);
                Ok(())
            }
            Self::Positional { path } => {
                let Some(values) = first_array(out, path, 0) else { return Ok(()) };
                let index = filter.map(|filter| filter.matched_index(original, context));
                let Some(index) = index.transpose()?.flatten() else {
                    let text =
                        "positional operator '.$' couldn't find a matching element in the array";
                    return Err(Error::new(Kind::Invalid, 51246, text));
                };
                // The projection may have shortened the array before.
                if index >= values.len() {
                    let text = "positional operator '.$' element mismatch";
                    return Err(Error::new(Kind::Invalid, 51247, text));
                }
                // Truncated first: removing the first elements would change the index.
                values.truncate(index + 1);
                values.drain(..index);
                Ok(())
            }
        }
    }
}

/// Slices the array at a path, traversing arrays of documents on the path. Other values at the end
/// of the path are unchanged.
fn slice_at(out: &mut Document, path: &Path, part: usize, skip: Option<i64>, limit: i64) {
    let last = part + 1 == path.len();
    match out.get_mut(path.part(part)) {
        Some(Value::Array(values)) if last => slice_values(values, skip, limit),
        Some(Value::Document(inner)) if !last => slice_at(inner, path, part + 1, skip, limit),
        Some(Value::Array(values)) => {
            for value in values {
                if let Value::Document(inner) = value {
                    slice_at(inner, path, part + 1, skip, limit);
                }
            }
        }
        _ => {}
    }
}

/// Keeps `limit` elements from `skip` on, which counts from the end if negative. A range that
/// starts after the end is empty.
fn slice_values(values: &mut Vec<Value>, skip: Option<i64>, limit: i64) {
    let len = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let (start, count) = match skip {
        Some(skip) if skip < 0 => (len.saturating_add(skip).max(0), limit),
        Some(skip) => (skip.min(len), limit),
        // A negative limit without `skip` selects the last elements.
        None if limit < 0 => (len.saturating_add(limit).max(0), limit.saturating_neg()),
        None => (0, limit),
    };
    let end = start.saturating_add(count).min(len);
    values.truncate(usize::try_from(end).unwrap_or(0));
    values.drain(..usize::try_from(start).unwrap_or(0).min(values.len()));
}

/// Returns the first array on a path, which the positional `$` refers to. The parts of the path
/// after that array are ignored.
fn first_array<'a>(out: &'a mut Document, path: &Path, part: usize) -> Option<&'a mut Vec<Value>> {
    match out.get_mut(path.part(part))? {
        Value::Array(values) => Some(values),
        Value::Document(inner) if part + 1 < path.len() => first_array(inner, path, part + 1),
        _ => None,
    }
}
