//! The values that a document sorts by: the combinations that an index over the paths would hold,
//! and the first of them.
//!
//! Each path is followed until it ends at a value or meets an array. Paths that meet the same array
//! go on together, element by element, as an index entry has them from one element. Paths that meet
//! different arrays have no common entry (parallel arrays).
//!
//! ```text
//! {a: [{x: 1, y: 9}, {x: 2, y: 1}]}   by a.x, a.y   ->   (1, 9), (2, 1)   first: (1, 9)
//! ```

use std::cmp::Ordering;

use document::{ArrayRef, DocRef, Path, Value, ValueRef, compare};

use super::{Sort, SortPart};
use crate::path::array_index;

/// The first of a document's combinations in the sort's order. The flag says that there were none
/// because two parts lead through different arrays; then it is each part's own first value.
/// One part has combinations of its own values only, and so is done by itself.
pub(super) fn first_key(sort: &Sort, document: DocRef<'_>) -> (Vec<Value>, bool) {
    let mut found: Option<Vec<ValueRef<'_>>> = None;
    let parts = &sort.parts;
    if let [part] = parts.as_slice()
        // A stored `_id` is never an array; a group's may be one, and is taken whole.
        && part.path.as_str() == "_id"
    {
        return (vec![whole_value(document, &part.path).to_value()], false);
    }
    let start: Vec<KeySpot<'_>> =
        parts.iter().map(|part| enter_path(document, &part.path, 0)).collect();
    let parallel = parts.len() > 1 && !try_combinations(parts, start.clone(), &mut found);
    // Walking combinations of one part is the same as looking for its first value, only slower.
    if parallel || parts.len() == 1 {
        found = Some(one_by_one(parts, start));
    }
    let values = found.unwrap_or_default();
    // An index on the way picks one element, so two such paths may well meet different arrays.
    let picks = |part: &SortPart| part.path.parts().any(|part| array_index(part).is_some());
    let parallel = parallel && !parts.iter().any(picks);
    (values.into_iter().map(ValueRef::to_value).collect(), parallel)
}

/// What stands at a path through documents and positions in arrays; null when nothing does.
/// An array at the end is taken as a whole, unlike in `first_key`.
pub(super) fn whole_value<'a>(document: DocRef<'a>, path: &Path) -> ValueRef<'a> {
    let step = |value: ValueRef<'a>, part: &str| match value {
        ValueRef::Document(fields) => fields.get(part),
        ValueRef::Array(values) => array_index(part).and_then(|at| values.get(at)),
        _ => None,
    };
    path.parts().try_fold(ValueRef::Document(document), step).unwrap_or(ValueRef::Null)
}

/// The one value at a path; `None` where an array would have to be walked.
pub(super) fn plain_value<'a>(document: DocRef<'a>, path: &Path) -> Option<ValueRef<'a>> {
    match enter_path(document, path, 0) {
        KeySpot::Value(value) => Some(value),
        KeySpot::Array(..) => None,
    }
}

/// How far a path has been followed: to a value, or to an array with the next part of the path. In
/// `{a: {b: [{c: 1}]}}` the path `a.b.c` gets as far as the array, with `c` next.
/// Several parts at the same array go on with each of its elements together.
#[derive(Clone, Copy)]
enum KeySpot<'a> {
    /// To its value.
    Value(ValueRef<'a>),
    /// To an array that has to be walked; this part comes next.
    Array(ArrayRef<'a>, usize),
}

/// Follows a path from a document to a value or to the first array.
/// A value that ends the path too early is null.
fn enter_path<'a>(mut document: DocRef<'a>, path: &Path, mut part: usize) -> KeySpot<'a> {
    loop {
        match document.get(path.part(part)) {
            None => return KeySpot::Value(ValueRef::Null),
            Some(ValueRef::Array(array)) => return at_array(array, path, part + 1),
            Some(value) if part + 1 >= path.len() => return KeySpot::Value(value),
            Some(ValueRef::Document(inner)) => {
                document = inner;
                part += 1;
            }
            Some(_) => return KeySpot::Value(ValueRef::Null),
        }
    }
}

/// An array on the way: a numeric part picks one element, all else walks it. In `a.0.b` the part
/// `0` is an index where the array has that element, and otherwise the name of a field of its
/// elements.
fn at_array<'a>(array: ArrayRef<'a>, path: &Path, part: usize) -> KeySpot<'a> {
    // Past the end of the path there is no part, and the array is walked.
    let picked = array_index(path.part(part)).and_then(|index| array.get(index));
    match picked.filter(|_| part < path.len()) {
        Some(ValueRef::Array(inner)) if part + 1 < path.len() => at_array(inner, path, part + 1),
        Some(ValueRef::Array(inner)) if inner.is_empty() => KeySpot::Value(ValueRef::Undefined),
        Some(value) => spot_inside(value, path, part + 1),
        None => KeySpot::Array(array, part),
    }
}

