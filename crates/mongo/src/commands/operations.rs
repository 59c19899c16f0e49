//! Running operations: `currentOp` and `$currentOp` list them, `killOp` stops them. Also `fsync`
//! which has little effect here.
//!
//! ```text
//! {currentOp: 1, $all: true, secs_running: {$gt: 3}}
//! => {inprog: [{type: "op", opid: 7, op: "query", ns: "db.c", command: {..}, ..}], ok: 1}
//! {killOp: 1, op: 7}  => {info: "attempting to kill op", ok: 1}
//! ```
//!
//! An entry is a snapshot of a connection's state: the operation may end while the reply is built.
//! Commands are truncated (see `cursor_description`) to keep the list small.

use document::{DocBuf, DocRef, Document, Number, Value, ValueRef, doc, shell};
use memory::Share;

use super::index_builds::{BuiltForClients, builds_without_client, describe_build};
use crate::{
    access::{Action, UserName},
    call::Call,
    client::{Connection, Sender},
    command_row::CommandRow,
    cursor_description::{Clocks, CursorSnapshot, session_document, shown_command},
    errors::{BadValue, Error, InvalidNamespace, NoSuchKey, Result, TypeMismatch, Unauthorized},
    limits::{MAX_WHOLE_COMMANDS, SHOWN_BYTES},
    operation::{Running, StopReason},
    other_shards::OtherShards,
    parsers::current_op_options::check_current_op_options,
    replies::ok,
    rights::{CommandRequest, Object, Requirement, is_set},
    session,
    session_set::user_digest,
    transaction_table::OpenTransaction,
};

/// Number of copies of a `currentOp` entry that exist until the reply is sent. Memory for them is
/// reserved first, since there may be as many operations as connections.
const SHOWN_COPIES: usize = 4;

/// Prefix of shard names in replies of `currentOp`.
const SHARD: &str = "shard";

/// Returns the rights that `currentOp` requires: none for the sender's own operations.
pub(super) fn current_op_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    Ok(if request.is_set("$ownOps") { Vec::new() } else { all_operations() })
}

/// Returns the rights that the stage `$currentOp` requires: none if it shows only the sender's own
/// operations, which is the default.
pub(super) fn current_op_stage_needs(spec: ValueRef<'_>) -> Vec<Requirement> {
    let all = spec.as_document().is_some_and(|spec| is_set(spec, "allUsers"));
    if all { all_operations() } else { Vec::new() }
}

fn all_operations() -> Vec<Requirement> {
    vec![Requirement::of(Action::InProg, Object::Server)]
}

/// Runs `currentOp`. Fields other than its arguments are a filter over the entries.
pub(super) async fn current_op(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let only_own = args.lax_bool("$ownOps")?.unwrap_or(false);
    let idle = args.lax_bool("$all")?.unwrap_or(false);
    let own = |name: &str| {
        matches!(name, "$all" | "$ownOps") || crate::arguments::GENERIC.contains(&name)
    };
    let mut filter = Document::new();
    for (name, value) in call.body.iter().skip(1).filter(|(name, _)| !own(name)) {
        filter.push(name, value);
    }
    let filter = mongo_query::filter::parse(DocRef::Tree(&filter))?;
    let context = call.evaluation_context().await?;
    let mut shown = Vec::new();
    let (operations, _held) =
        list_operations(call, OperationSelection { only_own, idle, cursors: false, whole: false })
            .await?;
    for operation in operations {
        if filter.matches(DocRef::Tree(&operation), &context)? {
            shown.push(Value::Document(operation));
        }
    }
    ok(doc! { "inprog": Value::Array(shown) })
}

/// Returns the documents of `$currentOp` at the start of a pipeline. The stage requires the
/// database `admin` and `{aggregate: 1}`.
pub(super) async fn current_op_stage(call: &Call<'_>, spec: ValueRef<'_>) -> Result<Vec<Document>> {
    let ValueRef::Document(spec) = spec else {
        let message = "$currentOp options must be specified in an object";
        return Err(Error::new(TypeMismatch, message));
    };
    if call.database != "admin" || !call.body.get("aggregate").is_some_and(ValueRef::is_number) {
        let message = "$currentOp must be run against the 'admin' database with {aggregate: 1}";
        return Err(Error::new(InvalidNamespace, message));
    }
    check_current_op_options(spec)?;
    let request = OperationSelection {
        only_own: !is_set(spec, "allUsers"),
        idle: is_set(spec, "idleConnections"),
        cursors: is_set(spec, "idleCursors"),
        whole: !is_set(spec, "truncateOps"),
    };
    let (operations, _held) = list_operations(call, request).await?;
    Ok(operations)
}

