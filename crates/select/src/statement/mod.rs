//! Running a bound SELECT: properties of the query that the caller needs before it scans, and one
//! page of its results. This file defines the page and its limits.

mod ahead;
mod any_order;
mod ask;
mod buffered;
mod firsts;
mod groups;
mod in_order;
mod inner;
mod rest;
mod resume_position;
mod run;
mod source;

pub use ask::SystemReads;
pub use rest::RemainingResults;
pub use resume_position::Resume;
pub use run::Run;

use document::{DocBuf, Value, ValueRef};
use evaluation::{Evaluated, Size};
use memory::Share;

/// Whether the driver should pass more rows to the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// More rows may yield further results of the page.
    More,
    /// The page is complete: further rows are not needed.
    Enough,
}

/// The limits of a page, which contains at least one result in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit {
    /// The maximum number of results.
    pub items: usize,
    /// Approximate maximum of bytes; the result that exceeds it is the last one of the page.
    pub bytes: usize,
}

/// One result of a query.
#[derive(Clone, Debug)]
pub enum Output {
    /// A stored document, or an object inside one, as raw bytes.
    Raw(DocBuf),
    /// A value of any type.
    Value(Value),
}

impl Output {
    /// Returns the result for a value; `None` if it is undefined. An object of the stored document
    /// is copied as raw bytes, without decoding.
    fn from_evaluated(value: Evaluated<'_>) -> Option<Self> {
        match value {
            Evaluated::Ref(ValueRef::Document(document)) => Some(Self::Raw(document.to_buf())),
            other => other.into_value().map(Self::Value),
        }
    }

    /// Borrows the result as a value.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Raw(document) => ValueRef::Document(document.as_ref()),
            Self::Value(value) => value.as_ref(),
        }
    }

    /// Converts the result to a value.
    pub fn into_value(self) -> Value {
        match self {
            Self::Raw(document) => Value::Document(document.as_ref().to_tree()),
            Self::Value(value) => value,
        }
    }

    /// Returns the size of the result, in the response and in memory.
    fn size_of_result(&self) -> Size {
        match self {
            Self::Raw(document) => {
                let bytes = document.bytes().len();
                Size { bytes, memory: bytes + size_of::<Self>() }
            }
            Self::Value(value) => Size::of_value(value.as_ref()),
        }
    }
}

/// One page of the results of a query.
#[derive(Debug, Default)]
pub struct Page {
    /// The results in their order.
    pub values: Vec<Output>,
    /// The position at which the next page resumes; `None` on the last page.
    pub resume: Option<Resume>,
    /// Memory reserved for the results.
    pub held: Share,
    /// The results after the page, if the run kept them; see
    /// [`Run::keep_ahead`].
    pub rest: Option<RemainingResults>,
}
