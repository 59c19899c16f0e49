//! The stages after `$changeStream`: which are allowed, and running them over one event.

use std::sync::Arc;

use collation::Collation;
use document::{ArrayRef, DocBuf, Value, ValueRef};
use evaluation::Context;
use pipeline::exec::{Exec, Next, Row, Stage};

use super::split::SPLIT_STAGE;
use crate::errors::{BadValue, ChangeStreamFatalError, Error, IllegalOperation, Result};

/// Stages that may follow `$changeStream`, besides [`SPLIT_STAGE`] as the last one.
const ALLOWED: &[&str] = &[
    "$addFields",
    "$match",
    "$project",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$set",
    "$unset",
];

/// Parses the stages after the first one. Also returns whether large events are split.
///
/// Fails with 20 if a stage may not follow `$changeStream`, and with the errors of the stages.
pub(crate) fn parse_stages(
    pipeline: ArrayRef<'_>,
    collation: Option<&Collation>,
) -> Result<(Vec<Stage>, bool)> {
    let mut rest: Vec<Value> = pipeline.iter().skip(1).map(ValueRef::to_value).collect();
    mongo_query::pipeline::check_stages(ArrayRef::Tree(&rest))?;
    let name = |stage: &Value| {
        let stage = stage.as_ref().as_document();
        stage.and_then(|it| it.iter().next().map(|(name, _)| name.to_owned())).unwrap_or_default()
    };
    let splits = rest.last().is_some_and(|last| name(last) == SPLIT_STAGE);
    if splits && let Some(last) = rest.pop() {
        let is_empty = last.as_ref().as_document().and_then(|stage| stage.get(SPLIT_STAGE));
        if !is_empty.and_then(ValueRef::as_document).is_some_and(|spec| spec.is_empty()) {
            let message = format!("{SPLIT_STAGE} spec should be an empty object");
            return Err(Error::new(BadValue, message));
        }
    }
    for stage in &rest {
        let name = name(stage);
        if name == SPLIT_STAGE {
            let message = format!("{SPLIT_STAGE} must be the last stage in the pipeline");
            return Err(Error::new(IllegalOperation, message));
        }
        if name == "$changeStream" {
            let message = "$changeStream is only valid as the first stage in a pipeline.";
            return Err(Error::new(40602, message));
        }
        if !ALLOWED.contains(&&*name) {
            let message = format!("{name} is not permitted in a $changeStream pipeline");
            return Err(Error::new(IllegalOperation, message));
        }
    }
    let stages = mongo_query::pipeline::parse_collated(ArrayRef::Tree(&rest), collation)?;
    Ok((stages, splits))
}

/// The running stages of a stream. Each treats one event at a time.
pub(super) struct EventStages {
    exec: Option<Exec>,
    context: Arc<Context>,
}

impl EventStages {
    pub(super) fn new(stages: Vec<Stage>, context: &Arc<Context>) -> Self {
        let exec = (!stages.is_empty()).then(|| Exec::new(stages, Arc::clone(context)));
        Self { exec, context: Arc::clone(context) }
    }

    /// Runs the stages over an event; `None` if they drop it.
    ///
    /// Fails with 280 if they change the token of the event.
    pub(super) async fn run(&mut self, event: DocBuf, token: &DocBuf) -> Result<Option<DocBuf>> {
        let Some(exec) = &mut self.exec else { return Ok(Some(event)) };
        exec.offer_row(Row::not_stored(event))?;
        let mut found = None;
        loop {
            match exec.next()? {
                Next::Row(row) => found = Some(row.document),
                Next::Pause => {
                    self.context.budget.check()?;
                    engine::yield_now().await;
                }
                Next::NeedInput | Next::Done | Next::Want(_) => break,
            }
        }
        let Some(found) = found else { return Ok(None) };
        let kept = found.get("_id").and_then(ValueRef::as_document);
        if kept.is_some_and(|kept| kept.to_buf().bytes() == token.bytes()) {
            return Ok(Some(found));
        }
        let message = format!(
            "Encountered an event whose _id field, which contains the resume token, was modified \
             by the pipeline. Modifying the _id field of an event makes it impossible to resume \
             the stream from that point. Only transformations that retain the unmodified _id field \
             are allowed. Expected: {{ _id: {} }}",
            document::shell(ValueRef::Document(token.as_ref()))
        );
        Err(Error::new(ChangeStreamFatalError, message))
    }
}
