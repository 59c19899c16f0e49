//! The sort key of a document: the first of the combinations of values that an index over the paths
//! would contain for it.
//!
//! Each path is followed until it reaches a value or an array. Paths that reach the same array
//! continue together, element by element, since an index entry takes its values from one element.
//! Paths that reach different arrays have no common entry (parallel arrays).
//!
//! ```text
//! {a: [{x: 1, y: 9}, {x: 2, y: 1}]}   by a.x, a.y   ->   (1, 9), (2, 1)   first: (1, 9)
//! ```

use std::cmp::Ordering;

use collation::Collation;
use document::{ArrayRef, DocRef, Path, Value, ValueRef};
use evaluation::compare_by;

use super::{Sort, SortPart, key_value};
use crate::path::array_index;

/// Returns the combination of a document's values that comes first in the sort order. The flag is
/// true if there is no combination, because two parts go through different arrays; the key then
/// consists of the first value of each part.
pub(super) fn first_key(
    sort: &Sort,
    document: DocRef<'_>,
    collation: Option<&Collation>,
) -> (Vec<Value>, bool) {
    let mut found: Option<Vec<ValueRef<'_>>> = None;
    let parts = &sort.parts;
    if let [part] = parts.as_slice()
        // A stored `_id` is never an array; that of a group may be one, and is compared as a whole.
        && part.path.as_str() == "_id"
    {
        return (vec![key_value(whole_value(document, &part.path), collation)], false);
    }
    let start: Vec<KeySpot<'_>> =
        parts.iter().map(|part| enter_path(document, &part.path, 0)).collect();
    let order = Order { parts, collation };
    let parallel = parts.len() > 1 && !order.try_combinations(start.clone(), &mut found);
    // For a single part, its own first value is the same and cheaper to find.
    if parallel || parts.len() == 1 {
        found = Some(order.one_by_one(start));
    }
    let values = found.unwrap_or_default();
    // A path with an array index selects one element. Such paths may go through different arrays,
    // so this is not reported as parallel arrays.
    let picks = |part: &SortPart| part.path.parts().any(|part| array_index(part).is_some());
    let parallel = parallel && !parts.iter().any(picks);
    let values = values.into_iter().map(|value| key_value(value, collation));
    (values.collect(), parallel)
}

/// Returns the value at a path through documents and array indexes; null if it is missing. An array
/// at the end is returned as a whole, unlike in `first_key`.
pub(super) fn whole_value<'a>(document: DocRef<'a>, path: &Path) -> ValueRef<'a> {
    let step = |value: ValueRef<'a>, part: &str| match value {
        ValueRef::Document(fields) => fields.get(part),
        ValueRef::Array(values) => array_index(part).and_then(|at| values.get(at)),
        _ => None,
    };
    path.parts().try_fold(ValueRef::Document(document), step).unwrap_or(ValueRef::Null)
}

/// Returns the single value at a path; `None` if an array would have to be traversed.
pub(super) fn plain_value<'a>(document: DocRef<'a>, path: &Path) -> Option<ValueRef<'a>> {
    match enter_path(document, path, 0) {
        KeySpot::Value(value) => Some(value),
        KeySpot::Array(..) => None,
    }
}

/// The progress of a path: a value, or an array and the next part of the path. In
/// `{a: {b: [{c: 1}]}}` the path `a.b.c` reaches the array, with `c` next. Several parts at the
/// same array continue with each of its elements together.
#[derive(Clone, Copy)]
enum KeySpot<'a> {
    /// The path has reached a value.
    Value(ValueRef<'a>),
    /// The path has reached an array to traverse; the number is the index of the next part.
    Array(ArrayRef<'a>, usize),
}

/// Follows a path from a document to a value or to the first array. A missing value is null.
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

/// Handles an array on a path: a numeric part selects one element, otherwise the array is
/// traversed. In `a.0.b` the part `0` is an index if the array has that element, else a field name
/// of its elements.
fn at_array<'a>(array: ArrayRef<'a>, path: &Path, part: usize) -> KeySpot<'a> {
    // Past the end of the path the array is traversed.
    let picked = array_index(path.part(part)).and_then(|index| array.get(index));
    match picked.filter(|_| part < path.len()) {
        Some(ValueRef::Array(inner)) if part + 1 < path.len() => at_array(inner, path, part + 1),
        Some(ValueRef::Array(inner)) if inner.is_empty() => KeySpot::Value(ValueRef::Undefined),
        Some(value) => spot_inside(value, path, part + 1),
        None => KeySpot::Array(array, part),
    }
}

/// Continues a path from an element of an array. An element that is not a document before the end
/// of the path has no value, which is null.
fn spot_inside<'a>(value: ValueRef<'a>, path: &Path, part: usize) -> KeySpot<'a> {
    match value {
        value if part >= path.len() => KeySpot::Value(value),
        ValueRef::Document(inner) => enter_path(inner, path, part),
        _ => KeySpot::Value(ValueRef::Null),
    }
}

