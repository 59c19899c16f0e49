//! Open cursors: found by id, used by one request at a time, closed when nobody asks for them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use engine::Store;
use engine::{Cursor, Namespace};

use crate::{
    errors::{CursorNotFound, Error, Result},
    limits::{CURSOR_IDLE, MAX_CURSORS},
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
    operation: Arc<Operation>,
}

/// All open cursors of the door.
pub(crate) struct Cursors<S: Store>(Mutex<HashMap<i64, Open<S>>>);

impl<S: Store> Default for Cursors<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A cursor that a request uses.
pub(crate) struct Taken<S: Store> {
    pub(crate) id: i64,
    pub(crate) cursor: Cursor<S>,
    /// The operation that opened it and goes on with this request.
    pub(crate) operation: Arc<Operation>,
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
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Open<S>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a cursor and gives it an id.
    pub(crate) fn open(
        &self,
        namespace: Namespace,
        session: Option<SessionId>,
        cursor: Cursor<S>,
        keep: bool,
        operation: &Arc<Operation>,
    ) -> Result<i64> {
        let now = clock::monotonic();
        operation.rest(now);
        let operation = Arc::clone(operation);
        let mut all = self.lock();
        if MAX_CURSORS <= all.len() {
            return Err(Error::new(crate::errors::ExceededMemoryLimit, "too many open cursors"));
        }
        loop {
            let id = fastrand::i64(1..i64::MAX);
            if let std::collections::hash_map::Entry::Vacant(vacant) = all.entry(id) {
                let cursor = Some(cursor);
                vacant.insert(Open { namespace, session, cursor, used: now, keep, operation });
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
    ) -> Result<Taken<S>> {
        let mut all = self.lock();
        let open = all.get_mut(&id).ok_or_else(|| not_found(id))?;
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

    /// Gives a cursor back; one that was killed meanwhile is dropped.
    pub(crate) fn give_back(&self, taken: Taken<S>) -> bool {
        let now = clock::monotonic();
        match self.lock().get_mut(&taken.id) {
            Some(open) => {
                taken.operation.rest(now);
                open.cursor = Some(taken.cursor);
                open.used = now;
                true
            }
            None => false,
        }
    }

    /// Closes a cursor; answers whether it was open.
    pub(crate) fn close(&self, id: i64) -> bool {
        self.lock().remove(&id).is_some()
    }

    /// Closes a cursor if it belongs to a collection, and ends the request that uses it; answers
    /// whether it was open there.
    pub(crate) fn kill(&self, id: i64, namespace: &Namespace) -> bool {
        let mut all = self.lock();
        let there = all.get(&id).is_some_and(|open| open.namespace == *namespace);
        let killed = if there { all.remove(&id) } else { None };
        killed.inspect(|open| open.operation.stop(Why::CursorKilled)).is_some()
    }

    /// Closes cursors that nobody asked for; answers how many.
    pub(crate) fn expire(&self, now: Duration) -> usize {
        let mut all = self.lock();
        let before = all.len();
        all.retain(|_, open| {
            open.keep || open.cursor.is_none() || now.saturating_sub(open.used) < CURSOR_IDLE
        });
        before - all.len()
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }
}
