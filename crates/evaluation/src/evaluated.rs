//! The result of an expression: borrowed from the document, a variable or the plan where possible,
//! and computed otherwise. Most expressions copy nothing for most rows.

use document::{Value, ValueRef};

use crate::size::Size;

/// The result of an expression.
///
/// Two variants have no value. `Missing` is a missing field in MongoDB's language and undefined in
/// Cosmos DB's. `Absent` is an optional argument that the query does not contain.
#[derive(Clone, Debug)]
pub enum Evaluated<'a> {
    /// An optional argument that was not given.
    Absent,
    /// A missing or undefined value.
    Missing,
    /// A borrowed value: a part of the document, of a variable or of the expression itself.
    Ref(ValueRef<'a>),
    /// A computed value, which is owned.
    Owned(Value),
}

impl<'a> Evaluated<'a> {
    /// Returns the value, if any.
    pub fn value(&self) -> Option<ValueRef<'_>> {
        match self {
            Self::Absent | Self::Missing => None,
            Self::Ref(value) => Some(*value),
            Self::Owned(value) => Some(value.as_ref()),
        }
    }

    /// Returns the value as an owned value; `None` if it is missing.
    pub fn into_value(self) -> Option<Value> {
        match self {
            Self::Absent | Self::Missing => None,
            Self::Ref(value) => Some(value.to_value()),
            Self::Owned(value) => Some(value),
        }
    }

    /// Returns the value, or null if it is missing.
    pub fn or_null(&self) -> ValueRef<'_> {
        self.value().unwrap_or(ValueRef::Null)
    }

    /// Returns the value for a comparison, in which a missing value compares as undefined.
    pub fn operand(&self) -> ValueRef<'_> {
        self.value().unwrap_or(ValueRef::Undefined)
    }

    /// Returns whether the value is missing, null or undefined.
    pub fn is_nullish(&self) -> bool {
        self.value().is_none_or(ValueRef::is_nullish)
    }

    /// Returns whether the argument was not given.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns whether the value counts as true.
    pub fn is_truthy(&self) -> bool {
        self.value().is_some_and(ValueRef::is_truthy)
    }

    /// Returns the name of the value's type, or "missing".
    pub fn type_name(&self) -> &'static str {
        self.value().map_or("missing", |value| value.kind().name())
    }
}

/// Returns the bytes of a computed string, array or object, whose memory is not counted elsewhere.
/// Scalars and borrowed values count 0.
pub fn owned_bytes(got: &Evaluated<'_>) -> usize {
    match got {
        Evaluated::Owned(value @ (Value::String(_) | Value::Array(_) | Value::Document(_))) => {
            Size::of_value(value.as_ref()).memory
        }
        _ => 0,
    }
}

impl From<Option<Value>> for Evaluated<'_> {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Missing, Self::Owned)
    }
}

impl<'a> From<Option<ValueRef<'a>>> for Evaluated<'a> {
    fn from(value: Option<ValueRef<'a>>) -> Self {
        value.map_or(Self::Missing, Self::Ref)
    }
}
