//! Determines the residual filter: the part that the ranges of an access path do not already
//! guarantee and that must be checked on each row. In doubt a part is kept; that costs a row read,
//! while dropping it wrongly would return non-matching rows.
//!
//! ```text
//!  index (a, b)   filter {a: 5, b: {$gt: 2}}            nothing remains
//!                 filter {a: 5, b: {$gt: 2}, c: 1}      {c: 1} remains
//!                 filter {a: /^x/}                      all remains: the range is a superset
//! ```
//!
//! Parts are dropped only where no document has more than one value at a path: each array element
//! has an entry, and different elements may meet different parts. A component is the encoding of a
//! value in an index key.

use document::{Kind, Number, Value, key::KEPT_KEY_COMPONENT_BYTES};
use pipeline::{
    Filter,
    filter::{Comparison, PathTest},
};

use super::{implied::filter_implies, key_texts::KeyTexts};

/// The part of a filter to check on the rows of an access path.
#[derive(Clone, Debug)]
pub(crate) enum Residual {
    /// All conditions of the filter are checked.
    Whole,
    /// These conditions of the filter are checked, since the access path does not guarantee them.
    Parts(Filter),
    /// No condition is checked, since every row found matches.
    Nothing,
}

/// Returns the residual of the conjuncts, given the paths that the ranges of the access path bound
/// and, for a partial index, the filter that all of its rows meet.
pub(super) fn residual_of(
    parts: &[&Filter],
    ranged: &[&str],
    partial: Option<&Filter>,
    texts: KeyTexts<'_>,
) -> Residual {
    let is_met = |part: &Filter| {
        is_ensured_by_range(part, ranged, texts)
            || partial.is_some_and(|partial| filter_implies(partial, part, texts))
    };
    let left: Vec<&Filter> = parts.iter().copied().filter(|part| !is_met(part)).collect();
    match left.len() {
        0 => Residual::Nothing,
        len if len == parts.len() => Residual::Whole,
        _ => Residual::Parts(Filter::all(left.into_iter().cloned().collect())),
    }
}

/// Returns whether the ranges of these paths select exactly the rows that meet a conjunct: an exact
/// test, or a disjunction of exact tests of one path, whose ranges are united.
fn is_ensured_by_range(part: &Filter, ranged: &[&str], texts: KeyTexts<'_>) -> bool {
    match part {
        Filter::Path(path, test) => ranged.contains(&path.as_str()) && is_exact(test, texts),
        Filter::Or(any) => {
            let path_of = |part: &Filter| match part {
                Filter::Path(path, _) => Some(path.clone()),
                _ => None,
            };
            let first = any.first().and_then(path_of);
            let is_alike =
                |part| path_of(part) == first && is_ensured_by_range(part, ranged, texts);
            first.is_some() && any.iter().all(is_alike)
        }
        _ => false,
    }
}

/// Returns whether the ranges that `bounds` derives from a test contain exactly the components
/// (encodings in index keys) of the values that meet the test.
pub(super) fn is_exact(test: &PathTest, texts: KeyTexts<'_>) -> bool {
    let is_plain = |value: &Value| is_plain(value, texts);
    match test {
        PathTest::Compare(Comparison::Eq, value) => is_plain(value) || value.kind() == Kind::Null,
        PathTest::Compare(_, value) => is_plain(value) && is_whole(value, texts),
        PathTest::In(set) => {
            let known = |value: &Value| is_plain(value) || value.kind() == Kind::Null;
            set.patterns().is_empty() && set.values().iter().all(known)
        }
        _ => false,
    }
}

/// Returns whether the encodings of all values of this value's type in index keys sort like the
/// values compare in the query, with no value of another type among them.
pub(super) fn is_plain(value: &Value, texts: KeyTexts<'_>) -> bool {
    match value.kind() {
        Kind::Int32 | Kind::Int64 | Kind::Double | Kind::Decimal128 => {
            Number::of(value.as_ref()).is_some_and(|number| !number.is_nan())
        }
        Kind::String => texts.are_same(),
        Kind::ObjectId | Kind::Bool | Kind::DateTime | Kind::Timestamp => true,
        _ => false,
    }
}

/// Returns whether a value's encoding in index keys is not truncated; a truncated one sorts only by
/// the prefix that it keeps.
fn is_whole(value: &Value, texts: KeyTexts<'_>) -> bool {
    texts.encode_component(value.as_ref(), false).len() <= KEPT_KEY_COMPONENT_BYTES
}
