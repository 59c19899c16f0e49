//! Decides whether a partial index contains every document that a filter matches. Answers no in
//! doubt: that costs a slower access path, while a wrong yes would miss documents.

use document::Value;
use evaluation::compare_by;
use pipeline::{
    Filter,
    filter::{Comparison, PathTest, meets_comparison},
};

use super::{bounds::collect_conjuncts, key_texts::KeyTexts};

/// Returns whether `filter` implies `partial`. One is the filter of an index, the other that of a
/// query; `texts` compares the collations of the two.
pub(crate) fn filter_implies(filter: &Filter, partial: &Filter, texts: KeyTexts<'_>) -> bool {
    let (mut given, mut needed) = (Vec::new(), Vec::new());
    collect_conjuncts(filter, &mut given);
    collect_conjuncts(partial, &mut needed);
    needed.iter().all(|needed| given.iter().any(|given| part_implies(given, needed, texts)))
}

/// Returns whether a conjunct of the filter implies a conjunct of the partial index.
fn part_implies(given: &Filter, needed: &Filter, texts: KeyTexts<'_>) -> bool {
    // Every document meets a conjunct that is always true.
    if needed.is_always() {
        return true;
    }
    let (Filter::Path(at, given), Filter::Path(path, needed)) = (given, needed) else {
        return false;
    };
    if at != path {
        return false;
    }
    let meets = |comparison: Comparison, value: &Value, bound: &Value| {
        let (value, bound) = (value.as_ref(), bound.as_ref());
        texts.hold(value)
            && texts.hold(bound)
            && meets_comparison(comparison, Some(value), bound, texts.collation())
    };
    match (given, needed) {
        (PathTest::Compare(comparison, value), PathTest::Exists) => {
            excludes_missing(*comparison, value)
        }
        (PathTest::Exists, PathTest::Exists) => true,
        (PathTest::Compare(Comparison::Eq, value), PathTest::Compare(comparison, bound)) => {
            is_scalar(value) && meets(*comparison, value, bound)
        }
        (PathTest::In(set), PathTest::Compare(comparison, bound)) => {
            set.patterns().is_empty()
                && set
                    .values()
                    .iter()
                    .all(|value| is_scalar(value) && meets(*comparison, value, bound))
        }
        (PathTest::Compare(given, value), PathTest::Compare(needed, bound)) => {
            texts.hold(value.as_ref()) && range_implies(*given, value, *needed, bound, texts)
        }
        _ => false,
    }
}

/// Returns whether a missing value never satisfies the comparison.
pub(crate) fn excludes_missing(comparison: Comparison, value: &Value) -> bool {
    match value {
        // Comparisons with `MinKey` and `MaxKey` match values of all types, and missing ones.
        Value::MinKey | Value::MaxKey => false,
        value if value.as_ref().is_nullish() => {
            matches!(comparison, Comparison::Gt | Comparison::Lt)
        }
        _ => true,
    }
}

/// Returns whether a field that equals this value can have no other value. An array field matches
/// by any of its elements, and null also matches a missing field.
fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Null | Value::Undefined)
}

/// Returns whether every value that satisfies the comparison `given` with `value` also satisfies
/// the comparison `needed` with `bound`.
fn range_implies(
    given: Comparison,
    value: &Value,
    needed: Comparison,
    bound: &Value,
    texts: KeyTexts<'_>,
) -> bool {
    use Comparison::{Gt, Gte, Lt, Lte};
    let class = |value: &Value| document::canonical_class(value.kind());
    if !is_scalar(value) || class(value) != class(bound) {
        return false;
    }
    // In each arm, every value beyond the given bound is beyond the needed one.
    let order = compare_by(texts.collation(), value.as_ref(), bound.as_ref());
    match (given, needed) {
        (Gt | Gte, Gte) | (Gt, Gt) => order.is_ge(),
        (Gte, Gt) => order.is_gt(),
        (Lt | Lte, Lte) | (Lt, Lt) => order.is_le(),
        (Lte, Lt) => order.is_lt(),
        _ => false,
    }
}
