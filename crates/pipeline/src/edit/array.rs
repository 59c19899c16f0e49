//! Array edits: adding, sorting, slicing and removing elements.

use std::cmp::Ordering;

use document::{DocRef, Document, Path, Value, ValueRef};
use evaluation::{Context, Error};

use crate::{
    filter::{Condition, Filter},
    sort::{Sort, SortPart},
};

/// `$push` with its modifiers; without `$each` it has one value and no modifiers.
#[derive(Clone, Debug, Default)]
pub struct Push {
    /// The new elements, from `$each`.
    pub values: Vec<Value>,
    /// The position of the new elements; negative counts from the end, `None` appends.
    pub position: Option<i64>,
    /// The order (`$sort`) in which the array is sorted after the elements are added.
    pub order: Option<PushOrder>,
    /// Number of elements to keep after the sort: the first ones or, if negative, the last ones.
    pub slice: Option<i64>,
}

/// The sort order of `$push`.
#[derive(Clone, Debug)]
pub enum PushOrder {
    /// Sorts by the elements themselves.
    Whole {
        /// Whether the order is descending.
        descending: bool,
    },
    /// Sorts by fields of the elements; arrays on a field's path are not traversed.
    Fields(Sort),
}

/// The elements that `$pull` removes.
#[derive(Clone, Debug)]
pub enum Pull {
    /// Removes elements equal to this value.
    Equal(Value),
    /// Removes documents that match this filter.
    Filter(Filter),
    /// Removes elements that meet this condition.
    Condition(Condition),
}

impl Push {
    /// Inserts the new elements, then sorts, then slices the array. A position beyond an end is
    /// that end.
    pub(super) fn push_into(&self, values: &mut Vec<Value>, context: &Context) {
        let len = values.len();
        let at = match self.position {
            None => len,
            Some(at) => match usize::try_from(at) {
                Ok(at) => at.min(len),
                Err(_) => {
                    // A negative position is relative to the end of the array before the insertion.
                    let back = usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX);
                    len.saturating_sub(back)
                }
            },
        };
        values.splice(at..at, self.values.iter().cloned());
        match &self.order {
            None => {}
            // Stable: equal elements keep their present order.
            Some(PushOrder::Whole { descending }) => values.sort_by(|a, b| {
                let order = context.compare(a.as_ref(), b.as_ref());
                if *descending { order.reverse() } else { order }
            }),
            Some(PushOrder::Fields(sort)) => {
                values.sort_by(|a, b| by_fields(&sort.parts, a, b, context));
            }
        }
        let Some(slice) = self.slice else { return };
        let kept = usize::try_from(slice.unsigned_abs()).unwrap_or(usize::MAX);
        if slice >= 0 {
            values.truncate(kept);
        } else {
            values.drain(..values.len().saturating_sub(kept));
        }
    }
}

/// Compares two elements by their fields; a missing field is null. Fields are not found in an
/// element that is not a document, nor below an array on the path.
fn by_fields(parts: &[SortPart], a: &Value, b: &Value, context: &Context) -> Ordering {
    let field = |value: &Value, path: &Path| -> Value {
        let mut current = value.as_ref();
        for part in path.parts() {
            let found = current.as_document().and_then(|document: DocRef<'_>| document.get(part));
            let Some(found) = found else { return Value::Null };
            current = found;
        }
        current.to_value()
    };
    let mut orders = parts.iter().map(|part| {
        let (a, b) = (field(a, &part.path), field(b, &part.path));
        let order = context.compare(a.as_ref(), b.as_ref());
        if part.descending { order.reverse() } else { order }
    });
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Appends the values that the array lacks, in the order given and each once; returns whether any
/// was appended. The new values are sorted once and looked up, so that a long array is scanned
/// once.
pub(super) fn add_to_set(values: &mut Vec<Value>, new: &[Value], context: &Context) -> bool {
    let mut missing: Vec<(usize, &Value)> = new.iter().enumerate().collect();
    missing.sort_by(|(i, a), (j, b)| context.compare(a.as_ref(), b.as_ref()).then(i.cmp(j)));
    // Equal values are sorted by position, so the first one stays.
    missing
        .dedup_by(|(_, later), (_, first)| context.compare(later.as_ref(), first.as_ref()).is_eq());
    let mut present = vec![false; missing.len()];
    for value in values.iter() {
        let place = |(_, new): &(usize, &Value)| context.compare(new.as_ref(), value.as_ref());
        let found = missing.binary_search_by(place);
        if let Ok(at) = found {
            present[at] = true;
        }
    }
    let mut present = present.into_iter();
    missing.retain(|_| !present.next().unwrap_or(false));
    // Elements are appended in the order of the request.
    missing.sort_by_key(|(at, _)| *at);
    values.extend(missing.iter().map(|(_, value)| (*value).clone()));
    !missing.is_empty()
}

impl Pull {
    /// Removes the elements that the operand selects; returns whether any was removed. After an
    /// error the array is empty, since the caller discards the edit then.
    pub(super) fn pull_from(
        &self,
        values: &mut Vec<Value>,
        context: &Context,
    ) -> Result<bool, Error> {
        let before = values.len();
        let mut kept = Vec::with_capacity(before);
        for value in std::mem::take(values) {
            if !self.is_pulled(&value, context)? {
                kept.push(value);
            }
        }
        *values = kept;
        Ok(values.len() != before)
    }

    /// Returns whether `$pull` removes an element. For an operator condition (`{$gt: 1}`), an
    /// element that is an array is removed if the array or one of its elements meets the condition.
    /// A filter (`{a: 1}`) removes only documents. A plain value removes elements that are equal in
    /// BSON's order, so that `1` removes `1.0`.
    fn is_pulled(&self, value: &Value, context: &Context) -> Result<bool, Error> {
        match (self, value) {
            (Self::Equal(wanted), value) => {
                Ok(context.compare(wanted.as_ref(), value.as_ref()).is_eq())
            }
            (Self::Filter(filter), Value::Document(fields)) => {
                filter.matches(DocRef::Tree(fields), context)
            }
            (Self::Filter(_), _) => Ok(false),
            // A filter at a path tests an array and its elements, so the array is wrapped in a
            // document.
            (Self::Condition(condition), Value::Array(_)) => {
                let mut wrapped = Document::new();
                wrapped.push("", value.clone());
                let filter = condition.clone().at_path(&Path::new(""));
                filter.matches(DocRef::Tree(&wrapped), context)
            }
            (Self::Condition(condition), value) => condition.meets_element(value.as_ref(), context),
        }
    }
}

/// Removes all elements equal to one of the unwanted values; returns whether any was removed. The
/// unwanted values are sorted and looked up, since both lists may be long.
pub(super) fn pull_all(values: &mut Vec<Value>, unwanted: &[Value], context: &Context) -> bool {
    let before = values.len();
    let mut sorted: Vec<&Value> = unwanted.iter().collect();
    sorted.sort_by(|a, b| context.compare(a.as_ref(), b.as_ref()));
    let is_unwanted = |value: &Value| {
        sorted.binary_search_by(|held| context.compare(held.as_ref(), value.as_ref())).is_ok()
    };
    values.retain(|value| !is_unwanted(value));
    values.len() != before
}

/// Returns the array in a value, or the value itself if it is not an array. The caller makes the
/// error, which differs by operator.
pub(super) fn array_of(value: &mut Value) -> Result<&mut Vec<Value>, ValueRef<'_>> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(other.as_ref()),
    }
}
