//! The tree: spaces of keys, batches and snapshots.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;

use crate::{
    disk::Disk,
    error::{Error, Result},
    hooks::Hooks,
    options::{KEY_BYTES_MAX, Layout, Options, VALUE_BYTES_MAX},
    recovery,
    shared::{Shared, SpaceMap},
    snapshot::{Snapshot, newest_value},
    space::{Space, SpaceMemory},
    version::Version,
};

/// A change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Number of the space to change.
    pub space: u64,
    /// The key. The memtable keeps these very bytes, with the buffer that they are a part of.
    pub key: Bytes,
    /// The new value, kept likewise; `None` deletes the key.
    pub value: Option<Bytes>,
}

/// Spaces of keys in memtables, tables and body files, without a log of its own.
///
/// The owner keeps the log: after startup it applies its batches again from
/// [`first_unflushed`](Self::first_unflushed) of the last opening on, or from an earlier one, to the
/// end of its log, and then calls [`publish`](Self::publish). The tree has no threads; the owner
/// calls [`flush`](Self::flush), [`pick`](Self::pick), [`expire`](Self::expire) and
/// [`sweep`](Self::sweep). A clone refers to the same tree.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) shared: Arc<Shared>,
}

impl Tree {
    /// Opens the tree on a disk, creating it if the disk has no files. No table is read. Files that
    /// a crash has left are removed.
    pub fn open(disk: Arc<dyn Disk>, hooks: Arc<dyn Hooks>, options: Options) -> Result<Self> {
        recovery::open(disk, hooks, options).map(|shared| Self { shared: Arc::new(shared) })
    }

    /// Returns the numbers of the spaces that exist.
    pub fn spaces(&self) -> Vec<u64> {
        self.shared.all_spaces().keys().copied().collect()
    }

    /// Creates a space, or sets the layout of new tables if the space exists. This changes memory
    /// only: after startup a space without files does not exist. The number of a dropped space may
    /// not be used again.
    pub fn create_space(&self, number: u64, layout: Layout) -> Result<()> {
        let trash = &self.shared.files().trash;
        self.change_spaces(|spaces| {
            if let Some(space) = spaces.get(&number) {
                space.set_layout(layout);
                return Ok(None);
            }
            if self.shared.dropped.lock().iter().any(|space| space.number == number) {
                return Err(Error::Refused(format!("space {number} was dropped")));
            }
            let space = Space::new(number, layout, Version::default(), trash);
            spaces.insert(number, Arc::new(space));
            Ok(None)
        })
        .map(|_| ())
    }

    /// Drops a space. Reads of it find nothing from now on, also those of open snapshots. Its
    /// files are removed by a job. Returns the bytes of its memtables, which are released.
    pub fn drop_space(&self, number: u64) -> Result<u64> {
        self.change_spaces(|spaces| {
            spaces.remove(&number).map(Some).ok_or(Error::UnknownSpace(number))
        })
    }

    /// Drops all spaces but these. After a start, the owner so removes spaces that were dropped
    /// before their files were.
    pub fn retain_spaces(&self, numbers: &[u64]) -> Result<()> {
        for number in self.spaces() {
            if !numbers.contains(&number) {
                self.drop_space(number)?;
            }
        }
        Ok(())
    }

    /// Changes the set of spaces and publishes it. `change` returns the space that it removed.
    /// Returns the bytes of the memtables of that space.
    fn change_spaces(
        &self,
        change: impl FnOnce(&mut SpaceMap) -> Result<Option<Arc<Space>>>,
    ) -> Result<u64> {
        let _writer = self.shared.writer.lock();
        let mut spaces = SpaceMap::clone(&self.shared.all_spaces());
        let removed = change(&mut spaces)?;
        self.shared.spaces.store(Arc::new(spaces));
        let mut released = 0;
        if let Some(space) = removed {
            self.shared.dropped.lock().push(Arc::clone(&space));
            released = space.record_dropped(&self.shared.files().trash);
        }
        let number = self.shared.current.load().number;
        self.shared.publish(number);
        Ok(released)
    }

    /// Inserts the changes of a batch into the memtables, invisible until it is published. If a key
    /// occurs several times, its last change counts. Numbers of batches ascend and are above that
    /// of the last published one. Returns by how many bytes the memtables grew.
    ///
    /// A batch with an invalid change is refused before anything is inserted.
    pub fn apply(&self, number: u64, writes: Vec<Write>) -> Result<u64> {
        let _writer = self.shared.writer.lock();
        let published = self.shared.current.load().number;
        let applied = self.shared.applied.load(Ordering::SeqCst);
        if number <= published || number < applied {
            return Err(Error::Refused(format!("batch {number} was applied after {applied}")));
        }
        let spaces = self.shared.all_spaces();
        let writes = sort(&spaces, writes)?;
        self.shared.applied.store(number, Ordering::SeqCst);
        Ok(insert(&spaces, number, writes))
    }

    /// Inserts a part of a batch while the owner applies its log at a start. Several threads may
    /// call this at the same time, each for spaces of its own, and in ascending order of numbers for
    /// each space. Returns by how many bytes the memtables grew.
    ///
    /// The owner calls [`publish`](Self::publish) and [`first_unflushed`](Self::first_unflushed)
    /// only when all parts are inserted, so that the parts of a batch become visible together.
    pub fn replay(&self, number: u64, writes: Vec<Write>) -> Result<u64> {
        let published = self.shared.current.load().number;
        if number <= published {
            let text = format!("batch {number} was replayed after {published} was published");
            return Err(Error::Refused(text));
        }
        let spaces = self.shared.all_spaces();
        let writes = sort(&spaces, writes)?;
        for of_space in writes.chunk_by(|one, other| one.space == other.space) {
            let memory = spaces.get(&of_space[0].space).and_then(|space| space.memory());
            if let Some(last) = memory.map(|memory| memory.last).filter(|last| number < *last) {
                return Err(Error::Refused(format!("batch {number} was replayed after {last}")));
            }
        }
        self.shared.applied.fetch_max(number, Ordering::SeqCst);
        Ok(insert(&spaces, number, writes))
    }

