//! Equality of values as `enum` and `uniqueItems` define it: the order of a document's fields does
//! not matter, at any depth.

use document::{ArrayRef, Document, Value, ValueRef, compare};
use evaluation::{Context, Error, memory_of, readable_bytes};

/// Bytes of a value up to which its copy needs no reserved memory.
const SMALL: usize = 16 * 1024;

/// Returns a copy of a value in which the fields of all documents are sorted by name.
pub fn with_sorted_fields(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Document(fields) => {
            let mut sorted: Vec<(String, Value)> = fields
                .iter()
                .map(|(name, value)| (name.to_owned(), with_sorted_fields(value)))
                .collect();
            sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Document(sorted.into_iter().collect::<Document>())
        }
        ValueRef::Array(elements) => {
            Value::Array(elements.iter().map(with_sorted_fields).collect())
        }
        scalar => scalar.to_value(),
    }
}

/// Returns whether a value equals one of `values`, whose fields are sorted.
pub(super) fn is_among(
    values: &[Value],
    value: ValueRef<'_>,
    context: &Context,
) -> Result<bool, Error> {
    let bytes = readable_bytes(value);
    context.budget.spend(values.len().saturating_mul(8 + bytes.min(SMALL)))?;
    if !matches!(value, ValueRef::Document(_) | ValueRef::Array(_)) {
        return Ok(values.iter().any(|held| compare(held.as_ref(), value).is_eq()));
    }
    let mut share = context.operation_memory.share();
    if SMALL < bytes {
        share.grow(memory_of(value))?;
    }
    let sorted = with_sorted_fields(value);
    Ok(values.iter().any(|held| compare(held.as_ref(), sorted.as_ref()).is_eq()))
}

/// Returns the first element of an array that equals an earlier one.
pub(super) fn find_duplicate<'a>(
    array: ArrayRef<'a>,
    context: &Context,
) -> Result<Option<ValueRef<'a>>, Error> {
    let value = ValueRef::Array(array);
    let mut share = context.operation_memory.share();
    if SMALL < readable_bytes(value) {
        share.grow(memory_of(value))?;
    }
    let count = array.len();
    // Each element takes part in about log2(n) comparisons.
    let rounds = usize::try_from(usize::BITS - count.leading_zeros()).unwrap_or(0);
    context.budget.spend((readable_bytes(value) / 4 + count * 8).saturating_mul(rounds))?;
    let mut sorted: Vec<(usize, Value)> =
        array.iter().map(with_sorted_fields).enumerate().collect();
    sorted.sort_by(|(at, a), (other, b)| compare(a.as_ref(), b.as_ref()).then(at.cmp(other)));
    let repeated = sorted.windows(2).filter_map(|pair| match pair {
        [(_, a), (at, b)] if compare(a.as_ref(), b.as_ref()).is_eq() => Some(*at),
        _ => None,
    });
    Ok(repeated.min().and_then(|at| array.get(at)))
}
