//! The commands: a table with one row per command, and the dispatch of a message to its command.
//! Each command has a file of its own or shares one with related commands; all of them run through
//! [`run`] and are tested over the wire in `crates/mongo/tests`.
//!
//! Checks that all commands share are made here, in mongod's order, since a command with two errors
//! must get the error that mongod reports: fail points, the name, the API version, unknown fields,
//! the database, the shared arguments.

mod aggregate;
/// The outcomes of the operations of `bulkWrite`.
mod bulk_outcomes;
mod bulk_write;
/// The commands `convertToCapped` and `cloneCollectionAsCapped`.
mod capped;
/// The commands `create`, `drop`, `dropDatabase` and `renameCollection`.
mod catalog;
mod change_stream;
mod coll_mod;
mod count;
mod create_indexes;
mod custom_action;
mod delete;
/// `ping`, `buildInfo`, `hostInfo`, `listCommands` and other diagnostics.
mod diagnosis;
mod diagnostic_data;
mod distinct;
mod drop_indexes;
/// The commands `ebbClock` and `ebbExpiry`.
mod ebb;
mod explain;
/// `configureFailPoint`, and the effect of fail points on other commands.
mod fail_point;
mod find;
mod find_and_modify;
mod get_more;
/// Granting and revoking of roles and privileges.
mod grants;
/// The commands `hello` and `isMaster`.
mod handshake;
mod index_builds;
/// The stage `$indexStats` of `aggregate`.
mod index_stats;
mod insert;
mod kill_cursors;
/// The commands `listDatabases`, `listCollections` and `listIndexes`.
mod list;
/// The stages `$listLocalSessions` and `$listSessions`.
mod list_sessions;
mod merge;
/// The commands `currentOp`, `killOp` and `fsync`.
mod operations;
/// The stages `$out` and `$merge` of `aggregate`.
mod output;
/// The commands `getParameter` and `setParameter`.
mod parameters;
/// `planCacheClear`, and the commands on index filters.
mod plan_cache;
/// The command `profile`, and the entries of `system.profile`.
mod profile;
/// The commands on the replica set, and its fields in handshakes.
mod replica_set;
mod request_statistics;
/// `createRole` and the other commands on roles.
mod roles;
/// The commands `saslStart`, `saslContinue` and `logout`.
mod sasl;
mod server_status;
/// `startSession`, `endSessions`, `killSessions` and the other commands on sessions.
mod sessions;
/// The commands `shardCollection`, `enableSharding` and `reIndex`.
mod sharding;
/// Reads at a snapshot outside of transactions.
mod snapshot_read;
/// Code shared by `insert`, `update`, `delete` and `bulkWrite`.
mod statements;
/// The commands `collStats`, `dataSize`, `dbStats` and `validate`.
mod stats;
mod table;
mod top;
/// Commands in transactions, `commitTransaction` and `abortTransaction`.
mod transaction;
mod update;
/// `createUser` and the other commands on users.
mod users;
/// The definitions of views in `create` and `collMod`.
mod views;
mod x509;

pub(crate) use table::COMMANDS;
pub use table::{NOT_YET, table};

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use document::{DocBuf, Document, ValueRef};
use engine::ClusterTime;

use self::{snapshot_read::run_at_snapshot, table::run_at, transaction::run_in_transaction};
use crate::{
    arguments::GENERIC,
    audited::record_command,
    authorize::check_rights_of_now,
    call::Call,
    charges::{admit_command, record_charge},
    command_row::{ANY_ARGUMENT, CommandRow, Home, InTransactions, Work},
    command_table::{Known, NotYet},
    counters::Counters,
    errors::{CommandNotFound, Error, Result, WriteConflict},
    limits::MAX_RETRYABLE_RESTARTS,
    namespace_work::CountedCommand,
    operation::Running,
    parsers::{
        api_version,
        concern::with_concern_error,
        read_level::{ReadLevel, read_level},
        shared_arguments::check_shared,
        transaction::parse_transaction,
    },
    pause::sleep,
    replies::cluster_time::with_cluster_time,
    retry_label,
    slow::{CounterSnapshot, report_end},
    transaction_label,
};

/// The response to a message.
pub(crate) enum Response {
    /// A reply document, which may be an error.
    Reply(DocBuf),
    /// No reply: the connection is closed, by a fail point or because the server stops.
    CloseConnection,
}

