//! Replies with a cursor: the first batch, further batches, and cursors that stay open. A batch
//! ends at a number of documents or at the size of one document, whichever comes first, so that a
//! reply always fits into a message.
//!
//! ```text
//! {cursor: {firstBatch | nextBatch: [document, ..], id: long, ns: "db.c"}, ok: 1}
//! ```
//!
//! The id is 0 when the cursor is closed. Drivers read these names and no others.

use std::sync::Arc;

use bytes::Bytes;
use document::{DocBuf, DocBuilder, DocRef, Document, Value, ValueRef};
use engine::{Batch, BatchLimit, Cursor, Namespace, Plan, Store};
use evaluation::Context;
use memory::Account;
use pipeline::{Expr, Filter, exec::Stage};

use super::finish_reply;
use crate::{
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

/// What a client wants of the first batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstBatch {
    /// Documents it wants; `None`: as many as the server thinks fit. 0 opens the cursor and reads
    /// nothing.
    pub(crate) size: Option<u64>,
    /// No cursor stays open.
    pub(crate) single: bool,
    /// The cursor may be idle without end.
    pub(crate) keep: bool,
}

/// How much a batch may hold that is not the last: what the client wants, or `otherwise` documents,
/// and no more of the memory for operations than lets many read at once. The client asks for the rest
/// with another batch.
pub(crate) fn batch_limit(size: Option<u64>, otherwise: usize, memory: &Account) -> BatchLimit {
    let documents = size.map_or(otherwise, |size| usize::try_from(size).unwrap_or(usize::MAX));
    BatchLimit { documents, bytes: BATCH_BYTES.min(memory.answer_bytes()) }
}

/// The same of a cursor's first batch. The only one holds whatever fits into a reply, since what it
/// leaves is lost.
fn first_limit(wanted: &FirstBatch, memory: &Account) -> BatchLimit {
    let limit = batch_limit(wanted.size, FIRST_BATCH, memory);
    if wanted.single { BatchLimit { bytes: BATCH_BYTES, ..limit } } else { limit }
}

/// Reads a cursor's first batch and replies with it. What is left stays open as a cursor of this
/// call's session and connection, with its operation.
pub(crate) async fn reply_with_cursor<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    mut cursor: Cursor<S>,
    wanted: FirstBatch,
) -> Result<DocBuf> {
    if asks_for_order(call.body) && !cursor.explain().sorted {
        Counters::add(&call.connection.counters.sorts, 1);
    }
    let batch = match wanted.size {
        // Nothing is run yet, but what is wrong with it has been said.
        Some(0) if !wanted.single => Batch::default(),
        _ => cursor.next_batch(first_limit(&wanted, &call.door.settings.memory)).await?,
    };
    let id = if batch.done || wanted.single {
        0
    } else {
        let mut about = CursorDescription::new(call.body, &cursor.explain());
        about.note_batch(batch.documents.len());
        // The message goes, and what it was parsed into stays.
        cursor.keep_memory(parsed_command::parsed_bytes(call.message, &call.door.commands))?;
        let opened = NewCursor {
            cursor,
            keep: wanted.keep,
            session: session::session_id(call.body),
            connection: call.connection.id,
            owner: call.connection.sender(),
            about,
        };
        call.door.cursors.open(namespace.clone(), opened, &call.operation)?
    };
    // The client that would get the cursor's id has gone, or has ended the operation.
    if let Err(stopped) = call.operation.check_stopped() {
        call.door.cursors.close(id);
        return Err(stopped.into());
    }
    let returned = batch.documents.len() as u64;
    Counters::add(&call.connection.counters.returned, returned);
    let reply = batch_reply("firstBatch", &batch.documents, id, namespace);
    call.connection.hold_reply_memory(batch.held);
    Ok(reply)
}

/// Whether a query asks for an order: by `sort`, or by a stage of its pipeline.
fn asks_for_order(query: DocRef<'_>) -> bool {
    let sort = query.get("sort").and_then(ValueRef::as_document);
    let stages = query.get("pipeline").and_then(ValueRef::as_array);
    let sorts =
        |stage: ValueRef<'_>| stage.as_document().is_some_and(|stage| stage.get("$sort").is_some());
    sort.is_some_and(|sort| !sort.is_empty()) || stages.is_some_and(|it| it.iter().any(sorts))
}

/// A reply with a batch: `name` is `firstBatch` or `nextBatch`, `id` is 0 where the cursor is
/// closed. Stored documents are copied once, from where they are into the reply.
pub(crate) fn batch_reply(
    name: &str,
    documents: &[Bytes],
    id: i64,
    namespace: &Namespace,
) -> DocBuf {
    // Room for all of it at once: a batch is copied once and never moved.
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
    });
    finish_reply(builder)
}

/// A reply with documents that are known: at once, or a first batch and a cursor with the others,
/// which is made of a query over these documents.
pub(crate) async fn reply_with_list<S: Store>(
    call: &Call<'_, S>,
    documents: Vec<Document>,
    namespace: &Namespace,
    size: Option<u64>,
) -> Result<DocBuf> {
    if size.is_none() {
        let documents = documents.iter().map(|document| document.to_buf().into_bytes());
        return Ok(batch_reply("firstBatch", &documents.collect::<Vec<Bytes>>(), 0, namespace));
    }
    let documents = Value::Array(documents.into_iter().map(Value::Document).collect());
    let stages = vec![Stage::Documents(Expr::Literal(documents))];
    // No document of the collection is looked at.
    let plan = Plan::new(Filter::Never).with_stages(stages);
    let context = Arc::new(Context::default());
    let cursor = begin_query(call, namespace, plan, context)?;
    reply_with_cursor(call, namespace, cursor, FirstBatch { size, single: false, keep: false })
        .await
}
