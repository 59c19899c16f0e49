//! The score of a search (`{$meta: "textScore"}`). It is computed once, into a field that documents
//! have between the first stage and the last one that uses the score; sorts, projections and
//! expressions read that field.
//!
//! ```text
//!  filter {$text: ..}, sort {score: {$meta: "textScore"}}, projection {score: {$meta: "textScore"}}
//!     ──▶ set $textScore    sort by $textScore, descending    score: "$$textScore"    unset $textScore
//! ```

use std::sync::Arc;

use document::ValueRef;
use full_text::TextQuery;
use pipeline::{
    Expr, SCORE_FIELD,
    exec::{Fields, Stage},
    project::{Item, Mode, Node, Projection},
};

use crate::Error;

/// Nesting at which the search for uses of the score ends; no valid request is deeper.
const MAX_DEPTH: usize = 200;

/// Returns the error (40218) of a request that uses the score without a search.
pub fn no_score() -> Error {
    Error::new(40218, "query requires text score metadata, but it is not available")
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
    let _ = fields.set_at(&[SCORE_FIELD], Expr::TextScore(Arc::clone(query)));
    Stage::AddFields(fields)
}

/// Returns the stage that removes the score.
pub fn removal_stage() -> Stage {
    let mut node = Node::default();
    let _ = node.insert(&[SCORE_FIELD], Item::Named);
    Stage::Project(Projection::new(Mode::Exclusion, node, Vec::new()))
}
