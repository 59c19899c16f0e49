//! The commands: one table, one row a command, and the way from a message to a row and back. Each
//! command has a file of its own, or shares one with its kin; all of them are run by [`run`] and
//! tested on the wire in `crates/mongo/tests`.
//!
//! What is the same for every command is checked here, in the order in which mongod does, since a
//! command that is wrong in two ways has to get the error that mongod would give: fail points, the
//! name, the version of the API, unknown fields, the database, the shared arguments.

/// `aggregate`
mod aggregate;
/// What the operations of `bulkWrite` did.
mod bulk_outcomes;
/// `bulkWrite`
mod bulk_write;
/// `create`, `drop`, `dropDatabase`, `renameCollection`
mod catalog;
/// `collMod`
mod coll_mod;
/// `count`
mod count;
/// `createIndexes`
mod create_indexes;
/// `delete`
mod delete;
/// `ping`, `buildInfo`, `hostInfo`, `listCommands` and their kin.
mod diagnosis;
/// `getDiagnosticData`
mod diagnostic_data;
/// `distinct`
mod distinct;
/// `dropIndexes`
mod drop_indexes;
/// `ebbClock`, `ebbExpiry`
mod ebb;
/// `explain`
mod explain;
/// `configureFailPoint`, and what it does to other commands.
mod fail_point;
/// `find`
mod find;
/// `findAndModify`
mod find_and_modify;
/// `getMore`
mod get_more;
/// What commands share that give and take roles and privileges.
mod grants;
/// `hello`, `isMaster`
mod handshake;
/// Builds of indexes in `currentOp`.
mod index_builds;
/// `$indexStats`
mod index_stats;
/// `insert`
mod insert;
/// `killCursors`
mod kill_cursors;
/// `listDatabases`, `listCollections`, `listIndexes`
mod list;
/// `$listLocalSessions`, `$listSessions`
mod list_sessions;
/// `currentOp`, `killOp`, `fsync`, `replSetGetStatus`
mod operations;
/// `getParameter`, `setParameter`
mod parameters;
/// `createRole` and its kin.
mod roles;
/// `saslStart`, `saslContinue`, `logout`
mod sasl;
/// `serverStatus`
mod server_status;
/// `startSession`, `endSessions`, `logout`
mod sessions;
/// What `insert`, `update`, `delete` and `bulkWrite` share.
mod statements;
/// `collStats`, `dbStats`, `validate`
mod stats;
/// The table of all of them.
mod table;
/// `top`
mod top;
/// `update`
mod update;
/// `createUser` and its kin.
mod users;
/// `authenticate`.
mod x509;

pub(crate) use table::COMMANDS;
pub use table::{NOT_YET, table};

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use document::{DocBuf, Document, ValueRef};
use engine::{Namespace, Store};

use self::table::Runs;
use crate::{
    arguments::GENERIC,
    audited::note_command,
    authorize::check_rights_of_now,
    call::Call,
    command_row::{ANY_ARGUMENT, CommandRow, Home, Work},
    command_table::{Known, NotYet},
    counters::Counters,
    errors::{CommandNotFound, Error, Result, WriteConflict},
    limits::MAX_BEGINNINGS,
    numbered::label,
    operation::Running,
    parsers::{api_version, shared_arguments::check_shared},
    pause::sleep,
    slow::{Before, note_end},
};

/// What a client gets for a message.
pub(crate) enum Response {
    /// A document, that of an error among them.
    Reply(DocBuf),
    /// Nothing: the connection is closed instead, as a fail point or the server's stop wants it.
    CloseConnection,
}

/// Runs the command of a message. An error becomes a reply here, so that nobody above knows errors.
pub(crate) async fn run<S: Store>(call: &Call<'_, S>) -> Response {
    let (wait, planned) = fail_point::check_command(call);
    if let Some(time) = wait {
        sleep(time).await;
    }
    match planned {
        fail_point::Action::Go => {}
        fail_point::Action::CloseConnection => return Response::CloseConnection,
        fail_point::Action::Fail(reply) => return Response::Reply(labelled(call, reply.to_buf())),
    }
    let ran = run_command(call).await;
    if let Some(known) = call.known {
        note_command(call, known.row, &ran);
    }
    let reply = match ran {
        Ok(reply) => reply,
        Err(error) => error.to_reply().to_buf(),
    };
    Response::Reply(labelled(call, fail_point::add_concern_error(call, reply)))
}

/// The reply with what a driver needs to know in order to send the command again.
fn labelled<S: Store>(call: &Call<'_, S>, reply: DocBuf) -> DocBuf {
    if call.has_number() { label::with_label(reply) } else { reply }
}

