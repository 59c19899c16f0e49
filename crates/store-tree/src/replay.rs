//! Replays the journal at startup: applies all entries from the tail on to trees that may already
//! have some of them. Entries hold new values rather than differences, so applying one twice does
//! no harm. Nothing reads the trees before the replay has ended.
//!
//! The calling thread reads the entries and creates and drops trees as they require; two other
//! threads apply the rows, each to its own trees.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, mpsc},
};

use bytes::Bytes;
use journal::{Entry, Journal, Mutation};
use store::{Error, Kind, Space};

use crate::{
    budget::Budget,
    directory::{DIRECTORY, DirectoryChange, DirectoryContents, change_of},
    inner::Applied,
    space_tree::SpaceTree,
    trees::Trees,
};

/// Number of threads that apply rows.
const WORKERS: usize = 2;
/// Bytes of entries read at once.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of runs (mutations of one entry for one tree) that wait for a worker.
const QUEUE: usize = 256;

/// Mutations of an entry for one tree.
struct ReplayedRun {
    space_tree: Arc<SpaceTree>,
    n: u64,
    under: u64,
    mutations: Vec<Mutation>,
}

/// The trees to which the replay applies entries.
pub(crate) struct Replayed {
    pub(crate) directory: Arc<SpaceTree>,
    /// Trees of spaces by number.
    pub(crate) space_trees: HashMap<u64, Arc<SpaceTree>>,
    /// The next unused tree number.
    pub(crate) next: u64,
    /// Listed trees without a directory on disk; a replayed entry must drop each of them.
    missing: BTreeSet<u64>,
}

impl Replayed {
    /// Opens the directory and all trees that it lists, several concurrently.
    pub(crate) fn open(
        trees: &Trees,
        directory: SpaceTree,
        listed: &DirectoryContents,
    ) -> Result<Self, Error> {
        let there = |of: &&(u64, Space)| trees.has(of.0);
        let (present, missing): (Vec<_>, Vec<_>) = listed.spaces.iter().partition(there);
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
        let share = present.len().div_ceil(threads).max(1);
        let open = |part: &[&(u64, Space)]| -> Result<Vec<Arc<SpaceTree>>, Error> {
            part.iter()
                .map(|(number, space)| trees.open(*number, Some(*space)).map(Arc::new))
                .collect()
        };
        let opened: Vec<Result<Vec<_>, Error>> = std::thread::scope(|scope| {
            let parts: Vec<_> =
                present.chunks(share).map(|part| scope.spawn(move || open(part))).collect();
            parts.into_iter().map(|part| part.join().unwrap_or_else(|_| Err(panicked()))).collect()
        });
        let mut space_trees = HashMap::new();
        for part in opened {
            space_trees.extend(part?.into_iter().map(|space_tree| (space_tree.number, space_tree)));
        }
        let missing = missing.into_iter().map(|(number, _)| *number).collect();
        Ok(Self { directory: Arc::new(directory), space_trees, next: listed.next, missing })
    }

    /// Applies all entries after this number; returns the last entry, if any.
    pub(crate) fn apply_journal(
        &mut self,
        journal: &dyn Journal,
        after: u64,
        trees: &Trees,
        budget: &Budget,
    ) -> Result<Option<Applied>, Error> {
        std::thread::scope(|scope| {
            let mut queues = Vec::new();
            let mut workers = Vec::new();
            for _ in 0..WORKERS {
                let (queue, runs) = mpsc::sync_channel::<ReplayedRun>(QUEUE);
                queues.push(queue);
                workers.push(scope.spawn(move || {
                    for run in runs {
                        let mutations = run.mutations.into_iter().map(copy_of).collect();
                        budget.record_memory(run.space_tree.apply(run.n, run.under, mutations, 0));
                    }
                }));
            }
            let applied = self.read_all(journal, after, trees, budget, &queues);
            drop(queues);
            let ended = workers.into_iter().all(|worker| worker.join().is_ok());
            if ended { applied } else { Err(panicked()) }
        })
        .and_then(|applied| match self.missing.first() {
            Some(number) => Err(trees.missing_error(*number)),
            None => Ok(applied),
        })
    }

