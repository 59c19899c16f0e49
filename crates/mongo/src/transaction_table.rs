//! The transactions of sessions. A session has one transaction at a time, that of its highest
//! number; the table keeps it while it is open, and afterwards its outcome for as long as a session
//! lives.
//!
//! ```text
//!  startTransaction ──▶ open ──▶ committed    commitTransaction is answered again
//!                        ├─────▶ aborted      any command fails with 251
//!                        └─────▶ replaced     a higher number aborts it
//! ```
//!
//! Commands of a transaction may come over different connections. They take turns, by a lock of
//! the session.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use engine::{Engine, Transaction};
use parking_lot::Mutex;

use crate::{
    errors::{
        ConflictingOperationInProgress, Error, ExceededMemoryLimit, IncompleteTransactionHistory,
        NoSuchTransaction, Result, TooManyLogicalSessions, TransactionTooOld,
    },
    limits::{MAX_TRANSACTION_SESSIONS, MAX_TRANSACTIONS, SESSION_MINUTES},
    session_set::{SessionKey, SessionSet},
};

/// An open transaction of a session.
#[derive(Debug)]
pub(crate) struct OpenTransaction {
    pub(crate) key: SessionKey,
    pub(crate) number: i64,
    pub(crate) transaction: Arc<Transaction>,
    /// The engine's handle for the statements of the transaction.
    pub(crate) engine: Engine,
    /// Time of the first command, on the machine's monotonic clock.
    pub(crate) began: Duration,
    /// Number of commands that are running in the transaction.
    running: AtomicUsize,
}

impl OpenTransaction {
    /// Creates the transaction of a session at this time of the machine's monotonic clock.
    pub(crate) fn new(
        (key, number): (SessionKey, i64),
        transaction: Arc<Transaction>,
        engine: Engine,
        began: Duration,
    ) -> Self {
        Self { key, number, transaction, engine, began, running: AtomicUsize::new(0) }
    }

    /// Counts a running command until the result is dropped.
    pub(crate) fn count_running(&self) -> RunningCommand<'_> {
        self.running.fetch_add(1, Relaxed);
        RunningCommand(self)
    }

    /// Returns whether a command is running in the transaction.
    pub(crate) fn is_active(&self) -> bool {
        0 < self.running.load(Relaxed)
    }
}

/// A command that is running in a transaction.
pub(crate) struct RunningCommand<'a>(&'a OpenTransaction);

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Relaxed);
    }
}

/// The state of a session's newest transaction.
#[derive(Clone, Debug)]
pub(crate) enum TransactionState {
    Open(Arc<OpenTransaction>),
    Committed,
    Aborted,
}

/// The newest transaction of a session.
#[derive(Debug)]
struct SessionEntry {
    number: i64,
    state: TransactionState,
    /// Time of the last command, on the machine's monotonic clock.
    used: Duration,
    /// Held by the command that runs in the session's transaction.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// Counts of transactions since the start.
#[derive(Debug, Default)]
pub(crate) struct TransactionCounts {
    pub(crate) started: AtomicU64,
    pub(crate) committed: AtomicU64,
    pub(crate) aborted: AtomicU64,
}

/// The transactions of all sessions.
#[derive(Debug, Default)]
pub(crate) struct TransactionTable {
    sessions: Mutex<HashMap<SessionKey, SessionEntry>>,
    pub(crate) counts: TransactionCounts,
}

/// Returns the error of a command without a transaction in progress.
pub(crate) fn no_such_transaction(number: i64, active: Option<i64>) -> Error {
    let active = active.map_or_else(|| "-1".to_owned(), |active| active.to_string());
    let message = format!(
        "Given transaction number {number} does not match any in-progress transactions. The active \
         transaction number is {active}"
    );
    Error::new(NoSuchTransaction, message)
}

/// Returns the error of a command in a transaction that was aborted.
pub(crate) fn was_aborted(number: i64) -> Error {
    let message = format!("Transaction with {{ txnNumber: {number} }} has been aborted.");
    Error::new(NoSuchTransaction, message)
}

/// Returns the error of a retryable write with the number of a transaction.
pub(crate) fn converted_to_transaction() -> Error {
    let message = "Cannot retry a retryable write that has been converted into a transaction";
    Error::new(IncompleteTransactionHistory, message)
}

/// Returns the error of a number that is below that of the session's newest transaction or write.
pub(crate) fn too_old(number: i64, newest: i64) -> Error {
    let message = format!(
        "Cannot start transaction {number} because a newer transaction with txnNumber {newest} has \
         already started on this session."
    );
    Error::new(TransactionTooOld, message)
}

impl TransactionTable {
    /// Returns the lock by which the commands of a session's transaction take turns. A session
    /// without a transaction gets a new lock.
    pub(crate) fn turn(&self, key: &SessionKey) -> Arc<tokio::sync::Mutex<()>> {
        let sessions = self.sessions.lock();
        sessions.get(key).map(|entry| Arc::clone(&entry.turn)).unwrap_or_default()
    }

