//! Sargable predicates (search arguments): what an index may use of a WHERE clause. A `Sarg` is a
//! condition on paths of the stored document that is implied by WHERE: every document that WHERE
//! keeps fulfils it. It may admit more, so WHERE is still evaluated on what the index finds.
//! `plan/sarg.rs` derives it.
//!
//! For example `WHERE c.a = 5 AND UPPER(c.b) = "X"` implies `Test([a], Equal(5))`; nothing is known
//! of the second condition but that it can be left to WHERE.

use std::cmp::Ordering;

use document::{DocRef, Value, ValueRef};

use crate::{
    equal::is_equal,
    order::{compare_values, simple_class},
};

/// A condition that is implied by WHERE. It never says more than WHERE does: where it is in doubt
/// it is `All`.
#[derive(Clone, Debug, PartialEq)]
pub enum Sarg {
    /// Every document: nothing is known.
    All,
    /// No document: WHERE cannot be true.
    Never,
    /// Those that all of these admit.
    And(Vec<Sarg>),
    /// Those that one of these admits.
    Or(Vec<Sarg>),
    /// Those with a value at this path that passes.
    Test(PathSteps, ValueTest),
}

/// A path in the stored document.
pub type PathSteps = Vec<PathStep>;

/// One step of a path in the stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// The property of this name.
    Property(String),
    /// Any element of the array.
    Elements,
}

/// An end of a range, and whether it belongs to the range; nothing where the range is open.
pub type Bound = Option<(Value, bool)>;

/// What a value at a path has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueTest {
    /// This one.
    Equal(Value),
    /// One of these.
    In(Vec<Value>),
    /// Between these, and of their type: a comparison is undefined for other types, so that a range
    /// never reaches across types.
    Range {
        /// From here.
        lower: Bound,
        /// To here.
        upper: Bound,
    },
    /// A string that begins so.
    Prefix(String),
    /// Any value: the path leads to something.
    Defined,
    /// A string.
    Text,
}

impl Sarg {
    /// The conjunction. The two ends of a range on one path become one range, so that an index
    /// walks between them instead of walking one end and testing the other.
    pub(crate) fn all_of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::All => {}
                // One part that cannot hold decides.
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

    /// Takes the other end of a range of the same type into this one, if `other` is that. Ranges on
    /// elements of an array stay apart: different elements may fulfil the two ends.
    fn intersect(&mut self, other: &Self) -> bool {
        let (Self::Test(path, ValueTest::Range { lower, upper }), Self::Test(other_path, other)) =
            (self, other)
        else {
            return false;
        };
        let ValueTest::Range { lower: other_lower, upper: other_upper } = other else {
            return false;
        };
        // Two elements may fulfil the two ends, so that no single range would be right.
        if path.contains(&PathStep::Elements) || path != other_path {
            return false;
        }
        // Ends of different types can never both hold; WHERE says so, not the index.
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

    /// The disjunction.
    pub(crate) fn any_of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                // One part of which nothing is known makes the whole unknown.
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

    /// Whether a document is admitted. Random tests hold WHERE, this and every index against each
    /// other.
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

/// Whether a value at these steps passes; where the steps go through elements, one of them is
/// enough.
fn any_value_passes(value: ValueRef<'_>, steps: &[PathStep], test: &ValueTest) -> bool {
    match (steps.split_first(), value) {
        (None, value) => test.passes(value),
        (Some((PathStep::Property(name), rest)), ValueRef::Document(fields)) => {
            fields.get(name).is_some_and(|value| any_value_passes(value, rest, test))
        }
        // An element that passes is enough.
        (Some((PathStep::Elements, rest)), ValueRef::Array(values)) => {
            values.iter().any(|value| any_value_passes(value, rest, test))
        }
        _ => false,
    }
}

impl ValueTest {
    /// Whether a value passes.
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

/// Whether a value is of the same type as an end of a range and lies on this side of it. An open
/// end admits every value: the other end decides the type.
fn is_beyond(value: ValueRef<'_>, bound: &Bound, side: Ordering) -> bool {
    let Some((bound, inclusive)) = bound else { return true };
    let class = simple_class(bound.as_ref());
    let order = compare_values(value, bound.as_ref());
    class.is_some()
        && class == simple_class(value)
        && (order == side || (*inclusive && order.is_eq()))
}
