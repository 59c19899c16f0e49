//! Whether every document a filter means is in a partial index. Says no when in doubt.

use document::{Value, compare};
use pipeline::{
    Filter,
    filter::{Comparison, PathTest, meets_comparison},
};

use super::bounds::conjuncts;

/// Whether `filter` implies `partial`.
pub(crate) fn implies(filter: &Filter, partial: &Filter) -> bool {
    let (mut given, mut needed) = (Vec::new(), Vec::new());
    conjuncts(filter, &mut given);
    conjuncts(partial, &mut needed);
    needed.iter().all(|needed| given.iter().any(|given| part_implies(given, needed)))
}

fn part_implies(given: &Filter, needed: &Filter) -> bool {
    if needed.is_always() {
        return true;
    }
    let (Filter::Path(at, given), Filter::Path(path, needed)) = (given, needed) else {
        return false;
    };
    if at != path {
        return false;
    }
    match (given, needed) {
        (PathTest::Compare(comparison, value), PathTest::Exists) => {
            excludes_missing(*comparison, value)
        }
        (PathTest::Exists, PathTest::Exists) => true,
        (PathTest::Compare(Comparison::Eq, value), PathTest::Compare(comparison, bound)) => {
            is_scalar(value) && meets_comparison(*comparison, Some(value.as_ref()), bound.as_ref())
        }
        (PathTest::In(set), PathTest::Compare(comparison, bound)) => {
            set.patterns().is_empty()
                && set.values().iter().all(|value| {
                    is_scalar(value)
                        && meets_comparison(*comparison, Some(value.as_ref()), bound.as_ref())
                })
        }
        (PathTest::Compare(given, value), PathTest::Compare(needed, bound)) => {
            range_implies(*given, value, *needed, bound)
        }
        _ => false,
    }
}

/// Whether a comparison is never met where nothing is.
pub(crate) fn excludes_missing(comparison: Comparison, value: &Value) -> bool {
    match value {
        // These are compared across types.
        Value::MinKey | Value::MaxKey => false,
        value if value.as_ref().is_nullish() => {
            matches!(comparison, Comparison::Gt | Comparison::Lt)
        }
        _ => true,
    }
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Null | Value::Undefined)
}

fn range_implies(given: Comparison, value: &Value, needed: Comparison, bound: &Value) -> bool {
    use Comparison::{Gt, Gte, Lt, Lte};
    let class = |value: &Value| document::canonical_class(value.kind());
    if !is_scalar(value) || class(value) != class(bound) {
        return false;
    }
    let order = compare(value.as_ref(), bound.as_ref());
    match (given, needed) {
        (Gt | Gte, Gte) | (Gt, Gt) => order.is_ge(),
        (Gte, Gt) => order.is_gt(),
        (Lt | Lte, Lte) | (Lt, Lt) => order.is_le(),
        (Lte, Lt) => order.is_lt(),
        _ => false,
    }
}
