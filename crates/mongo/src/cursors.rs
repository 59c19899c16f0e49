//! Open cursors: found by id, used by one request at a time, closed when nobody asks for them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use engine::{Cursor, Namespace, Store};
use memory::Relief;

use crate::{
    client::Visitor,
    cursor_description::{CursorDescription, CursorSnapshot},
    errors::{CursorNotFound, Error, Result},
    limits::{CURSOR_IDLE, HEAVY_CURSOR_BYTES, LIGHT_CURSOR_BYTES, MAX_CURSORS, ORPHAN_IDLE},
    lock::lock,
    operation::{Operation, Why},
    session::SessionId,
};

struct Open<S: Store> {
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
    owner: Option<Visitor>,
}

impl<S: Store> Open<S> {
    /// Whether this sender may use it: a guest that may only read has only its own.
    fn is_for(&self, visitor: Option<Visitor>) -> bool {
        visitor.is_none_or(|visitor| visitor.writes || self.owner == Some(visitor))
    }

    fn told(&self, id: i64) -> CursorSnapshot {
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
    fn memory(&self) -> usize {
        self.cursor.as_ref().map_or(0, Cursor::memory)
    }
}

/// All open cursors of the door.
pub(crate) struct Cursors<S: Store>(Mutex<HashMap<i64, Open<S>>>);

impl<S: Store> Default for Cursors<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A cursor that a request opens.
pub(crate) struct Opened<S: Store> {
    pub(crate) cursor: Cursor<S>,
    /// It may be idle for ever.
    pub(crate) keep: bool,
    /// The session that asked for it.
    pub(crate) session: Option<SessionId>,
    /// The connection that asked for it.
    pub(crate) connection: i32,
    /// Who asked for it, if that is a guest.
    pub(crate) owner: Option<Visitor>,
    pub(crate) about: CursorDescription,
}

/// A cursor that a request uses.
pub(crate) struct Taken<S: Store> {
    pub(crate) id: i64,
    pub(crate) cursor: Cursor<S>,
    /// The operation that opened it and goes on with this request.
    pub(crate) operation: Arc<Operation>,
}

/// The idle cursors of one connection that hold something.
#[derive(Default)]
struct Owner {
    memory: usize,
    /// Since when each was idle, its id and what it holds.
    cursors: Vec<(Duration, i64, usize)>,
}

impl<S: Store> Relief for Cursors<S> {
    fn relieve(&self, bytes: usize) {
        // They are dropped here, without the lock.
        let closed = self.victims(bytes);
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
    fn all(&self) -> MutexGuard<'_, HashMap<i64, Open<S>>> {
        lock(&self.0)
    }

    /// Keeps a cursor and gives it an id.
    pub(crate) fn open(
        &self,
        namespace: Namespace,
        opened: Opened<S>,
        operation: &Arc<Operation>,
    ) -> Result<i64> {
        let Opened { cursor, keep, session, connection, owner, about } = opened;
        let now = clock::monotonic();
        operation.rest(now);
        let operation = Arc::clone(operation);
        let mut all = self.all();
        if MAX_CURSORS <= all.len() {
            return Err(Error::new(crate::errors::ExceededMemoryLimit, "too many open cursors"));
        }
        loop {
            let id = fastrand::i64(1..i64::MAX);
            if let std::collections::hash_map::Entry::Vacant(vacant) = all.entry(id) {
                let cursor = Some(cursor);
                let used = now;
                let orphan = false;
                vacant.insert(Open {
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
        visitor: Option<Visitor>,
    ) -> Result<Taken<S>> {
        let mut all = self.all();
        let open = all.get_mut(&id).filter(|open| open.is_for(visitor));
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
                Ok(Taken { id, cursor, operation })
            }
            None => Err(Error::new(12051, format!("cursor id {id} is already in use"))),
        }
    }

    /// Gives a cursor back that was not read.
    pub(crate) fn leave(&self, taken: Taken<S>) {
        self.put(taken, |_| {});
    }

    /// Gives a cursor back that gave a batch of so many documents; one that was killed meanwhile is
    /// dropped.
    pub(crate) fn give_back(&self, taken: Taken<S>, documents: usize) -> bool {
        self.put(taken, |about| about.gave(documents))
    }

    fn put(&self, taken: Taken<S>, note: impl FnOnce(&mut CursorDescription)) -> bool {
        let now = clock::monotonic();
        match self.all().get_mut(&taken.id) {
            Some(open) => {
                note(&mut open.about);
                taken.operation.rest(now);
                open.cursor = Some(taken.cursor);
                open.used = now;
                true
            }
            None => false,
        }
    }

    /// A cursor has no more; answers that it is not open.
    pub(crate) fn end(&self, taken: Taken<S>) -> bool {
        self.close(taken.id);
        false
    }

    /// The connection has gone that opened these: they end sooner if they hold much.
    pub(crate) fn orphan(&self, connection: i32) {
        let mut all = self.all();
        let own = all.values_mut().filter(|open| open.connection == connection);
        own.for_each(|open| open.orphan = true);
    }

    /// Closes a cursor; answers whether it was open.
    pub(crate) fn close(&self, id: i64) -> bool {
        self.all().remove(&id).is_some()
    }

    /// Closes a cursor if it belongs to a collection and this sender may use it, and ends the
    /// request that does; answers whether it was open there.
    pub(crate) fn kill(&self, id: i64, namespace: &Namespace, visitor: Option<Visitor>) -> bool {
        let mut all = self.all();
        let meant = |open: &Open<S>| open.namespace == *namespace && open.is_for(visitor);
        let there = all.get(&id).is_some_and(meant);
        let killed = if there { all.remove(&id) } else { None };
        killed.inspect(|open| open.operation.stop(Why::CursorKilled)).is_some()
    }

    /// Closes cursors that nobody asked for; answers how many.
    pub(crate) fn expire(&self, now: Duration) -> usize {
        let closed = self.remove(|open| {
            let heavy = open.orphan && HEAVY_CURSOR_BYTES <= open.memory();
            let most = if heavy { ORPHAN_IDLE } else { CURSOR_IDLE };
            !open.keep && open.cursor.is_some() && most <= now.saturating_sub(open.used)
        });
        closed.len()
    }

    /// Takes out those that are to be closed: they are dropped without the lock.
    fn remove(&self, closes: impl Fn(&Open<S>) -> bool) -> Vec<Open<S>> {
        self.all().extract_if(|_, open| closes(open)).map(|(_, open)| open).collect()
    }

    /// Which idle cursors are closed so that so many bytes are given back: always the oldest one of
    /// the connection whose cursors hold most.
    fn victims(&self, bytes: usize) -> Vec<Open<S>> {
        let mut all = self.all();
        let mut owners: HashMap<i32, Owner> = HashMap::new();
        let idle = all.iter().filter(|(_, open)| open.cursor.is_some());
        let held = idle.map(|(id, open)| (id, open, open.memory()));
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
    pub(crate) fn told(&self, id: i64) -> Option<CursorSnapshot> {
        self.all().get(&id).map(|open| open.told(id))
    }

    /// Those that nobody uses.
    pub(crate) fn idle(&self) -> Vec<i64> {
        let all = self.all();
        all.iter().filter(|(_, open)| open.cursor.is_some()).map(|(id, _)| *id).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }
}
