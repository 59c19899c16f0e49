//! The score of a search (`{$meta: "textScore"}`). It is computed once, into a field that documents
//! have between the first stage and the last one that uses the score; sorts, projections and
//! expressions read that field.
//!
//! ```text
//!  filter {$text: ..}, sort {score: {$meta: "textScore"}}, projection {score: {$meta: "textScore"}}
//!     ──▶ set $textScore    sort by $textScore, descending    score: "$$textScore"    unset $textScore
//! ```

use std::{cell::Cell, sync::Arc};

use document::{Path, ValueRef};
use full_text::TextQuery;
use pipeline::{
    Expr,
    exec::{Fields, Stage},
    project::{Item, Mode, Node, Projection},
};

use crate::Error;

/// Name of the field. A path in a request cannot begin with a dollar.
const FIELD: &str = "$textScore";
/// Nesting at which the search for uses of the score ends; no valid request is deeper.
const MAX_DEPTH: usize = 200;

thread_local! {
    /// Whether documents of the request that is being parsed have a score.
    static AVAILABLE: Cell<bool> = const { Cell::new(false) };
}

/// Parses a part of a request whose documents have a score, or not.
pub fn with_score<T>(available: bool, parse: impl FnOnce() -> T) -> T {
    let before = AVAILABLE.replace(available);
    let parsed = parse();
    AVAILABLE.set(before);
    parsed
}

/// Returns the path of the score. Fails with 40218 if documents have none.
pub(crate) fn score_path() -> Result<Path, Error> {
    if !AVAILABLE.get() {
        let text = "query requires text score metadata, but it is not available";
        return Err(Error::new(40218, text));
    }
    Ok(Path::new(FIELD))
}

/// Returns whether a value is `{$meta: "textScore"}`.
pub fn is_score(value: ValueRef<'_>) -> bool {
    value.as_document().is_some_and(|meta| {
        meta.len() == 1 && meta.get("$meta").and_then(ValueRef::as_str) == Some("textScore")
    })
}

/// Returns whether a part of a request uses the score.
pub fn uses_score(value: ValueRef<'_>) -> bool {
    any_value(value, 0, &is_score)
}

/// Returns whether a part of a request uses a whole document, which would contain the field of the
/// score.
pub fn uses_whole_document(value: ValueRef<'_>) -> bool {
    any_value(value, 0, &|value| matches!(value.as_str(), Some("$$ROOT" | "$$CURRENT")))
}

fn any_value(value: ValueRef<'_>, depth: usize, wanted: &dyn Fn(ValueRef<'_>) -> bool) -> bool {
    if wanted(value) {
        return true;
    }
    if MAX_DEPTH < depth {
        return false;
    }
    match value {
        ValueRef::Document(fields) => {
            fields.iter().any(|(_, value)| any_value(value, depth + 1, wanted))
        }
        ValueRef::Array(values) => values.iter().any(|value| any_value(value, depth + 1, wanted)),
        _ => false,
    }
}

/// Returns the stage that computes the score of stored documents.
pub fn score_stage(query: &Arc<TextQuery>) -> Stage {
    let mut fields = Fields::new();
    // An empty set of fields has no conflict.
    let _ = fields.set_at(&[FIELD], Expr::TextScore(Arc::clone(query)));
    Stage::AddFields(fields)
}

/// Returns the stage that removes the score.
pub fn removal_stage() -> Stage {
    let mut node = Node::default();
    let _ = node.insert(&[FIELD], Item::Named);
    Stage::Project(Projection::new(Mode::Exclusion, node, Vec::new()))
}
