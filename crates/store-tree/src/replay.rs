//! Replays the journal at startup: applies all entries from the tail on to a tree that may already
//! have some of them. Entries hold new values rather than differences, so applying one twice does
//! no harm. Nothing reads the tree before the replay has ended.
//!
//! The calling thread reads the entries and creates and drops spaces as they require; other threads
//! apply the rows, each to its own spaces.

use std::{
    collections::HashMap,
    sync::mpsc::{SyncSender, sync_channel},
};

use bytes::Bytes;
use journal::{Entry, Journal, Mutation};
use store::{Error, Kind, Space};
use tree::{Tree, Write};

use crate::{
    budget::Budget,
    directory::{DIRECTORY, DirectoryChange, DirectoryContents, change_of},
    errors::from_tree,
    hooks::StoreHooks,
    inner::Applied,
    tree_folder::layout_of,
};

/// Maximum number of threads that apply rows.
const MOST_WORKERS: usize = 4;
/// Bytes of entries read at once.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of runs (mutations of one entry for one space) that wait for a worker.
const QUEUE: usize = 256;

/// Mutations of an entry for one space.
struct ReplayedRun {
    batch: u64,
    mutations: Vec<Mutation>,
}

/// The spaces to which the replay applies entries.
pub(crate) struct Replayed<'a> {
    tree: &'a Tree,
    hooks: &'a StoreHooks,
    /// The difference between the number of a batch in the tree and that of its entry.
    offset: u64,
    /// Spaces by their numbers in the tree.
    pub(crate) spaces: HashMap<u64, Space>,
    /// The next unused number of a space.
    pub(crate) next: u64,
}

impl<'a> Replayed<'a> {
    /// Creates the spaces that the directory lists: after a start the tree has only those with
    /// tables.
    pub(crate) fn new(
        tree: &'a Tree,
        hooks: &'a StoreHooks,
        offset: u64,
        listed: &DirectoryContents,
    ) -> Result<Self, Error> {
        let spaces = HashMap::new();
        let mut replayed = Self { tree, hooks, offset, spaces, next: listed.next };
        let made = tree.create_space(DIRECTORY, tree::Layout::Ranges);
        made.map_err(|error| from_tree("create a space", &error))?;
        for (number, space) in &listed.spaces {
            replayed.make_space(*number, *space)?;
        }
        Ok(replayed)
    }

    fn make_space(&mut self, number: u64, space: Space) -> Result<(), Error> {
        let made = self.tree.create_space(number, layout_of(space));
        made.map_err(|error| from_tree("create a space", &error))?;
        self.hooks.record_space(number, space);
        self.spaces.insert(number, space);
        Ok(())
    }

    /// Applies all entries after this number, and drops all spaces that do not exist at the end;
    /// returns the last entry, if any.
    pub(crate) fn apply_journal(
        &mut self,
        journal: &dyn Journal,
        after: u64,
        budget: &Budget,
    ) -> Result<Option<Applied>, Error> {
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        let tree = self.tree;
        let applied = std::thread::scope(|scope| {
            let (mut queues, mut workers_of) = (Vec::new(), Vec::new());
            for _ in 0..workers.clamp(2, MOST_WORKERS) {
                let (queue, runs) = sync_channel::<ReplayedRun>(QUEUE);
                queues.push(queue);
                workers_of.push(scope.spawn(move || {
                    runs.into_iter().try_for_each(|run| apply_run(tree, budget, run))
                }));
            }
            let applied = self.read_all(journal, after, budget, &queues);
            drop(queues);
            // The error of a worker is the cause if the reader could not send.
            for worker in workers_of {
                worker.join().unwrap_or_else(|_| Err(panicked()))?;
            }
            applied
        })?;
        for number in tree.spaces() {
            if number != DIRECTORY && !self.spaces.contains_key(&number) {
                let dropped = tree.drop_space(number);
                let freed = dropped.map_err(|error| from_tree("drop a space", &error))?;
                budget.record_freed(freed);
                self.hooks.forget_space(number);
            }
        }
        Ok(applied)
    }

