//! A segment: a file of a fixed size, filled with zeros once and then used again and again, since
//! only blocks that were written before are written without a transaction of the file system.

use std::io;

use crate::{
    disk::{Disk, DiskFile},
    segment_header::{COPY_BYTES, HeaderFault, SegmentHeader},
};

/// How names of segments end; in front of it is their number.
const SUFFIX: &str = ".journal";
/// How names of segments end while they are made.
const NEW_SUFFIX: &str = ".new";
/// Zeros written at once.
const PIECE: u64 = 2 * 1024 * 1024;
/// What they are written from, again and again: it stays in the processor's cache.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// A segment.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Of the file.
    pub(crate) number: u64,
    /// Of the file.
    pub(crate) bytes: u64,
    pub(crate) file: Box<dyn DiskFile>,
}

/// The two copies of a header, as far as they can be read.
pub(crate) type HeaderCopies = [Result<SegmentHeader, HeaderFault>; 2];

impl Segment {
    /// Makes a spare segment of zeros; gives up when `goes_on` says so. A file that could not be
    /// finished does not stay.
    pub(crate) fn make(
        disk: &dyn Disk,
        number: u64,
        bytes: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> io::Result<Self> {
        let new = format!("{number}{NEW_SUFFIX}");
        let made = Self::fill(disk, &new, number, bytes, goes_on);
        made.inspect_err(|_| {
            // Both names: which one it has is not known. The next start removes the first, and the
            // second is a spare segment.
            let _ = disk.remove(&new);
            let _ = disk.remove(&segment_name(number));
        })
    }

    /// The steps of making one: only a file that is whole and durable gets the name of a segment.
    fn fill(
        disk: &dyn Disk,
        new: &str,
        number: u64,
        bytes: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> io::Result<Self> {
        let file = disk.create(new)?;
        file.allocate(bytes)?;
        let segment = Self { number, bytes, file };
        let mut at = 0;
        while at < bytes {
            if !goes_on() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // Piece by piece: the sync of a commit waits for what else is on its way to the device.
            let end = bytes.min(at + PIECE);
            segment.write_zeros(at, end)?;
            segment.file.sync()?;
            at = end;
        }
        segment.write_header(&SegmentHeader::spare(number, bytes))?;
        disk.rename(new, &segment_name(number))?;
        disk.sync_names()?;
        Ok(segment)
    }

    /// Opens the segment with this number.
    pub(crate) fn open(disk: &dyn Disk, number: u64) -> io::Result<Self> {
        let file = disk.open(&segment_name(number))?;
        Ok(Self { number, bytes: file.length()?, file })
    }

    /// Its file's name.
    pub(crate) fn name(&self) -> String {
        segment_name(self.number)
    }

    /// Writes both copies of a header, durable. At each moment one of them is whole.
    pub(crate) fn write_header(&self, header: &SegmentHeader) -> io::Result<()> {
        let copy = header.encode();
        self.file.write_at(&[&copy], 0)?;
        self.file.sync()?;
        self.file.write_at(&[&copy], copy.len() as u64)?;
        self.file.sync()
    }

    /// Reads both copies. One that is of another segment counts as damaged.
    pub(crate) fn read_header(&self) -> io::Result<HeaderCopies> {
        let mut copies = [Err(HeaderFault::Damaged), Err(HeaderFault::Damaged)];
        for (index, copy) in copies.iter_mut().enumerate() {
            let at = (index * COPY_BYTES) as u64;
            if self.bytes < at + COPY_BYTES as u64 {
                break;
            }
            let mut bytes = vec![0; COPY_BYTES];
            self.file.read_at(&mut bytes, at)?;
            *copy = SegmentHeader::decode(&bytes).and_then(|header| {
                let own = header.number == self.number && header.bytes == self.bytes;
                if own { Ok(header) } else { Err(HeaderFault::Damaged) }
            });
        }
        Ok(copies)
    }

    /// Writes zeros from a place up to another, not durable yet.
    pub(crate) fn write_zeros(&self, mut at: u64, end: u64) -> io::Result<()> {
        while at < end {
            let piece = usize::try_from(PIECE.min(end - at)).unwrap_or(0);
            let mut zeros = vec![&ZEROS[..]; piece / ZEROS.len()];
            zeros.extend(ZEROS.get(..piece % ZEROS.len()));
            self.file.write_at(&zeros, at)?;
            at += piece as u64;
        }
        Ok(())
    }
}

/// The name of a segment's file.
fn segment_name(number: u64) -> String {
    format!("{number}{SUFFIX}")
}

/// What a file of the folder is to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// The segment with this number.
    Segment(u64),
    /// One that was not finished; its number.
    Unfinished(u64),
    /// None of ours.
    Other,
}

/// What the file with this name is.
pub(crate) fn kind_of_file(name: &str) -> FileKind {
    let number = |stem: &str| {
        let number = stem.parse().ok()?;
        // Only as we write it.
        (stem == format!("{number}")).then_some(number)
    };
    if let Some(number) = name.strip_suffix(SUFFIX).and_then(number) {
        return FileKind::Segment(number);
    }
    name.strip_suffix(NEW_SUFFIX).and_then(number).map_or(FileKind::Other, FileKind::Unfinished)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_file_is() {
        for (name, kind) in [
            ("7.journal", FileKind::Segment(7)),
            ("12.new", FileKind::Unfinished(12)),
            ("07.journal", FileKind::Other),
            ("+7.journal", FileKind::Other),
            (".journal", FileKind::Other),
            ("lock", FileKind::Other),
        ] {
            assert_eq!(kind_of_file(name), kind, "{name}");
        }
    }
}
