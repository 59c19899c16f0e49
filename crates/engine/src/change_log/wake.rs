//! Wakes readers of the change log when a change that may concern them is visible.
//!
//! A commit that logs a change notes its sequence number and collection when it is ordered, but
//! only while readers wait. When commits have become visible, the notes up to there wake the
//! readers of the collection, of its database and of everything. A reader registers before it
//! reads, so a change is either read or noted.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, Hash},
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use foldhash::fast::FixedState;
use parking_lot::Mutex;
use tokio::sync::{Notify, futures::Notified};

use super::ChangeScope;
use crate::names::Namespace;

/// Number of groups of readers that are woken together.
const GROUPS: usize = 256;

/// The readers of the change log that wait for changes.
pub(super) struct Wakes {
    /// Number of readers that wait or are about to.
    waiting: AtomicUsize,
    /// Changes that are not visible yet, or whose readers were not woken: the sequence numbers of
    /// their commits, and their groups.
    noted: Mutex<VecDeque<(u64, [usize; 3])>>,
    groups: Vec<Notify>,
}

impl std::fmt::Debug for Wakes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wakes").finish_non_exhaustive()
    }
}

impl Default for Wakes {
    fn default() -> Self {
        let groups = (0..GROUPS).map(|_| Notify::new()).collect();
        Self { waiting: AtomicUsize::new(0), noted: Mutex::default(), groups }
    }
}

/// Returns the group of a scope.
fn group_of(scope: impl Hash) -> usize {
    let hash = FixedState::default().hash_one(scope);
    usize::try_from(hash % GROUPS as u64).unwrap_or(0)
}

/// Returns the groups of readers that a change of this collection concerns.
fn groups_of(namespace: &Namespace) -> [usize; 3] {
    let database = &namespace.database;
    [group_of((database, &namespace.collection)), group_of((database, "")), group_of(("", ""))]
}

impl Wakes {
    /// Notes a change that the commit with this sequence number makes.
    pub(super) fn record_change(&self, seq: u64, namespace: &Namespace) {
        if 0 < self.waiting.load(SeqCst) {
            self.noted.lock().push_back((seq, groups_of(namespace)));
        }
    }

    /// Wakes the readers of changes that are visible, given the newest visible commit.
    pub(super) fn wake_up_to(&self, published: u64) {
        if self.waiting.load(SeqCst) == 0 {
            return;
        }
        let mut due: Vec<usize> = Vec::new();
        {
            let mut noted = self.noted.lock();
            while let Some((seq, groups)) = noted.front()
                && *seq <= published
            {
                due.extend(groups.iter().copied());
                noted.pop_front();
            }
        }
        due.sort_unstable();
        due.dedup();
        due.into_iter().filter_map(|group| self.groups.get(group)).for_each(Notify::notify_waiters);
    }

    /// Wakes all readers, because time or the log itself has changed.
    pub(super) fn wake_all(&self) {
        self.groups.iter().for_each(Notify::notify_waiters);
    }

    /// Registers a reader of this scope.
    pub(super) fn wait_for(&self, scope: &ChangeScope) -> ChangeWait<'_> {
        self.waiting.fetch_add(1, SeqCst);
        let group = match scope {
            ChangeScope::Collection(namespace) => {
                group_of((&namespace.database, &namespace.collection))
            }
            ChangeScope::Database(database) => group_of((database, "")),
            ChangeScope::All => group_of(("", "")),
        };
        let notified = self.groups.get(group).map(|group| Box::pin(group.notified()));
        ChangeWait { wakes: self, notified }
    }
}

/// The registration of a reader; awaiting [`woken`](Self::woken) waits for the next change.
pub struct ChangeWait<'a> {
    wakes: &'a Wakes,
    notified: Option<Pin<Box<Notified<'a>>>>,
}

impl std::fmt::Debug for ChangeWait<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangeWait").finish_non_exhaustive()
    }
}

impl ChangeWait<'_> {
    /// Waits until a change that may concern the reader is visible since the registration.
    pub async fn woken(&mut self) {
        match &mut self.notified {
            Some(notified) => notified.as_mut().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for ChangeWait<'_> {
    fn drop(&mut self) {
        if self.wakes.waiting.fetch_sub(1, SeqCst) == 1 {
            self.wakes.noted.lock().clear();
        }
    }
}
