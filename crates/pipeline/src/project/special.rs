//! What a find's projection does beyond fields: parts of arrays by position.

use document::{DocRef, Document, Path, Value};
use evaluation::{Context, Error, Kind};

use crate::filter::Filter;

/// One such step, done in place on the projected document.
/// It needs the position of elements, which copying field by field does not see.
#[derive(Clone, Debug)]
pub enum Special {
    /// Keeps a run of an array's elements.
    Slice {
        /// Where the array is.
        path: Path,
        /// Where the run begins, from the end when negative; without it the run begins at the
        /// start, or at the end when `limit` is negative.
        skip: Option<i64>,
        /// How many elements.
        limit: i64,
    },
    /// Keeps the element that met the filter.
    Positional {
        /// Where the array is, without the `$`.
        path: Path,
    },
}

impl Special {
    /// Does the step on the projected document `out`. `original` is the document as it was, over
    /// which the filter has to be matched.
    /// `filter` is the find's own; without one a positional step fails.
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
                // The projection may have cut the array before.
                if index >= values.len() {
                    let text = "positional operator '.$' element mismatch";
                    return Err(Error::new(Kind::Invalid, 51247, text));
                }
                // The end first, so that the index still holds for the start.
                values.truncate(index + 1);
                values.drain(..index);
                Ok(())
            }
        }
    }
}

/// Keeps a run of the array at a path; arrays of documents on the way are entered.
/// What is not an array at the end of the path stays.
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

/// Keeps a run of elements: from `skip`, which counts from the end when negative, so many.
/// A run that begins after the end is empty.
fn slice_values(values: &mut Vec<Value>, skip: Option<i64>, limit: i64) {
    let len = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let (start, count) = match skip {
        Some(skip) if skip < 0 => (len.saturating_add(skip).max(0), limit),
        Some(skip) => (skip.min(len), limit),
        // The last elements.
        None if limit < 0 => (len.saturating_add(limit).max(0), limit.saturating_neg()),
        None => (0, limit),
    };
    let end = start.saturating_add(count).min(len);
    values.truncate(usize::try_from(end).unwrap_or(0));
    values.drain(..usize::try_from(start).unwrap_or(0).min(values.len()));
}

/// The first array on a path, to change in place: the one that a positional `$` is about.
/// It does not enter arrays: what follows the array in the path says nothing more.
fn first_array<'a>(out: &'a mut Document, path: &Path, part: usize) -> Option<&'a mut Vec<Value>> {
    match out.get_mut(path.part(part))? {
        Value::Array(values) => Some(values),
        Value::Document(inner) if part + 1 < path.len() => first_array(inner, path, part + 1),
        _ => None,
    }
}
