//! The values of BSON: borrowed (`ValueRef`, over raw bytes or a tree) and owned (`Value`, a tree),
//! with the documents and arrays that hold them. They share a module because the types refer to
//! each other.
//!
//! ```text
//! bytes of the store  -> DocRef::Raw   -> ValueRef   read in place, nothing is copied
//! Document (a tree)   -> DocRef::Tree  -> ValueRef   the same code reads both
//! ValueRef            -> to_value      -> Value      a copy to keep or to change
//! ```

mod borrowed;
mod builder;
mod encoded_len;
mod field_index;
pub(crate) mod raw;
mod tree;

pub use borrowed::{ArrayRef, DocBuf, DocRef};
pub use builder::{ArrayBuilder, DocBuilder};
pub use raw::{Element, RawElements, Reader, element_at};
pub use tree::Document;

use crate::{decimal::Decimal128, kind::Kind, object_id::ObjectId};

/// A borrowed value; nested documents and arrays are borrowed too, as raw bytes or as a tree. It is
/// `Copy`, and reading a field of a raw document returns one without allocating.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are BSON's own")]
pub enum ValueRef<'a> {
    Double(f64),
    String(&'a str),
    Document(DocRef<'a>),
    Array(ArrayRef<'a>),
    Binary {
        subtype: u8,
        bytes: &'a [u8],
    },
    Undefined,
    ObjectId(ObjectId),
    Bool(bool),
    /// Milliseconds since the Unix epoch.
    DateTime(i64),
    Null,
    Regex {
        pattern: &'a str,
        options: &'a str,
    },
    DbPointer {
        namespace: &'a str,
        id: ObjectId,
    },
    JavaScript(&'a str),
    Symbol(&'a str),
    JavaScriptWithScope {
        code: &'a str,
        scope: DocRef<'a>,
    },
    Int32(i32),
    /// Seconds in the high 32 bits, increment in the low 32 bits.
    Timestamp(u64),
    Int64(i64),
    Decimal128(Decimal128),
    MaxKey,
    MinKey,
}

impl<'a> ValueRef<'a> {
    /// Returns the BSON type of the value.
    pub fn kind(self) -> Kind {
        match self {
            Self::Double(_) => Kind::Double,
            Self::String(_) => Kind::String,
            Self::Document(_) => Kind::Document,
            Self::Array(_) => Kind::Array,
            Self::Binary { .. } => Kind::Binary,
            Self::Undefined => Kind::Undefined,
            Self::ObjectId(_) => Kind::ObjectId,
            Self::Bool(_) => Kind::Bool,
            Self::DateTime(_) => Kind::DateTime,
            Self::Null => Kind::Null,
            Self::Regex { .. } => Kind::Regex,
            Self::DbPointer { .. } => Kind::DbPointer,
            Self::JavaScript(_) => Kind::JavaScript,
            Self::Symbol(_) => Kind::Symbol,
            Self::JavaScriptWithScope { .. } => Kind::JavaScriptWithScope,
            Self::Int32(_) => Kind::Int32,
            Self::Timestamp(_) => Kind::Timestamp,
            Self::Int64(_) => Kind::Int64,
            Self::Decimal128(_) => Kind::Decimal128,
            Self::MaxKey => Kind::MaxKey,
            Self::MinKey => Kind::MinKey,
        }
    }

    /// Returns an owned deep copy as a tree; the cost is proportional to the value's size.
    pub fn to_value(self) -> Value {
        match self {
            Self::Double(v) => Value::Double(v),
            Self::String(v) => Value::String(v.to_owned()),
            Self::Document(v) => Value::Document(v.to_tree()),
            Self::Array(v) => Value::Array(v.to_values()),
            Self::Binary { subtype, bytes } => Value::Binary { subtype, bytes: bytes.to_vec() },
            Self::Undefined => Value::Undefined,
            Self::ObjectId(v) => Value::ObjectId(v),
            Self::Bool(v) => Value::Bool(v),
            Self::DateTime(v) => Value::DateTime(v),
            Self::Null => Value::Null,
            Self::Regex { pattern, options } => {
                Value::Regex { pattern: pattern.to_owned(), options: options.to_owned() }
            }
            Self::DbPointer { namespace, id } => {
                Value::DbPointer { namespace: namespace.to_owned(), id }
            }
            Self::JavaScript(v) => Value::JavaScript(v.to_owned()),
            Self::Symbol(v) => Value::Symbol(v.to_owned()),
            Self::JavaScriptWithScope { code, scope } => {
                Value::JavaScriptWithScope { code: code.to_owned(), scope: scope.to_tree() }
            }
            Self::Int32(v) => Value::Int32(v),
            Self::Timestamp(v) => Value::Timestamp(v),
            Self::Int64(v) => Value::Int64(v),
            Self::Decimal128(v) => Value::Decimal128(v),
            Self::MaxKey => Value::MaxKey,
            Self::MinKey => Value::MinKey,
        }
    }

    /// Returns the text of a string. Symbols return `None`: callers that accept both match them
    /// separately.
    pub fn as_str(self) -> Option<&'a str> {
        if let Self::String(v) = self { Some(v) } else { None }
    }

    /// Returns the document, or `None` for other types.
    pub fn as_document(self) -> Option<DocRef<'a>> {
        if let Self::Document(v) = self { Some(v) } else { None }
    }

    /// Returns the array, or `None` for other types.
    pub fn as_array(self) -> Option<ArrayRef<'a>> {
        if let Self::Array(v) = self { Some(v) } else { None }
    }

    /// Returns the value of a boolean; numbers return `None`.
    pub fn as_bool(self) -> Option<bool> {
        if let Self::Bool(v) = self { Some(v) } else { None }
    }

    /// Returns whether the value is of one of the four numeric types.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Int32(_) | Self::Int64(_) | Self::Double(_) | Self::Decimal128(_))
    }

    /// Returns whether the value is null or undefined. A missing field has no value at all: lookups
    /// return `None` for it.
    pub fn is_nullish(self) -> bool {
        matches!(self, Self::Null | Self::Undefined)
    }

    /// Returns whether MongoDB treats the value as true: everything but false, zero, null and
    /// undefined is true, NaN included.
    pub fn is_truthy(self) -> bool {
        match self {
            Self::Bool(v) => v,
            Self::Int32(v) => v != 0,
            Self::Int64(v) => v != 0,
            Self::Double(v) => v != 0.0,
            Self::Decimal128(v) => !v.is_zero(),
            Self::Null | Self::Undefined => false,
            _ => true,
        }
    }
}