/// The selection of operations and cursors that `currentOp` lists.
#[derive(Clone, Copy, Debug)]
struct OperationSelection {
    /// Whether to list only operations of the sender's user, if authentication is on.
    only_own: bool,
    /// Whether to include idle connections.
    idle: bool,
    /// Whether to include idle cursors.
    cursors: bool,
    /// Whether large commands of this server are shown in full.
    whole: bool,
}

/// Returns the entries of all running operations, including this one, and of idle cursors and index
/// builds if requested. The caller holds the returned memory reservation until its reply is built.
async fn list_operations(
    call: &Call<'_>,
    request: OperationSelection,
) -> Result<(Vec<Document>, Share)> {
    let now_ms = call.api.engine.now().await?.ms;
    let clocks = Clocks { now_ms, monotonic: clock::monotonic_time() };
    let host = call.api.settings.host.as_str();
    let mut held = call.api.settings.memory.share();
    let mut shown = Vec::new();
    let own = call.connection.sender();
    let hides_others = request.only_own && call.api.asks_for_login(call.connection);
    let mut built = BuiltForClients::new();
    let mut left = if request.whole { MAX_WHOLE_COMMANDS } else { 0 };
    let is_shown = |owner: &Sender| !hides_others || owner.user == own.user;
    for connection in call.api.connections() {
        if !is_shown(&connection.sender()) {
            continue;
        }
        let running = connection.running_command();
        if running.is_none() && !request.idle {
            continue;
        }
        held.grow(SHOWN_COPIES * SHOWN_BYTES)?;
        let bytes = running.as_ref().map_or(0, |running| running.command.bytes().len());
        // Without memory for the full command it is truncated, so that `currentOp` works when
        // memory is low.
        let whole = SHOWN_BYTES < bytes && bytes <= left && held.grow(SHOWN_COPIES * bytes).is_ok();
        let most = if whole { bytes } else { SHOWN_BYTES };
        left -= if whole { bytes } else { 0 };
        let mut out = doc! {
            "type": "op",
            "host": host,
            "desc": format!("conn{}", connection.id),
            "connectionId": connection.id,
            "client": connection.peer.as_str(),
        };
        if let Some(name) = connection.app_name() {
            out.push("appName", name);
        }
        if let Some(user) = connection.sender().user {
            let user = Value::Document(user.to_document());
            out.push("effectiveUsers", Value::Array(vec![user]));
        }
        out.push("active", running.is_some());
        out.push("currentOpTime", Value::DateTime(now_ms));
        if let Some(running) = running {
            let cursor = running.cursor.and_then(|id| call.api.cursors.snapshot(id));
            describe_running(&running, most, cursor.map(|cursor| (cursor, clocks)), &mut out);
            describe_build(call.api, &running, &mut built, &mut out);
        }
        shown.push(out);
    }
    let builds = match hides_others {
        true => Vec::new(),
        false => builds_without_client(call.api, &built, now_ms),
    };
    held.grow(builds.len() * SHOWN_COPIES * SHOWN_BYTES)?;
    shown.extend(builds);
    let digest = user_digest(own.user.as_ref());
    for open in call.api.transactions.open_transactions() {
        if !open.is_active() && (!hides_others || open.key.1 == digest) {
            held.grow(SHOWN_COPIES * SHOWN_BYTES)?;
            shown.push(inactive_transaction(&open, host, clocks));
        }
    }
    let elsewhere = list_elsewhere(call, request.idle, &mut held).await?.into_iter();
    shown.extend(elsewhere.filter(|it| !hides_others || is_of(it, own.user.as_ref())));
    let idle = if request.cursors { call.api.cursors.idle_ids() } else { Vec::new() };
    let cursors = idle.into_iter().filter_map(|id| call.api.cursors.snapshot(id));
    for cursor in cursors.filter(|cursor| is_shown(&cursor.owner)) {
        held.grow(SHOWN_COPIES * SHOWN_BYTES)?;
        shown.push(cursor.idle_entry(host, clocks));
    }
    Ok((shown, held))
}

