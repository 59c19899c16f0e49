//! What is told of a command that has been answered: a line of the log if it was slow, and a note for whoever
//! traces operations, both with what was done and what it took, and without values. A slow one is also kept in
//! memory, with what it asked. It decides nothing, and an
//! operation waits for nothing of it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use document::{DocBuf, DocRef, Document, ValueRef, shell};
use engine::Store;
use traces::{MAX_QUERY_BYTES, Operation, told};

use crate::{arguments::GENERIC, call::Call, counters::Counters, errors::Result};

/// What a connection had counted when a command began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    returned: u64,
    written: u64,
}

impl Before {
    pub(crate) fn of(counters: &Counters) -> Self {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let written = read(&counters.insert) + read(&counters.updated) + read(&counters.deleted);
        Self { returned: read(&counters.returned), written }
    }
}

/// Tells whoever traces operations of a command, and writes a line for one that took as long as the door's
/// limit says, or longer. Names that a client chose are escaped in it.
pub(crate) fn note_end<S: Store>(
    call: &Call<'_, S>,
    id: i32,
    took: Duration,
    before: Before,
    reply: &Result<DocBuf>,
) {
    let settings = &call.door.settings;
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let slow = settings.slow.as_ref().filter(|slow| slow.is_slow(took));
    if slow.is_none() && settings.tracer.is_none() {
        return;
    }
    let now = Before::of(&call.connection.counters);
    // A `getMore` goes on with the operation that opened its cursor.
    let running = call.connection.running_command();
    let operation = running.map_or_else(|| call.operation.clone(), |running| running.operation);
    let app = call.connection.app_name().unwrap_or_default();
    let (looked, collection) = (&operation.looked, named_collection(call));
    let known = Operation {
        system: "mongodb",
        name: call.known.map_or("", |known| known.row.name),
        database: told(call.database),
        collection,
        took,
        code: reply.as_ref().err().map_or(0, |error| i64::from(error.code)),
        failed: reply.is_err(),
        examined: looked.examined(),
        returned: now.returned.saturating_sub(before.returned),
        plan: looked.access().unwrap_or_default(),
        charge: None,
        client: told(&app),
        request: &id.to_string(),
        relayed: call.connection.relayed_sender.is_some(),
        parent: None,
    };
    if let Some(tracer) = &settings.tracer {
        tracer.note(&known);
    }
    if let Some(slow) = slow {
        slow.keep("mongo", &known, clock::wall_ms(), query_of(call));
        let dot = if collection.is_empty() { "" } else { "." };
        tracing::info!(
            api = known.system,
            command = known.name,
            namespace = ?format_args!("{}{dot}{collection}", known.database).to_string(),
            ms,
            examined = known.examined,
            returned = known.returned,
            written = now.written.saturating_sub(before.written),
            plan = ?if known.plan.is_empty() { "none" } else { known.plan },
            app = ?known.client,
            request = id,
            failed = known.failed,
            "slow operation"
        );
    }
}

/// What a command asks that only reads, as the shell writes it, without what every command may have. Those
/// that write have documents, which nobody is told.
fn query_of<S: Store>(call: &Call<'_, S>) -> Option<String> {
    let reads = ["find", "aggregate", "count", "distinct"];
    if !reads.contains(&call.known?.row.name)
        || 2 * MAX_QUERY_BYTES < ValueRef::Document(call.body).encoded_len()
    {
        return None;
    }
    let mut query = Document::new();
    for (name, value) in call.body.iter().filter(|(name, _)| !GENERIC.contains(name)) {
        query.push(name, value.to_owned());
    }
    Some(shell(ValueRef::Document(DocRef::Tree(&query))).to_string())
}

/// The collection of a command, where it names one.
fn named_collection<'a, S: Store>(call: &Call<'a, S>) -> &'a str {
    let first = [call.name, "collection"];
    let named = first.iter().find_map(|field| match call.body.get(field) {
        Some(ValueRef::String(name)) => Some(name),
        _ => None,
    });
    told(named.unwrap_or_default())
}
