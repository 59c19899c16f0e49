//! Opens a change stream: an `aggregate` whose first stage is `$changeStream`.

use std::sync::Arc;

use collation::Collation;
use document::{ArrayRef, DocBuf, ValueRef};
use engine::{Batch, ChangePosition, ChangeScope, Engine, Namespace};

use crate::{
    any_cursor::AnyCursor,
    api::MongoApi,
    call::Call,
    change_stream::{
        ChangeStream, Start, StreamBatch, StreamOptions, Token, lost_or, parse_stages,
        with_resumable_label,
    },
    cursor_description::CursorDescription,
    errors::{
        ChangeStreamFatalError, CommandNotSupported, CommandNotSupportedOnView, Error,
        InvalidOptions, InvalidResumeToken, OperationNotSupportedInTransaction, Result,
    },
    replies::cursor::{batch_limit, finish_batch, open_cursor},
    stored_view::is_view,
};

/// Number of events in a first batch of unlimited size.
const FIRST_EVENTS: usize = 101;

/// Runs an `aggregate` over a change stream, and replies with the first batch.
///
/// Fails with 40573 if no change log may be kept, 115 in a cluster, 166 on a view, 260, 280 or 286
/// if the stream cannot be resumed at the given place, and with the errors of the options and
/// stages.
pub(super) async fn open_stream(
    call: &Call<'_>,
    (namespace, whole_database): (&Namespace, bool),
    pipeline: ArrayRef<'_>,
    spec: ValueRef<'_>,
    collation_and_size: (Option<Arc<Collation>>, Option<u64>),
) -> Result<DocBuf> {
    let options = StreamOptions::parse(spec, namespace, whole_database)?;
    let opened = read_first(call, namespace, (options, pipeline), collation_and_size).await;
    opened.map_err(with_resumable_label)
}

/// Opens a stream with these options and replies with its first batch.
async fn read_first(
    call: &Call<'_>,
    namespace: &Namespace,
    (options, pipeline): (StreamOptions, ArrayRef<'_>),
    (collation, size): (Option<Arc<Collation>>, Option<u64>),
) -> Result<DocBuf> {
    let stages = parse_stages(pipeline, collation.as_deref())?;
    if call.transaction_number().is_some() {
        let message = "$changeStream cannot be used in a transaction";
        return Err(Error::new(OperationNotSupportedInTransaction, message));
    }
    check_read_concern(call)?;
    let settings = &call.api.settings;
    if settings.in_cluster {
        let message = "change streams are not supported on a node of a cluster";
        return Err(Error::new(CommandNotSupported, message));
    }
    if matches!(options.scope, ChangeScope::Collection(_))
        && call.find_collection(namespace).is_some_and(|held| is_view(&held))
    {
        let message = format!("Namespace {namespace} is a view, not a collection");
        return Err(Error::new(CommandNotSupportedOnView, message));
    }
    let engine = &call.api.engine;
    keep_changes(call).await?;
    let (position, skips) = find_start(engine, &options.start).await?;
    let context = call.context_with(collation).await?;
    let resumed = match &options.start {
        Start::Token { token, .. } => Some(token.to_document()),
        Start::Now | Start::Time(_) => None,
    };
    let mut stream = ChangeStream::new(engine, options, stages, (position, skips), context)?;
    resumed.into_iter().for_each(|token| stream.set_token(token));
    let first = match size {
        Some(0) => {
            let token = stream.token().clone();
            StreamBatch { batch: Batch::default(), token, more: true }
        }
        _ => stream.next_batch(batch_limit(size, FIRST_EVENTS, &settings.memory)).await?,
    };
    let StreamBatch { batch, token, .. } = first;
    let id = match batch.done {
        true => 0,
        false => {
            let mut about = CursorDescription::of_stream(call.body);
            about.record_batch(batch.documents.len());
            open_cursor(call, namespace, AnyCursor::Stream(Box::new(stream)), about, false)?
        }
    };
    finish_batch(call, "firstBatch", (batch, Some(&token)), (id, namespace))
}

/// Fails with 72 if the command has another read concern than majority.
fn check_read_concern(call: &Call<'_>) -> Result<()> {
    let concern = call.body.get("readConcern").and_then(ValueRef::as_document);
    match concern.and_then(|concern| concern.get("level")).and_then(ValueRef::as_str) {
        None | Some("majority") => Ok(()),
        Some(level) => {
            let message = format!(
                "Command aggregate does not support {{ readConcern: {{ level: \"{level}\" }} }}: \
                 Aggregation stage $changeStream requires read concern 'majority' but found \
                 '{level}'"
            );
            Err(Error::new(InvalidOptions, message))
        }
    }
}

impl MongoApi {
    /// Records changes for change streams from now on, if the settings permit change streams. The
    /// error is a message for the operator.
    pub async fn keep_changes(&self) -> std::result::Result<(), String> {
        let Some(retention_s) = self.settings.change_retention_s else { return Ok(()) };
        let kept = self.engine.keep_changes(retention_s).await;
        kept.map_err(|error| format!("cannot record changes: {}", error.message))
    }
}

/// Keeps the change log from now on, unless the server keeps none.
pub(super) async fn keep_changes(call: &Call<'_>) -> Result<()> {
    let Some(retention_s) = call.api.settings.change_retention_s else {
        let message = "The $changeStream stage is only supported on replica sets, and on servers \
                       whose --change-retention is not 0";
        return Err(Error::new(40573, message));
    };
    Ok(call.api.engine.keep_changes(retention_s).await?)
}

/// Returns the place in the log at which a stream starts, and the number of the last fragment of the
/// event there that is not returned again.
async fn find_start(engine: &Engine, start: &Start) -> Result<(ChangePosition, Option<u32>)> {
    let (token, after_invalidation) = match start {
        Start::Now => return Ok((ChangePosition::at(engine.cluster_time().next()), None)),
        Start::Time(time) => return Ok((ChangePosition::at(*time), None)),
        Start::Token { token, after_invalidation } => (token, *after_invalidation),
    };
    let event = match token {
        Token::Time(time) => return Ok((ChangePosition::at(*time), None)),
        Token::Event(event) => event,
    };
    if event.invalidates && !after_invalidation {
        let message = "Attempting to resume a change stream using 'resumeAfter' is not allowed \
                       from an invalidate notification.";
        return Err(Error::new(InvalidResumeToken, message));
    }
    let position = event.position();
    if !engine.has_change(&position).await.map_err(lost_or)? {
        let message = format!(
            "cannot resume stream; the resume token was not found. {}",
            document::shell(ValueRef::Document(token.to_document().as_ref()))
        );
        return Err(Error::new(ChangeStreamFatalError, message));
    }
    match event.fragment {
        Some(fragment) => Ok((position, Some(fragment))),
        None => Ok((position.after(), None)),
    }
}
