//! File operations that a journal needs in its folder, as a trait, so that tests can use a disk
//! that fails, stops and loses unsynced writes.

use std::{fmt, io};

/// A folder used by this journal only.
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
