//! Charges commands in request units, by the table that both APIs share. The charges are returned
//! by `getLastRequestStatistics`. If the server enforces throughput, they are also taken from the
//! token bucket of the command's collection or of its database.
//!
//! ```text
//! admit    a read is admitted if anything is left in the bucket; the statements of a write are
//!          admitted in their order, until their estimated costs have used up the bucket
//! run
//! charge   the actual cost is taken from the bucket, which may become negative
//! ```
//!
//! A refused command or statement fails with 16500 and the time after which it may be retried.
//! Commands that do not access documents are free.

use std::{sync::Arc, time::Duration};

use document::{DocBuf, DocRef, ValueRef};
use engine::{Collection, limits::MAX_STORED_VIEW_DEPTH};
use throughput::{
    Allowance,
    request_units::{Work as Charged, hundredths, of_failure},
};

use crate::{
    call::Call,
    client::LastRequest,
    command_row::{CommandRow, Work},
    errors::{Error, Result, TooManyRequests},
    provisioning::{Provisioning, database_throughput},
    slow::CounterSnapshot,
    stored_view::view_source,
};

/// Number of statements of a command that the throughput of its collection admits.
pub(crate) struct Admission {
    /// The number of admitted statements, from the first one on.
    pub(crate) statements: usize,
    /// Milliseconds after which the other statements may be retried.
    retry_ms: u64,
}

impl Admission {
    /// Returns the error of a refused statement.
    pub(crate) fn error(&self) -> Error {
        throttled(self.retry_ms)
    }
}

/// Returns error 16500. Clients parse its text: a comma must follow the time.
fn throttled(retry_ms: u64) -> Error {
    let text = format!(
        "Error=16500, RetryAfterMs={retry_ms}, Details='TooManyRequests: Request rate is large: \
         the throughput of the collection is used up'"
    );
    Error::new(TooManyRequests, text)
}

/// Returns the collection to which a command is charged: its collection or, for `bulkWrite`, the
/// first of its collections. `None` if the command is free, or names no collection that exists.
/// Names of others are not remembered, since clients choose their number and length.
fn charged_collection(call: &Call<'_>, row: &CommandRow) -> Option<Arc<Collection>> {
    if row.work == Work::Command {
        return None;
    }
    if row.name == "bulkWrite" {
        let spaces = call.listed_documents("nsInfo").ok()?;
        let named = spaces.first()?.get("ns")?.as_str()?;
        let (database, collection) = named.split_once('.')?;
        return call.find_named(database, collection);
    }
    let named = call.body.get(row.collection_argument())?.as_str()?;
    let mut charged = call.find_named(call.database, named)?;
    // A read through views is charged to the collection below them.
    for _ in 0..MAX_STORED_VIEW_DEPTH {
        let Some(source) = view_source(&charged) else { break };
        charged = call.find_named(call.database, &source)?;
    }
    Some(charged)
}

/// Returns the name of a collection's throughput limit.
fn meter_of(collection: &Collection) -> String {
    collection.id.to_string()
}

/// Returns the throughput of a collection or, if it has none of its own, of its database.
fn find_allowance(call: &Call<'_>, collection: &Collection) -> Option<Allowance> {
    let state = collection.state();
    let own = Provisioning::of_options(&state.record.options).throughput;
    let database = &state.record.namespace.database;
    let (about, throughput) = match own {
        // Ids are never reused, so a later collection of the same name gets another bucket.
        Some(own) => (format!("{database}/{}", collection.id), own),
        None => (database.clone(), database_throughput(&call.api.engine, database)?),
    };
    Some(Allowance { about, units: throughput.most_units() })
}

/// Fails with 16500 if the throughput does not admit a command. Commands with statements are always
/// admitted here, see [`admit_statements`].
pub(crate) fn admit_command(call: &Call<'_>, row: &CommandRow) -> Result<()> {
    let Some(throttle) = &call.api.throttle else { return Ok(()) };
    if matches!(row.work, Work::Insert | Work::Update | Work::Remove) || row.name == "bulkWrite" {
        return Ok(());
    }
    let Some(collection) = charged_collection(call, row) else { return Ok(()) };
    let find = || find_allowance(call, &collection);
    let admitted = throttle.admit_request(clock::monotonic_time(), &meter_of(&collection), find);
    admitted.map(drop).map_err(throttled)
}

