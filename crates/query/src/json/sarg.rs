//! What an index may use of a condition: tests of values at paths, implied by the condition.

use document::Value;

/// One step along a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A property of an object.
    Property(String),
    /// Any element of an array.
    Elements,
}

/// A condition that every document meets which the whole condition keeps.
#[derive(Clone, Debug, PartialEq)]
pub enum Sarg {
    /// Nothing is known.
    All,
    /// No document.
    Never,
    /// All of these.
    And(Vec<Sarg>),
    /// One of these.
    Or(Vec<Sarg>),
    /// Some value at the path passes the test.
    Test(Vec<Step>, Test),
}

/// A test of one value.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Equal to this one.
    Equal(Value),
    /// Equal to one of these.
    In(Vec<Value>),
    /// Between these (`true`: inclusive), all of one type.
    Range {
        /// From here on.
        lower: Option<(Value, bool)>,
        /// Up to here.
        upper: Option<(Value, bool)>,
    },
    /// A string that begins so.
    Prefix(String),
    /// Anything.
    Defined,
    /// A string.
    Text,
}
