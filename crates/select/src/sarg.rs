//! Sargable predicates (search arguments): the part of a WHERE clause that an index can use. A
//! `Sarg` is a condition on paths of the stored document that is implied by WHERE: every document
//! that WHERE keeps meets it. It may admit more documents, so WHERE is still evaluated on the
//! candidates that the index returns. `plan/sarg.rs` derives it.
//!
//! For example `WHERE c.a = 5 AND UPPER(c.b) = "X"` implies `Test([a], Equal(5))`; the second
//! condition implies nothing about indexed values and is left to WHERE.

use std::cmp::Ordering;

use document::{DocRef, Value, ValueRef};

use crate::{
    equal::is_equal,
    order::{compare_values, simple_class},
};

/// A condition that WHERE implies, never one that is stricter than WHERE. In doubt it is `All`.
#[derive(Clone, Debug, PartialEq)]
pub enum Sarg {
    /// Admits every document: nothing is implied.
    All,
    /// Admits no document, because the condition is never true.
    Never,
    /// Admits the documents that all of these conditions admit.
    And(Vec<Sarg>),
    /// Admits the documents that at least one of these conditions admits.
    Or(Vec<Sarg>),
    /// Admits the documents that have a value at this path that passes the test.
    Test(PathSteps, ValueTest),
}

/// A path in a stored document.
pub type PathSteps = Vec<PathStep>;

/// One step of a path in a stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// The property with this name.
    Property(String),
    /// Any element of an array.
    Elements,
}

/// A bound of a range and whether it is inclusive; `None` where the range is unbounded.
pub type Bound = Option<(Value, bool)>;

/// A test of the value at a path.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueTest {
    /// The value equals this constant.
    Equal(Value),
    /// The value equals one of these constants.
    In(Vec<Value>),
    /// The value lies between these bounds and is of their type. A comparison with another type is
    /// undefined, so a range never spans types.
    Range {
        /// The lower bound of the range.
        lower: Bound,
        /// The upper bound of the range.
        upper: Bound,
    },
    /// A string that starts with this prefix.
    Prefix(String),
    /// Any value: the path exists.
    Defined,
    /// Any string, even an empty one.
    Text,
}

impl Sarg {
    /// Returns the conjunction of conditions. The lower and the upper bound on one path are merged
    /// into one range, so that an index scans between them instead of scanning from one and testing
    /// the other.
    pub(crate) fn all_of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::All => {}
                // One part that is never true decides the whole.
                Self::Never => return Self::Never,
                Self::And(more) => kept.extend(more),
                other => {
                    let joined = |held: &mut Self| held.intersect(&other);
                    if !kept.iter_mut().any(joined) {
                        kept.push(other);
                    }
                }
            }
        }
        match kept.len() {
            0 => Self::All,
            1 => kept.pop().unwrap_or(Self::All),
            _ => Self::And(kept),
        }
    }

    /// Merges `other` into this range if it is the opposite bound for the same path and type.
    /// Returns whether they were merged.
    fn intersect(&mut self, other: &Self) -> bool {
        let (Self::Test(path, ValueTest::Range { lower, upper }), Self::Test(other_path, other)) =
            (self, other)
        else {
            return false;
        };
        let ValueTest::Range { lower: other_lower, upper: other_upper } = other else {
            return false;
        };
        // The bounds may be met by different elements of an array, which no single range expresses.
        if path.contains(&PathStep::Elements) || path != other_path {
            return false;
        }
        // Bounds of different types are never both met. WHERE rejects such documents, not the
        // index.
        let class =
            |bound: &Bound| bound.as_ref().and_then(|(value, _)| simple_class(value.as_ref()));
        let (from, to) = match (&lower, &upper, other_lower, other_upper) {
            (Some(_), None, None, Some(_)) => (lower.clone(), other_upper.clone()),
            (None, Some(_), Some(_), None) => (other_lower.clone(), upper.clone()),
            _ => return false,
        };
        if class(&from) != class(&to) {
            return false;
        }
        (*lower, *upper) = (from, to);
        true
    }

    pub(crate) fn any_of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                // One part that implies nothing makes the whole imply nothing.
                Self::All => return Self::All,
                Self::Never => {}
                Self::Or(more) => kept.extend(more),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Self::Never,
            1 => kept.pop().unwrap_or(Self::Never),
            _ => Self::Or(kept),
        }
    }

    /// Returns whether the condition admits a document. Random tests compare WHERE, this condition
    /// and every index with each other.
    pub fn admits_document(&self, document: DocRef<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Never => false,
            Self::And(parts) => parts.iter().all(|part| part.admits_document(document)),
            Self::Or(parts) => parts.iter().any(|part| part.admits_document(document)),
            Self::Test(steps, test) => any_value_passes(ValueRef::Document(document), steps, test),
        }
    }
}

/// Returns whether a value at this path passes; where the path goes through array elements, one
/// passing element suffices.
fn any_value_passes(value: ValueRef<'_>, steps: &[PathStep], test: &ValueTest) -> bool {
    match (steps.split_first(), value) {
        (None, value) => test.passes(value),
        (Some((PathStep::Property(name), rest)), ValueRef::Document(fields)) => {
            fields.get(name).is_some_and(|value| any_value_passes(value, rest, test))
        }
        (Some((PathStep::Elements, rest)), ValueRef::Array(values)) => {
            values.iter().any(|value| any_value_passes(value, rest, test))
        }
        _ => false,
    }
}

impl ValueTest {
    /// Returns whether a value passes the test.
    pub fn passes(&self, value: ValueRef<'_>) -> bool {
        let text = |value: ValueRef<'_>| matches!(value, ValueRef::String(_));
        match self {
            Self::Equal(want) => is_equal(value, want.as_ref()),
            Self::In(values) => values.iter().any(|want| is_equal(value, want.as_ref())),
            Self::Range { lower, upper } => {
                is_beyond(value, lower, Ordering::Greater)
                    && is_beyond(value, upper, Ordering::Less)
            }
            Self::Prefix(prefix) => value.as_str().is_some_and(|text| text.starts_with(prefix)),
            Self::Defined => true,
            Self::Text => text(value),
        }
    }
}

/// Returns whether a value has the bound's type and lies on this side of it. An unbounded end
/// admits every value: the other bound checks the type.
fn is_beyond(value: ValueRef<'_>, bound: &Bound, side: Ordering) -> bool {
    let Some((bound, inclusive)) = bound else { return true };
    let class = simple_class(bound.as_ref());
    let order = compare_values(value, bound.as_ref());
    class.is_some()
        && class == simple_class(value)
        && (order == side || (*inclusive && order.is_eq()))
}
