//! Builds entries from ordered batches: additions to sums become absolute values, and mutations get
//! the numbers of their spaces. Its state includes the entries in progress, which the tree does not
//! contain yet, so that additions need not wait for them.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use journal::{Entry, Mutation};
use store::{Error, FoldedSums, Kind, OrderedBatch, Space, Stamp, decode_count, encode_count};

use crate::{
    directory::{self, DIRECTORY, DirectoryChange, change_of},
    errors::from_tree,
    inner::OpenStore,
    messages::{FollowedEntry, PendingEntry},
    published::SpaceNumbers,
};

/// Maximum number of cached counters (pairs of sums, such as documents and bytes). Beyond it,
/// counters whose last change is in the tree are evicted.
const CACHED_SUMS: usize = 100_000;
/// Maximum length of a key in the tree.
const MOST_KEY_BYTES: usize = tree::KEY_BYTES_MAX;

/// The two sums of a counter, and the number of the entry that last changed them.
type CachedSum = ([i64; 2], u64);

/// Builds journal entries from commits.
pub(crate) struct EntryMaker {
    inner: Arc<OpenStore>,
    /// Numbers of the spaces, after all entries built so far.
    numbers: SpaceNumbers,
    /// Number of the last entry built.
    n: u64,
    /// Sequence number of the last entry built.
    under: u64,
    /// Recently used pairs of sums, by space and key.
    sums: HashMap<(Space, Bytes), CachedSum, foldhash::fast::RandomState>,
}

impl EntryMaker {
    /// Creates a builder that continues after the last applied entry.
    pub(crate) fn new(inner: &Arc<OpenStore>) -> Self {
        let applied = *inner.applied.lock();
        Self {
            inner: Arc::clone(inner),
            numbers: SpaceNumbers::clone(&inner.published.space_numbers()),
            n: applied.n,
            under: applied.under,
            sums: HashMap::default(),
        }
    }

    /// Returns the number of a space.
    pub(crate) fn number_of(&self, space: Space) -> Option<u64> {
        self.numbers.get(&space).copied()
    }

    /// Returns an entry that creates a space with this number.
    pub(crate) fn make_space(
        &mut self,
        number: u64,
        space: Space,
        last: Stamp,
    ) -> Result<PendingEntry, Error> {
        let entry = self.finish(last, Vec::new(), directory::record_made(number, space))?;
        self.numbers.insert(space, number);
        Ok(PendingEntry { changes: vec![DirectoryChange::Created(number, space)], ..entry })
    }

    /// Returns an entry that drops a space with this number.
    pub(crate) fn drop_space(
        &mut self,
        number: u64,
        space: Space,
        last: Stamp,
    ) -> Result<PendingEntry, Error> {
        let entry = self.finish(last, vec![number], directory::record_gone(number))?;
        self.numbers.remove(&space);
        self.sums.retain(|(of, _), _| *of != space);
        Ok(PendingEntry { changes: vec![DirectoryChange::Dropped(number)], ..entry })
    }

    /// Prepares another owner's entry to be applied under the same number, including the spaces it
    /// creates or drops.
    pub(crate) fn follow(&mut self, followed: FollowedEntry) -> Result<PendingEntry, Error> {
        let FollowedEntry { entry, encoded } = followed;
        if entry.n != self.n + 1 || entry.under <= self.under {
            let text = format!("entry {} does not follow entry {}", entry.n, self.n);
            return Err(Error::new(Kind::Invalid, text));
        }
        let (mut changes, mut mutations) = (Vec::new(), Vec::<Mutation>::new());
        for mutation in entry.mutations {
            if mutation.space == DIRECTORY {
                match change_of(&mutation.key, mutation.value.as_deref())? {
                    DirectoryChange::Next(next) => {
                        self.inner.next_space_number.fetch_max(next, Ordering::SeqCst);
                    }
                    change => {
                        self.follow_change(&change);
                        changes.push(change);
                    }
                }
            } else if mutations.last().is_none_or(|last| last.space != mutation.space)
                && !self.numbers.values().any(|number| *number == mutation.space)
            {
                // The space was dropped with its rows.
                continue;
            }
            mutations.push(mutation);
        }
        (self.n, self.under) = (entry.n, entry.under);
        Ok(PendingEntry { encoded, last: entry.last, under: entry.under, mutations, changes })
    }

