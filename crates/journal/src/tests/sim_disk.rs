//! A simulated disk in memory. Writes are visible at once and durable after a sync. After a power
//! cut, any subset of unsynced sectors and any prefix of unsynced name changes survives. A failed
//! sync loses its data silently: it stays visible, but later syncs do not write it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use parking_lot::Mutex;

use crate::disk::{Disk, DiskFile};

pub(super) const SECTOR: usize = 512;

/// Contents of files by name.
pub(super) type Image = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug, Default)]
struct SimFile {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors that the next sync writes.
    dirty: BTreeSet<usize>,
}

/// A change of names that is not yet durable.
#[derive(Clone, Debug)]
enum NameChange {
    Put(String, usize),
    Remove(String),
}

type Names = BTreeMap<String, usize>;

#[derive(Clone, Debug, Default)]
struct State {
    files: Vec<SimFile>,
    names: Names,
    durable_names: Names,
    changes: Vec<NameChange>,
    /// Number of calls so far. `fails` is the number of the call that fails, and its error number.
    calls: u64,
    fails: Option<(u64, i32)>,
    /// Whether all calls after the failing one fail, too.
    stays: bool,
}

/// The disk. Clones share its state.
#[derive(Clone, Debug, Default)]
pub(super) struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct SimHandle(SimDisk, usize);

impl State {
    /// Counts a call; fails if this call was selected to fail.
    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        match self.fails {
            Some((at, error)) if at == self.calls || self.stays && at < self.calls => {
                Err(io::Error::from_raw_os_error(error))
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
        NameChange::Put(name, file) => {
            names.retain(|_, other| other != file);
            names.insert(name.clone(), *file);
        }
        NameChange::Remove(name) => drop(names.remove(name)),
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
        state
            .names
            .iter()
            .map(|(name, file)| (name.clone(), state.files[*file].live.clone()))
            .collect()
    }

    /// Returns the disk after a crash of the process: every write survives.
    pub(super) fn after_kill(&self) -> Self {
        let mut state = self.0.lock().clone();
        state.fails = None;
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns the disk after a power cut.
    pub(super) fn after_power_cut(&self, random: &mut fastrand::Rng) -> Self {
        let state = self.0.lock();
        let mut names = state.durable_names.clone();
        let kept = random.usize(..=state.changes.len());
        state.changes[..kept].iter().for_each(|change| apply(&mut names, change));
        let most = random.u32(..4);
        let mut image = Image::new();
        for (name, file) in names {
            let file = &state.files[file];
            let mut bytes = file.durable.clone();
            for sector in &file.dirty {
                if random.u32(..3) < most {
                    copy_sector(&file.live, &mut bytes, *sector);
                }
            }
            image.insert(name, bytes);
        }
        Self::of_image(&image)
    }

    /// Makes the nth call from now fail (1 is the next). With `stays` all later ones fail too.
    pub(super) fn fail_nth(&self, nth: u64, error: i32, stays: bool) {
        let mut state = self.0.lock();
        state.fails = Some((state.calls + nth, error));
        state.stays = stays;
    }

    /// Ends the injected failure; returns whether a call failed.
    pub(super) fn heal(&self) -> bool {
        let mut state = self.0.lock();
        let failed = state.fails.take().is_some_and(|(at, _)| at <= state.calls);
        state.stays = false;
        failed
    }
}

/// Copies a sector of one file to another, extending it as needed.
fn copy_sector(from: &[u8], to: &mut Vec<u8>, sector: usize) {
    let (start, end) = (sector * SECTOR, from.len().min((sector + 1) * SECTOR));
    if to.len() < end {
        to.resize(end, 0);
    }
    to[start..end].copy_from_slice(&from[start..end]);
}

impl Disk for SimDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut state = self.0.lock();
        state.call()?;
        Ok(state.names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.0.lock();
        state.call()?;
        let file = state.files.len();
        state.files.push(SimFile::default());
        state.change(NameChange::Put(name.to_owned(), file));
        Ok(Box::new(SimHandle(self.clone(), file)))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.0.lock();
        state.call()?;
        let file = state.file_of(name)?;
        Ok(Box::new(SimHandle(self.clone(), file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call()?;
        let file = state.file_of(from)?;
        state.change(NameChange::Put(to.to_owned(), file));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call()?;
        state.file_of(name)?;
        state.change(NameChange::Remove(name.to_owned()));
        Ok(())
    }

    fn free_bytes(&self) -> u64 {
        0
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call()?;
        state.durable_names = state.names.clone();
        state.changes.clear();
        Ok(())
    }
}

impl DiskFile for SimHandle {
    fn length(&self) -> io::Result<u64> {
        let mut state = self.0.0.lock();
        state.call()?;
        Ok(state.files[self.1].live.len() as u64)
    }

    fn allocate(&self, _bytes: u64) -> io::Result<()> {
        self.0.0.lock().call()
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let mut state = self.0.0.lock();
        state.call()?;
        let at = usize::try_from(at).unwrap();
        let held = state.files[self.1].live.get(at..at + buffer.len());
        buffer.copy_from_slice(held.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, pieces: &[&[u8]], at: u64) -> io::Result<()> {
        let mut state = self.0.0.lock();
        let called = state.call();
        let bytes = pieces.concat();
        // A failed write may have written a part.
        let len = if called.is_ok() { bytes.len() } else { bytes.len() / 2 };
        let at = usize::try_from(at).unwrap();
        let file = &mut state.files[self.1];
        if file.live.len() < at + len {
            file.live.resize(at + len, 0);
        }
        file.live[at..at + len].copy_from_slice(&bytes[..len]);
        if 0 < len {
            file.dirty.extend(at / SECTOR..=(at + len - 1) / SECTOR);
        }
        called
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.0.0.lock();
        let called = state.call();
        // If all later calls fail too, the machine is about to stop: nothing is lost silently.
        let stays = state.stays;
        let file = &mut state.files[self.1];
        if called.is_err() && stays {
            return called;
        }
        let dirty = std::mem::take(&mut file.dirty);
        if called.is_ok() {
            for sector in dirty {
                copy_sector(&file.live, &mut file.durable, sector);
            }
        }
        called
    }
}
