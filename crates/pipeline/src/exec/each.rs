//! Stages that look at one row at a time and return it changed, unchanged or not at all: `$match`,
//! `$project`, `$addFields`, `$replaceRoot`, `$redact`. They hold nothing, and the same function
//! runs them for updates and when a row is made again (`joins`).

use std::sync::Arc;

use document::{DocBuf, DocRef, Value, ValueRef};
use evaluation::{Context, Error, Evaluated, Kind, readable_bytes};

use super::{
    Row, Stage,
    operator::{Operator, Poll},
    redact,
    size::{checked_size, room_for},
    slot::Slot,
};
use crate::{
    expr::{Env, Expr},
    failure::invalid_request,
    shown::{shown, shown_or_missing},
};

/// A stage of that sort, running.
/// It has the pipeline and a place instead of the stage itself, since a row that a join touched
/// notes both, to be made again by the same stage.
#[derive(Debug)]
pub(super) struct Each {
    /// The whole pipeline, of which this is one stage.
    stages: Arc<[Stage]>,
    /// Which stage of it.
    at: usize,
    /// The row that the stage made of the last one.
    /// Empty where the row was dropped, so that the next one is asked for.
    slot: Slot,
}

impl Each {
    /// The stage at this place of a pipeline.
    pub(super) fn new(stages: Arc<[Stage]>, at: usize) -> Self {
        Self { stages, at, slot: Slot::default() }
    }
}

impl Operator for Each {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        let Some(stage) = self.stages.get(self.at) else { return Ok(()) };
        self.slot.row = match apply_stage(stage, row.document.as_ref(), context)? {
            // A filter keeps the bytes of the store, without a copy.
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

/// What becomes of a document.
pub(super) enum Change {
    /// It stays as it is, and its bytes are not copied.
    Same,
    /// It becomes this one.
    To(DocBuf),
    /// It goes no further.
    Dropped,
}

/// What a stage makes of one document.
/// Fails for a stage that is not of this sort, which is a mistake of the caller.
pub(super) fn apply_stage(
    stage: &Stage,
    document: DocRef<'_>,
    context: &Context,
) -> Result<Change, Error> {
    Ok(match stage {
        Stage::Match(filter) if filter.matches(document, context)? => Change::Same,
        Stage::Match(_) => Change::Dropped,
        // Its size is checked by the projection itself.
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
            let text = format!("{} does not keep one document one document", other.name());
            return Err(Error::new(Kind::Unsupported, 72, text));
        }
    })
}

/// The document that an expression gives in place of the row (`$replaceRoot`); anything but a
/// document is an error that shows both.
/// `called` is the stage's name in messages: `$replaceRoot` and `$replaceWith` are one stage.
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
            let _room = room_for(readable_bytes(ValueRef::Document(fields)), &context.holding)?;
            checked_size(fields.to_buf())
        }
        Evaluated::Own(Value::Document(fields)) => {
            let bytes = ValueRef::Document(DocRef::Tree(&fields)).encoded_len();
            let _room = room_for(bytes, &context.holding)?;
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

/// Runs stages that keep one document one document (`$set`, `$unset`, `$project`, `$replaceWith`):
/// what updates with a pipeline use.
/// Stages see the document as the stage before left it.
pub fn edit_with(
    stages: &[Stage],
    document: DocRef<'_>,
    context: &Context,
) -> Result<DocBuf, Error> {
    let mut current = document.to_buf();
    for stage in stages {
        match apply_stage(stage, current.as_ref(), context)? {
            Change::To(changed) => current = changed,
            // No stage that updates may use drops its document.
            Change::Same | Change::Dropped => {}
        }
    }
    Ok(current)
}
