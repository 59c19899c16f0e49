//! Open cursors: found by id, used by one request at a time, closed when nobody asks for them.
//!
//! A request takes its cursor out of the table while it reads, and puts it back afterwards; so the
//! lock is never held while documents are read, and a second request for the same cursor gets an
//! error instead of waiting. A cursor that is killed meanwhile is no longer in the table, and is
//! dropped when its request would put it back.
//!
//! ```text
//! open -> idle -> take -> in use -> give back -> idle -> ...
//!           |                |
//!           |                +-- end, error, kill: closed
//!           +-- kill, too long idle, memory short: closed
//! ```

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use engine::{Cursor, Namespace, Store};
use memory::Relief;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    client::Sender,
    cursor_description::{CursorDescription, CursorSnapshot},
    errors::{CursorNotFound, Error, Result},
    limits::{CURSOR_IDLE, HEAVY_CURSOR_BYTES, LIGHT_CURSOR_BYTES, ORPHAN_IDLE},
    operation::{Operation, StopReason},
    session::SessionId,
    session_set::SessionSet,
};

/// A cursor in the table.
struct OpenCursor<S: Store> {
    /// The collection it reads; a `getMore` has to name the same one.
    namespace: Namespace,
    /// The id of the session it was opened in.
    session: Option<SessionId>,
    /// The cursor itself; `None` while a request uses it.
    cursor: Option<Cursor<S>>,
    /// When a request used it last, on the machine's monotonic clock.
    used: Duration,
    /// It may be idle without end (`noCursorTimeout`).
    keep: bool,
    /// The connection that opened it.
    connection: i32,
    /// Whether that connection is closed. Its cursors stay usable: drivers may go on with them on
    /// another connection.
    orphan: bool,
    /// The operation that it belongs to. Its time limit rests while nobody reads.
    operation: Arc<Operation>,
    about: CursorDescription,
    /// Who opened it.
    owner: Sender,
}

impl<S: Store> OpenCursor<S> {
    /// Whether this sender may use it. To one that was relayed and may only read, the cursors of others
    /// are not there; a user hears whose they are not.
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

    /// A copy of what is shown about it.
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

    /// Bytes that it holds while nobody uses it. One in use is charged to its request.
    fn held_bytes(&self) -> usize {
        self.cursor.as_ref().map_or(0, Cursor::memory_used)
    }
}

/// All open cursors of the MongoDB API.
pub(crate) struct Cursors<S: Store> {
    all: Mutex<HashMap<i64, OpenCursor<S>>>,
    /// How many there may be.
    most: usize,
    /// How many were opened, and how many of them were closed because nobody asked for them in time.
    opened: AtomicU64,
    timed_out: AtomicU64,
}

/// A cursor that a request opens, with what belongs to it.
pub(crate) struct NewCursor<S: Store> {
    pub(crate) cursor: Cursor<S>,
    /// It may be idle without end.
    pub(crate) keep: bool,
    /// The session that asked for it.
    pub(crate) session: Option<SessionId>,
    /// The connection that asked for it.
    pub(crate) connection: i32,
    /// Who asked for it.
    pub(crate) owner: Sender,
    pub(crate) about: CursorDescription,
}

/// A cursor that a request uses. It has to be given back, or finished.
pub(crate) struct CursorInUse<S: Store> {
    pub(crate) id: i64,
    pub(crate) cursor: Cursor<S>,
    /// The operation that opened it and goes on with this request.
    pub(crate) operation: Arc<Operation>,
}

/// The idle cursors of one connection that hold something.
#[derive(Default)]
struct IdleCursors {
    /// Bytes that they hold together.
    memory: usize,
    /// Since when each is idle, its id, and the bytes that it holds.
    cursors: Vec<(Duration, i64, usize)>,
}

impl<S: Store> Relief for Cursors<S> {
    fn relieve(&self, bytes: usize) {
        // They are dropped here, without the lock.
        let closed = self.take_victims(bytes);
        if !closed.is_empty() {
            tracing::debug!(cursors = closed.len(), "idle cursors were closed to free memory");
        }
    }
}

/// 43 CursorNotFound, also for a cursor that exists and is nothing to this sender.
fn not_found(id: i64) -> Error {
    Error::new(CursorNotFound, format!("cursor id {id} not found"))
}

