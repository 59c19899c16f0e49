//! Builds entries from ordered batches: additions to sums become absolute values, and mutations are
//! grouped by tree. Its state includes the entries in progress, which the trees do not contain yet,
//! so that additions need not wait for them.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use journal::{Entry, Mutation};
use lsm_tree::AbstractTree as _;
use store::{Error, FoldedSums, Kind, OrderedBatch, Space, Stamp, decode_count, encode_count};

use crate::{
    directory::{DIRECTORY, DirectoryChange, change_of},
    errors::from_tree,
    inner::OpenStore,
    messages::{FollowedEntry, PendingEntry, TreeMutations},
    published::{SpaceTrees, number_after},
    space_tree::SpaceTree,
};

/// Maximum number of cached counters (pairs of sums, such as documents and bytes). Beyond it,
/// counters whose last change is in the trees are evicted.
const CACHED_SUMS: usize = 100_000;
/// Maximum length of a key in a tree.
pub(crate) const MOST_KEY_BYTES: usize = 65_535;

/// The two sums of a counter, and the number of the entry that last changed them.
type CachedSum = ([i64; 2], u64);

/// Builds journal entries from commits.
pub(crate) struct EntryMaker {
    inner: Arc<OpenStore>,
    /// Trees by space, after all entries built so far.
    space_trees: SpaceTrees,
    /// Number of the last entry built.
    n: u64,
    /// Sequence number of the last entry in the trees.
    under: u64,
    /// Recently used pairs of sums, by space and key.
    sums: HashMap<(Space, Bytes), CachedSum, foldhash::fast::RandomState>,
}

impl EntryMaker {
    /// Creates a builder that continues after the last entry in the trees.
    pub(crate) fn new(inner: &Arc<OpenStore>) -> Self {
        let applied = *inner.applied.lock();
        Self {
            inner: Arc::clone(inner),
            space_trees: SpaceTrees::clone(&inner.published.space_trees()),
            n: applied.n,
            under: applied.under,
            sums: HashMap::default(),
        }
    }

    /// Returns the tree of a space.
    pub(crate) fn tree_of(&self, space: Space) -> Option<&Arc<SpaceTree>> {
        self.space_trees.get(&space)
    }

    /// Returns an entry that creates a space.
    pub(crate) fn make_space(
        &mut self,
        space_tree: &Arc<SpaceTree>,
        space: Space,
        last: Stamp,
    ) -> Result<PendingEntry, Error> {
        let records = crate::directory::record_made(space_tree.number, space);
        let entry = self.finish(last, Vec::new(), vec![self.directory_run(records)])?;
        self.space_trees.insert(space, Arc::clone(space_tree));
        Ok(PendingEntry { made: Some(Arc::clone(space_tree)), ..entry })
    }

    /// Returns an entry that drops a space.
    pub(crate) fn drop_space(
        &mut self,
        space_tree: &Arc<SpaceTree>,
        space: Space,
        last: Stamp,
    ) -> Result<PendingEntry, Error> {
        let records = crate::directory::record_gone(space_tree.number);
        let entry =
            self.finish(last, vec![space_tree.number], vec![self.directory_run(records)])?;
        self.space_trees.remove(&space);
        self.sums.retain(|(of, _), _| *of != space);
        Ok(PendingEntry { dropped: Some(Arc::clone(space_tree)), ..entry })
    }

    /// Prepares another owner's entry to be applied under the same number, including the spaces it
    /// creates or drops.
    pub(crate) fn follow(&mut self, followed: FollowedEntry) -> Result<PendingEntry, Error> {
        let FollowedEntry { entry, encoded } = followed;
        if entry.n != self.n + 1 || entry.under <= self.under {
            let text = format!("entry {} does not follow entry {}", entry.n, self.n);
            return Err(Error::new(Kind::Invalid, text));
        }
        let (mut made, mut dropped) = (None, None);
        let mut runs: Vec<TreeMutations> = Vec::new();
        for mutation in entry.mutations {
            if mutation.space == DIRECTORY {
                match change_of(&mutation.key, mutation.value.as_deref())? {
                    DirectoryChange::Created(number, space) => {
                        made = Some(self.make_tree(number, space)?)
                    }
                    DirectoryChange::Next(next) => {
                        self.inner.next_tree_number.fetch_max(next, Ordering::SeqCst);
                    }
                    DirectoryChange::Dropped(number) => dropped = self.remove_tree(number),
                }
            }
            match runs.last_mut() {
                Some(run) if run.space_tree.number == mutation.space => {
                    run.mutations.push(mutation)
                }
                _ => {
                    // An unknown tree was dropped with its rows, so the mutation is skipped.
                    let Some(space_tree) = self.numbered_tree(mutation.space) else { continue };
                    runs.push(TreeMutations { space_tree, mutations: vec![mutation] });
                }
            }
        }
        (self.n, self.under) = (entry.n, entry.under);
        Ok(PendingEntry { encoded, last: entry.last, under: entry.under, runs, made, dropped })
    }

    /// Returns the tree with this number.
    fn numbered_tree(&self, number: u64) -> Option<Arc<SpaceTree>> {
        if number == DIRECTORY {
            return Some(Arc::clone(&self.inner.directory));
        }
        self.space_trees.values().find(|space_tree| space_tree.number == number).cloned()
    }

