//! Stages that map one row to one row or none: `$match`, `$project`, `$addFields`, `$replaceRoot`,
//! `$redact`. They keep no state, and the same function runs them for updates and when a row is
//! recomputed (`joins`).

use std::sync::Arc;

use document::{DocBuf, DocRef, Value, ValueRef};
use evaluation::{Context, Error, Evaluated, Kind, readable_bytes};

use super::{
    Row, Stage,
    operator::{Operator, Poll, Slot},
    redact,
    size::{checked_size, room_for},
};
use crate::{
    expr::{Env, Expr},
    invalid_request, shown, shown_or_missing,
};

/// A running stage that maps one row to one row or none. It refers to the pipeline and to its
/// position in the pipeline, because a row with joined documents records both, to be recomputed by
/// the same stage.
#[derive(Debug)]
pub(super) struct Each {
    stages: Arc<[Stage]>,
    /// Index of the stage in `stages`.
    at: usize,
    /// The result of the stage for the last row; empty if the row was dropped.
    slot: Slot,
}

impl Each {
    pub(super) fn new(stages: Arc<[Stage]>, at: usize) -> Self {
        Self { stages, at, slot: Slot::default() }
    }
}

impl Operator for Each {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        let Some(stage) = self.stages.get(self.at) else { return Ok(()) };
        self.slot.row = match apply_stage(stage, row.document.as_ref(), context)? {
            // `$match` returns the store's bytes without a copy.
            Change::Same => Some((row.document, row.source)),
            Change::To(document) => Some((document, row.source)),
            Change::Dropped => None,
        }
        .map(|(document, source)| Row {
            document,
            source: source.after_stage(&self.stages, self.at, context),
        });
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(self.slot.poll_slot())
    }
}

/// The result of a stage for one document.
pub(super) enum Change {
    /// The document is unchanged and not copied.
    Same,
    To(DocBuf),
    Dropped,
}

/// Applies a stage to one document. Fails for a stage that is not one of this module's, which is a
/// caller's mistake.
pub(super) fn apply_stage(
    stage: &Stage,
    document: DocRef<'_>,
    context: &Context,
) -> Result<Change, Error> {
    Ok(match stage {
        Stage::Match(filter) if filter.matches(document, context)? => Change::Same,
        Stage::Match(_) => Change::Dropped,
        // The projection already checks the size of its result.
        Stage::Project(projection) => Change::To(projection.apply(document, None, context)?),
        Stage::AddFields(fields) => Change::To(checked_size(fields.apply_to(document, context)?)?),
        Stage::ReplaceRoot { root, called } => {
            Change::To(replaced_root(root, called, document, context)?)
        }
        Stage::Redact(expr) => match redact::redact_document(expr, document, context)? {
            Some(document) => Change::To(document),
            None => Change::Dropped,
        },
        other => {
            let text = format!("{} does not map one document to one document", other.name());
            return Err(Error::new(Kind::Unsupported, 72, text));
        }
    })
}

/// Evaluates the expression of `$replaceRoot`; fails if the result is not a document. `called` is
/// the stage's name in messages, since `$replaceWith` is the same stage.
fn replaced_root(
    root: &Expr,
    called: &str,
    document: DocRef<'_>,
    context: &Context,
) -> Result<DocBuf, Error> {
    let env = Env::new(document, context);
    let got = root.evaluate_borrowed(&env)?;
    match got {
        Evaluated::Ref(ValueRef::Document(fields)) => {
            let _room =
                room_for(readable_bytes(ValueRef::Document(fields)), &context.operation_memory)?;
            checked_size(fields.to_buf())
        }
        Evaluated::Owned(Value::Document(fields)) => {
            let bytes = ValueRef::Document(DocRef::Tree(&fields)).encoded_len();
            let _room = room_for(bytes, &context.operation_memory)?;
            checked_size(fields.to_buf())
        }
        other => {
            let (value, kind) = (shown_or_missing(&other), other.type_name());
            let input = shown(ValueRef::Document(document));
            let text = format!(
                "{called}  must evaluate to an object, but resulting value was: {value}. Type of resulting value: '{kind}'. Input document: {input}"
            );
            Err(invalid_request(40228, text))
        }
    }
}

/// Applies the stages of an update with a pipeline (`$set`, `$unset`, `$project`, `$replaceWith`)
/// to a document, each to the result of the one before.
pub fn edit_with(
    stages: &[Stage],
    document: DocRef<'_>,
    context: &Context,
) -> Result<DocBuf, Error> {
    let mut current = document.to_buf();
    for stage in stages {
        match apply_stage(stage, current.as_ref(), context)? {
            Change::To(changed) => current = changed,
            // None of the stages allowed in updates drops a document.
            Change::Same | Change::Dropped => {}
        }
    }
    Ok(current)
}