/// Returns the entry of an open transaction in which no command is running.
fn inactive_transaction(open: &OpenTransaction, host: &str, clocks: Clocks) -> Document {
    let micros = clocks.monotonic.saturating_sub(open.began).as_micros();
    doc! {
        "type": "idleSession",
        "host": host,
        "desc": "inactive transaction",
        "lsid": session_document(open.key.0),
        "active": false,
        "transaction": doc! {
            "parameters": doc! { "txnNumber": open.number, "autocommit": false },
            "timeOpenMicros": i64::try_from(micros).unwrap_or(i64::MAX),
            "bytes": i64::try_from(open.transaction.memory_used()).unwrap_or(i64::MAX),
        },
    }
}

/// Returns the operations of all other shards; their memory is added to `held`.
async fn list_elsewhere(call: &Call<'_>, idle: bool, held: &mut Share) -> Result<Vec<Document>> {
    let Some(other_shards) = call.other_shards() else { return Ok(Vec::new()) };
    let ask = doc! { "currentOp": 1, "$all": idle };
    let (answers, _counted) = other_shards.ask(ask, &call.api.settings.memory).await?;
    let mut shown = Vec::new();
    for (shard, reply) in answers {
        held.grow(SHOWN_COPIES.saturating_mul(reply.bytes().len()))?;
        shown.extend(operations_of(shard, &reply));
    }
    Ok(shown)
}

/// Returns the operations in another shard's reply. Operation ids get the shard's name as prefix,
/// as a router shows them.
fn operations_of(shard: u32, reply: &DocBuf) -> Vec<Document> {
    let reply = DocRef::Raw(reply.bytes()).to_tree();
    let Some(Value::Array(operations)) = reply.get("inprog") else { return Vec::new() };
    let of_shard = |operation: &Value| {
        let Value::Document(operation) = operation else { return None };
        let mut operation = operation.clone();
        if let Some(number) = operation.get("opid").and_then(|id| Number::of(id.as_ref())) {
            let number = number.to_i64_exact().unwrap_or(0);
            operation.insert("opid", format!("{SHARD}{shard}:{number}"));
        }
        operation.insert("shard", format!("{SHARD}{shard}"));
        Some(operation)
    };
    operations.iter().filter_map(of_shard).collect()
}

/// Returns whether an operation of another shard belongs to this user.
fn is_of(operation: &Document, user: Option<&UserName>) -> bool {
    let shown = user.map(|user| Value::Array(vec![Value::Document(user.to_document())]));
    operation.get("effectiveUsers") == shown.as_ref()
}

/// Stops an operation of another shard. A sender without the right to stop any operation may stop
/// its own.
async fn kill_elsewhere(
    call: &Call<'_>,
    other_shards: &OtherShards,
    (shard, number): (u32, i32),
) -> Result<DocBuf> {
    let memory = &call.api.settings.memory;
    if !call.api.permits(call.connection, &[Requirement::of(Action::KillOp, Object::Server)]) {
        let (answers, _held) = other_shards.ask(doc! { "currentOp": 1 }, memory).await?;
        let id = Value::from(format!("{SHARD}{shard}:{number}"));
        let user = call.connection.sender().user;
        let is_it = |it: &Document| it.get("opid") == Some(&id) && is_of(it, user.as_ref());
        let mut shown = answers.iter().flat_map(|(shard, reply)| operations_of(*shard, reply));
        if !shown.any(|operation| is_it(&operation)) {
            return Err(not_own());
        }
    }
    other_shards.ask_one(doc! { "killOp": 1, "op": number }, shard, memory).await?;
    ok(doc! { "info": "attempting to kill op" })
}

fn not_own() -> Error {
    Error::new(Unauthorized, "not authorized on admin to kill the operations of other users")
}

