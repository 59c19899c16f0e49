//! Array filters (`arrayFilters`): conditions on array elements, to which paths refer as `$[x]`.
//!
//! ```text
//! update: {$set: {"grades.$[g].mean": 100}}    arrayFilters: [{"g.grade": {$gte: 85}}]
//! ```
//!
//! A filter has one identifier, which is the first part of all its paths.

use std::collections::HashSet;

use document::{ArrayRef, DocRef};
use pipeline::edit::ElementFilter;

use crate::{Error, filter};

/// Parses the filters, which must have distinct identifiers.
///
/// Fails with 14 if a filter is not a document, and with 9 if two filters have the same identifier.
pub(super) fn parse_filters(filters: Option<ArrayRef<'_>>) -> Result<Vec<ElementFilter>, Error> {
    let mut parsed: Vec<ElementFilter> = Vec::new();
    let mut names = HashSet::new();
    let Some(filters) = filters else { return Ok(parsed) };
    for (at, value) in filters.iter().enumerate() {
        let Some(document) = value.as_document() else {
            return Err(Error::type_mismatch(format!(
                "BSON field 'update.updates.arrayFilters.{at}' is the wrong type '{}', expected \
                 type 'object'",
                value.kind().name()
            )));
        };
        let filter = parse_filter(document)?;
        if !names.insert(filter.name.clone()) {
            return Err(Error::failed_to_parse(format!(
                "Found multiple array filters with the same top-level field name {}",
                filter.name
            )));
        }
        parsed.push(filter);
    }
    Ok(parsed)
}

/// Parses one filter and its identifier, which is a lower-case letter followed by letters and
/// digits.
///
/// Fails with 9 if the filter has no identifier or two of them, 2 if the identifier is invalid, and
/// with the errors of the condition. Except for a missing identifier, the error text starts with
/// "Error parsing array filter".
fn parse_filter(document: DocRef<'_>) -> Result<ElementFilter, Error> {
    let caused = |error: Error| {
        let text = format!("Error parsing array filter :: caused by :: {}", error.message);
        Error::new(error.code, text)
    };
    let filter = filter::parse_part(document).map_err(caused)?;
    let (mut name, mut other): (Option<&str>, Option<&str>) = (None, None);
    // The identifier is the first part of the first path; all other paths must start with it.
    filter.visit_paths(&mut |path| match name {
        None => name = Some(path.first()),
        Some(name) if name != path.first() => other = other.or(Some(path.first())),
        Some(_) => {}
    });
    let Some(name) = name else {
        return Err(Error::failed_to_parse(
            "Cannot use an expression without a top-level field name in arrayFilters",
        ));
    };
    if let Some(other) = other {
        return Err(caused(Error::failed_to_parse(format!(
            "Expected a single top-level field name, found '{name}' and '{other}'"
        ))));
    }
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric());
    if !plain {
        return Err(caused(Error::bad_value(format!(
            "The top-level field name must be an alphanumeric string beginning with a lowercase \
             letter, found '{name}'"
        ))));
    }
    let name = name.to_owned();
    Ok(ElementFilter { name, filter })
}
