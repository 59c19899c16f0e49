//! What an expression came to: borrowed from the document, a variable or the plan where it can be,
//! computed otherwise. Most expressions of most rows copy nothing.

use document::{Value, ValueRef};

use crate::size::Size;

/// What an expression came to.
///
/// There are two kinds of nothing. `Missing` is a value that is not there: a missing field to one
/// language, undefined to the other. `Absent` is an argument that the query does not have at all.
#[derive(Clone, Debug)]
pub enum Evaluated<'a> {
    /// An optional argument that was not given.
    Absent,
    /// Nothing.
    Missing,
    /// Part of the document, of a variable or of the expression itself.
    Ref(ValueRef<'a>),
    /// A value that was computed.
    Own(Value),
}

impl<'a> Evaluated<'a> {
    /// The value, when there is one.
    pub fn value(&self) -> Option<ValueRef<'_>> {
        match self {
            Self::Absent | Self::Missing => None,
            Self::Ref(value) => Some(*value),
            Self::Own(value) => Some(value.as_ref()),
        }
    }

    /// The value, owned.
    pub fn into_value(self) -> Option<Value> {
        match self {
            Self::Absent | Self::Missing => None,
            Self::Ref(value) => Some(value.to_value()),
            Self::Own(value) => Some(value),
        }
    }

    /// The value, or null where there is none.
    pub fn or_null(&self) -> ValueRef<'_> {
        self.value().unwrap_or(ValueRef::Null)
    }

    /// The value for a comparison: nothing compares as undefined does.
    pub fn operand(&self) -> ValueRef<'_> {
        self.value().unwrap_or(ValueRef::Undefined)
    }

    /// Whether there is no value, or it is null or undefined.
    pub fn is_nullish(&self) -> bool {
        self.value().is_none_or(ValueRef::is_nullish)
    }

    /// Whether the argument was not given at all.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Whether it counts as true.
    pub fn is_truthy(&self) -> bool {
        self.value().is_some_and(ValueRef::is_truthy)
    }

    /// The name of its type, "missing" for nothing.
    pub fn type_name(&self) -> &'static str {
        self.value().map_or("missing", |value| value.kind().name())
    }
}

/// How many bytes a value holds that nobody else counts: those of a computed string, array or
/// object. Scalars are not counted.
pub fn owned_bytes(got: &Evaluated<'_>) -> usize {
    match got {
        Evaluated::Own(value @ (Value::String(_) | Value::Array(_) | Value::Document(_))) => {
            Size::of_value(value.as_ref()).memory
        }
        _ => 0,
    }
}

impl From<Option<Value>> for Evaluated<'_> {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Missing, Self::Own)
    }
}

impl<'a> From<Option<ValueRef<'a>>> for Evaluated<'a> {
    fn from(value: Option<ValueRef<'a>>) -> Self {
        value.map_or(Self::Missing, Self::Ref)
    }
}