/// Returns the value of a path in an empty array: at the end it sorts as undefined, before null; on
/// the path it is null.
fn empty_spot<'a>(path: &Path, part: usize) -> ValueRef<'a> {
    if part >= path.len() { ValueRef::Undefined } else { ValueRef::Null }
}

/// The order in which the first combination is wanted.
#[derive(Clone, Copy)]
struct Order<'o> {
    parts: &'o [SortPart],
    collation: Option<&'o Collation>,
}

impl Order<'_> {
    /// Returns whether a value comes before another one in a part's order.
    fn is_better(&self, part: &SortPart, a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
        self.compare_parts(part, a, b).is_lt()
    }

    /// Compares two values in a part's order, which may be descending.
    fn compare_parts(&self, part: &SortPart, a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
        let order = compare_by(self.collation, a, b);
        if part.descending { order.reverse() } else { order }
    }

    /// Returns the first value of each part separately, by which parallel arrays are sorted.
    fn one_by_one<'a>(&self, spots: Vec<KeySpot<'a>>) -> Vec<ValueRef<'a>> {
        self.parts.iter().zip(spots).map(|(part, spot)| self.own_first(part, spot)).collect()
    }

    /// Returns the first value of one part alone: the least one, or the greatest if it is descending.
    fn own_first<'a>(&self, part: &SortPart, spot: KeySpot<'a>) -> ValueRef<'a> {
        let (array, next) = match spot {
            KeySpot::Value(value) => return value,
            KeySpot::Array(array, next) => (array, next),
        };
        let mut best: Option<ValueRef<'a>> = None;
        for element in array.iter() {
            let value = self.own_first(part, spot_inside(element, &part.path, next));
            if best.is_none_or(|best| self.is_better(part, value, best)) {
                best = Some(value);
            }
        }
        best.unwrap_or_else(|| empty_spot(&part.path, next))
    }

    /// Tries all combinations; returns false if two parts go through different arrays. Recurses for
    /// each element of the array that the paths have reached, until no path is at an array. `found` is
    /// the first combination so far.
    fn try_combinations<'a>(
        &self,
        spots: Vec<KeySpot<'a>>,
        found: &mut Option<Vec<ValueRef<'a>>>,
    ) -> bool {
        let mut shared: Option<ArrayRef<'a>> = None;
        for spot in &spots {
            let KeySpot::Array(array, _) = spot else { continue };
            // Two paths through different arrays: no index can have this combination.
            if shared.is_some_and(|shared| !is_same_array(shared, *array)) {
                return false;
            }
            shared = Some(*array);
        }
        // All parts have reached a value: this is a combination.
        let Some(array) = shared else {
            self.keep_first(spots, found);
            return true;
        };
        // All parts at this array continue in the same element.
        let replaced = |element: Option<ValueRef<'a>>| -> Vec<KeySpot<'a>> {
            let step = |(part, spot): (&SortPart, &KeySpot<'a>)| match (spot, element) {
                (KeySpot::Value(_), _) => *spot,
                (KeySpot::Array(_, next), Some(element)) => spot_inside(element, &part.path, *next),
                (KeySpot::Array(_, next), None) => KeySpot::Value(empty_spot(&part.path, *next)),
            };
            self.parts.iter().zip(&spots).map(step).collect()
        };
        // An empty array has one entry: undefined, or null for a path into it.
        if array.is_empty() {
            return self.try_combinations(replaced(None), found);
        }
        array.iter().all(|element| self.try_combinations(replaced(Some(element)), found))
    }

    /// Replaces the first combination in `found` by this one if it comes earlier. All parts have
    /// reached values.
    fn keep_first<'a>(&self, spots: Vec<KeySpot<'a>>, found: &mut Option<Vec<ValueRef<'a>>>) {
        let values: Vec<ValueRef<'a>> = spots
            .into_iter()
            .map(|spot| match spot {
                KeySpot::Value(value) => value,
                // Unreachable: all parts have reached values.
                KeySpot::Array(..) => ValueRef::Null,
            })
            .collect();
        let before = |held: &Vec<ValueRef<'a>>| {
            let orders = self.parts.iter().zip(values.iter().zip(held));
            let decisive = orders
                .map(|(part, (a, b))| self.compare_parts(part, *a, *b))
                .find(|order| order.is_ne());
            decisive.is_some_and(Ordering::is_lt)
        };
        if found.as_ref().is_none_or(before) {
            *found = Some(values);
        }
    }
}

/// Returns whether two borrowed arrays are the same object in memory. Equal contents do not count:
/// two fields may contain equal arrays.
fn is_same_array(a: ArrayRef<'_>, b: ArrayRef<'_>) -> bool {
    match (a, b) {
        (ArrayRef::Raw(a), ArrayRef::Raw(b)) => std::ptr::eq(a, b),
        (ArrayRef::Tree(a), ArrayRef::Tree(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}