/// Finds the row of a command, checks what all commands share, and runs it.
///
/// While it runs it is listed as under way, with a number of its own; afterwards its time and its
/// failure are counted at its place in the table.
async fn run_command<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let found = call.known.and_then(|known| Some((known, Runs::<S>::at(known.place)?)));
    let Some((Known { place, row }, run)) = found else { return Err(unknown_command(call)) };
    Counters::add(&call.connection.counters.command, 1);
    check_rights_of_now(call, row).await?;
    let args = call.args().with_noted_names();
    api_version::check_version(row, &args)?;
    check_fields(call, row.fields)?;
    if row.admin_only && call.database != "admin" {
        let message = format!("{} may only be run against the admin database.", row.name);
        return Err(Error::new(crate::errors::Unauthorized, message));
    }
    let deadline = check_shared(&args, row, call.door.settings.topology)?;
    let began = clock::monotonic_time();
    // Only of what ends with its client, which only reads: half a write would be left otherwise.
    let usual = call.door.settings.max_time.filter(|_| is_bounded(call, row));
    let has_limit = deadline.is_none() || fail_point::check_time_limit(call)?;
    let ends = deadline.or_else(|| usual.map(|most| began.saturating_add(most)));
    call.operation.end_at(ends.filter(|_| has_limit));
    let (id, before) = (call.door.operation_id(), Before::of(&call.connection.counters));
    let _begun = call.connection.begin_command(Running {
        id,
        row,
        command: shown_body(call, row),
        began,
        operation: Arc::clone(&call.operation),
        cursor: None,
    });
    let mut reply = run(call).await;
    // Another attempt of the same write came first: what it did is known now. What this one did is
    // in its receipts, so that nothing is done twice.
    let mut beginnings = 1..MAX_BEGINNINGS;
    while call.has_number()
        && reply.as_ref().is_err_and(|error| error.code == WriteConflict)
        && beginnings.next().is_some()
    {
        reply = run(call).await;
    }
    if reply.is_err()
        && let Some(failed) = call.door.failed.get(place)
    {
        failed.fetch_add(1, Relaxed);
    }
    // How long a client chose to wait for news says nothing about the server.
    if call.body.get("maxAwaitTimeMS").is_none() {
        let took = clock::monotonic_time().saturating_sub(began);
        call.door.latencies.observe(place, took);
        note_work(call, row, took);
        note_end(call, id, took, before, &reply);
    }
    reply
}

/// Counts a command among what was done with its collection, and what it has looked at.
fn note_work<S: Store>(call: &Call<'_, S>, row: &CommandRow, took: Duration) {
    // A `getMore` goes on with the operation that opened its cursor.
    let resumed = match row.work {
        Work::GetMore => call.connection.running_command().map(|running| running.operation),
        _ => None,
    };
    let operation = resumed.as_ref().unwrap_or(&call.operation);
    call.connection.counters.note_looked(&operation.looked);
    let name = call.body.get(row.collection_in.unwrap_or(row.name));
    let Some(collection) = name.and_then(ValueRef::as_str) else { return };
    if row.home != Home::Database || row.hides_arguments {
        return;
    }
    let exists = |database: &str, collection: &str| {
        call.find_collection(&Namespace::new(database, collection)).is_some()
    };
    let (last, name) = (&call.connection.last_work, (call.database, collection));
    call.door.work.note(last, name, (row, took), exists);
}

/// Whether the usual time limit holds for a command: it only reads, waits for no news, and does not say
/// itself how long it may take (0 means any time).
fn is_bounded<S: Store>(call: &Call<'_, S>, row: &CommandRow) -> bool {
    row.ends_with_client && !row.awaits_state && call.body.get("maxTimeMS").is_none()
}

/// A command as it may be shown to others while it runs.
fn shown_body<S: Store>(call: &Call<'_, S>, row: &CommandRow) -> DocBuf {
    if row.hides_arguments {
        let mut shown = Document::new();
        shown.push(row.name, 1);
        shown.push("$db", call.database);
        return shown.to_buf();
    }
    call.message.owned_document(call.body)
}

/// The error of a command that has no row: 115 with what it belongs to if MongoDB has it (323 where a
/// client keeps to an API without it), else 59.
/// Drivers and tools probe for commands and take 59 for "an older server".
fn unknown_command<S: Store>(call: &Call<'_, S>) -> Error {
    let name = call.name;
    match call.door.commands.find_not_yet(name) {
        Some(NotYet { in_api: false, .. }) if api_version::is_strict(call.body) => {
            api_version::not_in_version(name)
        }
        Some(NotYet { area, .. }) => {
            let message = format!("command '{name}' is not supported yet ({area})");
            Error::new(crate::errors::CommandNotSupported, message)
        }
        None => Error::new(CommandNotFound, format!("no such command: '{name}'")),
    }
}

/// The first field names the command; every other one has to be known to the command or to all of
/// them (40415).
fn check_fields<S: Store>(call: &Call<'_, S>, known: &[&str]) -> Result<()> {
    for (name, _) in call.body.iter().skip(1) {
        let known =
            known.contains(&name) || known.contains(&ANY_ARGUMENT) || GENERIC.contains(&name);
        if !known {
            let message = format!("BSON field '{}.{name}' is an unknown field.", call.name);
            return Err(Error::new(40415, message));
        }
    }
    Ok(())
}