    /// Makes all batches up to this number visible to new snapshots. Nothing happens if they are.
    /// The number is not below that of the last applied batch.
    pub fn publish(&self, number: u64) -> Result<()> {
        let _writer = self.shared.writer.lock();
        let applied = self.shared.applied.load(Ordering::SeqCst);
        if number < applied {
            let text = format!("batch {applied} is applied, {number} is not the last");
            return Err(Error::Refused(text));
        }
        if self.shared.current.load().number < number {
            self.shared.publish(number);
        }
        Ok(())
    }

    /// Returns the value of a key after all applied batches, whether or not they are published;
    /// `None` if the key or the space does not exist. Of a batch that is being applied it may see a
    /// part.
    pub fn newest(&self, space: u64, key: &[u8]) -> Result<Option<Bytes>> {
        let spaces = self.shared.spaces.load();
        let Some(space) = spaces.get(&space) else { return Ok(None) };
        newest_value(space, self.shared.files(), key)
    }

    /// Takes a snapshot of all published batches. This takes no lock.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.shared), self.shared.current.load_full())
    }

    /// Ends the snapshots up to this number, except those with the newest number: their reads fail,
    /// and versions are no longer kept for them.
    pub fn end_snapshots(&self, number: u64) {
        self.shared.pins.end(number);
    }

    /// Returns the numbers of the open snapshots that were not ended, in ascending order. The last
    /// one is the newest published number, which counts as open.
    pub fn snapshot_numbers(&self) -> Vec<u64> {
        self.shared.pins.numbers()
    }

    /// Returns what the memtables of each space contain, except for empty ones.
    pub fn memory(&self) -> Vec<SpaceMemory> {
        self.shared.all_spaces().values().filter_map(|space| space.memory()).collect()
    }

    /// Returns the greatest number of a batch in tables.
    pub fn greatest_number(&self) -> u64 {
        let spaces = self.shared.all_spaces();
        let greatest = |space: &Arc<Space>| {
            let version = Arc::clone(&space.load().version);
            version.tables().map(|table| table.meta.numbers.1).max()
        };
        spaces.values().filter_map(greatest).max().unwrap_or(0)
    }

    /// Returns the number of the first batch that is not completely in tables, of one space or of
    /// all; `None` if all batches applied before the call are. The owner's log may be cut before
    /// it, after the owner has recorded [`last_edit`](Self::last_edit).
    pub fn first_unflushed(&self, space: Option<u64>) -> Option<u64> {
        // No batch is applied in part while the lock is held.
        let _writer = self.shared.writer.lock();
        let spaces = self.shared.all_spaces();
        let wanted = spaces.values().filter(|of| space.is_none_or(|space| of.number == space));
        wanted.filter_map(|space| Some(space.memory()?.first)).min()
    }

    /// Returns the number of the last durable change of the list of files, for
    /// [`Options::last_edit`] of the next opening.
    pub fn last_edit(&self) -> u64 {
        self.shared.last_edit()
    }

    /// Frees memory that nothing refers to and removes files that are no longer listed; returns the
    /// number of files. A thread that may block calls this after flushes and jobs, and at intervals,
    /// because the last reader of a file may end at any time.
    pub fn sweep(&self) -> Result<usize> {
        self.shared.shorten_manifest()?;
        // A stopped tree does not know which files the disk lists.
        self.shared.check_working()?;
        self.shared.files().sweep()
    }

    /// Makes running jobs end early, without a result, and new ones end at once.
    pub fn stop_jobs(&self) {
        self.shared.closing.store(true, Ordering::SeqCst);
    }
}

/// Checks the changes of a batch and sorts them by space and key; of several changes of a key the
/// last remains.
fn sort(spaces: &SpaceMap, mut writes: Vec<Write>) -> Result<Vec<Write>> {
    for Write { space, key, value } in &writes {
        if !spaces.contains_key(space) {
            return Err(Error::UnknownSpace(*space));
        }
        if KEY_BYTES_MAX < key.len() {
            return Err(Error::Refused(format!("a key has more than {KEY_BYTES_MAX} bytes")));
        }
        if value.as_ref().is_some_and(|value| VALUE_BYTES_MAX < value.len()) {
            return Err(Error::Refused(format!("a value has more than {VALUE_BYTES_MAX} bytes")));
        }
    }
    if !writes.is_sorted_by(|one, other| (one.space, &one.key) < (other.space, &other.key)) {
        // Stable, so that the last change of a key is the last of its neighbours.
        writes.sort_by(|one, other| (one.space, &one.key).cmp(&(other.space, &other.key)));
        writes.reverse();
        writes.dedup_by(|next, kept| (next.space, &next.key) == (kept.space, &kept.key));
        writes.reverse();
    }
    Ok(writes)
}

/// Inserts sorted changes into the memtables of their spaces; returns by how many bytes these grew.
fn insert(spaces: &SpaceMap, number: u64, writes: Vec<Write>) -> u64 {
    let mut writes = writes.into_iter().peekable();
    let mut grown = 0;
    while let Some(first) = writes.peek().map(|write| write.space) {
        let Some(space) = spaces.get(&first) else { break };
        let of_space = std::iter::from_fn(|| writes.next_if(|write| write.space == first));
        grown += space.insert(number, of_space.map(|write| (write.key, write.value)));
    }
    grown
}