/// Runs the command of a message. A failure is converted to an error reply here, so the caller
/// always gets a response.
pub(crate) async fn run(call: &Call<'_>) -> Response {
    let (wait, planned) = fail_point::check_command(call);
    if let Some(time) = wait {
        sleep(time).await;
    }
    match planned {
        fail_point::Action::Go => {}
        fail_point::Action::CloseConnection => return Response::CloseConnection,
        fail_point::Action::Fail(reply) => {
            return Response::Reply(finished(call, reply.to_buf(), false));
        }
    }
    let ran = run_command(call).await;
    if let Some(known) = call.known {
        record_command(call, known.row, &ran);
    }
    if call.operation.loses_reply() {
        return Response::CloseConnection;
    }
    let reply = match ran {
        Ok(reply) => reply,
        Err(error) => error.to_reply().to_buf(),
    };
    let reply = fail_point::add_concern_error(call, reply);
    Response::Reply(finished(call, reply, !call.operation.has_written()))
}

/// Adds to a reply the label by which a driver repeats a failed retryable write or transaction, and
/// the cluster time. The time is read after the command has run, so that it covers the command's own
/// commits. `wrote_nothing` is whether a retryable write that has failed made no commit.
fn finished(call: &Call<'_>, reply: DocBuf, wrote_nothing: bool) -> DocBuf {
    let reply = labelled(call, reply, wrote_nothing);
    if call.known.is_some_and(|known| !known.row.cluster_time) {
        return reply;
    }
    match call.api.cluster_time() {
        // Drivers would read after a time of 0, which is an error; nothing was ever committed.
        None | Some(ClusterTime::MIN) => reply,
        Some(time) => with_cluster_time(reply, time),
    }
}

/// Adds the label by which a driver repeats a failed retryable write or transaction.
fn labelled(call: &Call<'_>, reply: DocBuf, wrote_nothing: bool) -> DocBuf {
    if call.is_retryable_write() {
        return retry_label::with_label(reply, wrote_nothing);
    }
    if call.body.get("autocommit").is_none() {
        return reply;
    }
    let how = call.known.map(|known| known.row.in_transactions);
    transaction_label::with_label(reply, how == Some(InTransactions::Ends))
}

/// Finds the row of a command, makes the checks that all commands share, and runs the command.
///
/// While the command runs, it is listed as the connection's current command, with an operation id;
/// afterwards its latency and failure are counted by its position in the table.
async fn run_command(call: &Call<'_>) -> Result<DocBuf> {
    let found = call.known.and_then(|known| Some((known, run_at(known.position)?)));
    let Some((Known { position, row }, run)) = found else { return Err(unknown_command(call)) };
    Counters::add(&call.connection.counters.command, 1);
    check_rights_of_now(call, row).await?;
    let args = call.args().with_noted_names();
    api_version::check_version(row, &args)?;
    // Requests of the portal are the server's own and declare no version.
    if call.api.requires_api_version.load(Relaxed) && call.connection.relayed_sender.is_none() {
        api_version::require_version(&args)?;
    }
    check_fields(call, row.fields)?;
    if row.admin_only && call.database != "admin" {
        let message = format!("{} may only be run against the admin database.", row.name);
        return Err(Error::new(crate::errors::Unauthorized, message));
    }
    let time = call.api.cluster_time();
    let deadline = check_shared(&args, row, &call.api.settings.topology, time)?;
    let began = clock::monotonic_time();
    // The default limit applies only to commands that end with their client, which only read:
    // stopping a write could leave half of it.
    let usual = call.api.settings.max_time.filter(|_| is_bounded(call, row));
    let has_limit = deadline.is_none() || fail_point::check_time_limit(call)?;
    let ends = deadline.or_else(|| usual.map(|most| began.saturating_add(most)));
    call.operation.end_at(ends.filter(|_| has_limit));
    let (id, before) = (call.api.operation_id(), CounterSnapshot::of(&call.connection.counters));
    admit_command(call, row)?;
    let _begun = call.connection.begin_command(Running {
        id,
        row,
        command: shown_body(call, row),
        began,
        operation: Arc::clone(&call.operation),
        cursor: None,
    });
    let mut reply = match parse_transaction(&args, row)? {
        Some(transaction) => run_in_transaction(call, transaction, run).await,
        None => match read_level(call.body) {
            // A `getMore` reads the snapshot of its cursor.
            ReadLevel::Snapshot(at) if row.work != Work::GetMore => {
                run_at_snapshot(call, at, run).await
            }
            _ => run(call).await,
        },
    };
    // Another attempt of the same write was committed first, so its receipts (the results of its
    // statements) are visible now. Statements that this attempt has executed have receipts as well,
    // so none is executed twice.
    let mut restarts = 1..MAX_RETRYABLE_RESTARTS;
    while call.is_retryable_write()
        && reply.as_ref().is_err_and(|error| error.code == WriteConflict)
        && restarts.next().is_some()
    {
        reply = run(call).await;
    }
    if time.is_some() && !call.api.commands.changes_nothing(call.body) {
        reply = reply.map(|reply| with_concern_error(reply, call.body));
    }
    if reply.is_err()
        && let Some(failed) = call.api.failed.get(position)
    {
        failed.fetch_add(1, Relaxed);
    }
    // Commands that wait for a change of state would distort the latencies.
    if call.body.get("maxAwaitTimeMS").is_none() {
        let took = clock::monotonic_time().saturating_sub(began);
        let took = took.saturating_sub(waited(call, row));
        call.api.latencies.observe(position, took);
        record_work(call, row, took);
        record_charge(call, row, took, before, &reply);
        report_end(call, id, took, before, &reply);
        profile::record(call, row, took, &reply).await;
    }
    reply
}

