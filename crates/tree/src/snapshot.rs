//! Snapshots: reads at the number of a published batch. A snapshot holds neither memtables nor
//! files; each read holds the ones it uses, and its number keeps the versions that it sees.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::{
    entry::{Handle, Slot},
    error::{Error, Result},
    files::{Caching, Files, file_name},
    key_filter,
    memtable::MemtableCursor,
    merge::{Merge, Source},
    run_cursor::RunCursor,
    shared::{Shared, View},
    space::State,
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
        let slot = find(&state, files, key, self.view.number)?;
        let value = match slot {
            Some(slot) => value_of(files, &state.version, slot, Caching::Fill, &mut None)?,
            None => None,
        };
        self.check_open()?;
        Ok(value)
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
            match find(&state, files, &keys[at], self.view.number)? {
                Some(Slot::Inline(value)) => values[at] = Some(value),
                Some(Slot::Apart { handle, inline }) => apart.push((at, handle, inline)),
                Some(Slot::Removed) | None => {}
            }
        }
        apart.sort_unstable_by_key(|(_, handle, _)| (handle.body, handle.offset, handle.index));
        for (at, handle, inline) in apart {
            let slot = Slot::Apart { handle, inline };
            values[at] = value_of(files, &state.version, slot, Caching::Fill, &mut None)?;
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
        let merge = Merge::new(sources, forward)?;
        let snapshot = self.clone();
        Ok(Scan {
            snapshot,
            files,
            version,
            merge,
            forward,
            bound,
            caching,
            frame: None,
            failed: false,
        })
    }
}

/// Returns the newest version of a key with at most this number.
fn find(state: &State, files: &Files, key: &[u8], number: u64) -> Result<Option<Slot>> {
    for memtable in [&state.active].into_iter().chain(&state.sealed) {
        if let Some((_, slot)) = memtable.get(key, number) {
            return Ok(Some(slot));
        }
    }
    let hash = key_filter::hash_of(key);
    for list in state.version.sorted_lists() {
        let Some(table) = table_of(list, key) else { continue };
        if let Some((_, slot)) = table.get(files, key, hash, number)? {
            return Ok(Some(slot));
        }
    }
    Ok(None)
}

/// The frame of bodies that a scan has read last: file, offset and contents.
type LastFrame = Option<(u64, u64, Bytes)>;

/// Returns the whole value of a version; `None` if it is a deletion or its body file has ended.
fn value_of(
    files: &Files,
    version: &Version,
    slot: Slot,
    caching: Caching,
    last: &mut LastFrame,
) -> Result<Option<Bytes>> {
    let (handle, inline) = match slot {
        Slot::Removed => return Ok(None),
        Slot::Inline(value) => return Ok(Some(value)),
        Slot::Apart { handle, inline } => (handle, inline),
    };
    let Some(body) = body_of(files, version, handle, caching, last)? else { return Ok(None) };
    if inline.is_empty() {
        return Ok(Some(body));
    }
    let mut value = BytesMut::with_capacity(inline.len() + body.len());
    value.extend_from_slice(&inline);
    value.extend_from_slice(&body);
    Ok(Some(value.freeze()))
}

fn body_of(
    files: &Files,
    version: &Version,
    handle: Handle,
    caching: Caching,
    last: &mut LastFrame,
) -> Result<Option<Bytes>> {
    let Some(file) = version.bodies.get(&handle.body) else {
        if version.ended.contains_key(&handle.body) {
            return Ok(None);
        }
        return Err(Error::damaged(&file_name(handle.body), 0, "the body file is not listed"));
    };
    let (offset, len) = file.place_of(files, handle)?;
    let frame = match last {
        Some((id, at, frame)) if (*id, *at) == (file.meta.file, offset) => frame.clone(),
        _ => files.bodies(file.meta.file, offset, len, caching)?,
    };
    if caching == Caching::Bypass {
        *last = Some((file.meta.file, offset, frame.clone()));
    }
    file.body_in(&frame, offset, handle).map(Some)
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
    frame: LastFrame,
    failed: bool,
}

impl Scan {
    /// Returns the next key with the slot of the version that the snapshot sees.
    fn next_visible(&mut self) -> Result<Option<(Bytes, Slot)>> {
        let number = self.snapshot.view.number;
        loop {
            let Some(entry) = self.merge.next()? else { return Ok(None) };
            let outside = match &self.bound {
                Some(end) if self.forward => end.as_slice() <= entry.key.as_ref(),
                Some(start) => entry.key.as_ref() < start.as_slice(),
                None => false,
            };
            if outside {
                return Ok(None);
            }
            let key = entry.key.clone();
            // Forward the first visible version is the newest, backward the last one.
            let mut visible = (entry.number <= number).then_some(entry.slot);
            while self.merge.peek().is_some_and(|next| *next == key) {
                let Some(other) = self.merge.next()? else { break };
                if other.number <= number && (visible.is_none() || !self.forward) {
                    visible = Some(other.slot);
                }
            }
            match visible {
                Some(Slot::Removed) | None => {}
                Some(slot) => return Ok(Some((key, slot))),
            }
        }
    }

    fn next_row(&mut self) -> Result<Option<(Bytes, Bytes)>> {
        loop {
            let Some((key, slot)) = self.next_visible()? else { break };
            let (files, version) = (&self.files, &self.version);
            if let Some(value) = value_of(files, version, slot, self.caching, &mut self.frame)? {
                self.snapshot.check_open()?;
                return Ok(Some((key, value)));
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
