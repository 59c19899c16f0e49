//! A segment: a file of fixed size, filled with zeros once and then reused, because overwriting
//! existing blocks needs no transaction of the file system.

use std::io;

use crate::{
    disk::{Disk, DiskFile},
    segment_header::{COPY_BYTES, HeaderFault, SegmentHeader},
};

/// Suffix of segment file names; the prefix is the number.
const SUFFIX: &str = ".journal";
/// Suffix of a segment's file name while the file is being created.
const NEW_SUFFIX: &str = ".new";
/// Number of zero bytes that are written and synced at once.
const PIECE: u64 = 2 * 1024 * 1024;
/// Source of the zeros; small enough to stay in the processor's cache.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

#[derive(Debug)]
pub(crate) struct Segment {
    /// Number in the file name.
    pub(crate) number: u64,
    /// Size of the file in bytes.
    pub(crate) bytes: u64,
    pub(crate) file: Box<dyn DiskFile>,
}

/// The two copies of a header, each decoded or with the reason why it cannot be.
pub(crate) type HeaderCopies = [Result<SegmentHeader, HeaderFault>; 2];

impl Segment {
    /// Creates a spare segment of zeros; stops and fails once `goes_on` returns false. On failure
    /// the unfinished file is removed.
    pub(crate) fn make(
        disk: &dyn Disk,
        number: u64,
        bytes: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> io::Result<Self> {
        let new = format!("{number}{NEW_SUFFIX}");
        let made = Self::fill(disk, &new, number, bytes, goes_on);
        made.inspect_err(|_| {
            // Remove both names: which one the file has is unknown. A file left behind is removed
            // by the next start, or is a spare segment.
            let _ = disk.remove(&new);
            let _ = disk.remove(&segment_name(number));
        })
    }

    /// Fills the file of a new segment with zeros and renames it; only a complete, durable file
    /// gets a segment's name.
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
            // Zeros are written in pieces, since the sync of a commit waits for all writes that are
            // queued on the device.
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

    /// Returns the segment's file name.
    pub(crate) fn name(&self) -> String {
        segment_name(self.number)
    }

    /// Writes both header copies durably. One of them is valid at every moment.
    pub(crate) fn write_header(&self, header: &SegmentHeader) -> io::Result<()> {
        let copy = header.encode();
        self.file.write_at(&[&copy], 0)?;
        self.file.sync()?;
        self.file.write_at(&[&copy], copy.len() as u64)?;
        self.file.sync()
    }

    /// Reads both copies of the header. A copy that belongs to another segment counts as damaged.
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

    /// Writes zeros from `at` to `end`, without a sync.
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

fn segment_name(number: u64) -> String {
    format!("{number}{SUFFIX}")
}

/// Kind of a file in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// The segment with this number.
    Segment(u64),
    /// A segment whose creation did not finish, with its number.
    Unfinished(u64),
    /// Not a file of the journal.
    Other,
}

pub(crate) fn kind_of_file(name: &str) -> FileKind {
    let number = |stem: &str| {
        let number = stem.parse().ok()?;
        // Only the canonical form of a number, without leading zeros or a sign.
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
