//! A simulated disk in memory. Writes are visible at once and durable after a sync. After a power
//! cut, any subset of unsynced sectors and of unsynced name changes survives, in any order. A
//! failed sync loses its data silently: it stays visible, but later syncs do not write it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use parking_lot::Mutex;

use crate::disk::{Disk, DiskFile};

const SECTOR: usize = 64;

/// Contents of files by name.
pub(super) type Image = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug, Default)]
struct SimFile {
    live: Vec<u8>,
    durable: Vec<u8>,
    dirty: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Put(String, usize),
    Remove(String),
}

type Names = BTreeMap<String, usize>;

/// Number of calls by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    pub(super) all: u64,
    pub(super) opens: u64,
    pub(super) reads: u64,
    pub(super) syncs: u64,
    pub(super) written: u64,
}

#[derive(Clone, Debug, Default)]
struct State {
    files: Vec<SimFile>,
    names: Names,
    durable_names: Names,
    changes: Vec<NameChange>,
    calls: Calls,
    /// Number of the call that fails, and whether all later ones do.
    fails: Option<(u64, bool)>,
}

/// The disk. Clones share its state.
#[derive(Clone, Debug, Default)]
pub(super) struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct SimHandle(SimDisk, usize);

impl State {
    fn call(&mut self) -> io::Result<()> {
        self.calls.all += 1;
        match self.fails {
            Some((at, stays)) if at == self.calls.all || stays && at < self.calls.all => {
                Err(io::Error::other("simulated"))
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, change: NameChange) {
        apply(&mut self.names, &change);
        self.changes.push(change);
    }

    fn file_of(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn apply(names: &mut Names, change: &NameChange) {
    match change {
        NameChange::Put(name, file) => drop(names.insert(name.clone(), *file)),
        NameChange::Remove(name) => drop(names.remove(name)),
    }
}

fn write_sector(file: &mut SimFile, sector: usize) {
    let start = sector * SECTOR;
    let end = (start + SECTOR).min(file.live.len());
    if file.durable.len() < end {
        file.durable.resize(end, 0);
    }
    if start < end {
        file.durable[start..end].copy_from_slice(&file.live[start..end]);
    }
}

impl SimDisk {
    /// Creates a disk with these files, all durable.
    pub(super) fn of_image(image: &Image) -> Self {
        let mut state = State::default();
        for (name, bytes) in image {
            state.names.insert(name.clone(), state.files.len());
            let (live, durable) = (bytes.clone(), bytes.clone());
            state.files.push(SimFile { live, durable, dirty: BTreeSet::new() });
        }
        state.durable_names = state.names.clone();
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns the visible contents of the files.
    pub(super) fn image(&self) -> Image {
        let state = self.0.lock();
        let files = state.names.iter();
        files.map(|(name, file)| (name.clone(), state.files[*file].live.clone())).collect()
    }

    /// Makes the call after this number of further calls fail, or all from then on.
    pub(super) fn fail_after(&self, calls: u64, stays: bool) {
        let mut state = self.0.lock();
        state.fails = Some((state.calls.all + calls + 1, stays));
    }

    /// Ends the failures set by `fail_after`.
    pub(super) fn heal(&self) {
        self.0.lock().fails = None;
    }

    pub(super) fn calls(&self) -> Calls {
        self.0.lock().calls
    }

    /// Returns the disk after a power cut: each unsynced sector and name change survives with this
    /// probability.
    pub(super) fn after_power_cut(&self, random: &mut fastrand::Rng, survives: f64) -> Self {
        let mut state = self.0.lock().clone();
        state.fails = None;
        for change in std::mem::take(&mut state.changes) {
            if random.f64() < survives {
                apply(&mut state.durable_names, &change);
            }
        }
        for file in &mut state.files {
            for sector in std::mem::take(&mut file.dirty) {
                if random.f64() < survives {
                    write_sector(file, sector);
                }
            }
            file.live.clone_from(&file.durable);
        }
        state.names = state.durable_names.clone();
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns the disk after the death of the process: everything visible survives.
    pub(super) fn after_kill(&self) -> Self {
        let mut state = self.0.lock().clone();
        state.fails = None;
        Self(Arc::new(Mutex::new(state)))
    }
}

impl Disk for SimDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut state = self.0.lock();
        state.call()?;
        Ok(state.names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        state.call()?;
        let file = match state.file_of(name) {
            Ok(file) => file,
            Err(_) => {
                state.files.push(SimFile::default());
                let file = state.files.len() - 1;
                state.change(NameChange::Put(name.to_owned(), file));
                file
            }
        };
        state.files[file].live.clear();
        drop(state);
        Ok(Arc::new(SimHandle(self.clone(), file)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        state.call()?;
        state.calls.opens += 1;
        let file = state.file_of(name)?;
        drop(state);
        Ok(Arc::new(SimHandle(self.clone(), file)))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call()?;
        state.file_of(name)?;
        state.change(NameChange::Remove(name.to_owned()));
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.calls.syncs += 1;
        let called = state.call();
        let changes = std::mem::take(&mut state.changes);
        if called.is_ok() {
            for change in changes {
                apply(&mut state.durable_names, &change);
            }
        }
        called
    }
}

impl DiskFile for SimHandle {
    fn length(&self) -> io::Result<u64> {
        let mut state = self.0.0.lock();
        state.call()?;
        Ok(state.files[self.1].live.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.0.0.lock();
        state.call()?;
        state.calls.reads += 1;
        let live = &state.files[self.1].live;
        let start = (offset as usize).min(live.len());
        match live[start..].get(..buffer.len()) {
            Some(bytes) => buffer.copy_from_slice(bytes),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.0.0.lock();
        let called = state.call();
        // A failed write may have written a part.
        let len = if called.is_ok() { bytes.len() } else { bytes.len() / 2 };
        state.calls.written += len as u64;
        let file = &mut state.files[self.1];
        let start = offset as usize;
        if 0 < len {
            if file.live.len() < start + len {
                file.live.resize(start + len, 0);
            }
            file.live[start..start + len].copy_from_slice(&bytes[..len]);
            file.dirty.extend(start / SECTOR..=(start + len - 1) / SECTOR);
        }
        called
    }

    fn start_writing(&self, _: u64, _: u64) {}

    fn sync(&self) -> io::Result<()> {
        let mut state = self.0.0.lock();
        state.calls.syncs += 1;
        let called = state.call();
        let file = &mut state.files[self.1];
        let dirty = std::mem::take(&mut file.dirty);
        if called.is_ok() {
            let len = file.live.len();
            file.durable.truncate(len);
            for sector in dirty {
                write_sector(file, sector);
            }
        }
        called
    }
}
