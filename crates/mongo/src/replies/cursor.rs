//! Replies with a cursor: the first batch, further batches, and cursors that stay open. A batch is
//! limited by a number of documents and by the size of one document, so that a reply always fits
//! into a message.
//!
//! ```text
//! {cursor: {firstBatch | nextBatch: [document, ..], id: long, ns: "db.c", atClusterTime: T}, ok: 1}
//! ```
//!
//! The id is 0 if the cursor is closed. Drivers depend on these names.

use std::sync::Arc;

use bytes::Bytes;
use document::{DocBuf, DocBuilder, DocRef, Document, Value, ValueRef};
use engine::{Batch, BatchLimit, ClusterTime, Cursor, Namespace, Plan};
use evaluation::Context;
use memory::Account;
use pipeline::{Expr, Filter, exec::Stage};

use super::finish_reply;
use crate::{
    any_cursor::AnyCursor,
    call::Call,
    counters::Counters,
    cursor_description::CursorDescription,
    cursors::NewCursor,
    errors::Result,
    limits::{BATCH_BYTES, FIRST_BATCH},
    parsed_command,
    query::begin_query,
    session,
};

/// The client's options for the first batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstBatch {
    /// Maximum number of documents; `None` means the default, 0 opens the cursor without reading.
    pub(crate) size: Option<u64>,
    /// Whether to close the cursor after the first batch (`singleBatch`).
    pub(crate) single: bool,
    /// Whether the cursor is exempt from the idle timeout.
    pub(crate) keep: bool,
    /// Whether the plan of the cursor contains a sort.
    pub(crate) sorts: bool,
}

/// Returns the limits of a batch: the number of documents that the client requests, or `otherwise`,
/// and a size. The size is a share of the operations' memory, so that many clients can read at
/// once; the client gets the rest with `getMore`.
pub(crate) fn batch_limit(size: Option<u64>, otherwise: usize, memory: &Account) -> BatchLimit {
    let documents = size.map_or(otherwise, |size| usize::try_from(size).unwrap_or(usize::MAX));
    BatchLimit { documents, bytes: BATCH_BYTES.min(memory.answer_bytes()) }
}

/// Returns the limits of the first batch. If the client wants a single batch, it may fill a whole
/// reply, since the client cannot get the rest.
fn first_limit(wanted: &FirstBatch, memory: &Account) -> BatchLimit {
    let limit = batch_limit(wanted.size, FIRST_BATCH, memory);
    if wanted.single { BatchLimit { bytes: BATCH_BYTES, ..limit } } else { limit }
}

/// Reads a cursor's first batch and replies with it. An unfinished cursor stays open, with this
/// call's session, connection and operation.
pub(crate) async fn reply_with_cursor(
    call: &Call<'_>,
    namespace: &Namespace,
    mut cursor: Cursor,
    wanted: FirstBatch,
) -> Result<DocBuf> {
    if wanted.sorts && !cursor.explain().sorted {
        Counters::add(&call.connection.counters.sorts, 1);
    }
    let batch = match wanted.size {
        // The query does not run yet; its errors were already reported by the planning.
        Some(0) if !wanted.single => Batch::default(),
        _ => cursor.next_batch(first_limit(&wanted, &call.api.settings.memory)).await?,
    };
    let id = if batch.done || wanted.single {
        0
    } else {
        let mut about = CursorDescription::new(call.body, &cursor.explain());
        about.record_batch(batch.documents.len());
        open_cursor(call, namespace, AnyCursor::Query(Box::new(cursor)), about, wanted.keep)?
    };
    finish_batch(call, "firstBatch", (batch, None), (id, namespace))
}

