//! A file that takes room on the device for commits that give space back: when others have filled
//! the device, it is emptied, and deletes go on. It holds no data, and a start makes it again.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use rustix::fs::FallocateFlags;

/// Name of the file in the store's folder.
const NAME: &str = "reserve";

/// The file, with room in it or without.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    /// Bytes that it takes now. Whoever changes the file holds this.
    held: Mutex<u64>,
}

impl Reserve {
    /// The reserve of a store in this folder, which takes nothing yet.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join(NAME), held: Mutex::new(0) }
    }

    /// Bytes that it takes.
    pub(crate) fn held_bytes(&self) -> u64 {
        *self.held.lock()
    }

    /// Takes this many bytes, if the device has them.
    pub(crate) fn hold_bytes(&self, bytes: u64) -> io::Result<()> {
        let mut held = self.held.lock();
        if bytes <= *held {
            return Ok(());
        }
        let file = File::options().write(true).create(true).truncate(false).open(&self.path)?;
        // A device that has too little takes all there is before it says so: others, who write at this
        // moment, would find it full. What is taken between the look and the act only makes it fail.
        let device = rustix::fs::fstatvfs(&file)?;
        if device.f_bavail.saturating_mul(device.f_frsize) < bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        // Takes the blocks without writing them; a device that cannot do this has no reserve.
        let taken = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes);
        if taken.is_err() {
            // What it took until it failed would stay with the file.
            file.set_len(*held)?;
        }
        taken?;
        *held = bytes;
        Ok(())
    }

    /// Gives the bytes back to the device; false when it had none.
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
        // One that was there before, as at the next start, or in a copy without its blocks.
        let next = Reserve::new(folder.path());
        next.hold_bytes(1 << 20).unwrap();
        assert!(next.release());
        assert_eq!((next.held_bytes(), blocks()), (0, 0));
        assert!(!next.release());
        next.hold_bytes(1 << 40).unwrap_err();
        assert_eq!((next.held_bytes(), blocks()), (0, 0), "a failure takes nothing");
    }
}
