//! Requests with several operations on items: batches, which are atomic, and bulks, whose
//! operations are independent.
//!
//! A batch is one commit of the engine, and each operation sees the results of those before it. A
//! bulk runs its operations in *waves*: operations on different items run concurrently, operations
//! on the same item in request order. If the client wants the bulk to end at the first failure, a
//! wave is a single operation.
//!
//! The response to both is an array in request order with a status per operation; the overall
//! status is 207 if an operation failed.

use std::{collections::HashSet, sync::Arc};

use engine::{ItemAction, ItemDone, ItemFailure, ItemKey, ItemWrite};
use futures_util::future::join_all;
use throughput::request_units::{self, Work, hundredths};

use super::{container_part, items, shared};
use crate::{
    api::NoSqlApi,
    batch::{self, BatchAction, BatchOperation, Encoding, Outcome, ResponseBudget},
    catalog::Container,
    etag,
    failure::{Failure, Fault, Result},
    item::{self, TtlRules},
    limits::LONG_BODY_BYTES,
    operation::Operation,
    partition_key::KeyScope,
    reply::Reply,
    request::Request,
};

/// `POST /dbs/{db}/colls/{c}/docs` with a batch. 200 if all operations succeeded and 207 if one
/// failed. The request fails as a whole if its body is not an array of operations, or if the
/// response would be too large.
pub(crate) async fn run_batch(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let encoding = Encoding::of_body(body);
    match run_operations(api, request, body, encoding).await {
        Err(failure) if !request.headers.atomic() && !is_retried(failure.fault) => {
            refuse_rows(encoding, body, failure)
        }
        done => done,
    }
}

async fn run_operations(
    api: &NoSqlApi,
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
    let room = ResponseBudget::new(&api.settings.memory);
    let (outcomes, seq) = match request.headers.atomic() {
        true => run_atomic(api, request, container, operations, &room).await?,
        false => run_bulk(api, request, container, operations, &room).await?,
    };
    let mixed = outcomes.iter().any(|outcome| encoding.is_mixed(outcome.status));
    let status = if mixed { 207 } else { 200 };
    let request_units = outcomes.iter().map(|outcome| outcome.request_units).sum();
    Ok(Reply { request_units, seq, ..room.build_reply(encoding, status, outcomes) })
}

/// Returns whether SDKs retry a request that failed as a whole with this fault, either after a
/// delay or after they have reloaded metadata.
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

/// Refuses all operations of a HybridRow request with the same failure, because the .NET SDK does
/// not report a failure of the whole request. A request in JSON fails as a whole.
fn refuse_rows(encoding: Encoding, body: &[u8], failure: Failure) -> Result<Reply> {
    let Some(count) = encoding.count_rows(body) else { return Err(failure) };
    Ok(failed_rows(encoding, count, &failure))
}

/// Returns the response to a request of which all `count` operations failed in the same way.
fn failed_rows(encoding: Encoding, count: usize, failure: &Failure) -> Reply {
    let outcomes = vec![Outcome::of_failure(failure); count];
    let reply = ResponseBudget::unlimited().build_reply(encoding, 207, outcomes);
    Reply { request_units: request_units::of_failure(), ..reply }
}

/// Returns whether a request is a HybridRow bulk of a single operation, given that its body is too
/// large to be read. The .NET SDK fills bulks up to a far lower limit and sends a larger operation
/// alone. No other client sends bulks without a content type.
pub(crate) fn has_one_row_if_too_large(request: &Request) -> bool {
    let headers = &request.headers;
    matches!(request.operation, Operation::Batch)
        && !headers.atomic()
        && headers.content_type().is_none()
}

/// Returns the response that refuses a bulk of a single operation whose body is too large
/// ([`has_one_row_if_too_large`]). The failure is reported as that of the operation.
pub(crate) fn refuse_row(failure: &Failure) -> Reply {
    failed_rows(Encoding::HybridRow, 1, failure)
}

/// An operation in the form that the engine executes, with the data that its outcome needs.
struct Prepared {
    write: ItemWrite,
    /// Whether the outcome omits the item.
    minimal: bool,
    /// The version that the client already has, if any; reading that version returns 304.
    if_none_match: Option<u64>,
    reads: bool,
}

/// Validates an operation against the container, and converts it to an engine action. `header` is
/// the partition key in the request's header.
async fn prepare_operation(
    api: &NoSqlApi,
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
            (key(&id)?, items::patch_action(api, request, container, patch).await?)
        }
        BatchAction::Read(id) => (key(&id)?, ItemAction::Read),
        BatchAction::Delete(id) => (key(&id)?, ItemAction::Delete),
    };
    let reads = matches!(action, ItemAction::Read);
    // A read applies to any version: its condition is `if_none_match`.
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