/// A cursor goes on in the session it was opened in, or in none if it was opened in none. The three
/// numbers are mongod's, one for each way to be wrong.
fn same_session(id: i64, opened: Option<SessionId>, asking: Option<SessionId>) -> Result<()> {
    let (code, message) = match (opened, asking) {
        (opened, asking) if opened == asking => return Ok(()),
        (None, _) => (50736, "which was not created in a session, in a session"),
        (Some(_), None) => (50737, "which was created in a session, without an lsid"),
        (Some(_), Some(_)) => (50738, "which was created in another session"),
    };
    Err(Error::new(code, format!("Cannot run getMore on cursor {id}, {message}")))
}

impl<S: Store> Cursors<S> {
    /// No cursors, and room for this many.
    pub(crate) fn with_room(most: usize) -> Self {
        let (opened, timed_out) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { all: Mutex::default(), most, opened, timed_out }
    }

    /// Locks the table, for as short as possible: nothing is awaited under this lock, and cursors
    /// are dropped after it is released, since dropping one frees memory.
    fn lock_all(&self) -> MutexGuard<'_, HashMap<i64, OpenCursor<S>>> {
        self.all.lock()
    }

    /// Keeps a cursor and returns the id that it gets. Ids are random, so that nobody can guess
    /// that of another client. Fails with 146 when there are too many, and where the operation was told
    /// to stop: [`Self::kill_sessions`] has looked at the table already or sees the cursor in it.
    pub(crate) fn open(
        &self,
        namespace: Namespace,
        opened: NewCursor<S>,
        operation: &Arc<Operation>,
    ) -> Result<i64> {
        let NewCursor { cursor, keep, session, connection, owner, about } = opened;
        let now = clock::monotonic_time();
        operation.pause_clock(now);
        let operation = Arc::clone(operation);
        let mut all = self.lock_all();
        operation.check_stopped()?;
        if self.most <= all.len() {
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

    /// Takes a cursor for a request on its collection, in its session.
    ///
    /// Fails with 43 if there is none for this sender, 13 if it is another user's or reads another
    /// collection, 50736..50738 if it belongs to another session, and 12051 while another request uses it.
    pub(crate) fn take(
        &self,
        id: i64,
        namespace: &Namespace,
        session: Option<SessionId>,
        sender: &Sender,
    ) -> Result<CursorInUse<S>> {
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
        match open.cursor.take() {
            Some(cursor) => {
                let operation = Arc::clone(&open.operation);
                Ok(CursorInUse { id, cursor, operation })
            }
            None => Err(Error::new(12051, format!("cursor id {id} is already in use"))),
        }
    }

    /// Gives a cursor back that was not read; its count of batches stays.
    pub(crate) fn return_unread(&self, taken: CursorInUse<S>) {
        self.put_back(taken, |_| {});
    }

    /// Gives a cursor back that gave a batch of this many documents. Returns whether it stays open:
    /// one that was killed meanwhile is dropped.
    pub(crate) fn give_back(&self, taken: CursorInUse<S>, documents: usize) -> bool {
        self.put_back(taken, |about| about.note_batch(documents))
    }

    /// Puts a cursor back, if it was not killed meanwhile, and lets its time limit rest.
    fn put_back(&self, taken: CursorInUse<S>, note: impl FnOnce(&mut CursorDescription)) -> bool {
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

    /// Closes a cursor that has no more.
    pub(crate) fn finish_cursor(&self, taken: CursorInUse<S>) {
        self.close(taken.id);
    }

    /// Marks the cursors of a connection that has closed: they end sooner if they hold much.
    pub(crate) fn mark_orphans(&self, connection: i32) {
        let mut all = self.lock_all();
        let own = all.values_mut().filter(|open| open.connection == connection);
        own.for_each(|open| open.orphan = true);
    }

    /// Closes a cursor; returns whether it was open.
    pub(crate) fn close(&self, id: i64) -> bool {
        self.lock_all().remove(&id).is_some()
    }

    /// Returns the collection that a cursor reads, if this sender is not the one who may use it; `None`
    /// also where there is no such cursor.
    pub(crate) fn read_by_another(&self, id: i64, sender: &Sender) -> Option<Namespace> {
        let all = self.lock_all();
        let open = all.get(&id).filter(|open| !open.owner.admits(sender))?;
        Some(open.namespace.clone())
    }

    /// Closes a cursor and ends the request that uses it. Returns whether it was open.
    pub(crate) fn kill(&self, id: i64) -> bool {
        let killed = self.lock_all().remove(&id);
        killed.inspect(|open| open.operation.tell_to_stop(StopReason::CursorKilled)).is_some()
    }

    /// Closes the cursors of sessions and ends the requests that use them.
    pub(crate) fn kill_sessions(&self, sessions: &SessionSet, why: StopReason) {
        let killed = self.remove_where(|open| sessions.has(open.session, &open.owner));
        // An idle cursor's operation is told too: the request that has just taken it may not have begun.
        killed.iter().for_each(|open| open.operation.tell_to_stop(why));
    }

    /// Closes cursors that nobody asked for in time; returns how many. Those that hold much and
    /// whose connection is gone have less time.
    pub(crate) fn close_idle(&self, now: Duration) -> usize {
        let closed = self.remove_where(|open| {
            // Nobody is known to want it any more, and it holds memory: half a minute is enough for
            // a client that reconnects.
            let heavy = open.orphan && HEAVY_CURSOR_BYTES <= open.held_bytes();
            let most = if heavy { ORPHAN_IDLE } else { CURSOR_IDLE };
            !open.keep && open.cursor.is_some() && most <= now.saturating_sub(open.used)
        });
        self.timed_out.fetch_add(closed.len() as u64, Relaxed);
        closed.len()
    }

    /// How many were opened since the start, and how many of them were closed because nobody asked for
    /// them in time.
    pub(crate) fn since_the_start(&self) -> (u64, u64) {
        (self.opened.load(Relaxed), self.timed_out.load(Relaxed))
    }

    /// Takes out those that are to be closed. The caller drops them without the lock.
    fn remove_where(&self, closes: impl Fn(&OpenCursor<S>) -> bool) -> Vec<OpenCursor<S>> {
        self.lock_all().extract_if(|_, open| closes(open)).map(|(_, open)| open).collect()
    }

    /// Takes out the idle cursors that are closed so that `bytes` are given back: always the oldest
    /// one of the connection whose cursors hold most. So one client that opens many large cursors
    /// pays first, and does not push out those of others. Small ones are spared: closing many of
    /// them would free little.
    fn take_victims(&self, bytes: usize) -> Vec<OpenCursor<S>> {
        let mut all = self.lock_all();
        let mut owners: HashMap<i32, IdleCursors> = HashMap::new();
        let idle = all.iter().filter(|(_, open)| open.cursor.is_some());
        let held = idle.map(|(id, open)| (id, open, open.held_bytes()));
        for (id, open, memory) in held.filter(|(_, _, memory)| LIGHT_CURSOR_BYTES <= *memory) {
            let owner = owners.entry(open.connection).or_default();
            owner.memory += memory;
            owner.cursors.push((open.used, *id, memory));
        }
        // The oldest one last.
        owners.values_mut().for_each(|owner| owner.cursors.sort_unstable_by(|a, b| b.cmp(a)));
        let (mut given, mut closed) = (0, Vec::new());
        while given < bytes {
            let Some(owner) = owners.values_mut().max_by_key(|owner| owner.memory) else { break };
            let Some((_, id, memory)) = owner.cursors.pop() else { break };
            owner.memory -= memory;
            given += memory;
            closed.extend(all.remove(&id));
        }
        closed
    }

    /// What is shown about one of them.
    pub(crate) fn snapshot(&self, id: i64) -> Option<CursorSnapshot> {
        self.lock_all().get(&id).map(|open| open.snapshot(id))
    }

    /// The ids of those that nobody uses.
    pub(crate) fn idle_ids(&self) -> Vec<i64> {
        let all = self.lock_all();
        all.iter().filter(|(_, open)| open.cursor.is_some()).map(|(id, _)| *id).collect()
    }

    /// The sessions in which cursors are open, with who opened each and when it was used last.
    pub(crate) fn sessions(&self) -> Vec<(SessionId, Sender, Duration)> {
        let all = self.lock_all();
        let of = |open: &OpenCursor<S>| Some((open.session?, open.owner.clone(), open.used));
        all.values().filter_map(of).collect()
    }

    /// How many are open, used or not.
    pub(crate) fn count(&self) -> usize {
        self.lock_all().len()
    }
}
