//! Derives bounds for one path of an index from all conditions of a filter: ranges that contain
//! every entry, or at least one entry, of each matching document.
//!
//! ```text
//!  {a: 5}                                    bounds of the test itself
//!  {$or: [{a: {$lt: 3}}, {a: {$gt: 7}}]}     the union, where each alternative bounds the path
//!  {a: {$elemMatch: {b: 5}}}   path a.b      an element has the value: as {"a.b": 5}
//!  {a: {$not: {$gt: 5}}}                     the complement, where the bounds are exact
//!  {a: {$exists: false}}                     null, the component of a missing value
//!  {$expr: {$gt: ["$a", 5]}}                 all greater values, also of other types
//! ```
//!
//! Bounds may cover too much, since rows are checked, but never too little. With arrays, each
//! element has an entry; a condition is met by at least one element, a negation by none. Different
//! elements may meet different conditions, so with arrays the bounds of several conditions are not
//! intersected.

use document::{Kind, Value, ValueRef};
use pipeline::{
    Expr, Filter,
    filter::{Comparison, Condition, PathTest},
};

use super::{
    bounds::{
        Bounds, bounds_of_test, bounds_over_types, collect_conjuncts, complement_bounds,
        intersect_bounds, union_bounds,
    },
    exact::{is_exact, is_plain},
    implied::excludes_missing,
    key_texts::KeyTexts,
};

/// Score of equality with one value or one of several.
const POINTS: usize = 1_000;
/// Score of a condition on a range.
const SPANS: usize = 500;
/// Score of the test that a value is missing, which most documents often meet.
pub(super) const MISSING_SCORE: usize = 300;
/// Score of a negated condition; less than the score of yielding the sort order.
const NEGATED: usize = 40;

/// The bounds of a path and how selective they are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathBounds {
    pub(super) bounds: Bounds,
    /// Estimated selectivity; higher is better. The module's constants are the possible scores.
    pub(super) score: usize,
}

/// Returns the bounds that the conjuncts imply for a path. `single` states that no document has
/// more than one value there, so that several conjuncts may be combined.
pub(super) fn bounds_on_path(
    conjuncts: &[&Filter],
    path: &str,
    descending: bool,
    single: bool,
    texts: KeyTexts<'_>,
) -> Option<PathBounds> {
    let field = Field { path, descending, single, texts };
    if !single && has_position(path) {
        // A filter applies a numeric part both as an array index and as a field name; an index has
        // entries for only one of the two.
        return None;
    }
    field.of_all(conjuncts.iter().copied())
}

/// Returns whether only documents with a value at `path` match the filter; false if unknown.
pub(super) fn demands_value(filter: &Filter, path: &str) -> bool {
    match filter {
        Filter::And(all) => all.iter().any(|part| demands_value(part, path)),
        Filter::Or(any) => !any.is_empty() && any.iter().all(|part| demands_value(part, path)),
        Filter::Path(at, test) if at.as_str() == path => rejects_missing(test),
        Filter::Path(at, PathTest::ElemMatch(inner)) => {
            path_below(path, at.as_str()).is_some_and(|rest| demands_value(inner, rest))
        }
        _ => false,
    }
}

/// Returns whether the test excludes documents without a value.
fn rejects_missing(test: &PathTest) -> bool {
    match test {
        PathTest::Compare(comparison, value) => excludes_missing(*comparison, value),
        PathTest::In(set) => set.values().iter().all(|value| !value.as_ref().is_nullish()),
        PathTest::Exists
        | PathTest::Pattern(_)
        | PathTest::ElemMatch(_)
        | PathTest::ElemValue(_) => true,
        _ => false,
    }
}

/// Returns whether a part of the path is a number, which may be an array index.
fn has_position(path: &str) -> bool {
    path.split('.').any(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the remainder of `path` below `at`; `None` if it has a numeric part.
fn path_below<'p>(path: &'p str, at: &str) -> Option<&'p str> {
    path.strip_prefix(at)?.strip_prefix('.').filter(|rest| !has_position(rest))
}

