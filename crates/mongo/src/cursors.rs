//! Open cursors: found by id, used by one request at a time, closed after an idle timeout.
//!
//! A request takes its cursor out of the table while it reads and puts it back afterwards. The lock
//! is therefore never held while documents are read, and a second request for the same cursor gets
//! an error instead of waiting. A cursor that is killed during a request is removed from the table,
//! and dropped when the request tries to put it back.
//!
//! ```text
//! open -> idle -> take -> in use -> give back -> idle -> ...
//!           |                |
//!           |                +-- end, error, kill: closed
//!           +-- kill, idle timeout, low memory: closed
//! ```

mod relief;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use engine::{ClusterTime, Namespace};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    any_cursor::AnyCursor,
    client::Sender,
    cursor_description::{CursorDescription, CursorSnapshot},
    cursor_place::{same_session, same_transaction},
    errors::{CursorNotFound, Error, Result},
    limits::{CURSOR_IDLE, HEAVY_CURSOR_BYTES, ORPHAN_IDLE},
    operation::{Operation, StopReason},
    session::SessionId,
    session_set::{SessionKey, SessionSet, user_digest},
};

/// An open cursor in the table of cursors.
struct OpenCursor {
    /// The collection that the cursor reads. A `getMore` must name this collection.
    namespace: Namespace,
    /// The session in which the cursor was opened.
    session: Option<SessionId>,
    /// Number of the transaction in which the cursor was opened.
    transaction: Option<i64>,
    /// Time of the snapshot that the cursor reads, if it was opened at one.
    snapshot: Option<ClusterTime>,
    /// The cursor; `None` while a request uses it.
    cursor: Option<AnyCursor>,
    /// Time of the last use, on the machine's monotonic clock.
    used: Duration,
    /// Whether the cursor has no idle timeout (`noCursorTimeout`).
    keep: bool,
    /// Id of the connection that opened the cursor.
    connection: i32,
    /// Whether the connection that opened the cursor is closed. The cursor stays usable: drivers
    /// may continue it on another connection.
    orphan: bool,
    /// The operation that opened the cursor. Its time limit is suspended while no request reads the
    /// cursor.
    operation: Arc<Operation>,
    about: CursorDescription,
    /// The user and address that opened the cursor.
    owner: Sender,
}

impl OpenCursor {
    /// Checks that this sender may use the cursor. If not, a sender of the portal gets 43, as if
    /// the cursor did not exist, and any other user gets 13.
    fn check_sender(&self, id: i64, sender: &Sender) -> Result<()> {
        match (self.owner.admits(sender), sender.relayed) {
            (true, _) => Ok(()),
            (false, Some(_)) => Err(not_found(id)),
            (false, None) => {
                let text = format!("cursor id {id} was not created by the authenticated user");
                Err(Error::new(crate::errors::Unauthorized, text))
            }
        }
    }

    /// Returns a description of the cursor.
    fn snapshot(&self, id: i64) -> CursorSnapshot {
        CursorSnapshot {
            id,
            namespace: self.namespace.clone(),
            session: self.session,
            keep: self.keep,
            used: self.used,
            owner: self.owner.clone(),
            about: self.about.clone(),
        }
    }

    /// Returns the memory in bytes that an idle cursor holds. The memory of a cursor in use is
    /// charged to its request; this returns 0.
    fn held_bytes(&self) -> usize {
        self.cursor.as_ref().map_or(0, AnyCursor::memory_used)
    }
}

/// All open cursors of the MongoDB API.
pub(crate) struct Cursors {
    all: Mutex<HashMap<i64, OpenCursor>>,
    /// Maximum number of open cursors.
    max_cursors: usize,
    /// Number of cursors opened since the start. `timed_out` counts those closed by the idle
    /// timeout.
    opened: AtomicU64,
    timed_out: AtomicU64,
}

/// The cursor that a request opens, with its owner and options.
pub(crate) struct NewCursor {
    pub(crate) cursor: AnyCursor,
    /// Whether the cursor has no idle timeout.
    pub(crate) keep: bool,
    pub(crate) session: Option<SessionId>,
    /// Number of the transaction in which the cursor is opened.
    pub(crate) transaction: Option<i64>,
    /// Time of the snapshot that the cursor reads, if it is opened at one.
    pub(crate) snapshot: Option<ClusterTime>,
    pub(crate) connection: i32,
    pub(crate) owner: Sender,
    pub(crate) about: CursorDescription,
}

/// A cursor that a request uses. The request must give it back or finish it.
pub(crate) struct CursorInUse {
    pub(crate) id: i64,
    pub(crate) cursor: AnyCursor,
    /// The operation that opened the cursor, which the current request continues.
    pub(crate) operation: Arc<Operation>,
    /// Whether the request waits for documents at the end of the collection.
    pub(crate) awaits: bool,
    /// Time of the snapshot that the cursor reads, if it was opened at one.
    pub(crate) snapshot: Option<ClusterTime>,
}

