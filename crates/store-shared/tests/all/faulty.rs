//! A local copy of a node's journal on a disk that stalls or fails on demand.

use std::sync::Arc;

use journal::{
    AppendFailure, EncodedEntry, Entry, Journal, JournalExtent, JournalFolder, OpenJournal,
};
use parking_lot::{Condvar, Mutex};
use store::{Error, Kind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disk {
    Works,
    /// Writes block until the disk works again.
    Waits,
    /// Writes fail without effect, as on a full device.
    Full,
    /// Writes fail with unknown effect.
    Broken,
    Unsynced,
}

/// A journal on a disk that stalls or fails on demand. Clones share their state.
#[derive(Clone)]
pub(crate) struct FaultyFolder {
    folder: JournalFolder,
    disk: Arc<(Mutex<Disk>, Condvar)>,
}

impl FaultyFolder {
    pub(crate) fn new(folder: JournalFolder) -> Self {
        Self { folder, disk: Arc::new((Mutex::new(Disk::Works), Condvar::new())) }
    }

    pub(crate) fn set(&self, disk: Disk) {
        *self.disk.0.lock() = disk;
        self.disk.1.notify_all();
    }

    /// Stalls the disk until the returned guard is dropped, so that a failing test does not hang.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        self.set(Disk::Waits);
        Waiting(self)
    }
}

/// Guard of a stalled disk.
pub(crate) struct Waiting<'a>(&'a FaultyFolder);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.set(Disk::Works);
    }
}

impl OpenJournal for FaultyFolder {
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error> {
        // A failed journal is reopened only once its disk works.
        if *self.disk.0.lock() == Disk::Broken {
            return Err(Error::new(Kind::Unavailable, "fault on purpose"));
        }
        let journal = self.folder.open(known_durable, accept_loss)?;
        Ok(Arc::new(FaultyJournal { journal, disk: Arc::clone(&self.disk) }))
    }

    fn wipe(&self) -> Result<(), Error> {
        self.folder.wipe()
    }
}

struct FaultyJournal {
    journal: Arc<dyn Journal>,
    disk: Arc<(Mutex<Disk>, Condvar)>,
}

impl FaultyJournal {
    fn write(
        &self,
        write: impl FnOnce(&dyn Journal) -> Result<u64, AppendFailure>,
    ) -> Result<u64, AppendFailure> {
        let mut disk = self.disk.0.lock();
        self.disk.1.wait_while(&mut disk, |disk| *disk == Disk::Waits);
        let fault = |kind| Error::new(kind, "fault on purpose");
        match *disk {
            Disk::Full => Err(AppendFailure::Refused(fault(Kind::Full))),
            Disk::Broken => Err(AppendFailure::Unknown(fault(Kind::Unavailable))),
            Disk::Works | Disk::Waits | Disk::Unsynced => write(&*self.journal),
        }
    }
}

impl Journal for FaultyJournal {
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.write(|journal| journal.append(group))
    }

    fn append_unsynced(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.write(|journal| journal.append_unsynced(group))
    }

    fn sync(&self) -> Result<(), Error> {
        match *self.disk.0.lock() {
            Disk::Unsynced => Err(Error::new(Kind::Unavailable, "fault on purpose")),
            _ => self.journal.sync(),
        }
    }

    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error> {
        self.journal.read(after, limit_bytes)
    }

    fn truncate_before(&self, before: u64, floors: &[u8]) -> Result<(), Error> {
        self.journal.truncate_before(before, floors)
    }

    fn end(&self) -> u64 {
        self.journal.end()
    }

    fn floors(&self) -> Vec<u8> {
        self.journal.floors()
    }

    fn extent(&self) -> JournalExtent {
        self.journal.extent()
    }

    fn bytes_after(&self, after: u64) -> u64 {
        self.journal.bytes_after(after)
    }

    fn group_bytes_max(&self) -> usize {
        self.journal.group_bytes_max()
    }

    fn has_single_user(&self) -> bool {
        self.journal.has_single_user()
    }
}
