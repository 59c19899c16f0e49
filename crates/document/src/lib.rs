//! BSON values, read in place from raw bytes or held as owned trees for editing. The crate also
//! contains the validator for bytes from the wire, dotted paths, the total order of values and the
//! sortable key encoding. It does no I/O and does not depend on any protocol or store.
//!
//! Documents and arrays have a raw and a tree form, each borrowed or owned; code that reads values
//! works on all of them:
//!
//! ```text
//!              borrowed                    owned
//! raw bytes    DocRef::Raw, ArrayRef::Raw  DocBuf
//! tree         DocRef::Tree, ...::Tree     Document, Value
//! one value    ValueRef                    Value
//! ```
//!
//! Reading raw bytes decodes one value at a time and allocates nothing.

mod decimal;
mod decimal_arithmetic;
mod decimal_text;
mod depth;
mod display;
pub mod json;
pub mod key;
mod kind;
mod number;
mod object_id;
mod order;
mod path;
mod validate;
mod value;

pub use decimal::{Decimal128, Rounding};
pub use depth::depth_within;
pub use display::{Shell, shell};
pub use kind::Kind;
pub use number::{Number, compare_numbers};
pub use object_id::ObjectId;
pub use order::{BsonOrder, canonical_class, compare, compare_documents, compare_with_texts};
pub use path::Path;
pub use validate::{
    Checked, Invalid, MAX_DOCUMENT_BYTES, MAX_STORED_DEPTH, MAX_WIRE_DEPTH, validate,
    validate_but_text, validate_depth,
};
pub use value::{
    ArrayBuilder, ArrayRef, DocBuf, DocBuilder, DocRef, Document, Element, RawElements, Reader,
    Value, ValueRef, element_at,
};
