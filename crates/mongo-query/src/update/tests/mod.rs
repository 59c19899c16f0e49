//! Updates, parsed and applied: tables of a document, an update and the result. The result is
//! written as the new document, as `= ` and the document if it is unchanged, or as an error code
//! and its text.

mod arrays;
mod fields;
mod kinds;
mod numbers;
mod positional;
mod upsert;

use document::{ArrayRef, Value, shell};
use evaluation::Context;
use pipeline::edit::Edit;

use super::parse;
use crate::{
    filter,
    shell_text::{document, value},
};

fn context() -> Context {
    Context { now_ms: 1_700_000_000_123, ..Context::default() }
}

fn parsed(update: &str, filters: &str, multi: bool) -> Result<Edit, crate::Error> {
    let update = value(update);
    let filters = (!filters.is_empty()).then(|| value(filters));
    let filters: Option<ArrayRef<'_>> =
        filters.as_ref().and_then(|filters| filters.as_ref().as_array());
    parse(update.as_ref(), filters, multi)
}

fn result(old: &str, filter: &str, update: &str, filters: &str) -> String {
    let edit = match parsed(update, filters, false) {
        Ok(edit) => edit,
        Err(error) => return format!("{} {}", error.code, error.message),
    };
    let old = document(old).to_buf();
    let filter = filter::parse(document(filter).to_buf().as_ref()).unwrap();
    if !filter.matches(old.as_ref(), &context()).unwrap() {
        return format!("= {old:?}");
    }
    match edit.apply(old.as_ref(), Some(&filter), &context()) {
        Ok(outcome) if outcome.changed => format!("{:?}", outcome.document),
        Ok(outcome) => format!("= {:?}", outcome.document),
        Err(error) => format!("{} {}", error.number, error.message),
    }
}

/// Formats an expected document like results.
fn normal(expected: &str) -> String {
    let (mark, text) = match expected.strip_prefix("= ") {
        Some(text) => ("= ", text),
        None => ("", expected),
    };
    if !text.starts_with('{') {
        return expected.to_owned();
    }
    format!("{mark}{}", shell(Value::Document(document(text)).as_ref()))
}

fn check([old, update, expected]: &[&str; 3]) {
    assert_eq!(result(old, "{}", update, ""), normal(expected), "{old} {update}");
}

fn check_filtered([old, filter, update, filters, expected]: &[&str; 5]) {
    let found = result(old, filter, update, filters);
    assert_eq!(found, normal(expected), "{old} {filter} {update} {filters}");
}

fn check_insert([filter, update, expected]: &[&str; 3]) {
    let parsed_filter = filter::parse(document(filter).to_buf().as_ref());
    let found = match (parsed(update, "", false), parsed_filter) {
        (Err(error), _) | (_, Err(error)) => format!("{} {}", error.code, error.message),
        (Ok(edit), Ok(filter)) => match edit.insert(&filter, &context()) {
            Ok(inserted) => format!("{inserted:?}"),
            Err(error) => format!("{} {}", error.number, error.message),
        },
    };
    assert_eq!(found, normal(expected), "{filter} {update}");
}
