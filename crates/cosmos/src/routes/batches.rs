//! Batches, which are done whole or not at all, and bulks, of which each operation stands for
//! itself.
//!
//! A batch becomes one unit of the engine: its operations see each other's results, and one commit
//! holds them all. A bulk runs its operations in *waves*: those of different items at the same
//! time, those of one item in the order in which they came. Where the first failure is to end a
//! bulk, a wave is a single operation.
//!
//! The response to either is an array in the order of the request, with a status for each
//! operation; the status of the whole is 207 where one of them failed.

use std::{collections::HashSet, sync::Arc};

use engine::{ItemAction, ItemDone, ItemFailure, ItemKey, ItemWrite, Store};
use futures_util::future::join_all;

use super::{container_part, items, shared};
use crate::{
    batch::{self, BatchAction, BatchOperation, Encoding, Outcome, ResponseBudget},
    catalog::Container,
    door::Door,
    etag,
    failure::{Failure, Fault, Result},
    item::{self, Lifetimes},
    limits::LONG_BODY_BYTES,
    operation::Operation,
    partition_key::KeyScope,
    reply::Reply,
    request::Request,
    request_units::{self, Work, hundredths},
};

/// `POST /dbs/{db}/colls/{c}/docs` with a batch. 200 where all operations went well and 207 where
/// one failed; the failure of the request as a whole is for a body that is no array of operations,
/// or for more than a response can hold.
pub(crate) async fn run_batch<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let encoding = Encoding::of_body(body);
    match run_operations(door, request, body, encoding).await {
        Err(failure) if !request.headers.atomic() && !is_retried(failure.fault) => {
            refuse_rows(encoding, body, failure)
        }
        done => done,
    }
}

/// Runs the operations of a batch.
async fn run_operations<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
    encoding: Encoding,
) -> Result<Reply> {
    let container = request.container()?;
    container_part::check_range_id(&request.headers)?;
    let mut operations = batch::read_operations(body)?;
    if request.headers.prefers_minimal() {
        operations.iter_mut().flatten().for_each(|operation| operation.minimal = true);
    }
    let room = ResponseBudget::new(&door.settings.memory);
    let (outcomes, seq) = match request.headers.atomic() {
        true => run_atomic(door, request, container, operations, &room).await?,
        false => run_bulk(door, request, container, operations, &room).await?,
    };
    let mixed = outcomes.iter().any(|outcome| encoding.is_mixed(outcome.status));
    let status = if mixed { 207 } else { 200 };
    let request_units = outcomes.iter().map(|outcome| outcome.request_units).sum();
    Ok(Reply { request_units, seq, ..room.build_reply(encoding, status, outcomes) })
}

/// Returns whether SDKs try a request again that has failed as a whole this way, once they have
/// waited or have read anew what they know of the account.
fn is_retried(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::PartitionKey
            | Fault::Recreated
            | Fault::Session
            | Fault::Timeout
            | Fault::Gone
            | Fault::TooManyRequests
            | Fault::TooManyGuesses
            | Fault::RetryWith
            | Fault::Unavailable
    )
}

/// Refuses a whole bulk in HybridRow operation by operation, with the text in each: the SDK for .NET
/// does not show the text of a bulk's own failure. Any other request gets the failure itself.
fn refuse_rows(encoding: Encoding, body: &[u8], failure: Failure) -> Result<Reply> {
    let Some(count) = encoding.count_rows(body) else { return Err(failure) };
    Ok(failed_rows(encoding, count, &failure))
}

/// Returns the response to a request of which each of `count` operations failed in the same way.
fn failed_rows(encoding: Encoding, count: usize, failure: &Failure) -> Reply {
    let outcomes = vec![Outcome::of_failure(failure); count];
    let reply = ResponseBudget::unlimited().build_reply(encoding, 207, outcomes);
    Reply { request_units: request_units::of_failure(), ..reply }
}

/// Returns whether a request is a bulk in HybridRow of a single operation, if its body is too large to
/// be read. The SDK for .NET fills a bulk up to a limit that is far below, and sends an operation that
/// is larger alone. It is also the only one that sends bulks without a content type.
pub(crate) fn has_one_row_if_too_large(request: &Request) -> bool {
    let headers = &request.headers;
    matches!(request.operation, Operation::Batch)
        && !headers.atomic()
        && headers.content_type().is_none()
}

/// Refuses the single operation of such a bulk, for the reason that `refuse_rows` gives.
pub(crate) fn refuse_row(failure: &Failure) -> Reply {
    failed_rows(Encoding::HybridRow, 1, failure)
}

/// An operation as the engine does it, and what its outcome needs.
struct Prepared {
    /// What the engine does.
    write: ItemWrite,
    /// Whether the item is left out of the outcome.
    minimal: bool,
    /// The version that the client has already; an operation that reads it says 304.
    if_none_match: Option<u64>,
    /// Whether it only reads.
    reads: bool,
}

