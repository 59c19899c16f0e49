//! The tree's journals, read from beside it. The tree takes whatever it cannot read for a torn end
//! and drops it with all that follows; here a torn end, which a crash leaves, is told from damage
//! to commits that were durable. It writes nothing but the cut after a failed write.
//!
//! A batch is `1, items u32, seqno u64`, its items, `3, xxh3 of the items u64, "FJL" 3` (fjall 3.1,
//! little-endian); an item is `2, kind u8, compression u8, keyspace u64, length of the key u16, of
//! the value u32, of the value as stored u32, key, value` or `4, keyspace u64`.
//!
//! ```text
//!  good  good  good  ?????              nothing after it can be read: a torn end
//!  good  good  ????? good good          and the later batch says that it was durable: damage
//!  good  good  ?00000? good             a sector that was never written: the machine stopped there
//! ```

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use rustix::fs::SeekFrom;
use store::{Error, Kind};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    errors::from_io,
    meta::{self, WrittenAfter},
};

/// At the end of each batch.
const MAGIC: &[u8] = b"FJL\x03";
/// Tags of the parts of a batch: its beginning,
const START: u8 = 1;
/// a value or a deletion,
const ITEM: u8 = 2;
/// its end,
const END: u8 = 3;
/// and a keyspace that is emptied.
const CLEAR: u8 = 4;
/// Lengths of these parts: the tag, the number of items and the sequence number,
const START_BYTES: usize = 1 + 4 + 8;
/// what stands before an item's key and value,
const ITEM_BYTES: usize = 1 + 1 + 1 + 8 + 2 + 4 + 4;
/// a tag and a keyspace,
const CLEAR_BYTES: u64 = 1 + 8;
/// and a tag, a checksum and the magic.
const END_BYTES: usize = 1 + 8 + MAGIC.len();
/// More items than any batch has.
const MOST_ITEMS: u32 = 1 << 26;
/// Sequence numbers that the tree counts on its own between two batches, at most.
const MOST_APART: u64 = 1 << 20;
/// Bytes read at once.
const WINDOW: usize = 256 * 1024;
/// What a device writes as a whole.
const SECTOR: u64 = 512;
/// This many zeros in front of the end of a sector are one that was never written.
const ZEROS: u64 = 64;