/// Returns error 43 CursorNotFound, also for a cursor that the sender may not see.
fn not_found(id: i64) -> Error {
    Error::new(CursorNotFound, format!("cursor id {id} not found"))
}

impl Cursors {
    /// Creates an empty table for at most `max_cursors` open cursors.
    pub(crate) fn with_room(max_cursors: usize) -> Self {
        let (opened, timed_out) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { all: Mutex::default(), max_cursors, opened, timed_out }
    }

    /// Locks the table. Nothing is awaited under this lock, and cursors are dropped after it is
    /// released, since dropping one frees memory.
    fn lock_all(&self) -> MutexGuard<'_, HashMap<i64, OpenCursor>> {
        self.all.lock()
    }

    /// Adds a cursor to the table and returns its id. Ids are random, so that clients cannot guess
    /// the ids of other clients' cursors. Fails with 146 at the limit, and with the reason if the
    /// operation was cancelled. Cancellation is checked under the lock, so that
    /// [`Self::kill_sessions`] misses no cursor.
    pub(crate) fn open(
        &self,
        namespace: Namespace,
        opened: NewCursor,
        operation: &Arc<Operation>,
    ) -> Result<i64> {
        let NewCursor { cursor, keep, session, transaction, snapshot, connection, owner, about } =
            opened;
        let now = clock::monotonic_time();
        operation.pause_clock(now);
        let operation = Arc::clone(operation);
        let mut all = self.lock_all();
        operation.check_stopped()?;
        if self.max_cursors <= all.len() {
            return Err(Error::new(crate::errors::ExceededMemoryLimit, "too many open cursors"));
        }
        loop {
            let id = fastrand::i64(1..i64::MAX);
            if let std::collections::hash_map::Entry::Vacant(vacant) = all.entry(id) {
                let cursor = Some(cursor);
                let used = now;
                let orphan = false;
                self.opened.fetch_add(1, Relaxed);
                vacant.insert(OpenCursor {
                    namespace,
                    session,
                    transaction,
                    snapshot,
                    cursor,
                    used,
                    keep,
                    connection,
                    orphan,
                    operation,
                    about,
                    owner,
                });
                return Ok(id);
            }
        }
    }

    /// Takes a cursor for a request on its collection, in its session and its transaction.
    ///
    /// Fails with 43 if it does not exist for this sender, 13 if it is another user's or reads
    /// another collection, 50736..50738 if it belongs to another session, 50739..50741 if it belongs
    /// to another transaction, and 12051 while another request uses it.
    pub(crate) fn take(
        &self,
        id: i64,
        namespace: &Namespace,
        (session, transaction): (Option<SessionId>, Option<i64>),
        sender: &Sender,
    ) -> Result<CursorInUse> {
        let mut all = self.lock_all();
        let open = all.get_mut(&id).ok_or_else(|| not_found(id))?;
        open.check_sender(id, sender)?;
        if open.namespace != *namespace {
            let message = format!(
                "Requested getMore on namespace '{namespace}', but cursor belongs to a different namespace {}",
                open.namespace
            );
            return Err(Error::new(crate::errors::Unauthorized, message));
        }
        same_session(id, open.session, session)?;
        same_transaction(id, open.transaction, transaction)?;
        match open.cursor.take() {
            Some(cursor) => {
                let operation = Arc::clone(&open.operation);
                let (awaits, snapshot) = (open.about.awaits_data(), open.snapshot);
                Ok(CursorInUse { id, cursor, operation, awaits, snapshot })
            }
            None => Err(Error::new(12051, format!("cursor id {id} is already in use"))),
        }
    }

    /// Puts back a cursor from which no batch was read, without counting a batch.
    pub(crate) fn return_unread(&self, taken: CursorInUse) {
        self.put_back(taken, |_| {});
    }

    /// Puts back a cursor that produced a batch of this many documents. Returns whether it stays
    /// open: a cursor that was killed in the meantime is dropped.
    pub(crate) fn give_back(&self, taken: CursorInUse, documents: usize) -> bool {
        self.put_back(taken, |about| about.record_batch(documents))
    }

    /// Puts a cursor back unless it was killed in the meantime, and suspends the time limit of its
    /// operation.
    fn put_back(&self, taken: CursorInUse, note: impl FnOnce(&mut CursorDescription)) -> bool {
        let now = clock::monotonic_time();
        match self.lock_all().get_mut(&taken.id) {
            Some(open) => {
                note(&mut open.about);
                taken.operation.pause_clock(now);
                open.cursor = Some(taken.cursor);
                open.used = now;
                true
            }
            None => false,
        }
    }

    pub(crate) fn finish_cursor(&self, taken: CursorInUse) {
        self.close(taken.id);
    }

    /// Marks the cursors of a closed connection, which shortens the idle timeout of large ones.
    pub(crate) fn mark_orphans(&self, connection: i32) {
        let mut all = self.lock_all();
        let own = all.values_mut().filter(|open| open.connection == connection);
        own.for_each(|open| open.orphan = true);
    }

    /// Closes a cursor; returns whether it was open.
    pub(crate) fn close(&self, id: i64) -> bool {
        self.lock_all().remove(&id).is_some()
    }

    /// Returns the collection that a cursor reads if this sender may not use the cursor. `None` if
    /// the sender may use it, or no such cursor exists.
    pub(crate) fn read_by_another(&self, id: i64, sender: &Sender) -> Option<Namespace> {
        let all = self.lock_all();
        let open = all.get(&id).filter(|open| !open.owner.admits(sender))?;
        Some(open.namespace.clone())
    }

    /// Closes a cursor and stops the request that uses it. Returns whether it was open.
    pub(crate) fn kill(&self, id: i64) -> bool {
        let killed = self.lock_all().remove(&id);
        killed.inspect(|open| open.operation.request_stop(StopReason::CursorKilled)).is_some()
    }

    /// Closes the cursors of sessions and stops the requests that use them.
    pub(crate) fn kill_sessions(&self, sessions: &SessionSet, why: StopReason) {
        let killed = self.remove_where(|open| sessions.has(open.session, &open.owner));
        // Operations of idle cursors are stopped, too: a request may have taken the cursor and not
        // resumed its operation yet.
        killed.iter().for_each(|open| open.operation.request_stop(why));
    }

    /// Closes the cursors of a transaction that has ended.
    pub(crate) fn close_transaction(&self, (session, user): &SessionKey, number: i64) {
        let closed = self.remove_where(|open| {
            open.transaction == Some(number)
                && open.session == Some(*session)
                && user_digest(open.owner.user.as_ref()) == *user
        });
        closed.iter().for_each(|open| open.operation.request_stop(StopReason::CursorKilled));
    }

    /// Closes the cursors that read the snapshot of this time, which is no longer kept.
    pub(crate) fn close_snapshot(&self, time: ClusterTime) {
        let closed = self.remove_where(|open| open.snapshot == Some(time));
        closed.iter().for_each(|open| open.operation.request_stop(StopReason::CursorKilled));
    }

    /// Closes cursors that exceeded their idle timeout; returns how many. The timeout is shorter
    /// for large cursors whose connection is closed.
    pub(crate) fn close_idle(&self, now: Duration) -> usize {
        let closed = self.remove_where(|open| {
            // A large cursor of a closed connection is probably abandoned; half a minute is enough
            // for a client that reconnects.
            let heavy = open.orphan && HEAVY_CURSOR_BYTES <= open.held_bytes();
            let max_idle = if heavy { ORPHAN_IDLE } else { CURSOR_IDLE };
            !open.keep && open.cursor.is_some() && max_idle <= now.saturating_sub(open.used)
        });
        self.timed_out.fetch_add(closed.len() as u64, Relaxed);
        closed.len()
    }

    /// Returns the number of cursors opened since the start, and the number of those closed by the
    /// idle timeout.
    pub(crate) fn since_the_start(&self) -> (u64, u64) {
        (self.opened.load(Relaxed), self.timed_out.load(Relaxed))
    }

    /// Removes the matching cursors from the table. The caller drops them outside the lock.
    fn remove_where(&self, closes: impl Fn(&OpenCursor) -> bool) -> Vec<OpenCursor> {
        self.lock_all().extract_if(|_, open| closes(open)).map(|(_, open)| open).collect()
    }

    /// Returns the description of a cursor.
    pub(crate) fn snapshot(&self, id: i64) -> Option<CursorSnapshot> {
        self.lock_all().get(&id).map(|open| open.snapshot(id))
    }

    /// Returns the ids of idle cursors.
    pub(crate) fn idle_ids(&self) -> Vec<i64> {
        let all = self.lock_all();
        all.iter().filter(|(_, open)| open.cursor.is_some()).map(|(id, _)| *id).collect()
    }

    /// Returns the sessions with open cursors, and the owner and last use of each cursor.
    pub(crate) fn sessions(&self) -> Vec<(SessionId, Sender, Duration)> {
        let all = self.lock_all();
        let of = |open: &OpenCursor| Some((open.session?, open.owner.clone(), open.used));
        all.values().filter_map(of).collect()
    }

    /// Returns the number of open cursors, idle and in use.
    pub(crate) fn count(&self) -> usize {
        self.lock_all().len()
    }
}
