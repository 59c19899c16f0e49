//! Intents: the keys that open transactions have written. Other writers find them here before they
//! commit, since the writes themselves are invisible until the transaction commits.
//!
//! ```text
//!  transaction, statement ── take ──▶ free: the key is its own until it ends
//!                                 └─▶ another open transaction has it: a conflict at once
//!  other write, before its commit ──▶ waits until the transaction has ended, then reads again
//! ```
//!
//! Intents make conflicts visible early, and keep other writes from aborting transactions. The
//! correctness of commits does not depend on them: a transaction compares the versions of its keys
//! when it commits, so a write that passes the table just before an intent is taken only aborts the
//! transaction.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::BuildHasher,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst},
    },
};

use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use store::Space;
use tokio::sync::Notify;

use crate::error::Error;

/// Number of shards of the table.
const SHARDS: usize = 16;

/// The keys of a shard and the transactions that have written them.
type Shard = Mutex<HashMap<(Space, Bytes), Arc<IntentHolder>, RandomState>>;

/// A transaction as other writers see it.
#[derive(Debug)]
pub(crate) struct IntentHolder {
    /// Earliest expiry in milliseconds of a document on which the transaction relies. From then on
    /// the transaction cannot commit.
    relied_until: AtomicI64,
    /// Whether the transaction has ended and its intents are released.
    ended: AtomicBool,
}

impl IntentHolder {
    /// Creates the holder of a transaction that relies on no document yet.
    pub(crate) fn new() -> Self {
        Self { relied_until: AtomicI64::new(i64::MAX), ended: AtomicBool::new(false) }
    }

    /// Records that the transaction relies on a document that expires at this instant.
    pub(crate) fn rely_until(&self, expires_ms: i64) {
        self.relied_until.fetch_min(expires_ms, SeqCst);
    }

    /// Returns the earliest expiry, in milliseconds, of a document on which the transaction relies.
    pub(crate) fn relied_until(&self) -> i64 {
        self.relied_until.load(SeqCst)
    }

    /// Returns whether the transaction can no longer commit at this instant, so that no writer
    /// has to wait for it.
    fn is_over(&self, now_ms: i64) -> bool {
        self.ended.load(SeqCst) || self.relied_until() <= now_ms
    }
}

/// The intents of all open transactions of an engine.
#[derive(Debug, Default)]
pub(crate) struct IntentTable {
    /// Number of intents, so that writers skip the table while there are none.
    count: AtomicUsize,
    shards: [Shard; SHARDS],
    hasher: RandomState,
    /// Notified when a transaction ends, and when waiting writers have to check their time limits.
    changed: Notify,
}

impl IntentTable {
    fn shard(&self, space: Space, key: &Bytes) -> &Shard {
        &self.shards[self.hasher.hash_one((space, key)) as usize % SHARDS]
    }

    /// Returns whether no transaction has written anything.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(SeqCst) == 0
    }

    /// Takes the intent of a key for a transaction. Returns whether the transaction did not have it
    /// before; `None` if another transaction that may still commit has it.
    pub(crate) fn take(
        &self,
        space: Space,
        key: &Bytes,
        holder: &Arc<IntentHolder>,
        now_ms: i64,
    ) -> Option<bool> {
        // Counted first, so that a writer that finds the table empty was earlier than the intent.
        self.count.fetch_add(1, SeqCst);
        let taken = match self.shard(space, key).lock().entry((space, key.clone())) {
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::clone(holder));
                return Some(true);
            }
            Entry::Occupied(held) if Arc::ptr_eq(held.get(), holder) => Some(false),
            Entry::Occupied(mut held) if held.get().is_over(now_ms) => {
                held.insert(Arc::clone(holder));
                Some(true)
            }
            Entry::Occupied(_) => None,
        };
        self.count.fetch_sub(1, SeqCst);
        taken
    }

    /// Ends a transaction: releases these keys, as far as it still has them, and wakes the writers
    /// that wait.
    pub(crate) fn release(&self, keys: Vec<(Space, Bytes)>, holder: &Arc<IntentHolder>) {
        holder.ended.store(true, SeqCst);
        let any = !keys.is_empty();
        for (space, key) in keys {
            let shard = self.shard(space, &key);
            if let Entry::Occupied(held) = shard.lock().entry((space, key))
                && Arc::ptr_eq(held.get(), holder)
            {
                held.remove();
                self.count.fetch_sub(1, SeqCst);
            }
        }
        if any {
            self.changed.notify_waiters();
        }
    }

    /// Returns the transaction that has written a key and may still commit.
    pub(crate) fn holder_of(
        &self,
        space: Space,
        key: &Bytes,
        now_ms: i64,
    ) -> Option<Arc<IntentHolder>> {
        let shard = self.shard(space, key).lock();
        shard.get(&(space, key.clone())).filter(|holder| !holder.is_over(now_ms)).cloned()
    }

    /// Makes waiting writers check whether they may continue to wait.
    pub(crate) fn wake(&self) {
        if !self.is_empty() {
            self.changed.notify_waiters();
        }
    }

    /// Waits until a transaction has ended or can no longer commit. `check` is called whenever
    /// something has changed; its error ends the wait.
    pub(crate) async fn wait_for(
        &self,
        holder: &IntentHolder,
        now_ms: impl Fn() -> i64,
        check: impl Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let mut changed = pin!(self.changed.notified());
            // Enabled before the checks, so that no notification in between is missed.
            changed.as_mut().enable();
            if holder.is_over(now_ms()) {
                return Ok(());
            }
            check()?;
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_holder_until_it_ends_or_cannot_commit() {
        let table = IntentTable::default();
        let [one, two, three] = [0; 3].map(|_| Arc::new(IntentHolder::new()));
        let (space, key) = (Space::Rows(1), Bytes::from_static(b"k"));
        assert!(table.is_empty());
        assert_eq!(table.take(space, &key, &one, 5), Some(true));
        assert_eq!(table.take(space, &key, &one, 5), Some(false));
        assert_eq!(table.take(space, &key, &two, 5), None);
        assert!(table.holder_of(space, &key, 5).is_some());
        assert!(table.holder_of(Space::Rows(2), &key, 5).is_none());
        // A document that the first one relies on expires.
        one.rely_until(7);
        assert_eq!(table.take(space, &key, &two, 6), None);
        assert!(table.holder_of(space, &key, 7).is_none());
        assert_eq!(table.take(space, &key, &two, 7), Some(true));
        table.release(vec![(space, key.clone())], &one);
        assert!(!table.is_empty(), "the second one has the key");
        table.release(vec![(space, key.clone())], &two);
        assert!(table.is_empty());
        assert_eq!(table.take(space, &key, &three, 8), Some(true));
    }
}
