//! Commands in transactions of several statements, and the commands `commitTransaction` and
//! `abortTransaction`.
//!
//! A statement runs like any command, but through the handle of the engine that belongs to the
//! transaction ([`Call::engine`]). A statement that fails aborts the transaction; one that is
//! refused before it begins does not.

use document::{DocBuf, Number, ValueRef, doc};
use engine::{Collection, Kind};

use super::table::Run;
use crate::{
    call::Call,
    command_row::InTransactions,
    errors::{
        CommandNotSupported, Error, OperationNotSupportedInTransaction, Result, ShutdownInProgress,
        TransactionCommitted,
    },
    parsers::transaction::TransactionArgs,
    replies::ok,
    retryable::{CommitReceipt, stored_number},
    session::session_id,
    session_set::{SessionKey, user_digest},
    transaction_table::{
        OpenTransaction, TransactionState, no_such_transaction, too_old, was_aborted,
    },
};

/// Stages of `aggregate` that cannot run in a transaction.
const OUTSIDE_STAGES: [&str; 9] = [
    "$changeStream",
    "$collStats",
    "$currentOp",
    "$indexStats",
    "$listLocalSessions",
    "$listSessions",
    "$merge",
    "$out",
    "$planCacheStats",
];

/// Returns the session and the user of a command. The session id was checked before.
fn session_key(call: &Call<'_>) -> SessionKey {
    let id = session_id(call.body).unwrap_or_default();
    (id, user_digest(call.connection.sender().user.as_ref()))
}

/// Runs a command in a transaction. The commands of a session's transaction take turns.
///
/// Fails with 115 in a cluster, and with the errors of the state that the transaction has.
pub(super) async fn run_in_transaction(
    call: &Call<'_>,
    args: TransactionArgs,
    run: Run,
) -> Result<DocBuf> {
    if call.api.settings.in_cluster {
        // A transaction could not be found again: each command goes to the owner of its database.
        let message = "transactions of several statements are not supported in a cluster";
        return Err(Error::new(CommandNotSupported, message));
    }
    let key = session_key(call);
    let turn = call.api.transactions.turn(&key);
    let _turn = tokio::select! {
        turn = turn.lock() => turn,
        () = call.operation.until_stopped() => {
            call.operation.check_stopped()?;
            turn.lock().await
        }
    };
    if call.known.is_some_and(|known| known.row.in_transactions == InTransactions::Ends) {
        return run(call).await;
    }
    check_outside(call)?;
    let open = match args.starts {
        true => start(call, key, args.number).await?,
        false => find_open(call, &key, args.number).await?,
    };
    let _running = open.count_running();
    let ran = run_statement(call, &open, run).await;
    if !matches!(&ran, Ok(reply) if !has_failed(reply)) {
        call.api.abort_transaction(&open);
    }
    ran
}

/// Fails with 263 if the database, the collection or a stage cannot be used in a transaction.
fn check_outside(call: &Call<'_>) -> Result<()> {
    let refused = |message: String| Err(Error::new(OperationNotSupportedInTransaction, message));
    if matches!(call.database, "config" | "local") {
        let database = call.database;
        return refused(format!(
            "Cannot run command against the '{database}' database in a transaction."
        ));
    }
    if let Some(ValueRef::String(collection)) = call.body.get(call.name)
        && collection.starts_with("system.")
    {
        let database = call.database;
        return refused(format!(
            "Cannot run command against the '{database}.{collection}' collection in a transaction."
        ));
    }
    let stages = call.body.get("pipeline").and_then(ValueRef::as_array);
    for stage in stages.iter().flat_map(|stages| stages.iter()) {
        let name = stage.as_document().and_then(|stage| stage.iter().next()).map(|(name, _)| name);
        if let Some(name) = name.filter(|name| OUTSIDE_STAGES.contains(name)) {
            return refused(format!(
                "Operation not permitted in transaction :: caused by :: Aggregation stage {name} \
                 cannot run within a multi-document transaction."
            ));
        }
    }
    Ok(())
}

/// Starts a transaction, which aborts an earlier one of the session.
async fn start(
    call: &Call<'_>,
    key: SessionKey,
    number: i64,
) -> Result<std::sync::Arc<OpenTransaction>> {
    // Numbers of writes and of earlier runs are known from the receipts.
    if let Some(stored) = stored_number(&call.api.engine, &key).await?
        && number <= stored.number
    {
        return Err(too_old(number, stored.number));
    }
    let engine = &call.api.engine;
    let transaction = engine.begin_transaction(call.api.settings.memory.share());
    let handle = engine.in_transaction(&transaction);
    let began = clock::monotonic_time();
    let open = OpenTransaction::new((key, number), transaction, handle, began);
    let (open, replaced) = call.api.transactions.begin(open)?;
    if let Some(replaced) = replaced {
        call.api.abort_transaction(&replaced);
    }
    Ok(open)
}

