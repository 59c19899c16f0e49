//! What an index may use of a WHERE clause: a condition on paths of the stored document that every
//! document WHERE keeps fulfils. It may admit more.

use document::Value;

use super::select::Clauses;

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
    pub(super) fn of(_clauses: &Clauses) -> Self {
        Self::All
    }

    /// Whether a document is admitted; slowly, for tests.
    pub fn admits(&self, _document: document::DocRef<'_>) -> bool {
        true
    }
}