    /// Follows the creation or drop of a space by another owner.
    fn follow_change(&mut self, change: &DirectoryChange) {
        match change {
            DirectoryChange::Created(number, space) => {
                self.numbers.insert(*space, *number);
            }
            DirectoryChange::Dropped(number) => self.numbers.retain(|_, of| of != number),
            DirectoryChange::Next(_) => {}
        }
    }

    /// Returns the entry of an ordered batch; `None` if all of it was refused.
    pub(crate) fn make(&mut self, ordered: OrderedBatch) -> Result<Option<PendingEntry>, Error> {
        let Some(last) = ordered.last else { return Ok(None) };
        let mut ordered_mutations = ordered.mutations;
        // Sorted keys are cheaper to insert into a memtable. The last mutation of a key wins.
        ordered_mutations.sort_by(|a, b| a.space_and_key().cmp(&b.space_and_key()));
        let mut mutations: Vec<Mutation> = Vec::with_capacity(ordered_mutations.len());
        for mutation in ordered_mutations {
            let (space, key, value) = match mutation {
                store::Mutation::Put { space, key, value } => (space, key, Some(value)),
                store::Mutation::Delete { space, key } => (space, key, None),
                store::Mutation::Add { .. } => continue,
            };
            if MOST_KEY_BYTES < key.len() {
                return Err(Error::new(Kind::Invalid, "a key is too long for the store"));
            }
            // Mutations of spaces that do not exist are skipped.
            let Some(number) = self.number_of(space) else { continue };
            let mutation = Mutation { space: number, key, value };
            match mutations.last_mut() {
                Some(last) if (last.space, &last.key) == (number, &mutation.key) => {
                    *last = mutation
                }
                _ => mutations.push(mutation),
            }
        }
        self.add_sums(ordered.sums, &mut mutations)?;
        self.finish(last, Vec::new(), mutations).map(Some)
    }

    /// Converts additions to absolute values, reading each sum from the tree at most once. A pair
    /// of zeros is deleted.
    fn add_sums(&mut self, sums: FoldedSums, mutations: &mut Vec<Mutation>) -> Result<(), Error> {
        for ((space, key), by) in sums {
            let Some(number) = self.number_of(space) else { continue };
            let held = match self.sums.get(&(space, key.clone())) {
                Some((held, _)) => *held,
                // A sum that is not cached is in the tree, because only this thread writes sums.
                None => self
                    .inner
                    .tree
                    .newest(number, &key)
                    .map_err(|error| from_tree("read a sum", &error))?
                    .map_or([0; 2], |value| decode_count(&value)),
            };
            let sum = [held[0].saturating_add(by[0]), held[1].saturating_add(by[1])];
            let value = (sum != [0; 2]).then(|| encode_count(sum));
            mutations.push(Mutation { space: number, key: key.clone(), value });
            self.sums.insert((space, key), (sum, self.n + 1));
        }
        if CACHED_SUMS < self.sums.len() {
            let applied = self.inner.applied.lock().n;
            self.sums.retain(|_, (_, n)| applied < *n);
        }
        Ok(())
    }

    /// Numbers and encodes an entry.
    fn finish(
        &mut self,
        last: Stamp,
        dropped: Vec<u64>,
        mutations: Vec<Mutation>,
    ) -> Result<PendingEntry, Error> {
        let under = self.under + 1;
        let entry = Entry { n: self.n + 1, last, under, dropped, mutations };
        let encoded = entry.encode()?;
        (self.n, self.under) = (entry.n, under);
        Ok(PendingEntry { encoded, last, under, mutations: entry.mutations, changes: Vec::new() })
    }
}