/// Checks an operation against the container and makes the engine's action of it. `header` is the
/// partition key that it is done under.
async fn prepare_operation<S: Store>(
    door: &Door<S>,
    request: &Request,
    container: &Arc<Container>,
    header: Option<&str>,
    operation: BatchOperation,
) -> Result<Prepared> {
    let key = |id: &str| -> Result<ItemKey> {
        Ok(container.item_key(&container.key.whole_key(header)?, id))
    };
    let (key, action) = match operation.action {
        BatchAction::Create(ref item)
        | BatchAction::Upsert(ref item)
        | BatchAction::Replace(_, ref item) => {
            container.check_item_id(item.id())?;
            let components = container.key.of_item(item.as_document(), header)?;
            let own = container.item_key(&components, item.id());
            match operation.action {
                BatchAction::Replace(ref id, _) => {
                    let key = container.item_key(&components, id);
                    let action = items::replace_action(&key, own, item);
                    (key, action)
                }
                BatchAction::Create(_) => (own, ItemAction::Create(item.to_buf())),
                _ => (own, ItemAction::Upsert(item.to_buf())),
            }
        }
        BatchAction::Patch(id, patch) => {
            (key(&id)?, items::patch_action(door, request, container, patch).await?)
        }
        BatchAction::Read(id) => (key(&id)?, ItemAction::Read),
        BatchAction::Delete(id) => (key(&id)?, ItemAction::Delete),
    };
    let reads = matches!(action, ItemAction::Read);
    // A read asks by the other header, `if_none_match`, and reads whatever version there is.
    let if_match = match reads {
        true => engine::VersionMatch::Any,
        false => shared::if_match(operation.if_match.as_deref()),
    };
    Ok(Prepared {
        write: ItemWrite { key, action, if_match },
        minimal: operation.minimal,
        if_none_match: operation.if_none_match.as_deref().and_then(etag::parse_etag),
        reads,
    })
}

/// What became of an operation that was done. A read for which there is no room fails; what was
/// written has been written, and only its item is left out.
fn outcome_of(
    container: &Container,
    prepared: &Prepared,
    done: &ItemDone,
    room: &ResponseBudget,
) -> Outcome {
    let work = if prepared.reads { Work::PointRead } else { Work::Write };
    let Some(item) = &done.item else {
        return Outcome { status: 204, request_units: hundredths(work, 0), ..Outcome::default() };
    };
    let request_units = hundredths(work, item.body.len());
    let status = match (prepared.reads, done.created) {
        (true, _) if prepared.if_none_match == Some(item.stamp) => {
            let version = Some(item.stamp);
            return Outcome { status: 304, request_units, version, ..Outcome::default() };
        }
        (_, true) => 201,
        _ => 200,
    };
    let mut body = Vec::new();
    if !prepared.minimal || prepared.reads {
        let stored = item.body.len();
        // Writing the text is most of the work, so it is not begun where it would not fit.
        if room.may_hold(stored) {
            item::write_item(&container.renderer, item, &mut body);
        }
        if let Err(failure) = room.take_room(&body, stored) {
            if prepared.reads {
                return Outcome { request_units, ..Outcome::of_failure(&failure) };
            }
            body = Vec::new();
        }
    }
    Outcome { status, request_units, version: Some(item.stamp), body, ..Outcome::default() }
}

/// Does all operations as one unit. Failures of the request as a whole are the error; failures of
/// an operation become outcomes, of which the others say that they depended on it.
async fn run_atomic<S: Store>(
    door: &Door<S>,
    request: &Request,
    container: &Arc<Container>,
    operations: Vec<Result<BatchOperation>>,
    room: &ResponseBudget,
) -> Result<(Vec<Outcome>, u64)> {
    // The partition key is that of the whole request.
    if let Some(header) = request.headers.partition_key()
        && let KeyScope::Prefix(_) = container.key.read_scope(header)?
    {
        return Err(Failure::mismatch_of_definition());
    }
    container.key.whole_key(request.headers.partition_key())?;
    let count = operations.len();
    let mut prepared = Vec::with_capacity(count);
    for (at, operation) in operations.into_iter().enumerate() {
        let next = match operation {
            Ok(operation) => {
                prepare_operation(
                    door,
                    request,
                    container,
                    request.headers.partition_key(),
                    operation,
                )
                .await
            }
            Err(failure) => Err(failure),
        };
        match next {
            Ok(next) => prepared.push(next),
            // Nothing has been written yet, so the first operation that is wrong decides.
            Err(failure) => return Ok((rolled_back(count, at, &failure), 0)),
        }
    }
    if prepared.iter().any(|prepared| prepared.reads) {
        // Once the unit is committed it is too late to find out that the items read do not fit into
        // memory.
        room.reserve_all()?;
    }
    let writes: Vec<ItemWrite> = prepared.iter().map(|prepared| prepared.write.clone()).collect();
    match door.engine.write_items(&container.collection, &writes, &Lifetimes).await {
        Ok((all, seq)) => {
            // What is read has been limited before anything was written.
            let reads = ResponseBudget::unlimited();
            let each = prepared.iter().zip(&all).map(|(prepared, one)| {
                let room = if prepared.reads { &reads } else { room };
                outcome_of(container, prepared, one, room)
            });
            Ok((each.collect(), seq))
        }
        Err(ItemFailure { at, error }) => match error.kind {
            engine::Kind::TooLarge if prepared.get(at).is_some_and(|at| at.reads) => {
                Err(Failure::answer_too_large())
            }
            // These are about the whole request.
            engine::Kind::Full
            | engine::Kind::Unavailable
            | engine::Kind::Reopened
            | engine::Kind::ViewEnded
            | engine::Kind::Moved
            | engine::Kind::Corrupt => Err(error.into()),
            _ => Ok((rolled_back(count, at, &error.into()), 0)),
        },
    }
}

