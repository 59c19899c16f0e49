//! Snapshots: reads at the number of a published batch. A snapshot holds neither memtables nor
//! files; each read holds the ones it uses, and its number keeps the versions that it sees.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    entry::SlotRef,
    error::{Error, Result},
    files::{Caching, Files},
    key_filter,
    memtable::MemtableCursor,
    merge::{Merge, Source},
    run_cursor::RunCursor,
    shared::{Shared, View},
    space::{Space, State},
    value::{RecentFrames, value_of},
    version::{Version, table_of},
};

/// The state of the tree as of one batch.
#[derive(Clone, Debug)]
pub struct Snapshot {
    shared: Arc<Shared>,
    view: Arc<View>,
}

/// The order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// In ascending order of keys.
    Forward,
    /// In descending order of keys.
    Backward,
}

impl Snapshot {
    pub(crate) fn new(shared: Arc<Shared>, view: Arc<View>) -> Self {
        Self { shared, view }
    }

    /// Returns the number of the last batch that the snapshot sees.
    pub fn number(&self) -> u64 {
        self.view.number
    }

    /// Returns the state of a space for one read; `None` if the snapshot has no such space or it
    /// was dropped.
    fn state_of(&self, space: u64) -> Option<Arc<State>> {
        let space = self.view.spaces.get(&space)?;
        let state = space.load_full();
        // Checked after the load: a state loaded before the drop is complete.
        (!space.is_dropped()).then_some(state)
    }

    /// Fails if the snapshot was ended. Data read before is valid: versions that it sees are
    /// dropped by flushes and compactions that begin later.
    fn check_open(&self) -> Result<()> {
        if self.view.pin.is_ended() { Err(Error::SnapshotEnded) } else { Ok(()) }
    }

    /// Returns the value of a key. Data in memory is found without waiting for any other thread; the
    /// rest is read from the disk by this thread.
    pub fn get(&self, space: u64, key: &[u8]) -> Result<Option<Bytes>> {
        let Some(space) = self.view.spaces.get(&space) else { return Ok(None) };
        let state = space.load();
        if space.is_dropped() {
            return Ok(None);
        }
        let files = self.shared.files();
        let value = find(&state, files, key, self.view.number, |slot| {
            value_of(files, &state.version, slot, Caching::Fill, None)
        })?;
        self.check_open()?;
        Ok(value.flatten())
    }

    /// Returns the values of several keys, in their order. All keys are searched first; then the
    /// bodies are read in the order of their places.
    pub fn get_many(&self, space: u64, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let mut values = vec![None; keys.len()];
        let Some(state) = self.state_of(space) else { return Ok(values) };
        let files = self.shared.files();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by(|one, other| keys[*one].cmp(&keys[*other]));
        let mut apart = Vec::new();
        for at in order {
            let found = find(&state, files, &keys[at], self.view.number, |slot| match slot {
                SlotRef::Apart { handle, inline, .. } => {
                    Ok((None, Some((at, handle, Bytes::copy_from_slice(inline)))))
                }
                slot => {
                    let value = value_of(files, &state.version, slot, Caching::Fill, None)?;
                    Ok((value, None))
                }
            });
            let (value, body) = found?.unwrap_or_default();
            values[at] = value;
            apart.extend(body);
        }
        apart.sort_unstable_by_key(|(_, handle, _)| (handle.body, handle.offset, handle.index));
        for (at, handle, inline) in apart {
            let slot = SlotRef::Apart { handle, inline: &inline, buffer: &inline };
            values[at] = value_of(files, &state.version, slot, Caching::Fill, None)?;
        }
        self.check_open()?;
        Ok(values)
    }

    /// Scans the keys from `start` on and below `end`, if given. The scan holds the memtables and
    /// files of this moment until it is dropped, so a long scan should be divided.
    pub fn scan(
        &self,
        space: u64,
        start: &[u8],
        end: Option<&[u8]>,
        direction: Direction,
        caching: Caching,
    ) -> Result<Scan> {
        let forward = direction == Direction::Forward;
        let files = Arc::clone(self.shared.files());
        let empty = end.is_some_and(|end| end <= start);
        let state = self.state_of(space).filter(|_| !empty);
        let mut sources = Vec::new();
        if let Some(state) = &state {
            for memtable in [&state.active].into_iter().chain(&state.sealed) {
                let memtable = Arc::clone(memtable);
                sources.push(Source::Memtable(if forward {
                    MemtableCursor::forward(memtable, start)
                } else {
                    MemtableCursor::backward(memtable, end)
                }));
            }
            for list in state.version.sorted_lists() {
                sources.push(Source::Tables(if forward {
                    RunCursor::forward(&files, caching, list, start)?
                } else {
                    RunCursor::backward(&files, caching, list, end)?
                }));
            }
        }
        let bound = if forward { end.map(<[u8]>::to_vec) } else { Some(start.to_vec()) };
        let version = state.map(|state| Arc::clone(&state.version)).unwrap_or_default();
        let merge = Merge::new(sources, forward);
        let snapshot = self.clone();
        Ok(Scan {
            snapshot,
            files,
            version,
            merge,
            forward,
            bound,
            caching,
            recent: RecentFrames::default(),
            key: Vec::new(),
            failed: false,
        })
    }
}

