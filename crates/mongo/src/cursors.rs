//! Open cursors: found by id, used by one request at a time, closed when nobody asks for them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use engine::{Cursor, Namespace, Store};
use memory::Relief;

use crate::{
    client::RelayedSender,
    cursor_description::{CursorDescription, CursorSnapshot},
    errors::{CursorNotFound, Error, Result},
    limits::{CURSOR_IDLE, HEAVY_CURSOR_BYTES, LIGHT_CURSOR_BYTES, MAX_CURSORS, ORPHAN_IDLE},
    lock::lock,
    operation::{Operation, StopReason},
    session::SessionId,
};

struct OpenCursor<S: Store> {
    namespace: Namespace,
    /// The id of the session it was opened in.
    session: Option<SessionId>,
    /// Taken while a request uses it.
    cursor: Option<Cursor<S>>,
    used: Duration,
    keep: bool,
    /// The connection that opened it, and whether that has gone.
    connection: i32,
    orphan: bool,
    operation: Arc<Operation>,
    about: CursorDescription,
    /// Who opened it, if that is a guest.
    owner: Option<RelayedSender>,
}

impl<S: Store> OpenCursor<S> {
    /// Whether this sender may use it: a guest that may only read has only its own.
    fn is_for(&self, relayed_sender: Option<RelayedSender>) -> bool {
        relayed_sender.is_none_or(|sender| sender.writes || self.owner == Some(sender))
    }

    fn snapshot(&self, id: i64) -> CursorSnapshot {
        CursorSnapshot {
            id,
            namespace: self.namespace.clone(),
            session: self.session,
            keep: self.keep,
            used: self.used,
            about: self.about.clone(),
        }
    }

    /// Bytes that it holds while nobody uses it.
    fn held_bytes(&self) -> usize {
        self.cursor.as_ref().map_or(0, Cursor::memory)
    }
}

/// All open cursors of the door.
pub(crate) struct Cursors<S: Store>(Mutex<HashMap<i64, OpenCursor<S>>>);

impl<S: Store> Default for Cursors<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A cursor that a request opens.
pub(crate) struct NewCursor<S: Store> {
    pub(crate) cursor: Cursor<S>,
    /// It may be idle for ever.
    pub(crate) keep: bool,
    /// The session that asked for it.
    pub(crate) session: Option<SessionId>,
    /// The connection that asked for it.
    pub(crate) connection: i32,
    /// Who asked for it, if that is a guest.
    pub(crate) owner: Option<RelayedSender>,
    pub(crate) about: CursorDescription,
}

/// A cursor that a request uses.
pub(crate) struct CursorInUse<S: Store> {
    pub(crate) id: i64,
    pub(crate) cursor: Cursor<S>,
    /// The operation that opened it and goes on with this request.
    pub(crate) operation: Arc<Operation>,
}

