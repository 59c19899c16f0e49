//! Reports finished commands: a log line for a slow one, and an event for the tracer, both without
//! values. Slow commands are also kept in memory, with their queries. Operations do not wait for
//! the report, and it does not affect their results.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use document::{DocBuf, DocRef, Document, ValueRef, shell};
use traces::{MAX_QUERY_BYTES, Operation, told};

use crate::{arguments::GENERIC, call::Call, counters::Counters, errors::Result};

/// Values of the connection's counters before a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterSnapshot {
    returned: u64,
    written: u64,
}

impl CounterSnapshot {
    pub(crate) fn of(counters: &Counters) -> Self {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let written = read(&counters.insert) + read(&counters.updated) + read(&counters.deleted);
        Self { returned: read(&counters.returned), written }
    }

    /// Returns the number of documents written since the snapshot, without upserted ones.
    pub(crate) fn written_since(&self, counters: &Counters) -> u64 {
        Self::of(counters).written.saturating_sub(self.written)
    }
}

/// Reports a command to the tracer, and logs it if it took as long as the slow threshold. Names
/// chosen by clients are escaped in the log.
pub(crate) fn report_end(
    call: &Call<'_>,
    id: i32,
    took: Duration,
    before: CounterSnapshot,
    reply: &Result<DocBuf>,
) {
    let settings = &call.api.settings;
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let slow = settings.slow.as_ref().filter(|slow| slow.is_slow(took));
    if slow.is_none() && settings.tracer.is_none() {
        return;
    }
    let now = CounterSnapshot::of(&call.connection.counters);
    // A `getMore` continues the operation that opened its cursor.
    let running = call.connection.running_command();
    let operation = running.map_or_else(|| call.operation.clone(), |running| running.operation);
    let app = call.connection.app_name().unwrap_or_default();
    let (stats, collection) = (&operation.stats, named_collection(call));
    let known = Operation {
        system: "mongodb",
        name: call.known.map_or("", |known| known.row.name),
        database: told(call.database),
        collection,
        took,
        code: reply.as_ref().err().map_or(0, |error| i64::from(error.code)),
        failed: reply.is_err(),
        examined: stats.examined(),
        returned: now.returned.saturating_sub(before.returned),
        plan: stats.access().unwrap_or_default(),
        charge: None,
        client: told(&app),
        request: &id.to_string(),
        protocol: "",
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

/// Returns the query of a read command in shell syntax, without shared arguments. Writes return
/// `None`, since documents must not be logged.
fn query_of(call: &Call<'_>) -> Option<String> {
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

/// Returns the collection that a command names, if any.
fn named_collection<'a>(call: &Call<'a>) -> &'a str {
    let argument = call.known.map_or(call.name, |known| known.row.collection_argument());
    let named = [argument, "collection"].iter().find_map(|field| match call.body.get(field) {
        Some(ValueRef::String(name)) => Some(name),
        _ => None,
    });
    told(named.unwrap_or_default())
}
