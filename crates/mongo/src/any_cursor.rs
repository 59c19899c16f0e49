//! An open cursor of either kind: a query, or a change stream.

use std::{sync::Arc, time::Duration};

use document::DocBuf;
use engine::{Batch, BatchLimit, Collection, Cursor};

use crate::{
    change_stream::{ChangeStream, with_resumable_label},
    errors::{Error, Result},
    operation::Operation,
    pause::sleep,
};

/// An open cursor: of a query, or of a change stream.
#[derive(Debug)]
pub(crate) enum AnyCursor {
    Query(Box<Cursor>),
    Stream(Box<ChangeStream>),
}

/// A batch of a cursor, and the token of the place after it if the cursor is a change stream.
pub(crate) type AnyBatch = (Batch, Option<DocBuf>);

impl AnyCursor {
    /// Returns the memory that the cursor holds, in bytes.
    pub(crate) fn memory_used(&self) -> usize {
        match self {
            Self::Query(cursor) => cursor.memory_used(),
            Self::Stream(stream) => stream.memory_used(),
        }
    }

    /// Reserves additional memory for the cursor's lifetime, such as the memory of the request.
    pub(crate) fn keep_memory(&self, bytes: usize) -> Result<()> {
        match self {
            Self::Query(cursor) => Ok(cursor.keep_memory(bytes)?),
            Self::Stream(stream) => stream.keep_memory(bytes),
        }
    }

    /// Adds to an error of reading the label by which drivers resume, if the cursor is a change
    /// stream that can be resumed after it.
    pub(crate) fn labelled(&self, error: Error) -> Error {
        match self {
            Self::Query(_) => error,
            Self::Stream(_) => with_resumable_label(error),
        }
    }

    /// Reads the next batch. If it is empty and `wait` is given, waits for documents for this time;
    /// the wait also ends when the operation is stopped.
    pub(crate) async fn next_batch(
        &mut self,
        operation: &Operation,
        limit: BatchLimit,
        wait: Option<Duration>,
    ) -> Result<AnyBatch> {
        match (self, wait) {
            (Self::Query(cursor), None) => Ok((cursor.next_batch(limit).await?, None)),
            (Self::Query(cursor), Some(wait)) => {
                Ok((next_inserted(cursor, operation, limit, wait).await?, None))
            }
            (Self::Stream(stream), wait) => {
                next_events(stream, operation, limit, wait.unwrap_or_default()).await
            }
        }
    }
}

/// Reads the next batch of a query that follows a capped collection.
async fn next_inserted(
    cursor: &mut Cursor,
    operation: &Operation,
    limit: BatchLimit,
    wait: Duration,
) -> Result<Batch> {
    let collection: Option<Arc<Collection>> = cursor.collection().cloned();
    let end = clock::monotonic_time() + wait;
    loop {
        // Created before the batch is read, so that no insert in between is missed.
        let inserted = collection.as_ref().map(|collection| collection.next_insertion());
        let batch = cursor.next_batch(limit).await?;
        let left = end.saturating_sub(clock::monotonic_time());
        let (Some(inserted), true) = (inserted, batch.documents.is_empty() && !batch.done) else {
            return Ok(batch);
        };
        if left.is_zero() {
            return Ok(batch);
        }
        let wait = async {
            inserted.await;
            Ok(())
        };
        wait_at_most(operation, left, wait).await?;
    }
}

/// Reads the next events of a change stream.
async fn next_events(
    stream: &mut ChangeStream,
    operation: &Operation,
    limit: BatchLimit,
    wait: Duration,
) -> Result<AnyBatch> {
    let engine = stream.engine().clone();
    let end = clock::monotonic_time() + wait;
    loop {
        // Registered before the batch is read, so that no change in between is missed.
        let mut changes = engine.wait_for_changes(stream.scope());
        let next = stream.next_batch(limit).await?;
        let left = end.saturating_sub(clock::monotonic_time());
        let is_empty = next.batch.documents.is_empty() && !next.batch.done;
        if !is_empty || left.is_zero() {
            return Ok((next.batch, Some(next.token)));
        }
        if !next.more {
            wait_at_most(operation, left, stream.wait(&mut changes)).await?;
        }
        operation.check_stopped()?;
    }
}

/// Waits, at most for this time or until the operation is stopped, which is an error.
async fn wait_at_most(
    operation: &Operation,
    left: Duration,
    wait: impl Future<Output = Result<()>>,
) -> Result<()> {
    let began = clock::monotonic_time();
    operation.record_wait(true, Duration::ZERO);
    let waited = tokio::select! {
        waited = wait => waited,
        () = operation.until_stopped() => Ok(()),
        () = sleep(left) => Ok(()),
    };
    operation.record_wait(false, clock::monotonic_time().saturating_sub(began));
    operation.check_stopped()?;
    waited
}
