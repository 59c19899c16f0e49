//! Edits: the effect of an update on a document, or the document that an upsert inserts.
//!
//! Every edit keeps the `_id`, produces a storable document, and reports a change only if a bit
//! changed.

mod arithmetic;
mod array;
mod check;
mod difference;
mod expansion;
mod insert;
mod operator;
mod operators;
mod path;
mod target;
#[cfg(test)]
mod tests;

use document::{DocBuf, DocBuilder, DocRef, Document, Value};
use evaluation::{Context, Error, Kind};

use crate::{
    exec::{Stage, edit_with},
    filter::Filter,
};

pub use array::{Pull, Push, PushOrder};
pub use check::is_identical;
pub use check::{id_type as check_id_type, root_name as check_root_name};
pub use difference::update_description;
pub use expansion::ElementFilter;
pub use operator::{BitOperator, Operator};
pub use operators::{Operators, PathOperator};
pub use path::{EditPath, EditStep};

/// The change that an update makes. The parser has made all checks that need no document.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Replaces the document, keeping the `_id`.
    Replacement(Document),
    /// Applies operators to fields, such as `$set`.
    Operators(Operators),
    /// Computes the new document from the old one.
    Pipeline(Vec<Stage>),
}

/// The result of an edit.
#[derive(Clone, Debug)]
pub struct EditOutcome {
    /// The new document; the bytes of the old one if nothing changed.
    pub document: DocBuf,
    /// Whether the document must be written: it differs in any byte, or is a replacement.
    pub changed: bool,
}

impl Edit {
    /// Edits a document. `filter` is the filter it matched, for the positional `$`. Fails if an
    /// operator does not fit the document, if the `_id` would change, or if the result cannot be
    /// stored. The document is returned even if it is unchanged, since some commands return it.
    pub fn apply(
        &self,
        old: DocRef<'_>,
        filter: Option<&Filter>,
        context: &Context,
    ) -> Result<EditOutcome, Error> {
        match self {
            Self::Replacement(new) => {
                let whole = new.get("_id").is_some();
                if let Some(id) = new.get("_id") {
                    check::id_type(id.as_ref())?;
                    check::id_storable(id)?;
                }
                let new = replaced(new, old.get("_id").map(|id| id.to_value()))?;
                let mut outcome = outcome_of(old, new.to_buf())?;
                // MongoDB compares the replacement as received, so one without an `_id` always
                // counts as a change.
                outcome.changed |= !whole;
                Ok(outcome)
            }
            Self::Operators(operators) => {
                // The tree is larger than the bytes; its memory is reserved until the edit is done.
                let _held = context.operation_memory.share_for_tree(old)?;
                let (new, changed) =
                    operators.apply_to(old.to_tree(), false, filter, Some(old), context)?;
                if !changed {
                    return Ok(EditOutcome { document: old.to_buf(), changed: false });
                }
                // Field names and the `_id` are checked only if the edit changes something.
                check::check_names(operators.leaf_operators())?;
                check::id_stays(old.get("_id"), &new)?;
                outcome_of(old, new.to_buf())
            }
            Self::Pipeline(stages) => {
                let new = edit_with(stages, old, context)?;
                new.get("_id").map_or(Ok(()), check::id_type)?;
                let (new, moved) = with_id_of(old, new)?;
                let mut outcome = outcome_of(old, new)?;
                // MongoDB compares the result of the pipeline before the `_id` is moved to the
                // front.
                outcome.changed |= moved;
                Ok(outcome)
            }
        }
    }

