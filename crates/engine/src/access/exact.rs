//! What of a filter the ranges of an access path say already, so that it need not be checked on the
//! rows. Says "left" when in doubt: that costs a look at the row, while a part that is wrongly taken
//! as met would return rows that the filter does not match.
//!
//! ```text
//!  index (a, b)   filter {a: 5, b: {$gt: 2}}            nothing is left
//!                 filter {a: 5, b: {$gt: 2}, c: 1}      {c: 1} is left
//!                 filter {a: /^x/}                      all of it: the range only covers it
//! ```
//!
//! It holds only where no document has more than one value at a path: of an array's elements each
//! has an entry, and different ones may meet different parts.

use document::{Kind, Number, Value, limits::KEPT_KEY_COMPONENT_BYTES};
use pipeline::{
    Filter,
    filter::{Comparison, PathTest},
};

use super::{bounds::encode_component, implied::filter_implies};

/// What is left of a filter to be checked on the rows of an access path.
#[derive(Clone, Debug)]
pub(crate) enum Residual {
    /// All of it.
    Whole,
    /// These parts.
    Parts(Filter),
    /// Nothing: every row that is found is meant.
    Nothing,
}

/// What is left of a filter, given its conjuncts, the paths whose ranges the access path uses, and
/// what every document in it meets anyway.
pub(super) fn residual_of(
    parts: &[&Filter],
    ranged: &[&str],
    partial: Option<&Filter>,
) -> Residual {
    let is_met = |part: &Filter| {
        is_said_by_range(part, ranged)
            || partial.is_some_and(|partial| filter_implies(partial, part))
    };
    let left: Vec<&Filter> = parts.iter().copied().filter(|part| !is_met(part)).collect();
    match left.len() {
        0 => Residual::Nothing,
        len if len == parts.len() => Residual::Whole,
        _ => Residual::Parts(Filter::all(left.into_iter().cloned().collect())),
    }
}

/// Whether the ranges of these paths hold exactly what meets a conjunct: an exact test, or alternatives
/// that are exact tests of one path, whose ranges are united.
fn is_said_by_range(part: &Filter, ranged: &[&str]) -> bool {
    match part {
        Filter::Path(path, test) => ranged.contains(&path.as_str()) && is_exact(test),
        Filter::Or(any) => {
            let path_of = |part: &Filter| match part {
                Filter::Path(path, _) => Some(path.clone()),
                _ => None,
            };
            let first = any.first().and_then(path_of);
            let is_alike = |part| path_of(part) == first && is_said_by_range(part, ranged);
            first.is_some() && any.iter().all(is_alike)
        }
        _ => false,
    }
}

/// Whether the ranges that `bounds` makes of a test have the components of exactly the values that
/// meet it.
pub(super) fn is_exact(test: &PathTest) -> bool {
    match test {
        PathTest::Compare(Comparison::Eq, value) => is_plain(value) || value.kind() == Kind::Null,
        PathTest::Compare(_, value) => is_plain(value) && is_whole(value),
        PathTest::In(set) => {
            let known = |value: &Value| is_plain(value) || value.kind() == Kind::Null;
            set.patterns().is_empty() && set.values().iter().all(known)
        }
        _ => false,
    }
}

/// Whether a value is of a kind whose components compare as values do, within its class and only
/// there.
pub(super) fn is_plain(value: &Value) -> bool {
    match value.kind() {
        Kind::Int32 | Kind::Int64 | Kind::Double | Kind::Decimal128 => {
            Number::of(value.as_ref()).is_some_and(|number| !number.is_nan())
        }
        Kind::String | Kind::ObjectId | Kind::Bool | Kind::DateTime | Kind::Timestamp => true,
        _ => false,
    }
}

/// Whether a value's component is not cut: the order of cut ones is only that of their beginnings.
fn is_whole(value: &Value) -> bool {
    encode_component(value.as_ref(), false).len() <= KEPT_KEY_COMPONENT_BYTES
}
