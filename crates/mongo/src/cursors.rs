//! Open cursors: found by id, used by one request at a time, closed when nobody asks for them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use engine::Store;
use engine::{Cursor, Namespace};

use crate::{
    errors::{CursorNotFound, Error, Result},
    limits::{CURSOR_IDLE, MAX_CURSORS},
};

struct Open<S: Store> {
    namespace: Namespace,
    /// Taken while a request uses it.
    cursor: Option<Cursor<S>>,
    used: Duration,
    keep: bool,
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
}

fn not_found(id: i64) -> Error {
    Error::new(CursorNotFound, format!("cursor id {id} not found"))
}

impl<S: Store> Cursors<S> {
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Open<S>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a cursor and gives it an id.
    pub(crate) fn open(
        &self,
        namespace: Namespace,
        cursor: Cursor<S>,
        keep: bool,
        now: Duration,
    ) -> Result<i64> {
        let mut all = self.lock();
        if MAX_CURSORS <= all.len() {
            return Err(Error::new(crate::errors::ExceededMemoryLimit, "too many open cursors"));
        }
        loop {
            let id = fastrand::i64(1..i64::MAX);
            if let std::collections::hash_map::Entry::Vacant(vacant) = all.entry(id) {
                vacant.insert(Open { namespace, cursor: Some(cursor), used: now, keep });
                return Ok(id);
            }
        }
    }

    /// Takes a cursor for a request on its collection.
    pub(crate) fn take(&self, id: i64, namespace: &Namespace) -> Result<Taken<S>> {
        let mut all = self.lock();
        let open = all.get_mut(&id).ok_or_else(|| not_found(id))?;
        if open.namespace != *namespace {
            let message = format!(
                "Requested getMore on namespace '{namespace}', but cursor belongs to a different namespace {}",
                open.namespace
            );
            return Err(Error::new(crate::errors::Unauthorized, message));
        }
        match open.cursor.take() {
            Some(cursor) => Ok(Taken { id, cursor }),
            None => Err(Error::new(12051, format!("cursor id {id} is already in use"))),
        }
    }

    /// Gives a cursor back; one that was killed meanwhile is dropped.
    pub(crate) fn give_back(&self, taken: Taken<S>, now: Duration) -> bool {
        match self.lock().get_mut(&taken.id) {
            Some(open) => {
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

    /// Closes a cursor if it belongs to a collection; answers whether it was open there.
    pub(crate) fn kill(&self, id: i64, namespace: &Namespace) -> bool {
        let mut all = self.lock();
        let there = all.get(&id).is_some_and(|open| open.namespace == *namespace);
        there && all.remove(&id).is_some()
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