/// Journals by number.
fn journal_files(tree: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(tree)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let (Some(number), Some("jnl")) = (number, path.extension().and_then(|e| e.to_str())) {
            found.push((number, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Refuses journals in which commits that were durable cannot be read any more; where a loss is
/// accepted the damage is cut off, with what is after it.
pub(crate) fn check_journals(tree: &Path, accept_loss: bool) -> Result<(), Error> {
    let context = |error: io::Error| from_io("read the journal", &error);
    let files = journal_files(tree).map_err(context)?;
    let mut last = LastBatch::default();
    for (at, (number, path)) in files.iter().enumerate() {
        let newest = at + 1 == files.len();
        let mut journal = open_journal(path).map_err(context)?;
        if let Some(at) = journal.find_damage(newest, &mut last).map_err(context)? {
            if accept_loss {
                journal.cut_at(at).map_err(context)?;
                continue;
            }
            let text = format!("the journal {number}.jnl is damaged at byte {at}");
            return Err(Error::new(Kind::Corrupt, text));
        }
    }
    Ok(())
}

/// Cuts off what a write that failed has left behind the batch with this number: nobody may find
/// later what was answered as failed.
pub(crate) fn cut_behind(tree: &Path, number: u64) -> io::Result<()> {
    let Some((_, path)) = journal_files(tree)?.pop() else { return Ok(()) };
    let mut journal = open_journal(&path)?;
    let mut at = 0;
    while let ParsedBatch::Whole(batch) = journal.parse_batch(at)?
        && batch.number.is_none_or(|of| of <= number)
    {
        at = batch.end;
    }
    journal.cut_at(at)
}

/// A journal that may be cut.
fn open_journal(path: &Path) -> io::Result<JournalFile> {
    JournalFile::of_file(OpenOptions::new().read(true).write(true).open(path)?)
}

/// A batch that can be read whole.
#[derive(Debug, PartialEq)]
struct JournalBatch {
    end: u64,
    /// The tree's sequence number, which its checksum does not cover.
    sequence: u64,
    /// Its number, where it has one.
    number: Option<u64>,
    around: WrittenAfter,
}

/// Numbers of the last batch that was read.
#[derive(Default)]
struct LastBatch {
    number: u64,
    sequence: Option<u64>,
}

impl LastBatch {
    /// Goes on to the next batch; `false` when its sequence number cannot be right.
    fn is_followed_by(&mut self, batch: &JournalBatch) -> bool {
        let (before, noted) = (self.sequence.replace(batch.sequence), batch.around.sequence);
        self.number = batch.number.unwrap_or(self.number);
        let near = |from: u64| batch.sequence.checked_sub(from).is_some_and(|by| by < MOST_APART);
        before.is_none_or(|before| near(before + 1)) && (noted == 0 || near(noted))
    }
}

/// What begins at a place.
#[derive(Debug, PartialEq)]
enum ParsedBatch {
    Whole(JournalBatch),
    /// All of it but the mark at its end.
    WithoutMark,
    Broken,
}

/// One file of the journal, and the part of it that was read last.
struct JournalFile {
    /// Open for reading and for the cut.
    file: File,
    /// Of the whole file, holes included.
    len: u64,
    window: Vec<u8>,
    from: u64,
}

impl JournalFile {
    /// Nothing of it is read yet.
    fn of_file(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file, len, window: Vec::new(), from: 0 })
    }

    /// Drops what is after a place.
    fn cut_at(&self, at: u64) -> io::Result<()> {
        self.file.set_len(at)?;
        self.file.sync_all()
    }

    /// This many bytes from a place on, a window at most; `None` after the end.
    fn bytes_at(&mut self, at: u64, count: usize) -> io::Result<Option<&[u8]>> {
        let end = at.saturating_add(count as u64);
        if self.len < end {
            return Ok(None);
        }
        if at < self.from || self.from + (self.window.len() as u64) < end {
            let len = usize::try_from(self.len - at).unwrap_or(WINDOW).min(WINDOW);
            self.window.resize(len, 0);
            self.file.read_exact_at(&mut self.window, at)?;
            self.from = at;
        }
        let start = usize::try_from(at - self.from).unwrap_or(usize::MAX);
        Ok(self.window.get(start..start.saturating_add(count)))
    }

    /// Adds bytes to a checksum; `false` when there are not this many.
    fn hash_range(&mut self, mut at: u64, mut count: u64, hash: &mut Xxh3) -> io::Result<bool> {
        while 0 < count {
            let piece = usize::try_from(count).unwrap_or(WINDOW).min(WINDOW);
            let Some(bytes) = self.bytes_at(at, piece)? else { return Ok(false) };
            hash.update(bytes);
            at += piece as u64;
            count -= piece as u64;
        }
        Ok(true)
    }

    /// The batch that begins at a place.
    fn parse_batch(&mut self, start: u64) -> io::Result<ParsedBatch> {
        let Some(head) = self.bytes_at(start, START_BYTES)? else { return Ok(ParsedBatch::Broken) };
        if head.first() != Some(&START) {
            return Ok(ParsedBatch::Broken);
        }
        let items = u32::from_le_bytes(fixed_bytes(head, 1));
        let sequence = u64::from_le_bytes(fixed_bytes(head, 5));
        let mut at = start + START_BYTES as u64;
        let mut hash = Xxh3::new();
        let mut note = None;
        for _ in 0..items {
            // Items are not decoded: their lengths lead to the next one, the checksum tells the
            // rest.
            let Some(item) = self.parse_item(at)? else { return Ok(ParsedBatch::Broken) };
            if !self.hash_range(at, item.len, &mut hash)? {
                return Ok(ParsedBatch::Broken);
            }
            // The last one wins, as in the tree.
            note = self.parse_note(at, &item)?.or(note);
            at += item.len;
        }
        let Some(end) = self.bytes_at(at, END_BYTES)? else { return Ok(ParsedBatch::Broken) };
        if end.first() != Some(&END) || u64::from_le_bytes(fixed_bytes(end, 1)) != hash.digest() {
            return Ok(ParsedBatch::Broken);
        }
        if !end.ends_with(MAGIC) {
            return Ok(ParsedBatch::WithoutMark);
        }
        let end = at + END_BYTES as u64;
        let (number, around) = note.unzip();
        let around = around.unwrap_or_default();
        Ok(ParsedBatch::Whole(JournalBatch { end, sequence, number, around }))
    }

    /// The lengths of the item at a place; `None` where none begins.
    fn parse_item(&mut self, at: u64) -> io::Result<Option<JournalItem>> {
        match self.bytes_at(at, 1)? {
            Some([CLEAR]) => return Ok(Some(JournalItem { key: 0, value: 0, len: CLEAR_BYTES })),
            Some([ITEM]) => {}
            _ => return Ok(None),
        }
        let Some(head) = self.bytes_at(at, ITEM_BYTES)? else { return Ok(None) };
        let (kind, compression) = (fixed_bytes::<1>(head, 1), fixed_bytes::<1>(head, 2));
        if !matches!((kind, compression), ([0..=2 | 4], [0 | 1])) {
            return Ok(None);
        }
        let key = u64::from(u16::from_le_bytes(fixed_bytes(head, 11)));
        let value = u64::from(u32::from_le_bytes(fixed_bytes(head, 17)));
        Ok(Some(JournalItem { key, value, len: ITEM_BYTES as u64 + key + value }))
    }

    /// What a batch notes about itself, when this item is that.
    fn parse_note(
        &mut self,
        at: u64,
        item: &JournalItem,
    ) -> io::Result<Option<(u64, WrittenAfter)>> {
        if item.key != meta::LAST.len() as u64 || meta::MOST_BYTES < item.value {
            return Ok(None);
        }
        let len = usize::try_from(item.len).unwrap_or(0);
        let bytes = self.bytes_at(at, len)?.unwrap_or_default();
        let noted = bytes.get(ITEM_BYTES..).and_then(|rest| rest.strip_prefix(meta::LAST));
        Ok(noted.map(|value| {
            (u64::from_be_bytes(fixed_bytes(value, 0)), WrittenAfter::from_note(value))
        }))
    }

    /// Where the file is damaged, if it is; `last` is of the last batch so far.
    fn find_damage(&mut self, newest: bool, last: &mut LastBatch) -> io::Result<Option<u64>> {
        let mut at = 0;
        let whole = loop {
            match self.parse_batch(at)? {
                ParsedBatch::Whole(batch) if last.is_followed_by(&batch) => at = batch.end,
                ParsedBatch::Whole(_) => return Ok(Some(at)),
                ParsedBatch::WithoutMark => break true,
                ParsedBatch::Broken => break false,
            }
        };
        // The tree makes files in advance, full of zeros: these are the end, and no damage.
        let end = self.data_end(at)?;
        if end <= at {
            return Ok(None);
        }
        // Older files were synced before the next one began, so all of them must be readable.
        let damaged = whole
            || !newest
            || match self.next_batch(at + 1, end)? {
                // Whoever wrote it knew that the batch after the last good one was durable.
                Some((_, next)) if last.number < next.around.durable => true,
                Some((next, _)) => !self.has_hole(at, next)?,
                None => self.ends_with_mark(end)? && !self.has_hole(at, end)?,
            };
        Ok(damaged.then_some(at))
    }

    /// Behind the last byte that is not zero, of those from a place on. Most of a file is a hole
    /// that was never written, and is passed over.
    fn data_end(&mut self, from: u64) -> io::Result<u64> {
        let zeros = vec![0; WINDOW];
        let (mut end, mut at) = (from, from);
        while at < self.len {
            at = match rustix::fs::seek(&self.file, SeekFrom::Data(at)) {
                Ok(data) => data,
                // Only a hole follows.
                Err(rustix::io::Errno::NXIO) => break,
                Err(error) => return Err(error.into()),
            };
            let hole = rustix::fs::seek(&self.file, SeekFrom::Hole(at))?.min(self.len);
            while at < hole {
                let len = usize::try_from(hole - at).unwrap_or(WINDOW).min(WINDOW);
                let bytes = self.bytes_at(at, len)?.unwrap_or_default();
                // Compared as a whole first, since nearly all of them are zeros.
                if zeros.get(..len) != Some(bytes) {
                    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0);
                    end = at + last as u64 + 1;
                }
                at += len as u64;
            }
        }
        Ok(end)
    }

    /// Whether the data end as a batch ends.
    fn ends_with_mark(&mut self, end: u64) -> io::Result<bool> {
        let at = end.saturating_sub(MAGIC.len() as u64);
        Ok(self.bytes_at(at, MAGIC.len())? == Some(MAGIC))
    }

    /// The first batch that can be read and begins in a range, and its place.
    fn next_batch(&mut self, mut at: u64, end: u64) -> io::Result<Option<(u64, JournalBatch)>> {
        // What begins like a batch: its head, and the tag, kind and compression of an item.
        let looks = |bytes: &[u8]| {
            bytes.first() == Some(&START)
                && u32::from_le_bytes(fixed_bytes(bytes, 1)) < MOST_ITEMS
                && matches!(
                    fixed_bytes::<3>(bytes, START_BYTES),
                    [ITEM, 0..=2 | 4, 0 | 1] | [CLEAR, ..]
                )
        };
        let most = START_BYTES + 3;
        while at + (most as u64) <= end {
            let len = usize::try_from(end - at).unwrap_or(WINDOW).min(WINDOW / 2);
            let bytes = self.bytes_at(at, len)?.unwrap_or_default();
            let found = bytes.windows(most).position(looks);
            let Some(found) = found else {
                at += (len + 1 - most) as u64;
                continue;
            };
            at += found as u64;
            // Bytes of a value may look like a head; a checksum that agrees is no accident.
            if let ParsedBatch::Whole(batch) = self.parse_batch(at)? {
                return Ok(Some((at, batch)));
            }
            at += 1;
        }
        Ok(None)
    }

    /// Whether a range has a sector that was never written, as when a machine stops before all of a
    /// file has reached the disk.
    fn has_hole(&mut self, from: u64, to: u64) -> io::Result<bool> {
        let mut edge = (from / SECTOR + 1) * SECTOR;
        let mut begin = from;
        while edge <= to {
            let count = usize::try_from(edge - begin).unwrap_or(0);
            let bytes = self.bytes_at(begin, count)?.unwrap_or_default();
            if bytes.iter().all(|byte| *byte == 0) {
                return Ok(true);
            }
            edge += SECTOR;
            begin = edge - ZEROS;
        }
        Ok(false)
    }
}

/// Lengths of an item's key, of its value as stored, and of it all.
struct JournalItem {
    key: u64,
    value: u64,
    len: u64,
}

/// Bytes at a place; zeros where there are none.
fn fixed_bytes<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let held = bytes.get(at..at + N).and_then(|bytes| bytes.try_into().ok());
    held.unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use fjall::{Database, Keyspace, PersistMode};
    use store::Stamp;

    use super::*;
    use crate::meta::Position;

    /// A journal of batches, and where each of them ends.
    struct Written {
        directory: tempfile::TempDir,
        ends: Vec<u64>,
    }

    /// Writes a batch of a value of this many bytes; this many batches are durable then.
    fn write(database: &Database, rows: &Keyspace, number: u64, value: usize, durable: u64) {
        let mut batch = database.batch().durability(Some(PersistMode::Buffer));
        // Nothing that is zero, and little that compresses.
        let value: Vec<u8> = (0..value).map(|n| (n * n % 251 + 1) as u8).collect();
        batch.insert(rows, format!("key {number}"), value);
        let position = Position { batch: number, stamp: Stamp { seq: number, at_ms: 7 } };
        let around = WrittenAfter { durable, sequence: database.visible_seqno() };
        meta::note_batch(&mut batch, rows, position, around);
        batch.commit().unwrap();
    }

    impl Written {
        fn new(batches: &[(usize, u64)]) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let database =
                Database::builder(directory.path()).manual_journal_persist(true).open().unwrap();
            let rows = crate::keyspace::open_keyspace(&database, "rows").unwrap();
            for (number, (value, durable)) in (1..).zip(batches) {
                write(&database, &rows, number, *value, *durable);
            }
            drop((rows, database));
            let written = Self { directory, ends: Vec::new() };
            let mut journal = open_journal(&written.path()).unwrap();
            let mut ends = vec![0];
            while let ParsedBatch::Whole(batch) = journal.parse_batch(ends[ends.len() - 1]).unwrap()
            {
                ends.push(batch.end);
            }
            assert_eq!(ends.len(), batches.len() + 1);
            Self { ends, ..written }
        }

        fn path(&self) -> PathBuf {
            self.directory.path().join("0.jnl")
        }

        fn bytes(&self) -> Vec<u8> {
            let mut bytes = std::fs::read(self.path()).unwrap();
            bytes.truncate(usize::try_from(self.ends[self.ends.len() - 1]).unwrap() + 5_000);
            bytes
        }

        /// Whether the journal would be refused if it were this.
        fn refuses(&self, bytes: &[u8]) -> bool {
            std::fs::write(self.path(), bytes).unwrap();
            check_journals(self.directory.path(), false).is_err()
        }

        fn end(&self, batch: usize) -> usize {
            usize::try_from(self.ends[batch]).unwrap()
        }
    }

    #[test]
    fn every_flipped_bit_of_a_batch_is_noticed() {
        let written = Written::new(&[(20, 0), (700, 1), (30, 2)]);
        let bytes = written.bytes();
        assert!(!written.refuses(&bytes));
        for at in 0..written.end(3) {
            for bit in [at % 8, (at + 3) % 8] {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                // A last sequence number that is a little larger changes no order.
                let larger =
                    (5..8).contains(&at.wrapping_sub(written.end(2))) && bytes[at] & 1 << bit != 0;
                assert!(larger || written.refuses(&bytes), "bit {bit} of byte {at}");
            }
        }
        // Behind the end there is nothing that could be lost.
        for at in written.end(3)..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            let refused = written.refuses(&bytes);
            assert!(!refused || at < written.end(3) + 64, "byte {at}");
        }
    }

    #[test]
    fn a_batch_that_was_cut_is_a_torn_end() {
        let written = Written::new(&[(20, 0), (900, 1)]);
        let bytes = written.bytes();
        for end in written.end(1)..written.end(2) - MAGIC.len() {
            let mut bytes = bytes.clone();
            bytes[end..].fill(0);
            assert!(!written.refuses(&bytes), "cut at {end}");
            bytes.truncate(end);
            assert!(!written.refuses(&bytes), "ends at {end}");
        }
    }

    #[test]
    fn a_sector_that_was_not_written_is_a_torn_end_unless_the_batch_was_durable() {
        for (durable, refused) in [(1, false), (2, true)] {
            let written = Written::new(&[(20, 0), (3_000, 1), (100, durable)]);
            let mut bytes = written.bytes();
            let from = (written.end(1) / 512 + 2) * 512;
            bytes[from..from + 1_024].fill(0);
            assert_eq!(written.refuses(&bytes), refused, "{durable}");
            bytes.truncate(written.end(2));
            assert!(!written.refuses(&bytes));
        }
    }

    #[test]
    fn only_the_newest_journal_may_have_a_torn_end() {
        let written = Written::new(&[(20, 0), (900, 1)]);
        let mut bytes = written.bytes();
        bytes[written.end(2) - 100..].fill(0);
        assert!(!written.refuses(&bytes));
        std::fs::write(written.directory.path().join("1.jnl"), "").unwrap();
        assert!(written.refuses(&bytes));
    }

    #[test]
    fn what_a_failed_write_left_is_cut_off() {
        for keep in 0..=3 {
            let written = Written::new(&[(20, 0), (700, 0), (30, 0)]);
            cut_behind(written.directory.path(), keep).unwrap();
            let len = std::fs::metadata(written.path()).unwrap().len();
            assert_eq!(len, written.ends[usize::try_from(keep).unwrap()]);
        }
        let written = Written::new(&[(20, 0), (700, 0)]);
        let mut bytes = written.bytes();
        bytes.truncate(written.end(2) - 3);
        std::fs::write(written.path(), &bytes).unwrap();
        cut_behind(written.directory.path(), 9).unwrap();
        assert_eq!(std::fs::metadata(written.path()).unwrap().len(), written.ends[1]);
    }
}
