//! The disk of a journal: the file operations that it needs, as a trait, so that tests can use a
//! disk that fails, stops and loses unsynced writes; and the folder of the local file system that
//! implements them, locked for one process.

use std::{
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io::{self, IoSlice},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use rustix::{fs::FallocateFlags, io::Errno};

/// A folder that only one journal uses.
pub(crate) trait Disk: fmt::Debug + Send + Sync + 'static {
    /// Returns the names of the disk's files.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Creates an empty file, truncating an existing one.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Opens an existing file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Renames a file within the directory.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file from the directory.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Syncs the directory, which makes file names durable.
    fn sync_names(&self) -> io::Result<()>;

    /// Returns the free bytes on the disk's device, or 0 if they are unknown.
    fn free_bytes(&self) -> u64;
}

pub(crate) trait DiskFile: fmt::Debug + Send + Sync {
    /// Returns the file's length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Preallocates this many bytes if the device supports it; a full device then fails here,
    /// before anything is written.
    fn allocate(&self, bytes: u64) -> io::Result<()>;

    /// Fills the buffer, reading from offset `at`.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()>;

    /// Writes the pieces consecutively from offset `at`, in as few calls as possible.
    fn write_at(&self, pieces: &[&[u8]], at: u64) -> io::Result<()>;

    fn sync(&self) -> io::Result<()>;
}

/// Maximum number of slices per vectored write (`IOV_MAX`).
const PIECES_MAX: usize = 1024;
/// The file that is locked while a process uses the folder.
const LOCK: &str = "lock";

#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The open directory, for syncing file names.
    handle: File,
    /// The lock file, which is locked as long as the folder is open.
    lock: File,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Unlock explicitly: a child process being spawned still has the file open until it calls
        // exec, so closing alone would keep the lock. If unlocking fails, closing releases it.
        let _ = self.lock.unlock();
    }
}

impl Folder {
    /// Opens the folder, creating it if missing. Fails with `WouldBlock` if another process or
    /// journal has it locked.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if !path.try_exists()? {
            std::fs::create_dir_all(path)?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                File::open(parent)?.sync_all()?;
            }
        }
        let lock =
            File::options().write(true).create(true).truncate(false).open(path.join(LOCK))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                io::Error::new(io::ErrorKind::WouldBlock, "another process uses it")
            }
            TryLockError::Error(error) => error,
        })?;
        Ok(Self { path: path.to_owned(), handle: File::open(path)?, lock })
    }
}

impl Disk for Folder {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            // The journal's own names are UTF-8; skip all others.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        Ok(Box::new(options.open(self.path.join(name))?))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(OpenOptions::new().read(true).write(true).open(self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.handle.sync_all()
    }

    fn free_bytes(&self) -> u64 {
        let free = rustix::fs::fstatvfs(&self.handle);
        free.map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

impl DiskFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        match rustix::fs::fallocate(self, FallocateFlags::empty(), 0, bytes) {
            // Not supported: a full device is then found while the file is filled.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            other => Ok(other?),
        }
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.read_exact_at(buffer, at)
    }

    fn write_at(&self, pieces: &[&[u8]], mut at: u64) -> io::Result<()> {
        let mut slices: Vec<IoSlice<'_>> = pieces
            .iter()
            .filter(|piece| !piece.is_empty())
            .map(|piece| IoSlice::new(piece))
            .collect();
        let mut left = slices.as_mut_slice();
        while !left.is_empty() {
            let now = left.get(..left.len().min(PIECES_MAX)).unwrap_or_default();
            match rustix::io::pwritev(self, now, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    at += written as u64;
                    IoSlice::advance_slices(&mut left, written);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_pieces_are_written_one_behind_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Folder::open(folder.path()).unwrap();
        let file = disk.create("a").unwrap();
        let bytes: Vec<u8> = (0..10_000u32).map(|n| (n % 251) as u8).collect();
        let mut pieces: Vec<&[u8]> = bytes.chunks(3).collect();
        pieces.insert(7, &[]);
        assert!(2 * PIECES_MAX < pieces.len());
        file.write_at(&pieces, 5).unwrap();
        file.sync().unwrap();
        let mut read = vec![0; bytes.len()];
        disk.open("a").unwrap().read_at(&mut read, 5).unwrap();
        assert_eq!((read, file.length().unwrap()), (bytes, 10_005));
        disk.rename("a", "b").unwrap();
        disk.sync_names().unwrap();
        let mut names = disk.names().unwrap();
        names.sort();
        assert_eq!(names, ["b", LOCK]);
    }

    #[test]
    fn a_folder_is_used_once_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let first = Folder::open(&path).unwrap();
        assert_eq!(Folder::open(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(first);
        Folder::open(&path).unwrap();
    }

    #[test]
    fn a_child_that_is_about_to_start_does_not_keep_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = Folder::open(folder.path()).unwrap();
        // The descriptor a child process holds until it calls exec.
        let inherited = first.lock.try_clone().unwrap();
        drop(first);
        Folder::open(folder.path()).unwrap();
        drop(inherited);
    }
}
