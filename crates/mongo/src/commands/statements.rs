//! The statements of a write command: their maximum number, their order, and the report of their
//! failures.
//!
//! ```text
//! ordered:    s0 ok, s1 fails, s2 does not run        writeErrors: [{index: 1}]
//! unordered:  s0 ok, s1 fails, s2 runs                writeErrors: [{index: 1}]
//! ```

use std::sync::{Arc, atomic::Ordering::Relaxed};

use document::{DocRef, Document, Value};
use engine::{Receipts, WriteGroup};
use evaluation::Context;

use crate::{
    call::Call,
    charges::admit_statements,
    errors::{Error, InvalidLength, InvalidOptions, Result, TransactionTooOld, WriteConflict},
    limits::{GROUP_STATEMENTS, MAX_WRITE_BATCH},
    parsers::number::parse_retryable_write,
    retry_label::may_repeat,
    retryable::{ReceiptSlot, WriteFailures, WriteReceipts},
    session_set::user_digest,
    transaction_label::is_transient,
    utf8,
};

/// Checks that a command has at least one statement, and at most the number that a handshake
/// reports as `maxWriteBatchSize`.
pub(super) fn check_batch(len: usize) -> Result<()> {
    if (1..=MAX_WRITE_BATCH).contains(&len) {
        return Ok(());
    }
    let message = format!(
        "Write batch sizes must be between 1 and {MAX_WRITE_BATCH}. Evaluated {len} operations."
    );
    Err(Error::new(InvalidLength, message))
}

/// Adds `writeErrors` to a reply unless `errors` is empty. Drivers take the absence of the field
/// for success.
pub(super) fn push_errors(reply: &mut Document, errors: &[(usize, Error)]) {
    if !errors.is_empty() {
        let errors = errors.iter().map(|(at, error)| error.write_error(*at)).collect();
        reply.push("writeErrors", Value::Array(errors));
    }
}

/// Opens the receipts, which store the results of executed statements, if a command is a retryable
/// write; returns `None` for other commands.
pub(super) async fn open_receipts<'a>(
    call: &'a Call<'_>,
    statements: usize,
) -> Result<Option<WriteReceipts<'a>>> {
    if !call.is_retryable_write() {
        return Ok(None);
    }
    match parse_retryable_write(&call.args(), statements)? {
        Some(retryable) => {
            let key = (retryable.session, user_digest(call.connection.sender().user.as_ref()));
            call.api.begin_write(&key, retryable.number)?;
            let failures = call.api.has_fail_point.load(Relaxed).then(|| WriteFailures {
                points: &call.api.fail_points,
                operation: &call.operation,
            });
            let place = (&call.api.engine, &*call.operation);
            let opened = WriteReceipts::open(place, key, retryable).await?;
            Ok(Some(opened.failing_by(failures)))
        }
        None => Ok(None),
    }
}

/// Returns whether the failure of a statement fails the whole command. Where drivers number their
/// writes this is so for retryable errors, which they look for only in the command's reply. Two more
/// errors fail a retryable write: another attempt was committed first, or the session already uses a
/// higher transaction number. In a transaction, errors on which drivers repeat it fail the command.
pub(super) fn ends_command(call: &Call<'_>, error: &Error) -> bool {
    call.api.settings.topology.accepts_numbers() && may_repeat(error.code)
        || call.is_retryable_write() && [WriteConflict, TransactionTooOld].contains(&error.code)
        || call.transaction.is_some() && is_transient(error.code)
}

/// Checks that a statement of a retryable write affects only one document; otherwise fails with 72:
/// if it failed after writing some of several documents, a retry could not tell which. `why` is the
/// argument that selects several documents.
pub(super) fn check_one(slot: Option<ReceiptSlot<'_>>, many: bool, why: &str) -> Result<()> {
    if slot.is_none() || !many {
        return Ok(());
    }
    let message = format!("Cannot use (or request) retryable writes with {why}");
    Err(Error::new(InvalidOptions, message))
}