/// Opens a cursor with this call's session, connection and operation. Returns its id.
pub(crate) fn open_cursor(
    call: &Call<'_>,
    namespace: &Namespace,
    cursor: AnyCursor,
    about: CursorDescription,
    keep: bool,
) -> Result<i64> {
    if about.follows() {
        // The time limit of the command is for its first batch only.
        call.operation.end_at(None);
    }
    // The message is freed; the values parsed from it stay in the cursor.
    cursor.keep_memory(parsed_command::parsed_bytes(call.message, &call.api.commands))?;
    let opened = NewCursor {
        cursor,
        keep,
        session: session::session_id(call.body),
        transaction: call.transaction_number(),
        snapshot: call.snapshot_time(),
        connection: call.connection.id,
        owner: call.connection.sender(),
        about,
    };
    call.api.cursors.open(namespace.clone(), opened, &call.operation)
}

/// Replies with the first batch of a cursor that is open, unless its id is 0.
pub(crate) fn finish_batch(
    call: &Call<'_>,
    name: &str,
    (batch, token): (Batch, Option<&DocBuf>),
    (id, namespace): (i64, &Namespace),
) -> Result<DocBuf> {
    // The client has disconnected or the operation was cancelled, so the cursor would stay unused.
    if let Err(stopped) = call.operation.check_stopped() {
        call.api.cursors.close(id);
        return Err(stopped.into());
    }
    let returned = batch.documents.len() as u64;
    Counters::add(&call.connection.counters.returned, returned);
    let place = BatchPlace { token, snapshot: call.snapshot_time() };
    let reply = batch_reply(name, &batch.documents, (id, namespace), place);
    call.connection.hold_reply_memory(batch.held);
    Ok(reply)
}

/// Position and time of a batch, with which clients resume.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BatchPlace<'a> {
    /// The place of a change stream after the batch.
    pub(crate) token: Option<&'a DocBuf>,
    /// Time of the snapshot that a query reads.
    pub(crate) snapshot: Option<ClusterTime>,
}

/// Returns a reply with a batch: `name` is `firstBatch` or `nextBatch`, and `id` is 0 for a closed
/// cursor. Stored documents are copied once, directly into the reply.
pub(crate) fn batch_reply(
    name: &str,
    documents: &[Bytes],
    (id, namespace): (i64, &Namespace),
    place: BatchPlace<'_>,
) -> DocBuf {
    // Allocated at once, so that the batch is never moved.
    let bytes: usize = documents.iter().map(|document| document.len() + 8).sum();
    let mut builder = DocBuilder::with_buffer(Vec::with_capacity(bytes + 128));
    builder.document("cursor", |cursor| {
        cursor.array(name, |batch| {
            for document in documents {
                batch.push(ValueRef::Document(DocRef::Raw(document)));
            }
        });
        cursor.append("id", ValueRef::Int64(id));
        cursor.append("ns", ValueRef::String(&namespace.to_string()));
        if let Some(token) = place.token {
            cursor.append("postBatchResumeToken", ValueRef::Document(token.as_ref()));
        }
        if let Some(time) = place.snapshot {
            cursor.append("atClusterTime", ValueRef::Timestamp(time.timestamp()));
        }
    });
    finish_reply(builder)
}

/// Replies with a list of documents: all at once, or as a first batch and a cursor over the rest.
pub(crate) async fn reply_with_list(
    call: &Call<'_>,
    documents: Vec<Document>,
    namespace: &Namespace,
    size: Option<u64>,
) -> Result<DocBuf> {
    if size.is_none() {
        let documents = documents.iter().map(|document| document.to_buf().into_bytes());
        let documents: Vec<Bytes> = documents.collect();
        return Ok(batch_reply("firstBatch", &documents, (0, namespace), BatchPlace::default()));
    }
    let documents = Value::Array(documents.into_iter().map(Value::Document).collect());
    let stages = vec![Stage::Documents(Expr::Literal(documents))];
    // The filter excludes all documents of the collection.
    let plan = Plan::new(Filter::Never).with_stages(stages);
    let context = Arc::new(Context::default());
    let cursor = begin_query(call, namespace, call.find_collection(namespace), plan, context)?;
    let wanted = FirstBatch { size, single: false, keep: false, sorts: false };
    reply_with_cursor(call, namespace, cursor, wanted).await
}