/// Returns the open transaction of a command that does not start one.
///
/// Fails with 225, 251 and 256 if the session has no open transaction of this number.
async fn find_open(
    call: &Call<'_>,
    key: &SessionKey,
    number: i64,
) -> Result<std::sync::Arc<OpenTransaction>> {
    match call.api.transactions.newest(key) {
        Some((newest, TransactionState::Open(open))) if newest == number => Ok(open),
        Some((newest, TransactionState::Committed)) if newest == number => {
            let message = format!("Transaction with {{ txnNumber: {number} }} has been committed.");
            Err(Error::new(TransactionCommitted, message))
        }
        Some((newest, TransactionState::Aborted)) if newest == number => Err(was_aborted(number)),
        Some((newest, _)) if number < newest => Err(too_old(number, newest)),
        newest => Err(no_such_transaction(number, newest.map(|(newest, _)| newest))),
    }
}

/// Runs one statement of a transaction.
async fn run_statement(call: &Call<'_>, open: &OpenTransaction, run: Run) -> Result<DocBuf> {
    let statement = call.in_transaction(open);
    let ran = run(&statement).await;
    if !open.transaction.is_open() {
        // It was aborted from outside while the statement ran.
        return Err(was_aborted(open.number));
    }
    let reply = ran?;
    if !has_failed(&reply) {
        call.api.engine.end_statement(&open.transaction).await?;
    }
    Ok(reply)
}

/// Returns whether a statement has failed although its command was executed.
fn has_failed(reply: &DocBuf) -> bool {
    let errors = reply.get("nErrors").and_then(Number::of).and_then(Number::to_i64_exact);
    reply.get("writeErrors").is_some() || errors.is_some_and(|errors| 0 < errors)
}

/// Runs `commitTransaction`. A repeat of a commit is answered like the first one.
///
/// Fails with 112 and 246 if the transaction conflicts with others, and with 225 and 251 if no
/// transaction has this number.
pub(super) async fn commit(call: &Call<'_>) -> Result<DocBuf> {
    let (key, number) = (session_key(call), number(call));
    let newest = call.api.transactions.newest(&key);
    match &newest {
        Some((newest, TransactionState::Open(open))) if *newest == number => {
            commit_open(call, open).await?;
            return ok(doc! {});
        }
        Some((newest, TransactionState::Committed)) if *newest == number => return ok(doc! {}),
        Some((newest, TransactionState::Aborted)) if *newest == number => {
            return Err(was_aborted(number));
        }
        Some((newest, _)) if number < *newest => return Err(too_old(number, *newest)),
        _ => {}
    }
    // A commit of an earlier run, or one whose outcome was unknown.
    match stored_number(&call.api.engine, &key).await? {
        Some(stored) if stored.number == number && stored.is_committed => ok(doc! {}),
        Some(stored) if number < stored.number => Err(too_old(number, stored.number)),
        _ => Err(no_such_transaction(number, newest.map(|(newest, _)| newest))),
    }
}

/// Commits an open transaction with its receipt.
async fn commit_open(call: &Call<'_>, open: &OpenTransaction) -> Result<()> {
    let (engine, table) = (&call.api.engine, &call.api.transactions);
    let _running = open.count_running();
    call.api.cursors.close_transaction(&open.key, open.number);
    let receipt = match open.transaction.is_read_only() {
        true => None,
        false => match CommitReceipt::prepare(engine, &open.key, open.number).await {
            Ok(receipt) => Some(receipt),
            Err(error) => {
                call.api.abort_transaction(open);
                return Err(error);
            }
        },
    };
    let receipts = receipt.as_ref().map(|receipt| -> &dyn engine::Receipts { receipt });
    match engine.commit_transaction(&open.transaction, receipts).await {
        Ok(_) => {
            table.end(open, Some(TransactionState::Committed));
            Ok(())
        }
        Err(error) => {
            // The receipt tells a repeat whether such a commit was written.
            let is_unknown = matches!(error.kind, Kind::Unavailable | Kind::Moved | Kind::Reopened);
            table.end(open, (!is_unknown).then_some(TransactionState::Aborted));
            Err(match error.kind {
                Kind::Unavailable | Kind::Reopened => Error::new(ShutdownInProgress, error.message),
                _ => error.into(),
            })
        }
    }
}

/// Runs `abortTransaction`.
///
/// Fails with 251 if there is no open transaction of this number, and 256 if it is committed.
pub(super) async fn abort(call: &Call<'_>) -> Result<DocBuf> {
    let (key, number) = (session_key(call), number(call));
    let open = find_open(call, &key, number).await?;
    call.api.abort_transaction(&open);
    ok(doc! {})
}

/// Returns the number of a command, which was checked before.
fn number(call: &Call<'_>) -> i64 {
    match call.body.get("txnNumber") {
        Some(ValueRef::Int64(number)) => number,
        _ => -1,
    }
}

/// Fails with 263 if a transaction may not create indexes on an existing collection: only on one
/// that it has created and not written yet.
pub(super) fn check_may_index(call: &Call<'_>, collection: &Collection) -> Result<()> {
    let Some(open) = call.transaction else { return Ok(()) };
    if open.transaction.has_created_empty(collection) {
        return Ok(());
    }
    let message = format!(
        "Cannot create new indexes on existing collection {} in a multi-document transaction.",
        collection.state().record.namespace
    );
    Err(Error::new(OperationNotSupportedInTransaction, message))
}
