//! The log of slow commands: one line each, with what was done and what it took, and without values. It
//! decides nothing, and an operation waits for nothing of it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use document::ValueRef;
use engine::Store;

use crate::{call::Call, counters::Counters};

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

/// Writes a line for a command that took as long as the door's limit says, or longer. Names that a client
/// chose are escaped.
pub(crate) fn note_slow<S: Store>(
    call: &Call<'_, S>,
    id: i32,
    took: Duration,
    before: Before,
    failed: bool,
) {
    let limit = call.door.settings.slow_ms;
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if limit.is_none_or(|limit| ms < limit) {
        return;
    }
    let now = Before::of(&call.connection.counters);
    // A `getMore` goes on with the operation that opened its cursor.
    let running = call.connection.running_command();
    let operation = running.map_or_else(|| call.operation.clone(), |running| running.operation);
    tracing::info!(
        api = "mongodb",
        command = call.known.map_or("", |known| known.row.name),
        namespace = ?named_collection(call),
        ms,
        examined = operation.looked.examined(),
        returned = now.returned.saturating_sub(before.returned),
        written = now.written.saturating_sub(before.written),
        plan = ?operation.looked.access().unwrap_or("none"),
        app = ?call.connection.app_name().unwrap_or_default(),
        request = id,
        failed,
        "slow operation"
    );
}

/// The database and the collection of a command, where it names one.
fn named_collection<S: Store>(call: &Call<'_, S>) -> String {
    let first = [call.name, "collection"];
    let named = first.iter().find_map(|field| match call.body.get(field) {
        Some(ValueRef::String(name)) => Some(name),
        _ => None,
    });
    match named {
        Some(collection) => format!("{}.{collection}", call.database),
        None => call.database.to_owned(),
    }
}