/// Returns the time that a `getMore` has waited for documents, which is not part of its latency.
fn waited(call: &Call<'_>, row: &CommandRow) -> Duration {
    match row.work {
        Work::GetMore => call.connection.running_command(),
        _ => None,
    }
    .map_or(Duration::ZERO, |running| running.operation.take_waited())
}

/// Adds a command to the statistics of its collection, and counts the keys and documents that it
/// examined.
fn record_work(call: &Call<'_>, row: &CommandRow, took: Duration) {
    // A `getMore` continues the operation that opened its cursor.
    let resumed = match row.work {
        Work::GetMore => call.connection.running_command().map(|running| running.operation),
        _ => None,
    };
    let operation = resumed.as_ref().unwrap_or(&call.operation);
    call.connection.counters.record_statistics(&operation.stats);
    let name = call.body.get(row.collection_in.unwrap_or(row.name));
    let Some(collection) = name.and_then(ValueRef::as_str) else { return };
    if row.home != Home::Database || row.hides_arguments {
        return;
    }
    let exists = |database: &str, collection: &str| call.find_named(database, collection).is_some();
    let (last, name) = (&call.connection.last_work, (call.database, collection));
    // A `getMore` continues a scan that was counted when it began.
    let scans = resumed.is_none() && operation.stats.access() == Some("scan");
    let follows = call.body.get("tailable").is_some_and(ValueRef::is_truthy);
    let command = CountedCommand { row, took, scans, follows };
    call.api.work.note(last, name, command, exists);
}

/// Returns whether the default time limit applies to a command. It applies to commands that only
/// read, do not wait for a change of state, and have no `maxTimeMS`; `maxTimeMS: 0` means
/// unlimited.
fn is_bounded(call: &Call<'_>, row: &CommandRow) -> bool {
    row.ends_with_client && !row.awaits_state && call.body.get("maxTimeMS").is_none()
}

/// Returns a command's body for `currentOp`, redacted if it may contain passwords.
fn shown_body(call: &Call<'_>, row: &CommandRow) -> DocBuf {
    if row.hides_arguments {
        let mut shown = Document::new();
        shown.push(row.name, 1);
        shown.push("$db", call.database);
        return shown.to_buf();
    }
    call.message.owned_document(call.body)
}

/// Returns the error of a command without a row. It is 59 if MongoDB has no such command; drivers
/// and tools that probe for a command take 59 for an older server. Otherwise it is 115 with the
/// name of the missing feature, or 323 if the client requires an API version that does not have the
/// command.
fn unknown_command(call: &Call<'_>) -> Error {
    let name = call.name;
    match call.api.commands.find_not_yet(name) {
        Some(_) if api_version::is_strict(call.body) => api_version::not_in_version(name),
        Some(NotYet { area, .. }) => {
            let message = format!("command '{name}' is not supported yet ({area})");
            Error::new(crate::errors::CommandNotSupported, message)
        }
        None => Error::new(CommandNotFound, format!("no such command: '{name}'")),
    }
}

/// Checks that every field but the first, which names the command, is an argument of the command or
/// of all commands (40415).
fn check_fields(call: &Call<'_>, known: &[&str]) -> Result<()> {
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