/// Returns the outcome of an executed operation. A read whose item exceeds the size budget of the
/// response fails. A write has been committed, so only its item is omitted.
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
        // Rendering is most of the work, so it is skipped if the text would not fit.
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

/// Executes all operations atomically. A failure of the whole request is the error; a failure of
/// one operation becomes its outcome, and all other operations get a dependency failure (424) as
/// outcome.
async fn run_atomic(
    api: &NoSqlApi,
    request: &Request,
    container: &Arc<Container>,
    operations: Vec<Result<BatchOperation>>,
    room: &ResponseBudget,
) -> Result<(Vec<Outcome>, u64)> {
    // The partition key in the request's header applies to all operations and must be complete.
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
                    api,
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
            // Nothing has been written yet, so the first invalid operation determines the result.
            Err(failure) => return Ok((rolled_back(count, at, &failure), 0)),
        }
    }
    if prepared.iter().any(|prepared| prepared.reads) {
        // The memory for the response is reserved now: after the commit the batch can no longer
        // fail.
        room.reserve_all()?;
    }
    let writes: Vec<ItemWrite> = prepared.iter().map(|prepared| prepared.write.clone()).collect();
    match api.engine.write_items(&container.collection, &writes, &TtlRules).await {
        Ok((all, seq)) => {
            // The items that are read fit into the memory reserved above, so they are not limited
            // again.
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
            // These errors concern the whole request, not one operation.
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

/// Returns the outcomes of a failed batch: the failure of the operation at position `at`, and a
/// dependency failure for all others.
fn rolled_back(count: usize, at: usize, failure: &Failure) -> Vec<Outcome> {
    let dependent = Failure::new(Fault::FailedDependency, "");
    let mut outcomes = vec![Outcome::of_failure(&dependent); count];
    if let Some(outcome) = outcomes.get_mut(at) {
        *outcome = Outcome::of_failure(failure);
    }
    outcomes
}

/// Executes each operation independently, in waves.
async fn run_bulk(
    api: &NoSqlApi,
    request: &Request,
    container: &Arc<Container>,
    operations: Vec<Result<BatchOperation>>,
    room: &ResponseBudget,
) -> Result<(Vec<Outcome>, u64)> {
    let mut waiting = Vec::with_capacity(operations.len());
    for operation in operations {
        waiting.push(match operation {
            Ok(mut operation) => {
                // Each operation of a bulk may have a partition key. If the request's header has
                // one, too, for example because the sender's token is limited to it, the two must
                // be equal.
                let own = operation.partition_key.take();
                match (own.as_deref(), request.headers.partition_key()) {
                    (Some(own), Some(all)) if own != all => Err(Failure::mismatch_of_item()),
                    (own, all) => {
                        prepare_operation(api, request, container, own.or(all), operation).await
                    }
                }
            }
            Err(failure) => Err(failure),
        });
    }
    let (mut outcomes, mut seq, mut stopped) = (Vec::with_capacity(waiting.len()), 0, false);
    let mut waiting = waiting.into_iter().peekable();
    while waiting.peek().is_some() {
        // A wave ends before an operation on an item that the wave already contains: that operation
        // must see the wave's result.
        let (mut wave, mut keys) = (Vec::new(), HashSet::new());
        // If the bulk ends at the first failure, each wave has one operation.
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
        let wave = wave.iter().map(|next| run_one(api, container, next, stopped, room));
        for (outcome, known) in join_all(wave).await {
            // All operations of this wave have been executed; after a failure those of later waves
            // are not.
            stopped |= 400 <= outcome.status && !request.headers.continue_on_error();
            seq = seq.max(known);
            outcomes.push(outcome);
        }
    }
    Ok((outcomes, seq))
}

/// Executes one operation of a bulk, and returns its outcome and the newest commit that it
/// reflects.
async fn run_one(
    api: &NoSqlApi,
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
    match api.engine.write_items(&container.collection, writes, &TtlRules).await {
        Ok((all, seq)) => match all.first() {
            Some(first) => {
                if first.item.as_ref().is_some_and(|item| LONG_BODY_BYTES <= item.body.len()) {
                    // Rendering a large item takes long, so other tasks get a turn after each.
                    engine::yield_now().await;
                }
                (outcome_of(container, prepared, first, room), seq)
            }
            None => (Outcome::of_failure(&Failure::no_entity()), seq),
        },
        Err(failure) => (Outcome::of_failure(&failure.error.into()), 0),
    }
}
