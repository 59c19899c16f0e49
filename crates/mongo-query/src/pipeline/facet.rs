//! `$facet`: several pipelines over the same rows. The result is one document with an array for
//! each of them.
//!
//! ```text
//! {$facet: {cheap: [{$match: {price: {$lt: 10}}}], count: [{$count: "n"}]}}
//! ```

use document::{ValueRef, shell};
use pipeline::exec::Stage;

use super::{EnclosingStage, Scope, parse_stages};
use crate::{Error, field_path::check_field_name};

/// Parses `$facet`: at least one field name with a pipeline.
///
/// Fails with 40169 if the value is not an object or is empty, 15998, 16410 or 16412 if a name is
/// invalid, and 40170 if a value is not a pipeline.
pub(super) fn parse_facet(
    _: &str,
    value: ValueRef<'_>,
    scope: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let fields = value.as_document().filter(|fields| !fields.is_empty());
    let Some(fields) = fields else {
        let text = "the $facet specification must be a non-empty object, but found: $facet:";
        return Err(Error::new(40169, format!("{text} {}", shell(value))));
    };
    let mut facets = Vec::new();
    for (name, value) in fields.iter() {
        check_field_name(name)?;
        let ValueRef::Array(pipeline) = value else {
            let kind = value.kind().name();
            let text = format!("arguments to $facet must be arrays, {name} is type {kind}");
            return Err(Error::new(40170, text));
        };
        let inner = parse_stages(pipeline, scope.nested_in(EnclosingStage::Facet)?)?;
        facets.push((name.to_owned(), inner.into()));
    }
    Ok(vec![Stage::Facet(facets)])
}