    /// Creates the tree of a space that another owner has created.
    fn make_tree(&mut self, number: u64, space: Space) -> Result<Arc<SpaceTree>, Error> {
        let space_tree = Arc::new(self.inner.trees.open_or_make(number, Some(space))?);
        self.space_trees.insert(space, Arc::clone(&space_tree));
        Ok(space_tree)
    }

    /// Removes a tree that another owner has dropped.
    fn remove_tree(&mut self, number: u64) -> Option<Arc<SpaceTree>> {
        let space = self.numbered_tree(number)?.space?;
        self.space_trees.remove(&space)
    }

    fn directory_run(&self, mutations: Vec<Mutation>) -> TreeMutations {
        TreeMutations { space_tree: Arc::clone(&self.inner.directory), mutations }
    }

    /// Returns the entry of an ordered batch; `None` if all of it was refused.
    pub(crate) fn make(&mut self, ordered: OrderedBatch) -> Result<Option<PendingEntry>, Error> {
        let Some(last) = ordered.last else { return Ok(None) };
        let mut mutations = ordered.mutations;
        // Sorted keys are cheaper to insert into a memtable. The last mutation of a key wins.
        mutations.sort_by(|a, b| a.space_and_key().cmp(&b.space_and_key()));
        let mut runs: Vec<TreeMutations> = Vec::new();
        let mut current: Option<(Space, Option<usize>)> = None;
        for mutation in mutations {
            let (space, key, value) = match mutation {
                store::Mutation::Put { space, key, value } => (space, key, Some(value)),
                store::Mutation::Delete { space, key } => (space, key, None),
                store::Mutation::Add { .. } => continue,
            };
            if MOST_KEY_BYTES < key.len() {
                return Err(Error::new(Kind::Invalid, "a key is too long for the store"));
            }
            let run = match current {
                Some((of, run)) if of == space => run,
                _ => self.run_for(space, &mut runs),
            };
            current = Some((space, run));
            if let Some(run) = run.and_then(|at| runs.get_mut(at)) {
                push_mutation(run, key, value);
            }
        }
        self.add_sums(ordered.sums, &mut runs)?;
        self.finish(last, Vec::new(), runs).map(Some)
    }

    /// Returns the index in `runs` of the mutations for the tree of a space, adding an empty list
    /// if `runs` has no element for the tree; `None` if the space has no tree.
    fn run_for(&self, space: Space, runs: &mut Vec<TreeMutations>) -> Option<usize> {
        let space_tree = self.tree_of(space)?;
        if let Some(at) = runs.iter().position(|run| run.space_tree.number == space_tree.number) {
            return Some(at);
        }
        runs.push(TreeMutations { space_tree: Arc::clone(space_tree), mutations: Vec::new() });
        Some(runs.len() - 1)
    }

    /// Converts additions to absolute values, reading each sum from its tree at most once. A pair
    /// of zeros is deleted.
    fn add_sums(&mut self, sums: FoldedSums, runs: &mut Vec<TreeMutations>) -> Result<(), Error> {
        for ((space, key), by) in sums {
            let Some(at) = self.run_for(space, runs) else { continue };
            let Some(run) = runs.get_mut(at) else { continue };
            let held = match self.sums.get(&(space, key.clone())) {
                Some((held, _)) => *held,
                // A sum that is not cached is in the tree, because only this thread writes sums.
                None => run
                    .space_tree
                    .tree
                    .get(&key, u64::MAX)
                    .map_err(|error| from_tree("read a sum", &error))?
                    .map_or([0; 2], |value| decode_count(&value)),
            };
            let sum = [held[0].saturating_add(by[0]), held[1].saturating_add(by[1])];
            let value = (sum != [0; 2]).then(|| encode_count(sum));
            push_mutation(run, key.clone(), value);
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
        mut runs: Vec<TreeMutations>,
    ) -> Result<PendingEntry, Error> {
        runs.retain(|run| !run.mutations.is_empty());
        let under = number_after(self.under, &self.inner.trees.counter);
        let lengths: Vec<usize> = runs.iter().map(|run| run.mutations.len()).collect();
        let mut mutations = Vec::with_capacity(lengths.iter().sum());
        runs.iter_mut().for_each(|run| mutations.append(&mut run.mutations));
        let mut entry = Entry { n: self.n + 1, last, under, dropped, mutations };
        let encoded = entry.encode()?;
        // The mutations are moved back into their runs without copying keys.
        for (run, length) in runs.iter_mut().zip(lengths) {
            let behind = entry.mutations.split_off(length);
            run.mutations = std::mem::replace(&mut entry.mutations, behind);
        }
        (self.n, self.under) = (entry.n, under);
        Ok(PendingEntry { encoded, last, under, runs, made: None, dropped: None })
    }
}

/// Appends a mutation, replacing a previous one of the same key, since both would get the same
/// sequence number.
fn push_mutation(run: &mut TreeMutations, key: Bytes, value: Option<Bytes>) {
    let mutation = Mutation { space: run.space_tree.number, key, value };
    match run.mutations.last_mut() {
        Some(last) if last.key == mutation.key => *last = mutation,
        _ => run.mutations.push(mutation),
    }
}
