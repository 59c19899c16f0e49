//! The directory of temporary files and the limits of their number and size.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use crate::Error;

const MB: u64 = 1024 * 1024;
/// 1/`PART` of the device is kept free for stored data, but at least [`LEAST_FREE`] and at most
/// [`MOST_FREE`] bytes.
const PART: u64 = 20;
/// Minimum space kept free on small devices.
const LEAST_FREE: u64 = 64 * MB;
/// Maximum space kept free on large devices.
const MOST_FREE: u64 = 512 * MB;

/// Limits on all temporary files together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of files; each uses a descriptor.
    pub files: usize,
    /// Maximum total size in bytes.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 64, bytes: 16 * 1024 * MB }
    }
}

/// A directory for temporary files with its accounting. Clones share one area.
#[derive(Clone)]
pub struct Area(Arc<Inner>);

struct Inner {
    /// Directory in which the files are created; they have no names.
    folder: PathBuf,
    limits: Limits,
    /// Number of files open now.
    files: AtomicUsize,
    /// Total bytes of the files open now.
    bytes: AtomicU64,
}

impl fmt::Debug for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Area").field("folder", &self.0.folder).finish_non_exhaustive()
    }
}

impl Area {
    /// Creates an area in this existing directory.
    pub fn new(folder: PathBuf, limits: Limits) -> Self {
        Self(Arc::new(Inner {
            folder,
            limits,
            files: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
        }))
    }

    /// Counts a new file; fails if the maximum number of files is reached.
    pub(crate) fn take_file(&self) -> Result<(), Error> {
        let add = |files: usize| (files < self.0.limits.files).then_some(files + 1);
        self.0.files.fetch_update(Relaxed, Relaxed, add).map_err(|_| Error::Busy)?;
        Ok(())
    }

    /// Returns the directory of the files.
    pub(crate) fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// Returns the number of files open now.
    pub fn open_files(&self) -> usize {
        self.0.files.load(Relaxed)
    }

    /// Returns the total bytes of the files open now.
    pub fn used_bytes(&self) -> u64 {
        self.0.bytes.load(Relaxed)
    }

    /// Reserves space for `bytes`. The count is updated atomically, so that concurrent writers
    /// cannot both get the last bytes. If the device has too little free space, the reservation is
    /// undone and this fails.
    pub(crate) fn take_bytes(&self, bytes: u64) -> Result<(), Error> {
        let add = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.0.limits.bytes);
        self.0.bytes.fetch_update(Relaxed, Relaxed, add).map_err(|_| Error::Full)?;
        let spared = self
            .spare_bytes()
            .map_err(Error::from)
            .and_then(|spared| if bytes <= spared { Ok(()) } else { Err(Error::Full) });
        spared.inspect_err(|_| {
            self.0.bytes.fetch_sub(bytes, Relaxed);
        })
    }

    /// Subtracts a closed file of `bytes` from the number and size of open files.
    pub(crate) fn release_file(&self, bytes: u64) {
        self.0.bytes.fetch_sub(bytes, Relaxed);
        self.0.files.fetch_sub(1, Relaxed);
    }

    /// Returns the free space of the device beyond the reserve for stored data.
    fn spare_bytes(&self) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(&self.0.folder)?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let total = stat.f_blocks.saturating_mul(stat.f_frsize);
        Ok(free.saturating_sub((total / PART).clamp(LEAST_FREE, MOST_FREE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(limits: Limits) -> (tempfile::TempDir, Area) {
        let folder = tempfile::tempdir().unwrap();
        let area = Area::new(folder.path().to_owned(), limits);
        (folder, area)
    }

    #[test]
    fn there_are_so_many_files_and_no_more() {
        let (_folder, area) = area(Limits { files: 2, ..Limits::default() });
        let files = [area.create_file().unwrap(), area.create_file().unwrap()];
        assert!(matches!(area.create_file(), Err(Error::Busy)));
        drop(files);
        area.create_file().unwrap();
        assert_eq!(area.open_files(), 0);
    }

    #[test]
    fn all_files_together_take_so_much_and_no_more() {
        let (_folder, area) = area(Limits { bytes: 1000, ..Limits::default() });
        let (one, other) = (area.create_file().unwrap(), area.create_file().unwrap());
        one.take_space(600).unwrap();
        assert!(matches!(other.take_space(401), Err(Error::Full)));
        other.take_space(400).unwrap();
        assert_eq!(area.used_bytes(), 1000);
        drop(one);
        assert_eq!(area.used_bytes(), 400);
        other.take_space(600).unwrap();
    }

    #[test]
    fn what_the_device_does_not_have_is_not_promised() {
        let (_folder, area) = area(Limits { bytes: u64::MAX, ..Limits::default() });
        let file = area.create_file().unwrap();
        assert!(matches!(file.take_space(u64::MAX / 2), Err(Error::Full)));
        assert_eq!(area.used_bytes(), 0);
    }

    #[test]
    fn a_folder_that_has_gone_is_told() {
        let (folder, area) = area(Limits::default());
        drop(folder);
        assert!(matches!(area.create_file(), Err(Error::Device(_))));
        assert_eq!(area.open_files(), 0);
    }

    #[test]
    fn nothing_is_left_in_the_folder() {
        let (folder, area) = area(Limits::default());
        let file = area.create_file().unwrap();
        let mut writer = file.start_run();
        writer.append_record(b"a record").unwrap();
        writer.finish_run().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
