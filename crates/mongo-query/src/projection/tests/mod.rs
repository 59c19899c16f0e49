//! Projections, parsed and applied: tables of a document, a filter, a projection and the result.

mod documents;
mod modes;
mod refused;

use document::{DocRef, Value, shell};
use evaluation::Context;

use super::parse_find;
use crate::{filter, shell_text::document};

fn check([text, filter, projection, expected]: &[&str; 4]) {
    let parsed = parse_find(document(projection).to_buf().as_ref()).unwrap();
    let filter = filter::parse(document(filter).to_buf().as_ref()).unwrap();
    let (tree, context) = (document(text), Context::default());
    let raw = tree.to_buf();
    for form in [raw.as_ref(), DocRef::Tree(&tree)] {
        let found = match parsed.apply(form, Some(&filter), &context) {
            Ok(projected) => format!("{projected:?}"),
            Err(error) => format!("{} {}", error.number, error.message),
        };
        let expected = match expected.strip_prefix('{') {
            Some(_) => shell(Value::Document(document(expected)).as_ref()).to_string(),
            None => (*expected).to_owned(),
        };
        assert_eq!(found, expected, "{text} {projection}");
    }
}

fn refused([projection, expected]: &[&str; 2]) {
    let parsed = parse_find(document(projection).to_buf().as_ref());
    let error = parsed.map_err(|error| format!("{} {}", error.code, error.message));
    assert_eq!(error.err().as_deref(), Some(*expected), "{projection}");
}
