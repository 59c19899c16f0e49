//! The disk of a tree: the file operations that it needs, as a trait, so that tests can use a disk
//! that fails, stops, and loses or tears unsynced writes; and the folder of the local file system
//! that implements them.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A folder that only one tree uses at a time.
pub trait Disk: fmt::Debug + Send + Sync + 'static {
    /// Returns the names of the files.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Creates an empty file, truncating an existing one.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens an existing file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Removes a file. Reads through open handles continue.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes the creation and removal of names durable.
    fn sync_names(&self) -> io::Result<()>;
}

/// An open file of a [`Disk`].
pub trait DiskFile: fmt::Debug + Send + Sync + 'static {
    /// Returns the length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Fills the buffer, reading from this offset; fails if the file is too short.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all bytes from this offset on.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Starts writing a part to the device without waiting for it, so that a later sync is short
    /// and delays other files less. Nothing is made durable.
    fn start_writing(&self, offset: u64, length: u64);

    /// Makes the contents and the length durable.
    fn sync(&self) -> io::Result<()>;
}

/// A folder of the local file system. The caller ensures that no other process uses it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The open directory, for syncing names.
    handle: File,
}

#[derive(Debug)]
struct LocalFile(File);

impl Folder {
    /// Opens a folder, creating it and its missing parents, durably.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !path.try_exists()? {
            std::fs::create_dir_all(path)?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                File::open(parent)?.sync_all()?;
            }
        }
        Ok(Self { path: path.to_owned(), handle: File::open(path)? })
    }
}

impl Disk for Folder {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        Ok(Arc::new(LocalFile(options.open(self.path.join(name))?)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).open(self.path.join(name))?;
        Ok(Arc::new(LocalFile(file)))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.handle.sync_all()
    }
}

impl DiskFile for LocalFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn start_writing(&self, offset: u64, length: u64) {
        #[cfg(target_os = "linux")]
        {
            // Linux starts writing dirty pages and drops clean ones; these are dirty. Errors are
            // ignored, since only the duration of a later sync depends on it.
            let (length, advice) =
                (std::num::NonZeroU64::new(length), rustix::fs::Advice::DontNeed);
            let _ = rustix::fs::fadvise(&self.0, offset, length, advice);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (offset, length);
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