/// The result of adding a statement to a group of statements that are committed together.
pub(super) enum Staged<T> {
    /// The statement was added; its outcome takes effect when the group is committed.
    Added(T),
    /// An earlier attempt has executed the statement, with this outcome.
    Repeated(T),
    /// The statement was not added, because its outcome may depend on other statements of the
    /// group.
    Left,
}

impl<T> Staged<T> {
    /// Applies a function to the outcome of a staged statement.
    pub(super) fn map<U>(self, turn: impl FnOnce(T) -> U) -> Staged<U> {
        match self {
            Self::Added(done) => Staged::Added(turn(done)),
            Self::Repeated(done) => Staged::Repeated(turn(done)),
            Self::Left => Staged::Left,
        }
    }
}

/// Runs the statements of one command and sums up their outcomes.
pub(super) trait RunStatement {
    /// The outcome of a statement, as the command reports it.
    type Outcome: Send;

    /// Adds a statement to a group of statements that are committed together; `at` is its position
    /// in the command.
    fn stage(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
        group: &mut WriteGroup<'_>,
    ) -> impl Future<Output = Result<Staged<Self::Outcome>>> + Send;

    /// Called for each statement of a group after the group was committed.
    fn record_staged(&mut self, at: usize, outcome: &Self::Outcome);

    /// Runs one statement alone, in its own commits.
    fn run_statement(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> impl Future<Output = Result<Self::Outcome>> + Send;

    /// Sums up the outcome of a statement. Called in the order of statements.
    fn add_up(&mut self, at: usize, outcome: Self::Outcome);

    /// Records the failure of a statement. Called in the order of statements, between calls of
    /// [`add_up`](Self::add_up).
    fn record_failure(&mut self, _at: usize, _error: &Error) {}
}

/// Runs statements in order, and returns the failures by position. In an `ordered` command no
/// statement runs after the first failure; otherwise all run.
///
/// Statements are committed in groups, so that the command waits for durability once per group and
/// not once per statement. The results are those of sequential execution, see [`WriteGroup`]. A
/// statement that cannot be part of a group runs alone.
///
/// Fails only with errors for which [`ends_command`] returns true. `context` is a `Result`, since
/// an error in it fails each statement and not the command.
pub(super) async fn run_statements<R: RunStatement + Send>(
    call: &Call<'_>,
    statements: Vec<DocRef<'_>>,
    ordered: bool,
    context: Result<Arc<Context>>,
    receipts: Option<&WriteReceipts<'_>>,
    runner: &mut R,
) -> Result<Vec<(usize, Error)>> {
    let failures = Failures { call, ordered, errors: Vec::new() };
    let admission = admit_statements(call, &statements);
    let admitted = admission.statements;
    let mut run = Run { call, statements, admitted, receipts, runner, failures, next: 0 };
    // Position before which statements run without a group, each in its own commits.
    let mut alone = 0;
    while run.next < run.statements.len() {
        if admitted <= run.next {
            if run.note(Err(admission.error()))? {
                break;
            }
            continue;
        }
        let context = match &context {
            Ok(context) => context,
            Err(error) => {
                if run.note(Err(error.clone()))? {
                    break;
                }
                continue;
            }
        };
        if run.next < alone || run.statements.len() - run.next == 1 {
            let Some(statement) = run.statements.get(run.next) else { break };
            let ran = match utf8::check_document(call.message, *statement) {
                Ok(()) => run.runner.run_statement(run.next, *statement, context).await,
                Err(error) => Err(error),
            };
            if run.note(ran)? {
                break;
            }
            continue;
        }
        match run.run_group(context).await? {
            GroupEnd::Command => break,
            GroupEnd::Group => {}
            // If a group took no statement, or conflicted with another writer, one statement runs
            // alone and waits as needed.
            GroupEnd::Early => alone = run.next + 1,
            GroupEnd::Full(end) => alone = end,
        }
    }
    Ok(run.failures.errors)
}

/// Result of executing a group of statements.
enum GroupEnd {
    /// The command ends: no statement runs after the group.
    Command,
    Group,
    /// The group ended before the next statement, which could not be part of it.
    Early,
    /// The store was full and nothing was written. The number is the position after the group's
    /// last statement.
    Full(usize),
}

struct Failures<'c, 'a> {
    call: &'c Call<'a>,
    ordered: bool,
    errors: Vec<(usize, Error)>,
}

/// The execution of a write command's statements.
struct Run<'c, 'a, 's, 'r, R> {
    call: &'c Call<'a>,
    statements: Vec<DocRef<'s>>,
    /// Number of statements that the throughput admits, from the first one on.
    admitted: usize,
    receipts: Option<&'c WriteReceipts<'a>>,
    runner: &'r mut R,
    failures: Failures<'c, 'a>,
    /// Position of the next statement.
    next: usize,
}

impl<R: RunStatement + Send> Run<'_, '_, '_, '_, R> {
    /// Records the outcome of the next statement. Returns whether the run ends with this statement.
    fn note(&mut self, ran: Result<R::Outcome>) -> Result<bool> {
        let at = self.next;
        self.next += 1;
        match ran {
            Ok(outcome) => self.runner.add_up(at, outcome),
            Err(error) if ends_command(self.failures.call, &error) => return Err(error),
            Err(error) => {
                self.runner.record_failure(at, &error);
                self.failures.errors.push((at, error));
                return Ok(self.failures.ordered);
            }
        }
        Ok(false)
    }

