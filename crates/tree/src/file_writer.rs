//! Writes a file from a given offset on, in large pieces.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{
    disk::DiskFile,
    error::{Error, Result},
    files::{Files, file_name},
    hooks::Hooks,
    options::Options,
};

/// Size of a write in bytes.
const PIECE_BYTES: usize = 1 << 20;

/// Shared state of all writers of files of a tree.
#[derive(Clone, Debug)]
pub(crate) struct FileMaker {
    pub(crate) files: Arc<Files>,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) options: Arc<Options>,
    /// Number of the next file.
    pub(crate) next_file: Arc<AtomicU64>,
}

impl FileMaker {
    /// Creates a file with a new number.
    pub(crate) fn create(&self) -> Result<FileWriter> {
        let id = self.next_file.fetch_add(1, Ordering::SeqCst);
        Ok(FileWriter::new(id, self.files.create(id)?, 0))
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct FileWriter {
    id: u64,
    file: Arc<dyn DiskFile>,
    buffer: Vec<u8>,
    /// Offset at which the buffer will be written.
    at: u64,
}

impl FileWriter {
    pub(crate) fn new(id: u64, file: Arc<dyn DiskFile>, at: u64) -> Self {
        Self { id, file, buffer: Vec::new(), at }
    }

    /// Returns the number of the file.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.at + self.buffer.len() as u64
    }

    /// Returns the buffer, to append to it. The caller then calls [`write`](Self::write).
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the buffer if it is full.
    pub(crate) fn write(&mut self) -> Result<()> {
        if self.buffer.len() < PIECE_BYTES { Ok(()) } else { self.write_all() }
    }

    fn write_all(&mut self) -> Result<()> {
        let written = self.file.write_at(&self.buffer, self.at);
        written.map_err(|error| Error::io("write", &file_name(self.id), error))?;
        // Otherwise the sync of a whole table keeps the disk busy for tens of milliseconds, in which
        // the owner's log waits.
        self.file.start_writing(self.at, self.buffer.len() as u64);
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the rest and makes the file durable. The name of a new file is not durable yet.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.write_all()?;
        self.file.sync().map_err(|error| Error::io("sync", &file_name(self.id), error))
    }
}