/// Returns the newest value of a key in a space, whether or not it is published.
pub(crate) fn newest_value(space: &Space, files: &Files, key: &[u8]) -> Result<Option<Bytes>> {
    let state = space.load();
    let value = find(&state, files, key, u64::MAX, |slot| {
        value_of(files, &state.version, slot, Caching::Fill, None)
    })?;
    Ok(value.flatten().filter(|_| !space.is_dropped()))
}

/// Searches the newest version of a key with at most this number and reads its value with `read`.
fn find<T>(
    state: &State,
    files: &Files,
    key: &[u8],
    number: u64,
    read: impl Fn(SlotRef<'_>) -> Result<T>,
) -> Result<Option<T>> {
    for memtable in [&state.active].into_iter().chain(&state.sealed) {
        if let Some((_, slot)) = memtable.get(key, number) {
            return read(slot).map(Some);
        }
    }
    let hash = key_filter::hash_of(key);
    for list in state.version.sorted_lists() {
        let Some(table) = table_of(list, key) else { continue };
        let Some(at) = table.find(files, key, hash, number)? else { continue };
        let Some(block) = table.block(files, at, Caching::Fill)? else { continue };
        let found = block.block().and_then(|block| block.get(key, hash, number));
        let found = found.ok_or_else(|| table.malformed(at))?;
        if let Some((_, slot)) = found {
            return read(slot).map(Some);
        }
    }
    Ok(None)
}

/// Yields the keys and values of a range in order. After an error it ends.
#[derive(Debug)]
pub struct Scan {
    snapshot: Snapshot,
    files: Arc<Files>,
    version: Arc<Version>,
    merge: Merge,
    forward: bool,
    /// Exclusive end of a forward scan, or inclusive start of a backward scan.
    bound: Option<Vec<u8>>,
    caching: Caching,
    recent: RecentFrames,
    /// The key whose versions are read.
    key: Vec<u8>,
    failed: bool,
}

impl Scan {
    /// Reads the versions of the next key; leaves the key in `self.key`. Returns the value that the
    /// snapshot sees, or `None` at the end.
    fn next_key(&mut self) -> Result<Option<Option<Bytes>>> {
        let Some(key) = self.merge.key() else { return Ok(None) };
        let outside = match &self.bound {
            Some(end) if self.forward => end.as_slice() <= key,
            Some(start) => key < start.as_slice(),
            None => false,
        };
        if outside {
            return Ok(None);
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        let number = self.snapshot.view.number;
        // Forward the first visible version is the newest and read at once; backward it is the last.
        let (mut value, mut last) = (None, None);
        while self.merge.key() == Some(self.key.as_slice()) {
            if self.merge.number() <= number {
                if !self.forward {
                    last = Some(self.merge.slot()?.to_slot());
                } else if value.is_none() {
                    let (slot, recent) = (self.merge.slot()?, Some(&mut self.recent));
                    value = Some(value_of(&self.files, &self.version, slot, self.caching, recent)?);
                }
            }
            self.merge.advance()?;
        }
        if let Some(slot) = last {
            let (slot, recent) = (slot.as_ref(), Some(&mut self.recent));
            value = Some(value_of(&self.files, &self.version, slot, self.caching, recent)?);
        }
        Ok(Some(value.flatten()))
    }

    fn next_row(&mut self) -> Result<Option<(Bytes, Bytes)>> {
        while let Some(value) = self.next_key()? {
            if let Some(value) = value {
                self.snapshot.check_open()?;
                return Ok(Some((Bytes::copy_from_slice(&self.key), value)));
            }
        }
        // Rows that were dropped after the end must not be missed silently.
        self.snapshot.check_open().map(|()| None)
    }
}

impl Iterator for Scan {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_row();
        self.failed = next.is_err();
        next.transpose()
    }
}