    /// Reads the journal to its end and distributes its entries to the threads that apply them.
    fn read_all(
        &mut self,
        journal: &dyn Journal,
        after: u64,
        trees: &Trees,
        budget: &Budget,
        queues: &[mpsc::SyncSender<ReplayedRun>],
    ) -> Result<Option<Applied>, Error> {
        let (mut after, mut applied) = (after, None);
        loop {
            let page = journal.read(after, PAGE_BYTES)?;
            let Some(last) = page.last() else { return Ok(applied) };
            after = last.n;
            applied = Some(Applied { n: last.n, under: last.under, stamp: last.last });
            for entry in page {
                let (n, mutations) = (entry.n, entry.mutations.len() as u64);
                budget.record_group(n, bytes_of(&entry), mutations);
                self.distribute(entry, trees, budget, queues)?;
            }
        }
    }

    /// Passes the mutations of one entry to the workers; each worker applies some trees' rows.
    fn distribute(
        &mut self,
        entry: Entry,
        trees: &Trees,
        budget: &Budget,
        queues: &[mpsc::SyncSender<ReplayedRun>],
    ) -> Result<(), Error> {
        let (n, under) = (entry.n, entry.under);
        for dropped in entry.dropped {
            self.missing.remove(&dropped);
            if let Some(space_tree) = self.space_trees.remove(&dropped) {
                budget.record_freed(space_tree.record_dropped());
            }
        }
        let mut rest = entry.mutations;
        while let Some(number) = rest.first().map(|first| first.space) {
            let length = rest.iter().take_while(|mutation| mutation.space == number).count();
            let behind = rest.split_off(length);
            let mutations = std::mem::replace(&mut rest, behind);
            if number == DIRECTORY {
                mutations.iter().try_for_each(|row| self.follow(row, trees))?;
                let mutations = mutations.into_iter().map(copy_of).collect();
                budget.record_memory(self.directory.apply(n, under, mutations, 0));
                continue;
            }
            // The tree does not exist if a later entry drops it; its rows are skipped.
            let Some(space_tree) = self.space_trees.get(&number) else { continue };
            let worker = usize::try_from(number).unwrap_or(0) % queues.len().max(1);
            if let Some(queue) = queues.get(worker) {
                let space_tree = Arc::clone(space_tree);
                queue
                    .send(ReplayedRun { space_tree, n, under, mutations })
                    .map_err(|_| panicked())?;
            }
        }
        Ok(())
    }

    /// Applies the rows of an entry on the calling thread.
    pub(crate) fn put(&mut self, entry: Entry, trees: &Trees) -> Result<(), Error> {
        let (n, under) = (entry.n, entry.under);
        for row in entry.mutations {
            let space_tree = if row.space == DIRECTORY {
                self.follow(&row, trees)?;
                &self.directory
            } else {
                let space_tree = self.space_trees.get(&row.space);
                space_tree.ok_or_else(|| trees.missing_error(row.space))?
            };
            space_tree.apply(n, under, vec![copy_of(row)], 0);
        }
        Ok(())
    }

    /// Creates or drops a tree as a change of the directory requires.
    fn follow(&mut self, row: &Mutation, trees: &Trees) -> Result<(), Error> {
        match change_of(&row.key, row.value.as_deref())? {
            DirectoryChange::Created(number, space)
                if !self.space_trees.contains_key(&number) && !self.missing.contains(&number) =>
            {
                let space_tree = trees.open_or_make(number, Some(space))?;
                self.space_trees.insert(number, Arc::new(space_tree));
            }
            DirectoryChange::Next(next) => self.next = self.next.max(next),
            DirectoryChange::Created(..) | DirectoryChange::Dropped(_) => {}
        }
        Ok(())
    }
}

/// Copies a mutation, whose memory otherwise belongs to the whole group that was read.
fn copy_of(mutation: Mutation) -> Mutation {
    let copy = |bytes: Bytes| Bytes::copy_from_slice(&bytes);
    Mutation { key: copy(mutation.key), value: mutation.value.map(copy), ..mutation }
}

/// Returns the size of the keys and values of an entry.
fn bytes_of(entry: &Entry) -> u64 {
    let bytes = |of: &Mutation| of.key.len() + of.value.as_ref().map_or(0, Bytes::len);
    entry.mutations.iter().map(bytes).sum::<usize>() as u64
}

/// Returns the error for a worker that panicked.
fn panicked() -> Error {
    Error::new(Kind::Corrupt, "a tree could not be read: a startup thread failed")
}