    /// Reads the journal to its end and distributes its entries to the threads that apply them.
    fn read_all(
        &mut self,
        journal: &dyn Journal,
        after: u64,
        budget: &Budget,
        queues: &[SyncSender<ReplayedRun>],
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
                self.distribute(entry, budget, queues)?;
            }
        }
    }

    /// Passes the mutations of one entry to the workers; each worker applies the rows of some
    /// spaces.
    fn distribute(
        &mut self,
        entry: Entry,
        budget: &Budget,
        queues: &[SyncSender<ReplayedRun>],
    ) -> Result<(), Error> {
        let batch = entry.n + self.offset;
        for dropped in entry.dropped {
            // Dropped in the tree when the workers have ended.
            self.spaces.remove(&dropped);
        }
        let mut rest = entry.mutations;
        while let Some(number) = rest.first().map(|first| first.space) {
            let length = rest.iter().take_while(|mutation| mutation.space == number).count();
            let behind = rest.split_off(length);
            let mutations = std::mem::replace(&mut rest, behind);
            let run = ReplayedRun { batch, mutations };
            if number == DIRECTORY {
                run.mutations.iter().try_for_each(|row| self.follow(row))?;
                apply_run(self.tree, budget, run)?;
                continue;
            }
            // The space does not exist if a later entry drops it; its rows are skipped.
            if !self.spaces.contains_key(&number) {
                continue;
            }
            let worker = usize::try_from(number).unwrap_or(0) % queues.len().max(1);
            if let Some(queue) = queues.get(worker) {
                queue.send(run).map_err(|_| panicked())?;
            }
        }
        Ok(())
    }

    /// Applies the rows of a piece of a base on the calling thread.
    pub(crate) fn put(&mut self, entry: Entry) -> Result<(), Error> {
        let directory = entry.mutations.iter().filter(|row| row.space == DIRECTORY);
        directory.clone().try_for_each(|row| self.follow(row))?;
        let writes = entry.mutations.into_iter().map(write_of).collect();
        let put = self.tree.apply(entry.n + self.offset, writes);
        put.map(|_| ()).map_err(|error| from_tree("apply a piece of a base", &error))
    }

    /// Creates a space as a change of the directory requires.
    fn follow(&mut self, row: &Mutation) -> Result<(), Error> {
        match change_of(&row.key, row.value.as_deref())? {
            DirectoryChange::Created(number, space) => self.make_space(number, space)?,
            DirectoryChange::Next(next) => self.next = self.next.max(next),
            DirectoryChange::Dropped(_) => {}
        }
        Ok(())
    }
}

/// Applies mutations of one space to the tree.
fn apply_run(tree: &Tree, budget: &Budget, run: ReplayedRun) -> Result<(), Error> {
    let writes = run.mutations.into_iter().map(write_of).collect();
    let grown = tree.replay(run.batch, writes);
    budget.record_memory(grown.map_err(|error| from_tree("replay the journal", &error))?);
    Ok(())
}

/// Copies a mutation, whose memory otherwise belongs to the whole group that was read.
fn write_of(mutation: Mutation) -> Write {
    let copy = |bytes: Bytes| Bytes::copy_from_slice(&bytes);
    Write { space: mutation.space, key: copy(mutation.key), value: mutation.value.map(copy) }
}

/// Returns the size of the keys and values of an entry.
fn bytes_of(entry: &Entry) -> u64 {
    let bytes = |of: &Mutation| of.key.len() + of.value.as_ref().map_or(0, Bytes::len);
    entry.mutations.iter().map(bytes).sum::<usize>() as u64
}

/// Returns the error for a worker that panicked.
fn panicked() -> Error {
    Error::new(Kind::Corrupt, "the journal could not be replayed: a startup thread failed")
}