    /// Runs the next statements as one group.
    async fn run_group(&mut self, context: &Arc<Context>) -> Result<GroupEnd> {
        let first = self.next;
        let mut group = self.call.engine().write_group(GROUP_STATEMENTS);
        let mut staged = Vec::new();
        let mut left = false;
        let statements = self.statements.iter().enumerate().take(self.admitted);
        for (at, statement) in statements.skip(first) {
            let done = match utf8::check_document(self.call.message, *statement) {
                Ok(()) => self.runner.stage(at, *statement, context, &mut group).await,
                Err(error) => Err(error),
            };
            match done {
                Ok(Staged::Left) => {
                    left = true;
                    break;
                }
                Ok(done) => staged.push(Ok(done)),
                Err(error) => {
                    let last = self.failures.ordered || ends_command(self.call, &error);
                    staged.push(Err(error));
                    if last {
                        break;
                    }
                }
            }
        }
        let writing = group.positions();
        let end = first + staged.len();
        let receipts = self.receipts.map(|receipts| -> &dyn Receipts { receipts });
        let mut ended = if left && staged.is_empty() { GroupEnd::Early } else { GroupEnd::Group };
        match group.commit(receipts).await {
            Ok(None) => {}
            Ok(Some(again)) => {
                // The statement `again` was not committed, but later statements were evaluated as
                // if it had been, so they are repeated, too.
                staged.truncate(again.saturating_sub(first));
                ended = GroupEnd::Early;
            }
            // Statements that free space can succeed if they run alone.
            Err(error) if error.kind == engine::Kind::Full => return Ok(GroupEnd::Full(end)),
            Err(error) => {
                let error = Error::from(error);
                for at in writing {
                    if let Some(staged) = staged.get_mut(at.saturating_sub(first)) {
                        *staged = Err(error.clone());
                    }
                }
            }
        }
        for done in staged {
            let done = done.map(|done| match done {
                Staged::Added(outcome) => {
                    self.runner.record_staged(self.next, &outcome);
                    Some(outcome)
                }
                Staged::Repeated(outcome) => Some(outcome),
                Staged::Left => None,
            });
            if let Some(done) = done.transpose()
                && self.note(done)?
            {
                return Ok(GroupEnd::Command);
            }
        }
        Ok(ended)
    }
}
