//! A page of results, and how large it may be.

use document::{DocBuf, Value, ValueRef};
use evaluation::{Evaluated, Size};
use memory::Share;

use super::{Resume, rest::Rest};

/// Whether more rows are of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    More,
    /// The page is full.
    Enough,
}

/// How large a page may be; one result is always in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit {
    /// Results.
    pub items: usize,
    /// Bytes of them, about; the result that exceeds them is the last.
    pub bytes: usize,
}

/// A result.
#[derive(Clone, Debug)]
pub enum Output {
    /// A stored document, or a part of one, as it is.
    Raw(DocBuf),
    /// A value.
    Value(Value),
}

impl Output {
    /// The result that a value makes; nothing when it is undefined. A part of the stored document
    /// is copied as raw bytes, without a tree.
    pub(super) fn from_evaluated(value: Evaluated<'_>) -> Option<Self> {
        match value {
            Evaluated::Ref(ValueRef::Document(document)) => Some(Self::Raw(document.to_buf())),
            other => other.into_value().map(Self::Value),
        }
    }

    /// The result, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Raw(document) => ValueRef::Document(document.as_ref()),
            Self::Value(value) => value.as_ref(),
        }
    }

    /// The result, owned.
    pub fn into_value(self) -> Value {
        match self {
            Self::Raw(document) => Value::Document(document.as_ref().to_tree()),
            Self::Value(value) => value,
        }
    }

    /// How large it is: as a part of the answer, and in memory.
    pub(super) fn size_of_result(&self) -> Size {
        match self {
            Self::Raw(document) => {
                let bytes = document.bytes().len();
                Size { bytes, memory: bytes + size_of::<Self>() }
            }
            Self::Value(value) => Size::of_value(value.as_ref()),
        }
    }
}

/// One page of results.
#[derive(Debug, Default)]
pub struct Page {
    /// The results.
    pub values: Vec<Output>,
    /// Where the next page begins; nothing when this is the last.
    pub resume: Option<Resume>,
    /// What the results hold.
    pub held: Share,
    /// The results behind the page, where the run kept them; see [`Run::keep_ahead`](super::Run::keep_ahead).
    pub rest: Option<Rest>,
}
