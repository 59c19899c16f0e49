//! A file that reserves disk space for commits that free space: when other programs have filled the
//! device, the file is truncated and deletes can continue. It contains no data and is re-created at
//! a start.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use rustix::fs::FallocateFlags;

/// Name of the file in the store's directory.
const NAME: &str = "reserve";

#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    /// Bytes that the file occupies now; the lock also serializes changes of the file.
    held: Mutex<u64>,
}

impl Reserve {
    /// Creates a reserve in this directory that occupies no space yet.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join(NAME), held: Mutex::new(0) }
    }

    /// Returns the size of the reserve file in bytes.
    pub(crate) fn held_bytes(&self) -> u64 {
        *self.held.lock()
    }

    /// Makes the reserve file occupy this many bytes, if the device has them free.
    pub(crate) fn hold_bytes(&self, bytes: u64) -> io::Result<()> {
        let mut held = self.held.lock();
        if bytes <= *held {
            return Ok(());
        }
        let file = File::options().write(true).create(true).truncate(false).open(&self.path)?;
        // `fallocate` on a nearly full device takes all remaining space before it fails, so
        // concurrent writers would find it full. Space taken after this check only makes the call
        // fail.
        let device = rustix::fs::fstatvfs(&file)?;
        if device.f_bavail.saturating_mul(device.f_frsize) < bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        // Allocates blocks without writing them; a device that does not support this has no
        // reserve.
        let taken = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes);
        if taken.is_err() {
            // Blocks allocated before the failure would stay with the file.
            file.set_len(*held)?;
        }
        taken?;
        *held = bytes;
        Ok(())
    }

    /// Releases the space of the file, also of one that an earlier process has left; returns false if
    /// there was none.
    pub(crate) fn release_left(&self) -> bool {
        let mut held = self.held.lock();
        let left = self.path.metadata().is_ok_and(|file| 0 < file.len());
        let emptied = left && File::create(&self.path).is_ok();
        if emptied {
            *held = 0;
        }
        emptied
    }

    /// Releases the reserved space; returns false if there was none.
    pub(crate) fn release(&self) -> bool {
        let mut held = self.held.lock();
        let emptied = 0 < *held && File::create(&self.path).is_ok();
        if emptied {
            *held = 0;
        }
        emptied
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn it_takes_room_and_gives_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::new(folder.path());
        let blocks = || std::fs::metadata(folder.path().join(NAME)).unwrap().blocks() * 512;
        assert!(!reserve.release());
        reserve.hold_bytes(1 << 20).unwrap();
        assert_eq!((reserve.held_bytes(), blocks() >= 1 << 20), (1 << 20, true));
        // The file was left by an earlier start, or copied without its blocks.
        let next = Reserve::new(folder.path());
        assert!(next.release_left() && blocks() == 0);
        assert!(!next.release_left());
        next.hold_bytes(1 << 20).unwrap();
        assert!(next.release());
        assert_eq!((next.held_bytes(), blocks()), (0, 0));
        assert!(!next.release());
        next.hold_bytes(1 << 40).unwrap_err();
        assert_eq!((next.held_bytes(), blocks()), (0, 0), "a failure takes nothing");
    }
}