/// Returns how many of a command's statements the throughput admits. The cost of a statement is
/// estimated as that of a write of the statement's size, since the actual cost is known only after
/// it has run.
pub(crate) fn admit_statements(call: &Call<'_>, statements: &[DocRef<'_>]) -> Admission {
    let all = Admission { statements: usize::MAX, retry_ms: 0 };
    let (Some(throttle), Some(known)) = (&call.api.throttle, call.known) else { return all };
    let Some(collection) = charged_collection(call, known.row) else { return all };
    let costs = statements.iter().map(|it| hundredths(Charged::Write, encoded_len(*it)));
    let find = || find_allowance(call, &collection);
    let (statements, retry_ms) =
        throttle.admit_costs(clock::monotonic_time(), &meter_of(&collection), find, costs);
    Admission { statements, retry_ms }
}

/// Returns the size of a document in bytes.
fn encoded_len(document: DocRef<'_>) -> usize {
    ValueRef::Document(document).encoded_len()
}

/// Records the cost of the documents of an `insert`, which is the command's charge.
pub(crate) fn charge_inserts(call: &Call<'_>, documents: &[DocRef<'_>]) {
    let costs = documents.iter().map(|it| hundredths(Charged::Write, encoded_len(*it)));
    call.operation.set_insert_units(costs.sum());
}

/// Records the charge of a finished command in the connection's statistics, and takes it from the
/// throughput if that is enforced. Free commands are not recorded.
pub(crate) fn record_charge(
    call: &Call<'_>,
    row: &'static CommandRow,
    took: Duration,
    before: CounterSnapshot,
    reply: &Result<DocBuf>,
) {
    if row.work == Work::Command {
        return;
    }
    let charge = charge_of(call, row, before, reply);
    call.connection.record_request(LastRequest {
        command: row.alias_of.unwrap_or(row.name),
        took,
        charge,
        session: session_of(call.body),
        ended: clock::monotonic_time(),
    });
    if let Some(throttle) = &call.api.throttle
        && let Some(collection) = charged_collection(call, row)
    {
        throttle.charge_container(&meter_of(&collection), charge);
    }
}

/// Returns the charge of a command in hundredths of a unit.
fn charge_of(
    call: &Call<'_>,
    row: &CommandRow,
    before: CounterSnapshot,
    reply: &Result<DocBuf>,
) -> u64 {
    let Ok(reply) = reply else { return of_failure() };
    // A `getMore` continues the operation that opened its cursor.
    let resumed = match row.work {
        Work::GetMore => call.connection.running_command().map(|running| running.operation),
        _ => None,
    };
    let operation = resumed.as_ref().unwrap_or(&call.operation);
    let examined = operation.stats.examined();
    match row.work {
        Work::Insert => call.operation.insert_units().max(of_failure()),
        Work::Query | Work::GetMore | Work::Read | Work::Command => {
            let is_point = operation.stats.access() == Some("ids") && examined <= 1;
            let work = if is_point { Charged::PointRead } else { Charged::Rows(examined) };
            hundredths(work, reply.bytes().len())
        }
        Work::Update | Work::Remove | Work::Write => {
            match before.written_since(&call.connection.counters) + upserted_count(reply) {
                0 => hundredths(Charged::Rows(examined), 0),
                count => {
                    // Examining a document that is then written is part of the write.
                    let examined = examined.saturating_sub(count);
                    hundredths(Charged::Writes { count, examined }, call.message.bytes.len())
                }
            }
        }
    }
}

/// Returns the number of documents that a command has upserted. They are not among the connection's
/// counters of written documents.
fn upserted_count(reply: &DocBuf) -> u64 {
    // `update` lists them, `bulkWrite` counts them, and `findAndModify` returns the id of one.
    if let Some(listed) = reply.get("upserted").and_then(ValueRef::as_array) {
        return listed.len() as u64;
    }
    if let Some(ValueRef::Int32(count)) = reply.get("nUpserted") {
        return u64::try_from(count).unwrap_or(0);
    }
    let last = reply.get("lastErrorObject").and_then(ValueRef::as_document);
    u64::from(last.is_some_and(|last| last.get("upserted").is_some()))
}

/// Returns the id of the session in which a command was sent; `None` without a session.
pub(crate) fn session_of(body: DocRef<'_>) -> Option<[u8; 16]> {
    match body.get("lsid")?.as_document()?.get("id")? {
        ValueRef::Binary { bytes, .. } => bytes.try_into().ok(),
        _ => None,
    }
}
