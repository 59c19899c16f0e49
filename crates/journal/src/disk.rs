//! The few things that a journal asks of the files of its folder, so that tests can put a disk
//! below it that fails, stops and forgets.

use std::{fmt, io};

/// A folder that belongs to the journal alone.
pub(crate) trait Disk: fmt::Debug + Send + Sync + 'static {
    /// Names of the files in it.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Makes an empty file; one of this name is emptied.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Opens a file that is there.
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file another name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes names durable.
    fn sync_names(&self) -> io::Result<()>;

    /// Bytes that are free on its device; 0 where that is not known.
    fn free_bytes(&self) -> u64;
}

/// An open file.
pub(crate) trait DiskFile: fmt::Debug + Send + Sync {
    /// Its length, bytes.
    fn length(&self) -> io::Result<u64>;

    /// Takes room on the device for this many bytes, if the device can do that; a full one fails
    /// here, before anything is written.
    fn allocate(&self, bytes: u64) -> io::Result<()>;

    /// Fills a buffer from a place on.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()>;

    /// Writes pieces one behind the other from a place on, in as few calls as can be.
    fn write_at(&self, pieces: &[&[u8]], at: u64) -> io::Result<()>;

    /// Makes durable what was written.
    fn sync(&self) -> io::Result<()>;
}
