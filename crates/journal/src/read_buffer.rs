//! Sequential buffered reading of a file.

use std::io;

use crate::disk::DiskFile;

/// Number of bytes that are read from the segment at once.
const WINDOW: u64 = 1024 * 1024;

/// A buffer that holds the last read part of a file.
pub(crate) struct ReadBuffer<'a> {
    file: &'a dyn DiskFile,
    /// Offset at which reading stops.
    end: u64,
    held: Vec<u8>,
    from: u64,
}

impl<'a> ReadBuffer<'a> {
    /// Creates an empty buffer that reads up to offset `end`.
    pub(crate) fn new(file: &'a dyn DiskFile, end: u64) -> Self {
        Self { file, end, held: Vec::new(), from: 0 }
    }

    /// Returns the number of readable bytes from an offset on.
    pub(crate) fn left_from(&self, at: u64) -> u64 {
        self.end.saturating_sub(at)
    }

    /// Returns `count` bytes at an offset; `None` if the file ends before their end.
    pub(crate) fn bytes_at(&mut self, at: u64, count: u64) -> io::Result<Option<&[u8]>> {
        if self.left_from(at) < count {
            return Ok(None);
        }
        if at < self.from || self.from + (self.held.len() as u64) < at + count {
            let len = count.max(WINDOW.min(self.left_from(at)));
            // A failed call must not leave stale bytes in the buffer.
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
