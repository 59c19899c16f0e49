//! Reading a file from its beginning to its end, many small parts with few calls.

use std::io;

use crate::disk::DiskFile;

/// Bytes read at once.
const WINDOW: u64 = 1024 * 1024;

/// A file and the part of it that was read last.
pub(crate) struct Window<'a> {
    file: &'a dyn DiskFile,
    /// Nothing is read behind it, bytes.
    end: u64,
    held: Vec<u8>,
    from: u64,
}

impl<'a> Window<'a> {
    /// Nothing of the file is read yet, and nothing behind `end` will be.
    pub(crate) fn new(file: &'a dyn DiskFile, end: u64) -> Self {
        Self { file, end, held: Vec::new(), from: 0 }
    }

    /// Bytes that can be read from a place on.
    pub(crate) fn left_from(&self, at: u64) -> u64 {
        self.end.saturating_sub(at)
    }

    /// This many bytes from a place on; `None` when the file ends before.
    pub(crate) fn bytes_at(&mut self, at: u64, count: u64) -> io::Result<Option<&[u8]>> {
        if self.left_from(at) < count {
            return Ok(None);
        }
        if at < self.from || self.from + (self.held.len() as u64) < at + count {
            let len = count.max(WINDOW.min(self.left_from(at)));
            // What was read before is gone if the call fails.
            self.held.clear();
            self.held.resize(usize::try_from(len).map_err(io::Error::other)?, 0);
            self.from = at;
            let read = self.file.read_at(&mut self.held, at);
            read.inspect_err(|_| self.held.clear())?;
        }
        let start = usize::try_from(at - self.from).map_err(io::Error::other)?;
        let count = usize::try_from(count).map_err(io::Error::other)?;
        Ok(self.held.get(start..start + count))
    }
}