/// A path of an index, with properties that affect which bounds conditions imply.
#[derive(Clone, Copy)]
struct Field<'a> {
    path: &'a str,
    descending: bool,
    /// Whether no document has an array at a part of the path.
    single: bool,
    /// How the keys of the index hold texts.
    texts: KeyTexts<'a>,
}

impl Field<'_> {
    /// Returns the bounds that the conjunction of these filters implies for the field.
    fn of_all<'f>(self, parts: impl IntoIterator<Item = &'f Filter>) -> Option<PathBounds> {
        let parts = parts.into_iter().filter_map(|part| self.of_part(part));
        parts.reduce(|held, found| self.combine(held, found))
    }

    /// Combines the bounds of two conditions that a document meets. A single value lies within both
    /// bounds, so the bounds are intersected. Different elements of an array may meet the two
    /// conditions, so for arrays the more selective bounds are used.
    fn combine(self, held: PathBounds, found: PathBounds) -> PathBounds {
        if self.single { intersect(held, found) } else { narrower(held, found) }
    }

    fn of_part(self, part: &Filter) -> Option<PathBounds> {
        match part {
            Filter::And(all) => self.of_all(all),
            Filter::Or(any) => {
                let mut found: Option<PathBounds> = None;
                for part in any {
                    let one = self.of_part(part)?;
                    found = Some(match found {
                        None => one,
                        Some(held) => PathBounds {
                            score: held.score.min(one.score),
                            bounds: union_bounds(held.bounds, one.bounds),
                        },
                    });
                }
                found.map(scored_by_shape)
            }
            Filter::Nor(none) => {
                let found = none.iter().filter_map(|part| self.of_negation(part));
                found.reduce(|held, found| self.combine(held, found))
            }
            Filter::Not(part) => self.of_negation(part),
            Filter::Path(at, test) => self.of_test_at(at.as_str(), test),
            Filter::Expr(expr) => self.of_expression(expr),
            Filter::Schema(_) | Filter::Text(_) | Filter::Near(_) | Filter::Never => None,
        }
    }

    /// Returns the bounds implied by a test at this path or at an array on the path.
    fn of_test_at(self, at: &str, test: &PathTest) -> Option<PathBounds> {
        if at == self.path {
            return match test {
                PathTest::ElemValue(condition) => self.of_element(condition),
                test => bounds_of_test(test, self.descending, self.texts).map(scored),
            };
        }
        let PathTest::ElemMatch(inner) = test else { return None };
        let below = Field { path: path_below(self.path, at)?, ..self };
        let mut parts = Vec::new();
        collect_conjuncts(inner, &mut parts);
        let found = parts.into_iter().filter_map(|part| match part {
            // An element without a value at the rest of the path, such as a nested array, may have
            // no entry. So only tests that such elements fail give bounds.
            Filter::Path(at, test) if rejects_missing(test) => below.of_test_at(at.as_str(), test),
            _ => None,
        });
        found.reduce(|held, found| below.combine(held, found))
    }

    /// Returns the bounds implied by a condition on an array element. All parts of the condition
    /// concern the same element, which has one index entry.
    fn of_element(self, condition: &Condition) -> Option<PathBounds> {
        match condition {
            Condition::All(all) => {
                let found = all.iter().filter_map(|condition| self.of_element(condition));
                found.reduce(intersect)
            }
            Condition::Not(condition) => match &**condition {
                Condition::Test(test) if is_exact(test, self.texts) => self.without(test),
                _ => None,
            },
            Condition::Test(test) => bounds_of_test(test, self.descending, self.texts).map(scored),
            Condition::Never => None,
        }
    }

    /// Returns the bounds implied by the negation of `part`: no value of the document meets `part`.
    fn of_negation(self, part: &Filter) -> Option<PathBounds> {
        match part {
            Filter::Not(part) => self.of_part(part),
            Filter::Or(any) => {
                let found = any.iter().filter_map(|part| self.of_negation(part));
                found.reduce(|held, found| self.combine(held, found))
            }
            Filter::Path(at, test) if at.as_str() == self.path => match test {
                // A missing value is indexed as null.
                PathTest::Exists => {
                    let null = self.texts.encode_component(ValueRef::Null, self.descending);
                    Some(PathBounds { bounds: Bounds::Points(vec![null]), score: MISSING_SCORE })
                }
                // With arrays, a null entry may belong to an element without the field or to an
                // empty array, so the complement of a test that null passes could be too small.
                test if is_exact(test, self.texts) && (self.single || rejects_missing(test)) => {
                    self.without(test)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the complement of the bounds that a test implies; `None` unless these bounds are
    /// exact.
    fn without(self, test: &PathTest) -> Option<PathBounds> {
        let bounds = complement_bounds(bounds_of_test(test, self.descending, self.texts)?)?;
        Some(PathBounds { bounds, score: NEGATED })
    }

    /// Returns the bounds implied by an expression: comparisons of the path with constants.
    fn of_expression(self, expr: &Expr) -> Option<PathBounds> {
        let (function, args) = match expr {
            Expr::And(all) => {
                let found = all.iter().filter_map(|expr| self.of_expression(expr));
                return found.reduce(|held, found| self.combine(held, found));
            }
            Expr::Call(function, args) => (function.name, args.as_slice()),
            _ => return None,
        };
        let comparison = Comparison::of_function(function)?;
        let (comparison, path, value) = match args {
            [Expr::Field(path), Expr::Literal(value)] => (comparison, path, value),
            [Expr::Literal(value), Expr::Field(path)] => (exchanged(comparison), path, value),
            _ => return None,
        };
        if path.as_str() != self.path || !is_plain(value, self.texts) {
            return None;
        }
        // An expression compares an array as a whole, which has no entry of its own.
        if !self.single && may_hold_for_array(comparison, value) {
            return None;
        }
        let value = value.as_ref();
        Some(scored(bounds_over_types(comparison, value, self.descending, self.texts)))
    }
}

/// Returns the comparison that is equivalent after its operands are exchanged, such as `Lt` for
/// `Gt`.
fn exchanged(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Eq => Comparison::Eq,
        Comparison::Gt => Comparison::Lt,
        Comparison::Gte => Comparison::Lte,
        Comparison::Lt => Comparison::Gt,
        Comparison::Lte => Comparison::Gte,
    }
}

/// Returns whether an array as a whole may satisfy the comparison: arrays sort after numbers and
/// strings, and before the other types that have bounds.
fn may_hold_for_array(comparison: Comparison, value: &Value) -> bool {
    let array_is_greater = matches!(
        value.kind(),
        Kind::Int32 | Kind::Int64 | Kind::Double | Kind::Decimal128 | Kind::String
    );
    match comparison {
        Comparison::Eq => false,
        Comparison::Gt | Comparison::Gte => array_is_greater,
        Comparison::Lt | Comparison::Lte => !array_is_greater,
    }
}

/// Scores bounds by their kind (points or spans).
fn scored(bounds: Bounds) -> PathBounds {
    let score = match &bounds {
        Bounds::Points(_) => POINTS,
        Bounds::Spans(_) => SPANS,
    };
    PathBounds { bounds, score }
}

/// Lowers the score of bounds to that of their kind (points or spans), if it is higher.
fn scored_by_shape(found: PathBounds) -> PathBounds {
    let PathBounds { bounds, score } = scored(found.bounds);
    PathBounds { bounds, score: score.min(found.score) }
}

/// Intersects two bounds on the same value.
fn intersect(held: PathBounds, found: PathBounds) -> PathBounds {
    let score = held.score.max(found.score);
    let both = PathBounds { bounds: intersect_bounds(held.bounds, found.bounds), score };
    // The result has the higher score, but at most that of its kind: points within a span of low
    // score keep the score of points.
    let shape = scored(both.bounds);
    PathBounds { score: score.min(shape.score), bounds: shape.bounds }
}

/// Returns the more selective of two bounds that every matching document meets.
fn narrower(held: PathBounds, found: PathBounds) -> PathBounds {
    match (&held.bounds, &found.bounds) {
        _ if held.score < found.score => found,
        (Bounds::Points(a), Bounds::Points(b))
            if held.score == found.score && b.len() < a.len() =>
        {
            found
        }
        _ => held,
    }
}
