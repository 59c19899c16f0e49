//! What is told of a command that has been answered: a line of the log if it was slow, and a note for whoever
//! traces operations, both with what was done and what it took, and without values. It decides nothing, and an
//! operation waits for nothing of it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use document::{DocBuf, ValueRef};
use engine::Store;
use traces::{Operation, told};

use crate::{call::Call, counters::Counters, errors::Result};

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
    let is_slow = settings.slow_ms.is_some_and(|limit| limit <= ms);
    if !is_slow && settings.tracer.is_none() {
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
        parent: None,
    };
    if let Some(tracer) = &settings.tracer {
        tracer.note(&known);
    }
    if is_slow {
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

/// The collection of a command, where it names one.
fn named_collection<'a, S: Store>(call: &Call<'a, S>) -> &'a str {
    let first = [call.name, "collection"];
    let named = first.iter().find_map(|field| match call.body.get(field) {
        Some(ValueRef::String(name)) => Some(name),
        _ => None,
    });
    told(named.unwrap_or_default())
}
