//! A run: records in the order in which they were written, in chunks of whole records. The
//! positions and checksums of chunks are kept in memory, so that nothing in the file must be
//! trusted.
//!
//! ```text
//! file   | chunk of run A | chunk of run B | chunk of run A | ...
//! chunk  | length record | length record | ... |        checked by CRC-32C as a whole
//! ```

use crate::{Error, file::TempFile};

/// Number of bytes that are buffered before they are written.
const CHUNK: usize = 64 * 1024;
/// Size of the length prefix of a record.
const LENGTH: usize = size_of::<u32>();

/// Position, size and checksum of a chunk.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// Offset of the chunk in the file.
    at: u64,
    bytes: usize,
    checksum: u32,
}

/// Writes a run of records.
#[derive(Debug)]
pub struct Writer {
    file: TempFile,
    /// Records that are not written yet.
    buffer: Vec<u8>,
    /// The chunks written so far.
    run: Run,
}

/// A run that has been written completely.
#[derive(Clone, Debug)]
pub struct Run {
    /// The file, possibly shared with other runs.
    file: TempFile,
    chunks: Vec<Chunk>,
    /// Size of the run's largest record, to which the reader's buffer has to grow.
    largest: usize,
}

/// Reads a run record by record.
#[derive(Debug)]
pub struct Reader {
    file: TempFile,
    /// Chunks that are not read yet.
    chunks: std::vec::IntoIter<Chunk>,
    buffer: Vec<u8>,
    /// Offset of the next record in `buffer`.
    at: usize,
}

impl TempFile {
    /// Starts a new run in this file.
    pub fn start_run(&self) -> Writer {
        Writer::new(self.clone())
    }
}

impl Writer {
    fn new(file: TempFile) -> Self {
        let run = Run { file: file.clone(), chunks: Vec::new(), largest: 0 };
        Self { file, buffer: Vec::new(), run }
    }

    /// Appends a record. A record larger than a chunk gets a chunk of its own.
    pub fn append_record(&mut self, record: &[u8]) -> Result<(), Error> {
        let length = u32::try_from(record.len()).map_err(|_| Error::Full)?;
        if CHUNK < self.buffer.len() + LENGTH + record.len() {
            self.write_chunk()?;
        }
        self.run.largest = self.run.largest.max(record.len());
        self.buffer.extend_from_slice(&length.to_le_bytes());
        self.buffer.extend_from_slice(record);
        Ok(())
    }

    /// Writes the remaining records and returns the run.
    pub fn finish_run(mut self) -> Result<Run, Error> {
        self.write_chunk()?;
        Ok(self.run)
    }

    /// Approximate memory of a writer in bytes, without the record that is being appended.
    pub const MEMORY: usize = CHUNK;

    /// Writes the buffer as a chunk.
    fn write_chunk(&mut self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let at = self.file.take_space(self.buffer.len() as u64)?;
        self.file.write_at(&self.buffer, at)?;
        let checksum = crc32c::crc32c(&self.buffer);
        self.run.chunks.push(Chunk { at, bytes: self.buffer.len(), checksum });
        self.buffer.clear();
        // A buffer enlarged for a large record is not kept.
        self.buffer.shrink_to(CHUNK);
        Ok(())
    }
}

impl Run {
    /// Returns a reader at the start of the run.
    pub fn into_reader(self) -> Reader {
        let chunks = self.chunks.into_iter();
        Reader { file: self.file, chunks, buffer: Vec::new(), at: 0 }
    }

    /// Returns the size of the largest record.
    pub fn largest_record(&self) -> usize {
        self.largest
    }

    /// Returns the memory of a reader in bytes: one chunk and the list of chunks.
    pub fn reader_memory(&self) -> usize {
        CHUNK.max(self.largest + LENGTH) + self.chunks.len() * size_of::<Chunk>()
    }
}

impl Reader {
    /// Returns the next record; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.at == self.buffer.len() && !self.load_chunk()? {
            return Ok(None);
        }
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let (length, rest) = rest.split_first_chunk().ok_or(Error::Damaged)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Error::Damaged)?;
        let record = rest.get(..length).ok_or(Error::Damaged)?;
        self.at += LENGTH + length;
        Ok(Some(record))
    }

    /// Reads and verifies the next chunk; false after the last one.
    fn load_chunk(&mut self) -> Result<bool, Error> {
        let Some(chunk) = self.chunks.next() else {
            self.buffer = Vec::new();
            self.at = 0;
            return Ok(false);
        };
        self.at = 0;
        self.buffer.clear();
        self.buffer.shrink_to(CHUNK);
        self.buffer.resize(chunk.bytes, 0);
        self.file.read_at(&mut self.buffer, chunk.at)?;
        if crc32c::crc32c(&self.buffer) != chunk.checksum {
            return Err(Error::Damaged);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::{Area, Limits};

    fn all(mut reader: Reader) -> Result<Vec<Vec<u8>>, Error> {
        let mut records = Vec::new();
        while let Some(record) = reader.next_record()? {
            records.push(record.to_vec());
        }
        Ok(records)
    }

    fn records(count: usize, seed: usize) -> Vec<Vec<u8>> {
        let length = |at: usize| match at % 97 {
            0 => 200_000,
            1 => 0,
            2 => CHUNK - LENGTH,
            other => other * 7 % 300,
        };
        (0..count).map(|at| vec![(at + seed) as u8; length(at)]).collect()
    }

    #[test]
    fn runs_that_are_written_at_once_are_read_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let area = Area::new(folder.path().to_owned(), Limits::default());
        let file = area.create_file().unwrap();
        let expected: Vec<_> = (0..5).map(|seed| records(300 + seed, seed)).collect();
        let mut writers: Vec<_> = expected.iter().map(|_| file.start_run()).collect();
        for at in 0..310 {
            for (writer, records) in writers.iter_mut().zip(&expected) {
                records
                    .get(at)
                    .into_iter()
                    .for_each(|record| writer.append_record(record).unwrap());
            }
        }
        for (writer, records) in writers.into_iter().zip(expected) {
            let run = writer.finish_run().unwrap();
            assert_eq!(run.largest_record(), 200_000);
            assert_eq!(all(run.into_reader()).unwrap(), records);
        }
        assert!(area.used_bytes() > 0);
        drop(file);
        assert_eq!((area.used_bytes(), area.open_files()), (0, 0));
    }

    #[test]
    fn an_empty_run_has_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let file = Area::new(folder.path().to_owned(), Limits::default()).create_file().unwrap();
        assert!(all(file.start_run().finish_run().unwrap().into_reader()).unwrap().is_empty());
    }

    #[test]
    fn a_changed_byte_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = Area::new(folder.path().to_owned(), Limits::default()).create_file().unwrap();
        let mut writer = file.start_run();
        records(200, 0).iter().for_each(|record| writer.append_record(record).unwrap());
        let run = writer.finish_run().unwrap();
        let end = run.chunks.last().map(|chunk| chunk.at + chunk.bytes as u64).unwrap();
        for at in (0..end).step_by(9973) {
            let mut byte = [0];
            file.read_at(&mut byte, at).unwrap();
            file.write_at(&[byte[0] ^ 4], at).unwrap();
            assert!(matches!(all(run.clone().into_reader()), Err(Error::Damaged)), "{at}");
            file.write_at(&byte, at).unwrap();
        }
        assert_eq!(all(run.into_reader()).unwrap().len(), 200);
    }
}
