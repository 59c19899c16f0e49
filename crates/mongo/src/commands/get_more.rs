//! `getMore`: the next batch of a cursor, read at its own instant: documents that have expired
//! since the last batch are not in it.
//!
//! ```text
//! {getMore: long, collection: "c", batchSize: n}
//! => {cursor: {nextBatch: [..], id: long | 0, ns: "db.c"}, ok: 1}
//! ```
//!
//! An id of 0 means that the cursor is exhausted. A `batchSize` of 0 means no limit. At the end of a
//! capped collection a cursor with `awaitData` waits for documents, and a change stream for events:
//! up to `maxTimeMS`, or a second.

use std::{sync::Arc, time::Duration};

use document::{DocBuf, ValueRef};

use super::fail_point;
use crate::{
    arguments::Args,
    authorize::check_still_permitted,
    call::Call,
    counters::Counters,
    errors::{BadValue, CursorKilled, Error, Result, TypeMismatch},
    limits::AWAIT_TIME,
    names,
    replies::cursor::{BatchPlace, batch_limit, batch_reply},
    session,
};

/// Runs `getMore`. The cursor is in use by this request only until the batch is read; an error
/// while reading closes it.
///
/// The operation that opened the cursor continues with its own time limit, so `maxTimeMS` is an
/// error here for cursors that do not wait for documents, as in mongod.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.getmore, 1);
    let id = cursor_id(call)?;
    let args = call.args();
    let namespace = names::parse_collection(call.database, args.need_str("collection")?)?;
    let size = args.count("batchSize")?.filter(|size| 0 < *size);
    let cursors = &call.api.cursors;
    // Checks the cursor's session, transaction and collection.
    let place = (session::session_id(call.body), call.transaction_number());
    let mut taken = cursors.take(id, &namespace, place, &call.connection.sender())?;
    if let Err(refused) = check_still_permitted(call, &taken.operation) {
        cursors.return_unread(taken);
        return Err(refused);
    }
    // Done before anything can fail, since the operation now belongs to this request.
    call.connection.resume_operation(id, &taken.operation, clock::monotonic_time());
    let wait = match taken.awaits.then(|| await_time(&args)).transpose() {
        Ok(wait) => wait,
        Err(error) => {
            cursors.return_unread(taken);
            return Err(error);
        }
    };
    if wait.is_none() && args.get("maxTimeMS").is_some() {
        cursors.return_unread(taken);
        let message = "cannot set maxTimeMS on getMore command for a non-awaitData cursor";
        return Err(Error::new(BadValue, message));
    }
    if taken.operation.has_limit()
        && let Err(error) = fail_point::check_time_limit(call)
    {
        cursors.close(id);
        return Err(error);
    }
    if let Err(error) = fail_point::check_get_more(call) {
        cursors.close(id);
        return Err(taken.cursor.labelled(error));
    }
    let operation = Arc::clone(&taken.operation);
    let limit = batch_limit(size, usize::MAX, &call.api.settings.memory);
    let batch = taken.cursor.next_batch(&operation, limit, wait).await;
    // The operation may have been stopped after the batch was read.
    let batch = match (batch, taken.operation.check_stopped()) {
        (Ok(batch), Ok(())) => Ok(batch),
        (Ok(_), Err(stopped)) => Err(Error::from(stopped)),
        (Err(error), _) => Err(error),
    };
    let batch = batch.map_err(|error| taken.cursor.labelled(error));
    match batch {
        Ok((batch, token)) => {
            let place = BatchPlace { token: token.as_ref(), snapshot: taken.snapshot };
            let count = batch.documents.len();
            let id = if batch.done {
                cursors.finish_cursor(taken);
                0
            } else if cursors.give_back(taken, count) {
                id
            } else {
                // The cursor was killed before this request was listed as its reader. An id of 0
                // would claim that the cursor is exhausted.
                return Err(Error::new(CursorKilled, "operation was interrupted"));
            };
            Counters::add(&call.connection.counters.returned, count as u64);
            let reply = batch_reply("nextBatch", &batch.documents, (id, &namespace), place);
            call.connection.hold_reply_memory(batch.held);
            Ok(reply)
        }
        Err(error) => {
            cursors.close(id);
            Err(error)
        }
    }
}

/// Returns the id of the cursor that the command names.
fn cursor_id(call: &Call<'_>) -> Result<i64> {
    match call.body.get("getMore") {
        Some(ValueRef::Int64(id)) => Ok(id),
        other => {
            let message = format!(
                "BSON field 'getMore.getMore' is the wrong type '{}', expected type 'long'",
                other.map_or("missing", |value| value.kind().name())
            );
            Err(Error::new(TypeMismatch, message))
        }
    }
}

/// Returns how long a cursor waits for documents. `maxTimeMS` was checked with the arguments that
/// all commands share.
fn await_time(args: &Args<'_>) -> Result<Duration> {
    Ok(args.count("maxTimeMS")?.map_or(AWAIT_TIME, Duration::from_millis))
}
