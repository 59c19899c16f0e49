//! What edits do to arrays: add elements, keep a run of them in order, take elements out.

use std::cmp::Ordering;

use document::{DocRef, Document, Path, Value, ValueRef, compare};
use evaluation::{Context, Error};

use crate::{
    filter::{Condition, Filter},
    sort::{Sort, SortPart},
};

/// `$push` with its modifiers.
/// `$push` without `$each` is one value and nothing else.
#[derive(Clone, Debug, Default)]
pub struct Push {
    /// The new elements.
    pub values: Vec<Value>,
    /// Where they go; negative counts from the end; without it at the end.
    pub position: Option<i64>,
    /// The order the whole array is put in afterwards.
    pub order: Option<PushOrder>,
    /// How many elements stay at last: the first ones, or, when negative, the last ones.
    pub slice: Option<i64>,
}

/// How `$push` orders an array.
#[derive(Clone, Debug)]
pub enum PushOrder {
    /// By the elements themselves.
    Whole {
        /// Greatest first.
        descending: bool,
    },
    /// By fields of the elements; arrays on the way are not walked.
    Fields(Sort),
}

/// What `$pull` takes out.
#[derive(Clone, Debug)]
pub enum Pull {
    /// Elements equal to a value.
    Equal(Value),
    /// Documents that meet a filter.
    Filter(Filter),
    /// Elements that meet a condition.
    Condition(Condition),
}

impl Push {
    /// Changes an array: new elements are put in, then the whole is ordered, then cut.
    /// A position beyond either end is that end.
    pub(super) fn push_into(&self, values: &mut Vec<Value>) {
        let len = values.len();
        let at = match self.position {
            None => len,
            Some(at) => match usize::try_from(at) {
                Ok(at) => at.min(len),
                Err(_) => {
                    // Counted from the end as it was before the new elements.
                    let back = usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX);
                    len.saturating_sub(back)
                }
            },
        };
        values.splice(at..at, self.values.iter().cloned());
        match &self.order {
            None => {}
            // The sort is stable: equal elements stay in the order that they have by now.
            Some(PushOrder::Whole { descending }) => values.sort_by(|a, b| {
                let order = compare(a.as_ref(), b.as_ref());
                if *descending { order.reverse() } else { order }
            }),
            Some(PushOrder::Fields(sort)) => values.sort_by(|a, b| by_fields(&sort.parts, a, b)),
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

/// Orders two elements by fields of theirs; one without a field has null.
/// An array on the way has no fields, so the element counts as lacking the field. An element that
/// is no document does too.
fn by_fields(parts: &[SortPart], a: &Value, b: &Value) -> Ordering {
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
        let order = compare(a.as_ref(), b.as_ref());
        if part.descending { order.reverse() } else { order }
    });
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Adds the values that are not there yet; returns whether there were any. New values are sorted
/// once, so that a long array is looked at once and not once for each of them.
/// Values of `new` that are equal to one another are added once, in the order in which they were
/// given first.
pub(super) fn add_to_set(values: &mut Vec<Value>, new: &[Value]) -> bool {
    let mut missing: Vec<(usize, &Value)> = new.iter().enumerate().collect();
    missing.sort_by(|(i, a), (j, b)| compare(a.as_ref(), b.as_ref()).then(i.cmp(j)));
    // The sort was by position among equals, so the one that stays is the first.
    missing.dedup_by(|(_, later), (_, first)| later == first);
    let mut present = vec![false; missing.len()];
    for value in values.iter() {
        let found = missing.binary_search_by(|(_, new)| compare(new.as_ref(), value.as_ref()));
        if let Ok(at) = found {
            present[at] = true;
        }
    }
    let mut present = present.into_iter();
    missing.retain(|_| !present.next().unwrap_or(false));
    // Back to the order of the request.
    missing.sort_by_key(|(at, _)| *at);
    values.extend(missing.iter().map(|(_, value)| (*value).clone()));
    !missing.is_empty()
}

impl Pull {
    /// Takes elements out; returns whether there were any.
    /// After an error the array is empty: the caller drops the whole edit then.
    pub(super) fn pull_from(
        &self,
        values: &mut Vec<Value>,
        context: &Context,
    ) -> Result<bool, Error> {
        // Nothing is written where no element goes.
        let before = values.len();
        let mut kept = Vec::with_capacity(before);
        for value in std::mem::take(values) {
            if !self.takes_out(&value, context)? {
                kept.push(value);
            }
        }
        *values = kept;
        Ok(values.len() != before)
    }

    /// Whether an element is taken out. A condition on an array looks into it as a filter at a path
    /// does.
    /// A filter of documents takes out no other element; equality is by BSON's order, so that `1`
    /// takes out `1.0`.
    fn takes_out(&self, value: &Value, context: &Context) -> Result<bool, Error> {
        match (self, value) {
            (Self::Equal(wanted), value) => Ok(wanted == value),
            (Self::Filter(filter), Value::Document(fields)) => {
                filter.matches(DocRef::Tree(fields), context)
            }
            (Self::Filter(_), _) => Ok(false),
            // Put at a path, since a filter at a path looks at an array and at its elements.
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

/// Takes out all elements equal to one of these; returns whether there were any.
/// The unwanted ones are sorted once and looked up, since both lists may be long.
pub(super) fn pull_all(values: &mut Vec<Value>, unwanted: &[Value]) -> bool {
    let before = values.len();
    let mut sorted: Vec<&Value> = unwanted.iter().collect();
    sorted.sort_by(|a, b| compare(a.as_ref(), b.as_ref()));
    let is_unwanted = |value: &Value| {
        sorted.binary_search_by(|held| compare(held.as_ref(), value.as_ref())).is_ok()
    };
    values.retain(|value| !is_unwanted(value));
    values.len() != before
}

/// The array inside a value, to change in place; the value itself where it is not one.
/// The caller words the error, which differs by operator.
pub(super) fn array_of(value: &mut Value) -> Result<&mut Vec<Value>, ValueRef<'_>> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(other.as_ref()),
    }
}