/// An owned value, as a tree; documents keep the order of their fields. `==` uses BSON's order, in
/// which `1` and `1.0` are equal.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are BSON's own")]
pub enum Value {
    Double(f64),
    String(String),
    Document(Document),
    Array(Vec<Value>),
    Binary {
        subtype: u8,
        bytes: Vec<u8>,
    },
    Undefined,
    ObjectId(ObjectId),
    Bool(bool),
    /// Milliseconds since the Unix epoch.
    DateTime(i64),
    Null,
    Regex {
        pattern: String,
        options: String,
    },
    DbPointer {
        namespace: String,
        id: ObjectId,
    },
    JavaScript(String),
    Symbol(String),
    JavaScriptWithScope {
        code: String,
        scope: Document,
    },
    Int32(i32),
    /// Seconds in the high 32 bits, increment in the low 32 bits.
    Timestamp(u64),
    Int64(i64),
    Decimal128(Decimal128),
    MaxKey,
    MinKey,
}

impl Value {
    /// Returns the borrowed form, which all functions on values take.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Double(v) => ValueRef::Double(*v),
            Self::String(v) => ValueRef::String(v),
            Self::Document(v) => ValueRef::Document(DocRef::Tree(v)),
            Self::Array(v) => ValueRef::Array(ArrayRef::Tree(v)),
            Self::Binary { subtype, bytes } => ValueRef::Binary { subtype: *subtype, bytes },
            Self::Undefined => ValueRef::Undefined,
            Self::ObjectId(v) => ValueRef::ObjectId(*v),
            Self::Bool(v) => ValueRef::Bool(*v),
            Self::DateTime(v) => ValueRef::DateTime(*v),
            Self::Null => ValueRef::Null,
            Self::Regex { pattern, options } => ValueRef::Regex { pattern, options },
            Self::DbPointer { namespace, id } => ValueRef::DbPointer { namespace, id: *id },
            Self::JavaScript(v) => ValueRef::JavaScript(v),
            Self::Symbol(v) => ValueRef::Symbol(v),
            Self::JavaScriptWithScope { code, scope } => {
                ValueRef::JavaScriptWithScope { code, scope: DocRef::Tree(scope) }
            }
            Self::Int32(v) => ValueRef::Int32(*v),
            Self::Timestamp(v) => ValueRef::Timestamp(*v),
            Self::Int64(v) => ValueRef::Int64(*v),
            Self::Decimal128(v) => ValueRef::Decimal128(*v),
            Self::MaxKey => ValueRef::MaxKey,
            Self::MinKey => ValueRef::MinKey,
        }
    }

    /// Returns the BSON type of the value.
    pub fn kind(&self) -> Kind {
        self.as_ref().kind()
    }
}

macro_rules! from {
    ($($kind:ty => $variant:ident),*) => {
        $(impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                Self::$variant(value)
            }
        })*
    };
}
from!(f64 => Double, String => String, Document => Document, Vec<Value> => Array,
    ObjectId => ObjectId, bool => Bool, i32 => Int32, i64 => Int64, Decimal128 => Decimal128);

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<DocRef<'_>> for Value {
    fn from(value: DocRef<'_>) -> Self {
        Self::Document(value.to_tree())
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        value.to_value()
    }
}

impl From<Vec<Document>> for Value {
    fn from(value: Vec<Document>) -> Self {
        Self::Array(value.into_iter().map(Self::Document).collect())
    }
}
