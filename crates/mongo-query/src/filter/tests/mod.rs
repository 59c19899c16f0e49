//! Filters, parsed and matched: tables of filters and of the documents that they match.

mod operands;
mod patterns;
mod positions;
mod refused;
mod validators;
mod values;

use document::{DocRef, Document};
use evaluation::Context;

use super::parse;
use crate::shell_text;

/// Returns whether a document matches, asserting the same for raw bytes and a tree.
fn matches(filter: &str, document: &Document) -> bool {
    let parsed = shell_text::document(filter).to_buf();
    let parsed = parse(parsed.as_ref()).unwrap_or_else(|error| panic!("{filter}: {error}"));
    let (raw, context) = (document.to_buf(), Context::default());
    let found = parsed.matches(raw.as_ref(), &context).unwrap();
    assert_eq!(parsed.matches(DocRef::Tree(document), &context), Ok(found), "{filter}");
    found
}

fn refused([filter, expected]: &[&str; 2]) {
    let parsed = parse(shell_text::document(filter).to_buf().as_ref());
    let error = parsed.map_err(|error| format!("{} {}", error.code, error.message));
    assert_eq!(error.err().as_deref(), Some(*expected), "{filter}");
}