/// The idle cursors of one connection that hold something.
#[derive(Default)]
struct IdleCursors {
    memory: usize,
    /// Since when each was idle, its id and what it holds.
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

fn not_found(id: i64) -> Error {
    Error::new(CursorNotFound, format!("cursor id {id} not found"))
}

/// A cursor goes on in the session it was opened in, or in none if it was opened in none.
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
    fn lock_all(&self) -> MutexGuard<'_, HashMap<i64, OpenCursor<S>>> {
        lock(&self.0)
    }

    /// Keeps a cursor and gives it an id.
    pub(crate) fn open(
        &self,
        namespace: Namespace,
        opened: NewCursor<S>,
        operation: &Arc<Operation>,
    ) -> Result<i64> {
        let NewCursor { cursor, keep, session, connection, owner, about } = opened;
        let now = clock::monotonic();
        operation.pause_clock(now);
        let operation = Arc::clone(operation);
        let mut all = self.lock_all();
        if MAX_CURSORS <= all.len() {
            return Err(Error::new(crate::errors::ExceededMemoryLimit, "too many open cursors"));
        }
        loop {
            let id = fastrand::i64(1..i64::MAX);
            if let std::collections::hash_map::Entry::Vacant(vacant) = all.entry(id) {
                let cursor = Some(cursor);
                let used = now;
                let orphan = false;
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
    pub(crate) fn take(
        &self,
        id: i64,
        namespace: &Namespace,
        session: Option<SessionId>,
        relayed_sender: Option<RelayedSender>,
    ) -> Result<CursorInUse<S>> {
        let mut all = self.lock_all();
        let open = all.get_mut(&id).filter(|open| open.is_for(relayed_sender));
        let open = open.ok_or_else(|| not_found(id))?;
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

    /// Gives a cursor back that was not read.
    pub(crate) fn return_unread(&self, taken: CursorInUse<S>) {
        self.put_back(taken, |_| {});
    }

    /// Gives a cursor back that gave a batch of so many documents; one that was killed meanwhile is
    /// dropped.
    pub(crate) fn give_back(&self, taken: CursorInUse<S>, documents: usize) -> bool {
        self.put_back(taken, |about| about.note_batch(documents))
    }

    fn put_back(&self, taken: CursorInUse<S>, note: impl FnOnce(&mut CursorDescription)) -> bool {
        let now = clock::monotonic();
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

    /// A cursor has no more; answers that it is not open.
    pub(crate) fn finish_cursor(&self, taken: CursorInUse<S>) -> bool {
        self.close(taken.id);
        false
    }

    /// The connection has gone that opened these: they end sooner if they hold much.
    pub(crate) fn mark_orphans(&self, connection: i32) {
        let mut all = self.lock_all();
        let own = all.values_mut().filter(|open| open.connection == connection);
        own.for_each(|open| open.orphan = true);
    }

    /// Closes a cursor; answers whether it was open.
    pub(crate) fn close(&self, id: i64) -> bool {
        self.lock_all().remove(&id).is_some()
    }

    /// Closes a cursor if it belongs to a collection and this sender may use it, and ends the
    /// request that does; answers whether it was open there.
    pub(crate) fn kill(
        &self,
        id: i64,
        namespace: &Namespace,
        relayed_sender: Option<RelayedSender>,
    ) -> bool {
        let mut all = self.lock_all();
        let meant =
            |open: &OpenCursor<S>| open.namespace == *namespace && open.is_for(relayed_sender);
        let there = all.get(&id).is_some_and(meant);
        let killed = if there { all.remove(&id) } else { None };
        killed.inspect(|open| open.operation.tell_to_stop(StopReason::CursorKilled)).is_some()
    }

    /// Closes cursors that nobody asked for; answers how many.
    pub(crate) fn close_idle(&self, now: Duration) -> usize {
        let closed = self.remove_where(|open| {
            let heavy = open.orphan && HEAVY_CURSOR_BYTES <= open.held_bytes();
            let most = if heavy { ORPHAN_IDLE } else { CURSOR_IDLE };
            !open.keep && open.cursor.is_some() && most <= now.saturating_sub(open.used)
        });
        closed.len()
    }

    /// Takes out those that are to be closed: they are dropped without the lock.
    fn remove_where(&self, closes: impl Fn(&OpenCursor<S>) -> bool) -> Vec<OpenCursor<S>> {
        self.lock_all().extract_if(|_, open| closes(open)).map(|(_, open)| open).collect()
    }

    /// Which idle cursors are closed so that so many bytes are given back: always the oldest one of
    /// the connection whose cursors hold most.
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

    /// What is told about one of them.
    pub(crate) fn snapshot(&self, id: i64) -> Option<CursorSnapshot> {
        self.lock_all().get(&id).map(|open| open.snapshot(id))
    }

    /// Those that nobody uses.
    pub(crate) fn idle_ids(&self) -> Vec<i64> {
        let all = self.lock_all();
        all.iter().filter(|(_, open)| open.cursor.is_some()).map(|(id, _)| *id).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.lock_all().len()
    }
}
