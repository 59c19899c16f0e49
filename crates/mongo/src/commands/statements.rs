//! The statements of one write command: how many there may be, in which order they run, and how
//! their failures are reported.
//!
//! ```text
//! ordered:    s0 ok, s1 fails, s2 does not run        writeErrors: [{index: 1}]
//! unordered:  s0 ok, s1 fails, s2 runs                writeErrors: [{index: 1}]
//! ```

use std::sync::Arc;

use document::{DocRef, Document, Value};
use engine::Store;
use evaluation::Context;

use crate::{
    call::Call,
    door::Topology,
    errors::{Error, InvalidLength, InvalidOptions, Result, TransactionTooOld, WriteConflict},
    limits::MAX_WRITE_BATCH,
    numbered::{Book, Place, label::may_repeat},
    parsers::number::parse_numbered,
};

/// How many operations one command may hold: one at least, and as many as `hello` allows.
pub(super) fn check_batch(len: usize) -> Result<()> {
    if (1..=MAX_WRITE_BATCH).contains(&len) {
        return Ok(());
    }
    let message = format!(
        "Write batch sizes must be between 1 and {MAX_WRITE_BATCH}. Evaluated {len} operations."
    );
    Err(Error::new(InvalidLength, message))
}

/// Adds `writeErrors` to a reply when there are any. Drivers take its absence for success.
pub(super) fn push_errors(reply: &mut Document, errors: &[(usize, Error)]) {
    if !errors.is_empty() {
        let errors = errors.iter().map(|(at, error)| error.write_error(*at)).collect();
        reply.push("writeErrors", Value::Array(errors));
    }
}

/// The receipts of a command, where it has a number.
pub(super) async fn open_book<'a, S: Store>(
    call: &Call<'a, S>,
    statements: usize,
) -> Result<Option<Book<'a, S>>> {
    if !call.has_number() {
        return Ok(None);
    }
    match parse_numbered(&call.args(), statements)? {
        Some(numbered) => Ok(Some(Book::open(&call.door.engine, numbered).await?)),
        None => Ok(None),
    }
}

/// Whether the failure of a statement is that of its whole command. On a router those are failures
/// after which a driver may send the command again: it looks for them in no other place. A numbered
/// write has two more: another attempt came first, and the session is at a higher number.
pub(super) fn ends_command<S: Store>(call: &Call<'_, S>, error: &Error) -> bool {
    call.door.settings.topology == Topology::Router && may_repeat(error.code)
        || call.has_number() && [WriteConflict, TransactionTooOld].contains(&error.code)
}

/// A numbered write can only be about one document (72): of several nobody could tell which were
/// written before. `why` is the argument that says so.
pub(super) fn check_one<S: Store>(
    place: Option<Place<'_, S>>,
    many: bool,
    why: &str,
) -> Result<()> {
    if place.is_none() || !many {
        return Ok(());
    }
    let message = format!("Cannot use (or request) retryable writes with {why}");
    Err(Error::new(InvalidOptions, message))
}

/// What runs the statements of one command and adds up what they did.
pub(super) trait RunStatement {
    /// Whether a failure is that of the whole command, and no statement runs after it.
    fn ends_command(&self, error: &Error) -> bool;

    /// Runs one statement; `at` is its position in the command.
    fn run_statement(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// Runs statements one after the other, and returns the failures by position. In an `ordered`
/// command the first failure is the last statement that runs; else each has its turn.
///
/// Errors: those that are no statement's own, see [`ends_command`].
///
/// `context` is the command's. What is wrong with its constants fails each statement and not the
/// command, so it is handed on as it is.
pub(super) async fn run_statements(
    statements: Vec<DocRef<'_>>,
    ordered: bool,
    context: Result<Arc<Context>>,
    runner: &mut (impl RunStatement + Send),
) -> Result<Vec<(usize, Error)>> {
    let mut errors = Vec::new();
    for (at, statement) in statements.into_iter().enumerate() {
        let ran = match &context {
            Ok(context) => runner.run_statement(at, statement, context).await,
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = ran {
            if runner.ends_command(&error) {
                return Err(error);
            }
            errors.push((at, error));
            if ordered {
                break;
            }
        }
    }
    Ok(errors)
}
