//! What an index may use of a WHERE clause: a condition on paths of the stored document that every
//! document WHERE keeps fulfils. It may admit more.

use std::cmp::Ordering;

use document::{DocRef, Value, ValueRef};

use crate::{
    equal::equal,
    order::{compare, simple_class},
};

/// A condition that is implied by WHERE.
#[derive(Clone, Debug, PartialEq)]
pub enum Sarg {
    /// Every document.
    All,
    /// None.
    Never,
    /// Those that all of these admit.
    And(Vec<Sarg>),
    /// Those that one of these admits.
    Or(Vec<Sarg>),
    /// Those with a value at this path that passes.
    Test(PathSteps, Test),
}

/// A path in the stored document.
pub type PathSteps = Vec<Step>;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The property of this name.
    Property(String),
    /// Any element of the array.
    Elements,
}

/// An end of a range, and whether it is in it.
pub type Bound = Option<(Value, bool)>;

/// What a value at a path has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// This one.
    Equal(Value),
    /// One of these.
    In(Vec<Value>),
    /// Between these, and of their type.
    Range {
        /// From here.
        lower: Bound,
        /// To here.
        upper: Bound,
    },
    /// A string that begins so.
    Prefix(String),
    /// Anything.
    Defined,
    /// A string.
    Text,
}

impl Sarg {
    /// What admits the documents that all of these admit.
    pub(crate) fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::All => {}
                Self::Never => return Self::Never,
                Self::And(more) => kept.extend(more),
                other => {
                    let joined = |held: &mut Self| held.join(&other);
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

    /// Takes the other end of a range of one type into this one, if it is that. A path through
    /// elements leads to several values, which need not be the same for both ends.
    fn join(&mut self, other: &Self) -> bool {
        let (Self::Test(path, Test::Range { lower, upper }), Self::Test(other_path, other)) =
            (self, other)
        else {
            return false;
        };
        let Test::Range { lower: other_lower, upper: other_upper } = other else { return false };
        if path.contains(&Step::Elements) || path != other_path {
            return false;
        }
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

    /// What admits the documents that one of these admits.
    pub(crate) fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
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

    /// Whether a document is admitted; an index answers the same without reading it.
    pub fn admits(&self, document: DocRef<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Never => false,
            Self::And(parts) => parts.iter().all(|part| part.admits(document)),
            Self::Or(parts) => parts.iter().any(|part| part.admits(document)),
            Self::Test(steps, test) => reaches(ValueRef::Document(document), steps, test),
        }
    }
}

fn reaches(value: ValueRef<'_>, steps: &[Step], test: &Test) -> bool {
    match (steps.split_first(), value) {
        (None, value) => test.passes(value),
        (Some((Step::Property(name), rest)), ValueRef::Document(fields)) => {
            fields.get(name).is_some_and(|value| reaches(value, rest, test))
        }
        (Some((Step::Elements, rest)), ValueRef::Array(values)) => {
            values.iter().any(|value| reaches(value, rest, test))
        }
        _ => false,
    }
}

impl Test {
    /// Whether a value passes.
    pub fn passes(&self, value: ValueRef<'_>) -> bool {
        let text = |value: ValueRef<'_>| matches!(value, ValueRef::String(_));
        match self {
            Self::Equal(want) => equal(value, want.as_ref()),
            Self::In(values) => values.iter().any(|want| equal(value, want.as_ref())),
            Self::Range { lower, upper } => {
                beyond(value, lower, Ordering::Greater) && beyond(value, upper, Ordering::Less)
            }
            Self::Prefix(prefix) => value.as_str().is_some_and(|text| text.starts_with(prefix)),
            Self::Defined => true,
            Self::Text => text(value),
        }
    }
}

/// Whether a value is of the type of an end of a range, and on this side of it.
fn beyond(value: ValueRef<'_>, bound: &Bound, side: Ordering) -> bool {
    let Some((bound, inclusive)) = bound else { return true };
    let class = simple_class(bound.as_ref());
    let order = compare(value, bound.as_ref());
    class.is_some()
        && class == simple_class(value)
        && (order == side || (*inclusive && order.is_eq()))
}