/// The outcomes of a batch that failed: that of the operation at fault, and of all others, which
/// failed only because of it.
fn rolled_back(count: usize, at: usize, failure: &Failure) -> Vec<Outcome> {
    let dependent = Failure::new(Fault::FailedDependency, "");
    let mut outcomes = vec![Outcome::of_failure(&dependent); count];
    if let Some(outcome) = outcomes.get_mut(at) {
        *outcome = Outcome::of_failure(failure);
    }
    outcomes
}

/// Does each operation for itself, in waves.
async fn run_bulk<S: Store>(
    door: &Door<S>,
    request: &Request,
    container: &Arc<Container>,
    operations: Vec<Result<BatchOperation>>,
    room: &ResponseBudget,
) -> Result<(Vec<Outcome>, u64)> {
    let mut waiting = Vec::with_capacity(operations.len());
    for operation in operations {
        waiting.push(match operation {
            Ok(mut operation) => {
                // Each operation of a bulk may have a key of its own. Where the request has one
                // too, for example because a token is limited to it, all have to be the same.
                let own = operation.partition_key.take();
                match (own.as_deref(), request.headers.partition_key()) {
                    // What the whole request is limited to, each operation is.
                    (Some(own), Some(all)) if own != all => Err(Failure::mismatch_of_item()),
                    (own, all) => {
                        prepare_operation(door, request, container, own.or(all), operation).await
                    }
                }
            }
            Err(failure) => Err(failure),
        });
    }
    let (mut outcomes, mut seq, mut stopped) = (Vec::with_capacity(waiting.len()), 0, false);
    let mut waiting = waiting.into_iter().peekable();
    while waiting.peek().is_some() {
        // A wave takes operations until one is about an item that the wave has already: that one
        // has to see what the wave leaves.
        let (mut wave, mut keys) = (Vec::new(), HashSet::new());
        // Where the first failure ends it, one goes after the other.
        let most = if request.headers.continue_on_error() { usize::MAX } else { 1 };
        while wave.len() < most
            && let Some(next) = waiting.next_if(|next| match next {
                Ok(next) => !next.write.changed_keys().any(|key| keys.contains(key)),
                Err(_) => true,
            })
        {
            if let Ok(next) = &next {
                keys.extend(next.write.changed_keys().cloned());
            }
            wave.push(next);
        }
        let wave = wave.iter().map(|next| run_one(door, container, next, stopped, room));
        for (outcome, known) in join_all(wave).await {
            // What was in the wave has been done; the rest is not begun.
            stopped |= 400 <= outcome.status && !request.headers.continue_on_error();
            seq = seq.max(known);
            outcomes.push(outcome);
        }
    }
    Ok((outcomes, seq))
}

/// Does one operation of a bulk as a unit of its own, and returns its outcome and the newest commit
/// that it knows of.
async fn run_one<S: Store>(
    door: &Door<S>,
    container: &Arc<Container>,
    next: &Result<Prepared>,
    stopped: bool,
    room: &ResponseBudget,
) -> (Outcome, u64) {
    if stopped {
        return (Outcome::of_failure(&Failure::new(Fault::FailedDependency, "")), 0);
    }
    let prepared = match next {
        Ok(prepared) => prepared,
        Err(failure) => return (Outcome::of_failure(failure), 0),
    };
    let writes = std::slice::from_ref(&prepared.write);
    match door.engine.write_items(&container.collection, writes, &Lifetimes).await {
        Ok((all, seq)) => match all.first() {
            Some(first) => {
                if first.item.as_ref().is_some_and(|item| LONG_BODY_BYTES <= item.body.len()) {
                    // Others need not wait until all of them are written.
                    engine::yield_now().await;
                }
                (outcome_of(container, prepared, first, room), seq)
            }
            None => (Outcome::of_failure(&Failure::no_entity()), seq),
        },
        Err(failure) => (Outcome::of_failure(&failure.error.into()), 0),
    }
}
