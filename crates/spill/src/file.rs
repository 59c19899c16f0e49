//! A temporary file into which several runs may be written concurrently, chunk by chunk. Chunks are
//! never overwritten or freed individually; the file is freed as a whole.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::{Error, area::Area};

/// A file without a name. Clones share it; the file is deleted when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct TempFile(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: File,
    /// The area that accounts for the file.
    area: Area,
    /// Offset of the next chunk.
    end: AtomicU64,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.area.release_file(*self.end.get_mut());
    }
}

impl Area {
    /// Creates an empty temporary file, which has no name on disk.
    pub fn create_file(&self) -> Result<TempFile, Error> {
        self.take_file()?;
        match tempfile::tempfile_in(self.folder()) {
            Ok(file) => Ok(TempFile::new(file, self.clone())),
            Err(error) => {
                self.release_file(0);
                Err(error.into())
            }
        }
    }
}

impl TempFile {
    fn new(file: File, area: Area) -> Self {
        Self(Arc::new(Inner { file, area, end: AtomicU64::new(0) }))
    }

    /// Reserves space at the end of the file; returns its offset.
    pub(crate) fn take_space(&self, bytes: u64) -> Result<u64, Error> {
        self.0.area.take_bytes(bytes)?;
        Ok(self.0.end.fetch_add(bytes, Relaxed))
    }

    /// Writes a chunk at its reserved offset.
    pub(crate) fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.file.write_all_at(bytes, at)
    }

    /// Reads a chunk; fails with `Damaged` if the file ends before it.
    pub(crate) fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.0.file.read_exact_at(bytes, at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Damaged,
            _ => Error::Device(error),
        })
    }
}