    /// Returns the document that an upsert inserts: the equalities of the filter, then the edit. An
    /// `_id` comes first; without one the caller has to generate it. Unlike for an existing
    /// document, names of root fields are not checked.
    pub fn insert(&self, filter: &Filter, context: &Context) -> Result<DocBuf, Error> {
        // The new document is derived from the equalities of the filter, and an expression has
        // none.
        if filter.has_expression() {
            let text = "$expr is not allowed in the query predicate for an upsert";
            return Err(Error::new(Kind::Invalid, 224, text));
        }
        let document = match self {
            Self::Replacement(new) => {
                let id = insert::id_of(filter)?;
                check::new_id_is_no_array(new.get("_id").or(id.as_ref()).map(Value::as_ref))?;
                replaced(new, id)?.to_buf()
            }
            Self::Operators(operators) => {
                let start = insert::from_equalities(filter, context)?;
                // Operators may set the `_id` unless the filter contains it.
                let id = start.get("_id").cloned();
                let (new, _) = operators.apply_to(start, true, None, None, context)?;
                if id.is_some() {
                    check::id_stays(id.as_ref().map(Value::as_ref), &new)?;
                }
                insert::id_first(new).to_buf()
            }
            Self::Pipeline(stages) => {
                let start = insert::from_equalities(filter, context)?.to_buf();
                let new = edit_with(stages, start.as_ref(), context)?;
                check::new_id_is_no_array(new.get("_id").or_else(|| start.get("_id")))?;
                with_id_of(start.as_ref(), new)?.0
            }
        };
        if let Some(id) = document.get("_id") {
            check::id_storable(&id.to_value())?;
        }
        check::check_storable(&document)?;
        Ok(document)
    }

    /// Returns whether the edit names this root field: a replacement that contains it, or an
    /// operator on it, inside it, or that renames it. Fields set by a pipeline are unknown
    /// beforehand and not reported.
    pub fn touches_root(&self, name: &str) -> bool {
        match self {
            Self::Replacement(new) => new.get(name).is_some(),
            Self::Operators(operators) => operators.touches_root(name),
            Self::Pipeline(_) => false,
        }
    }

    /// Returns whether a pipeline computes the document.
    pub fn is_pipeline(&self) -> bool {
        matches!(self, Self::Pipeline(_))
    }

    /// Returns whether the edit needs the query's filter, for a positional `$`.
    pub fn needs_filter(&self) -> bool {
        matches!(self, Self::Operators(operators) if operators.is_positional())
    }
}

/// Checks a new document and compares it with the old one byte by byte, since equal values may
/// differ in type.
fn outcome_of(old: DocRef<'_>, new: DocBuf) -> Result<EditOutcome, Error> {
    check::check_storable(&new)?;
    let changed = match old {
        DocRef::Raw(bytes) => bytes != new.bytes(),
        DocRef::Tree(tree) => tree.to_buf().bytes() != new.bytes(),
    };
    Ok(EditOutcome { document: new, changed })
}

/// Returns a replacement with the `_id` in front. Another `_id` in the replacement is an error; an
/// equal one keeps the replacement's representation.
fn replaced(new: &Document, id: Option<Value>) -> Result<Document, Error> {
    let mut new = new.clone();
    if let Some(id) = id {
        match new.remove("_id") {
            Some(other) if other != id => {
                return Err(check::id_altered(&other));
            }
            Some(same) => new.insert_at(0, "_id", same),
            None => new.insert_at(0, "_id", id),
        }
        return Ok(new);
    }
    Ok(insert::id_first(new))
}

/// Returns the result of a pipeline with the `_id` first, and whether the `_id` had to be moved or
/// added. The pipeline may omit the `_id` but not change it. If the old document has none, the
/// pipeline may create one.
fn with_id_of(old: DocRef<'_>, new: DocBuf) -> Result<(DocBuf, bool), Error> {
    let id = match (old.get("_id"), new.get("_id")) {
        (Some(id), Some(held)) if document::compare(held, id).is_ne() => {
            return Err(check::id_altered(&held.to_value()));
        }
        (_, Some(_)) if new.as_ref().iter().next().is_some_and(|(name, _)| name == "_id") => {
            return Ok((new, false));
        }
        (_, Some(held)) => held,
        (Some(id), None) => id,
        (None, None) => return Ok((new, false)),
    };
    let mut builder = DocBuilder::new();
    builder.append("_id", id);
    let mut passed = new.get("_id").is_none();
    for (name, value) in new.as_ref().iter() {
        // A second field of that name is kept, and refused when the document is written.
        if name == "_id" && !std::mem::replace(&mut passed, true) {
            continue;
        }
        builder.append(name, value);
    }
    Ok((builder.finish(), true))
}