/// Parses the id of an operation of another shard into shard and number.
fn operation_of_shard(id: ValueRef<'_>) -> Option<(u32, i32)> {
    let ValueRef::String(text) = id else { return None };
    let (shard, number) = text.strip_prefix(SHARD)?.split_once(':')?;
    Some((shard.parse().ok()?, number.parse().ok()?))
}

/// Adds a connection's current command, truncated to `most` bytes, to the `currentOp` entry `out`.
fn describe_running(
    running: &Running,
    most: usize,
    cursor: Option<(CursorSnapshot, Clocks)>,
    out: &mut Document,
) {
    let took = clock::monotonic_time().saturating_sub(running.began);
    let command = running.command.as_ref();
    out.push("opid", running.id);
    out.push("secs_running", saturated_long(took.as_secs().into()));
    out.push("microsecs_running", saturated_long(took.as_micros()));
    out.push("op", running.row.work.op_name());
    out.push("ns", shown_namespace(running.row, command));
    out.push("command", shown_command(command, most).as_ref().to_tree());
    if let Some(session) = session::session_id(command) {
        out.push("lsid", session_document(session));
    }
    if let Some((cursor, clocks)) = cursor {
        out.push("planSummary", cursor.summary());
        out.push("cursor", cursor.cursor_document(clocks, Some(running.id)));
    }
    if running.operation.is_stopped() {
        out.push("killPending", true);
    }
    out.push("numYields", 0);
    out.push("waitingForLock", false);
}

/// Returns a 64-bit number, saturated.
fn saturated_long(number: u128) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the namespace of a command, for the field `ns` of a `currentOp` entry.
fn shown_namespace(row: &CommandRow, command: DocRef<'_>) -> String {
    let text = |field: &str| command.get(field).and_then(|value| value.as_str());
    let database = text("$db").unwrap_or_default();
    let collection = text(row.collection_in.unwrap_or(row.name));
    format!("{database}.{}", collection.unwrap_or(row.without_collection))
}

/// Runs `killOp`. Succeeds even if the operation has ended, which it may do at any time.
///
/// Fails with 4 if `op` is missing, 14 if it is not a number, 2 if it has a fraction, and 26823 if
/// it exceeds 32 bits.
pub(super) async fn kill_op(call: &Call<'_>) -> Result<DocBuf> {
    let elsewhere = call.body.get("op").and_then(operation_of_shard);
    if let (Some(operation), Some(other_shards)) = (elsewhere, call.other_shards()) {
        return kill_elsewhere(call, other_shards, operation).await;
    }
    let id = match call.body.get("op") {
        None => return Err(Error::new(NoSuchKey, "Missing expected field \"op\"")),
        Some(op) if !op.is_number() => {
            let message = format!(
                "Expected field \"op\" to have numeric type, but found {}",
                op.kind().name()
            );
            return Err(Error::new(TypeMismatch, message));
        }
        Some(op) => Number::of(op).and_then(Number::to_i64_exact).ok_or_else(|| {
            let message = format!(
                "Expected field \"op\" to have a value exactly representable as a 64-bit integer, but \
                 found op: {}",
                shell(op)
            );
            Error::new(BadValue, message)
        })?,
    };
    let Ok(id) = i32::try_from(id) else {
        let message = format!("invalid op : {id}. Op ID cannot be represented with 32 bits");
        return Err(Error::new(26823, message));
    };
    // A sender may always stop its own operations.
    let any = call.api.permits(call.connection, &[Requirement::of(Action::KillOp, Object::Server)]);
    let own = call.connection.sender();
    let killed = |connection: &std::sync::Arc<Connection>| {
        (any || connection.sender() == own) && connection.stop_command(Some(id), StopReason::Killed)
    };
    if !call.api.connections().iter().any(killed) && !any {
        return Err(not_own());
    }
    ok(doc! { "info": "attempting to kill op" })
}

/// Runs `fsync`. Acknowledged writes are durable already, so there is nothing to flush. Locking all
/// writes is not supported.
pub(super) async fn fsync(call: &Call<'_>) -> Result<DocBuf> {
    if call.args().lax_bool("lock")?.unwrap_or(false) {
        let message = "fsync with lock is not supported";
        return Err(Error::new(crate::errors::CommandNotSupported, message));
    }
    ok(doc! { "numFiles": 1 })
}