    /// Begins a transaction. Returns it and the transaction that it replaces, which is to be
    /// aborted.
    ///
    /// Fails with 225 if the number is lower than the session's, 117 if it is the same, and 146 or
    /// 261 if a limit is reached.
    pub(crate) fn begin(
        &self,
        open: OpenTransaction,
    ) -> Result<(Arc<OpenTransaction>, Option<Arc<OpenTransaction>>)> {
        let (key, number, used) = (open.key, open.number, open.began);
        let mut sessions = self.sessions.lock();
        let is_open = |entry: &SessionEntry| matches!(entry.state, TransactionState::Open(_));
        // Counted by a scan only near the limit.
        if MAX_TRANSACTIONS <= sessions.len()
            && MAX_TRANSACTIONS <= sessions.values().filter(|entry| is_open(entry)).count()
        {
            let message = format!("too many open transactions: {MAX_TRANSACTIONS}");
            return Err(Error::new(ExceededMemoryLimit, message));
        }
        let is_full = MAX_TRANSACTION_SESSIONS <= sessions.len();
        let open = Arc::new(open);
        let state = TransactionState::Open(Arc::clone(&open));
        let replaced = match sessions.entry(key) {
            Entry::Occupied(mut held) => {
                let entry = held.get_mut();
                if number < entry.number {
                    return Err(too_old(number, entry.number));
                }
                if number == entry.number {
                    let message = format!(
                        "Cannot start a transaction at given transaction number {number}: the \
                         session has used the number"
                    );
                    return Err(Error::new(ConflictingOperationInProgress, message));
                }
                (entry.number, entry.used) = (number, used);
                Some(std::mem::replace(&mut entry.state, state))
            }
            Entry::Vacant(_) if is_full => {
                let message = "too many sessions with transactions";
                return Err(Error::new(TooManyLogicalSessions, message));
            }
            Entry::Vacant(vacant) => {
                vacant.insert(SessionEntry { number, state, used, turn: Arc::default() });
                None
            }
        };
        self.counts.started.fetch_add(1, Relaxed);
        let replaced = replaced.and_then(|state| match state {
            TransactionState::Open(open) => Some(open),
            TransactionState::Committed | TransactionState::Aborted => None,
        });
        Ok((open, replaced))
    }

    /// Returns the number and the state of a session's newest transaction, and records its use.
    pub(crate) fn newest(&self, key: &SessionKey) -> Option<(i64, TransactionState)> {
        let mut sessions = self.sessions.lock();
        let entry = sessions.get_mut(key)?;
        entry.used = clock::monotonic_time();
        Some((entry.number, entry.state.clone()))
    }

    /// Records the outcome of an open transaction; does nothing if another one has replaced it.
    /// `None` forgets it, because its outcome is unknown here.
    pub(crate) fn end(&self, open: &OpenTransaction, outcome: Option<TransactionState>) {
        let mut sessions = self.sessions.lock();
        let Entry::Occupied(mut held) = sessions.entry(open.key) else { return };
        let is_it = matches!(
            &held.get().state,
            TransactionState::Open(held) if held.number == open.number
        );
        if !is_it {
            return;
        }
        match outcome {
            Some(outcome) => {
                let count = match outcome {
                    TransactionState::Committed => &self.counts.committed,
                    _ => &self.counts.aborted,
                };
                count.fetch_add(1, Relaxed);
                held.get_mut().state = outcome;
            }
            None => drop(held.remove()),
        }
    }

    /// Returns the open transactions that match.
    fn open_where(&self, matches: impl Fn(&OpenTransaction) -> bool) -> Vec<Arc<OpenTransaction>> {
        let sessions = self.sessions.lock();
        let open = sessions.values().filter_map(|entry| match &entry.state {
            TransactionState::Open(open) if matches(open) => Some(Arc::clone(open)),
            _ => None,
        });
        open.collect()
    }

    /// Returns the open transactions of all sessions.
    pub(crate) fn open_transactions(&self) -> Vec<Arc<OpenTransaction>> {
        self.open_where(|_| true)
    }

    /// Returns the open transactions of sessions.
    pub(crate) fn open_of(&self, sessions: &SessionSet) -> Vec<Arc<OpenTransaction>> {
        self.open_where(|open| sessions.has_key(&open.key))
    }

    /// Returns the open transactions that began before the limit of their lifetime, and forgets the
    /// outcomes of transactions whose sessions have timed out. `now` is the machine's monotonic
    /// clock.
    pub(crate) fn overdue(&self, now: Duration, limit: Duration) -> Vec<Arc<OpenTransaction>> {
        let timeout = Duration::from_secs(SESSION_MINUTES.unsigned_abs().into()) * 60;
        self.sessions.lock().retain(|_, entry| {
            matches!(entry.state, TransactionState::Open(_))
                || now.saturating_sub(entry.used) < timeout
        });
        self.open_where(|open| limit <= now.saturating_sub(open.began))
    }
}