/// Follows a path on from an element of an array.
/// An element that is neither the end of the path nor a document holds nothing, which is null.
fn spot_inside<'a>(value: ValueRef<'a>, path: &Path, part: usize) -> KeySpot<'a> {
    match value {
        value if part >= path.len() => KeySpot::Value(value),
        ValueRef::Document(inner) => enter_path(inner, path, part),
        _ => KeySpot::Value(ValueRef::Null),
    }
}

/// What a path comes to in an empty array.
/// An empty array at the end sorts as undefined, before null; one on the way is null.
fn empty_spot<'a>(path: &Path, part: usize) -> ValueRef<'a> {
    if part >= path.len() { ValueRef::Undefined } else { ValueRef::Null }
}

/// Whether a value comes before another one in a part's order.
fn is_better(part: &SortPart, a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    compare_parts(part, a, b).is_lt()
}

/// Orders two values of a part, which may be descending.
fn compare_parts(part: &SortPart, a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    let order = compare(a, b);
    if part.descending { order.reverse() } else { order }
}

/// Every part's own first value.
/// Used where arrays are parallel, so that there is an order all the same.
fn one_by_one<'a>(parts: &[SortPart], spots: Vec<KeySpot<'a>>) -> Vec<ValueRef<'a>> {
    parts.iter().zip(spots).map(|(part, spot)| own_first(part, spot)).collect()
}

/// The first value of one part by itself, where parts have no combination.
/// The least one, or the greatest in a descending part.
fn own_first<'a>(part: &SortPart, spot: KeySpot<'a>) -> ValueRef<'a> {
    let (array, next) = match spot {
        KeySpot::Value(value) => return value,
        KeySpot::Array(array, next) => (array, next),
    };
    let mut best: Option<ValueRef<'a>> = None;
    for element in array.iter() {
        let value = own_first(part, spot_inside(element, &part.path, next));
        if best.is_none_or(|best| is_better(part, value, best)) {
            best = Some(value);
        }
    }
    best.unwrap_or_else(|| empty_spot(&part.path, next))
}

/// Tries all combinations; false when two parts lead through different arrays. It calls itself for
/// each element of the array that the paths have come to, until no path is at an array.
/// `found` is the first combination so far.
fn try_combinations<'a>(
    parts: &[SortPart],
    spots: Vec<KeySpot<'a>>,
    found: &mut Option<Vec<ValueRef<'a>>>,
) -> bool {
    let mut shared: Option<ArrayRef<'a>> = None;
    for spot in &spots {
        let KeySpot::Array(array, _) = spot else { continue };
        // Parallel arrays.
        if shared.is_some_and(|shared| !is_same_array(shared, *array)) {
            return false;
        }
        shared = Some(*array);
    }
    // No part has an array left: this is a combination.
    let Some(array) = shared else {
        keep_first(parts, spots, found);
        return true;
    };
    // All parts that stopped at this array go on inside the same element.
    let replaced = |element: Option<ValueRef<'a>>| -> Vec<KeySpot<'a>> {
        let step = |(part, spot): (&SortPart, &KeySpot<'a>)| match (spot, element) {
            (KeySpot::Value(_), _) => *spot,
            (KeySpot::Array(_, next), Some(element)) => spot_inside(element, &part.path, *next),
            (KeySpot::Array(_, next), None) => KeySpot::Value(empty_spot(&part.path, *next)),
        };
        parts.iter().zip(&spots).map(step).collect()
    };
    // An empty array has one entry: undefined, or null for what would lie inside.
    if array.is_empty() {
        return try_combinations(parts, replaced(None), found);
    }
    array.iter().all(|element| try_combinations(parts, replaced(Some(element)), found))
}

/// Keeps a combination if it comes before the one that was kept.
/// All spots are values by then.
fn keep_first<'a>(
    parts: &[SortPart],
    spots: Vec<KeySpot<'a>>,
    found: &mut Option<Vec<ValueRef<'a>>>,
) {
    let values: Vec<ValueRef<'a>> = spots
        .into_iter()
        .map(|spot| match spot {
            KeySpot::Value(value) => value,
            // It does not occur: a combination is kept only when no array is left.
            KeySpot::Array(..) => ValueRef::Null,
        })
        .collect();
    let before = |held: &Vec<ValueRef<'a>>| {
        let orders = parts.iter().zip(values.iter().zip(held));
        let decisive =
            orders.map(|(part, (a, b))| compare_parts(part, *a, *b)).find(|order| order.is_ne());
        decisive.is_some_and(Ordering::is_lt)
    };
    if found.as_ref().is_none_or(before) {
        *found = Some(values);
    }
}

/// Whether two borrowed arrays are the very same one, by their place in memory.
/// Equal contents do not count: two fields may hold equal arrays.
fn is_same_array(a: ArrayRef<'_>, b: ArrayRef<'_>) -> bool {
    match (a, b) {
        (ArrayRef::Raw(a), ArrayRef::Raw(b)) => std::ptr::eq(a, b),
        (ArrayRef::Tree(a), ArrayRef::Tree(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}
