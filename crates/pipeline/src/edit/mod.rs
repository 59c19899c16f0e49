//! Edits: what an update does to a document, or what it inserts where there is none.
//!
//! What every edit keeps to, whatever its form: the `_id` stays, the document fits, nothing is
//! written where no bit changed.

mod arithmetic;
mod array;
mod check;
mod expansion;
mod identical;
mod insert;
mod operator;
mod operators;
mod path;
mod place;
#[cfg(test)]
mod tests;

use document::{DocBuf, DocBuilder, DocRef, Document, Value};
use evaluation::{Context, Error, Kind};

use crate::{
    exec::{Stage, edit_with},
    filter::Filter,
};

pub use array::{Pull, Push, PushOrder};
pub use check::{id_type as check_id_type, root_name as check_root_name};
pub use expansion::ElementFilter;
pub use identical::is_identical;
pub use operator::{BitOperator, Operator};
pub use operators::{Operators, PathOperator};
pub use path::{EditPath, EditStep};

/// What an update does.
/// Made by the parser, which has checked what can be known without a document.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Puts another document in place; the `_id` stays.
    Replacement(Document),
    /// Applies operators to fields.
    Operators(Operators),
    /// Computes the new document from the old one.
    Pipeline(Vec<Stage>),
}

/// A document as an edit leaves it, and whether that is to be written.
#[derive(Clone, Debug)]
pub struct EditOutcome {
    /// The document.
    /// The old bytes where nothing changed.
    pub document: DocBuf,
    /// Whether it is to be written: it differs from the old one in any byte, or replaces it.
    pub changed: bool,
}

impl Edit {
    /// Edits a document. `filter` is the one it met, for the positional `$`. Fails when an operator
    /// does not fit the document, when the `_id` would change, or when the result could not be
    /// stored.
    /// The document is always returned, also where it need not be written: a command may have to
    /// return it.
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
                // MongoDB compares the replacement as it came: one without an `_id` never equals.
                outcome.changed |= !whole;
                Ok(outcome)
            }
            Self::Operators(operators) => {
                // The tree is larger than the bytes; its memory is held until the edit is done.
                let _held = context.holding.share_for_tree(old)?;
                let (new, changed) =
                    operators.apply_to(old.to_tree(), false, filter, Some(old), context)?;
                if !changed {
                    return Ok(EditOutcome { document: old.to_buf(), changed: false });
                }
                // Only an edit that changes something is held to the rules: one without effect
                // passes.
                check::check_names(operators.leaf_operators())?;
                check::id_stays(old.get("_id"), &new)?;
                outcome_of(old, new.to_buf())
            }
            Self::Pipeline(stages) => {
                let new = edit_with(stages, old, context)?;
                new.get("_id").map_or(Ok(()), check::id_type)?;
                let (new, moved) = with_id_of(old, new)?;
                let mut outcome = outcome_of(old, new)?;
                // MongoDB compares what the pipeline made before the `_id` is put in front.
                outcome.changed |= moved;
                Ok(outcome)
            }
        }
    }

    /// The document to insert where no document met the filter: what its equalities say, then the
    /// edit. An `_id` stands first; without one the caller has to make it.
    /// Unlike for a document that is there, names at the root are not checked here.
    pub fn insert(&self, filter: &Filter, context: &Context) -> Result<DocBuf, Error> {
        // An expression says nothing that a new document could begin with.
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
                // Operators may set an `_id` where the filter says none, not change one that it
                // says.
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

    /// Whether the edit names this root field: by a replacement that holds it, or by an operator
    /// on it, inside it, from it or to it. What a pipeline sets is not known beforehand and not
    /// counted: compare before and after.
    pub fn touches_root(&self, name: &str) -> bool {
        match self {
            Self::Replacement(new) => new.get(name).is_some(),
            Self::Operators(operators) => operators.touches_root(name),
            Self::Pipeline(_) => false,
        }
    }

    /// Whether it is computed by a pipeline.
    pub fn is_pipeline(&self) -> bool {
        matches!(self, Self::Pipeline(_))
    }

    /// Whether the filter is needed to apply it, for the positional `$`.
    pub fn needs_filter(&self) -> bool {
        matches!(self, Self::Operators(operators) if operators.is_positional())
    }
}

/// The outcome of a new document: checked, and compared with the old one byte by byte.
/// Only bytes tell whether something is to be written: values may be equal and differ in type.
fn outcome_of(old: DocRef<'_>, new: DocBuf) -> Result<EditOutcome, Error> {
    check::check_storable(&new)?;
    let changed = match old {
        DocRef::Raw(bytes) => bytes != new.bytes(),
        DocRef::Tree(tree) => tree.to_buf().bytes() != new.bytes(),
    };
    Ok(EditOutcome { document: new, changed })
}

/// A replacement with the `_id` it has to have in front; another `_id` in the replacement is an
/// error.
/// Equality by order is enough here: the replacement's own form of the `_id` is kept.
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

/// Returns what a pipeline made of a document with the `_id` first, and whether the `_id` had to be
/// put there. The pipeline may leave it out, and may not change it.
/// Without an `_id` in the old document the pipeline may make one.
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
        // A second field of that name stays, and is refused where the document is written.
        if name == "_id" && !std::mem::replace(&mut passed, true) {
            continue;
        }
        builder.append(name, value);
    }
    Ok((builder.finish(), true))
}
