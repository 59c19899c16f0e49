//! Rows that were read by their keys lately, checked, so that they need not be looked for in the
//! store again. It knows no expiry: views judge a row from here as they judge one from the store.
//!
//! Nobody removes a row from here when it is written. It is known instead by which commit it was
//! read, and which commit wrote it last, and it is used only where both say the same:
//!
//! ```text
//!  commits   ──── 7 ───────── 9 ──────────── 12 ─────▶
//!                 written          read at 10         a view of 11 may use it: 7 is before both
//!                                             written again: a view of 12 finds 12 after 10
//! ```
//!
//! Nor is a row removed when the store drops it because it has expired. What made it expire may be
//! forgotten then, if it was an index that was dropped: so a row is used only under the settings that
//! it was read under.
//!
//! A row is kept when it is read for the second time, so that a walk over many rows that are read
//! once copies nothing.

use std::hash::{Hash, Hasher};

use bytes::Bytes;
use foldhash::fast::RandomState;
use quick_cache::{Equivalent, Weighter, sync::Cache};

use super::last_writes::{LastWrites, RowHash};
use crate::rules::Rules;

/// What a row takes beside its bytes: the cache's own notes and two allocations.
const ROW_OVERHEAD: u64 = 160;
/// The largest row that is kept, as a part of all: a few large ones shall not displace the others, nor
/// keep pages of the allocator for themselves (200 rows of 100 KB, one in a page of 4 MB each, kept
/// 250 MB instead of 190).
const LARGEST_PART: usize = 2048;
/// A guess, from which the cache makes its first room; it grows.
const USUAL_ROW_BYTES: usize = 1024;

/// A row's collection and key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RowKey {
    collection: u32,
    key: Box<[u8]>,
}

/// The same, of somebody else's bytes.
#[derive(Clone, Copy, Debug, Hash)]
struct RowKeyRef<'a> {
    collection: u32,
    key: &'a [u8],
}

impl Hash for RowKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        RowKeyRef { collection: self.collection, key: &self.key }.hash(state);
    }
}

impl Equivalent<RowKey> for RowKeyRef<'_> {
    fn equivalent(&self, other: &RowKey) -> bool {
        self.collection == other.collection && *self.key == *other.key
    }
}

/// A row as it was read.
#[derive(Clone, Debug)]
struct CachedRow {
    /// Header and document, both checked. Its own allocation: it keeps no block of the store.
    value: Bytes,
    /// The view that read it.
    read_by: Reader,
}

/// A view, as far as it decides which rows in memory are what it would read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// Its collection.
    pub(super) collection: u32,
    /// The number of the collection's fence: another one after each change of its settings.
    pub(super) settings: Option<u64>,
    /// It sees every commit up to this one.
    pub(super) seq: u64,
}

/// What the bound counts.
#[derive(Clone, Copy, Debug)]
struct Weight;

impl Weighter<RowKey, CachedRow> for Weight {
    fn weight(&self, key: &RowKey, row: &CachedRow) -> u64 {
        (key.key.len() + row.value.len()) as u64 + ROW_OVERHEAD
    }
}

/// Rows that were read lately.
pub(crate) struct RowCache {
    /// `None` where no row is to be kept, and so nothing noted of writes either.
    kept: Option<KeptRows>,
    largest: usize,
}

/// The rows, and what tells whether they are still what they were.
struct KeptRows {
    rows: Cache<RowKey, CachedRow, Weight, RandomState>,
    writes: LastWrites,
}

/// Where a row that was not found here may be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vacancy(RowHash);

impl RowCache {
    /// A cache of at most this many bytes; it keeps nothing with 0.
    pub(crate) fn new(bytes: usize) -> Self {
        let kept = (0 < bytes).then(|| {
            let rows = Cache::with(
                bytes / USUAL_ROW_BYTES,
                u64::try_from(bytes).unwrap_or(u64::MAX),
                Weight,
                RandomState::default(),
                quick_cache::sync::DefaultLifecycle::default(),
            );
            KeptRows { rows, writes: LastWrites::new() }
        });
        Self { kept, largest: bytes / LARGEST_PART }
    }

    /// Where commits note what they write; `None` where nobody asks.
    pub(super) fn last_writes(&self) -> Option<&LastWrites> {
        self.kept.as_ref().map(|kept| &kept.writes)
    }

    /// The row that a view finds under a key. Otherwise where it may be kept when it was read;
    /// `None` where it may not.
    pub(super) fn find(
        &self,
        reader: Reader,
        key: &[u8],
        rules: Rules,
    ) -> Result<Bytes, Option<Vacancy>> {
        let KeptRows { rows, writes } = self.kept.as_ref().ok_or(None)?;
        let collection = reader.collection;
        let hash = writes.hash_row(collection, key);
        if let Some(row) = rows.get(&RowKeyRef { collection, key }) {
            // Asked after the row was taken, and after the view was opened: a commit that the view
            // sees has been noted.
            let newest = writes.newest_of(hash);
            // Nobody wrote it after `newest`, so what was read then or later is what every view
            // sees that was opened then or later.
            let same = newest <= reader.seq.min(row.read_by.seq) || !rules.last_writes();
            if same && row.read_by.settings == reader.settings {
                return Ok(row.value);
            }
        }
        Err(writes.was_read_before(hash).then_some(Vacancy(hash)))
    }

    /// Keeps a row that a view has read and checked.
    pub(super) fn keep(&self, vacancy: Vacancy, reader: Reader, key: &[u8], value: &[u8]) {
        let Some(KeptRows { rows, writes }) = &self.kept else { return };
        // It would not be used: it was written again meanwhile.
        if self.largest < value.len() || reader.seq < writes.newest_of(vacancy.0) {
            return;
        }
        let row = CachedRow { value: Bytes::copy_from_slice(value), read_by: reader };
        rows.insert(RowKey { collection: reader.collection, key: key.into() }, row);
    }
}

impl std::fmt::Debug for RowCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowCache").field("largest", &self.largest).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use store::{Mutation, Space};

    use super::*;

    /// A cache that has been told of some writes.
    struct Told(RowCache);

    fn reader(seq: u64) -> Reader {
        Reader { collection: 1, settings: Some(0), seq }
    }

    impl Told {
        fn new(bytes: usize) -> Self {
            Self(RowCache::new(bytes))
        }

        fn write(&self, key: &[u8], seq: u64) {
            let key = Bytes::copy_from_slice(key);
            let writes = self.0.last_writes().expect("it keeps rows");
            writes.note_commit(&[Mutation::Delete { space: Space::Rows(1), key }], seq);
        }

        fn find(&self, key: &[u8], seq: u64) -> Result<Bytes, Option<Vacancy>> {
            self.0.find(reader(seq), key, Rules::default())
        }

        /// What a view of this `seq` finds, which reads and keeps `stored` where it is allowed to.
        fn read(&self, key: &[u8], seq: u64, stored: &[u8]) -> Option<Bytes> {
            match self.find(key, seq) {
                Ok(value) => Some(value),
                Err(vacancy) => {
                    if let Some(vacancy) = vacancy {
                        self.0.keep(vacancy, reader(seq), key, stored);
                    }
                    None
                }
            }
        }
    }

    #[test]
    fn a_row_is_kept_when_it_is_read_again() {
        let told = Told::new(1 << 20);
        let seen: Vec<_> = (0..4).map(|_| told.read(b"a", 5, b"row").is_some()).collect();
        assert_eq!(seen, [false, false, true, true]);
        for other in [
            Reader { collection: 2, ..reader(5) },
            Reader { settings: Some(2), ..reader(5) },
            Reader { settings: None, ..reader(5) },
        ] {
            assert!(told.0.find(other, b"a", Rules::default()).is_err(), "{other:?}");
        }
    }

    #[test]
    fn a_row_is_used_by_views_that_see_what_it_was_read_from() {
        // Written by a commit, read by a view, asked for by another: used or not.
        for (written, read, asked, used) in [
            (0, 5, 5, true),
            (4, 5, 9, true),
            (5, 5, 5, true),
            (4, 9, 5, true),
            // The view that asks does not see the write.
            (4, 5, 3, false),
            // The view that read did not see it.
            (6, 5, 7, false),
        ] {
            let told = Told::new(1 << 20);
            told.read(b"a", read, b"row");
            told.read(b"a", read, b"row");
            told.write(b"a", written);
            let found = told.find(b"a", asked).is_ok();
            assert_eq!(found, used, "{written} {read} {asked}");
        }
    }

    #[test]
    fn a_row_that_was_written_while_it_was_read_is_not_kept() {
        let told = Told::new(1 << 20);
        told.read(b"a", 5, b"old");
        let vacancy = told.find(b"a", 5).expect_err("not kept yet").expect("read again");
        told.write(b"a", 6);
        told.0.keep(vacancy, reader(5), b"a", b"old");
        assert!(told.find(b"a", 6).is_err());
        told.read(b"a", 6, b"new");
        assert_eq!(told.find(b"a", 6).expect("kept"), "new");
    }

    #[test]
    fn it_stays_within_its_bound() {
        let told = Told::new(1 << 20);
        let row = vec![0; 400];
        for key in 0..5000_u32 {
            told.read(&key.to_be_bytes(), 1, &row);
            told.read(&key.to_be_bytes(), 1, &row);
        }
        let rows = &told.0.kept.as_ref().expect("it keeps rows").rows;
        assert!(rows.weight() <= 1 << 20, "{}", rows.weight());
        assert!(1000 < rows.len());
        let large = vec![0; 600];
        told.read(b"large", 1, &large);
        told.read(b"large", 1, &large);
        assert!(told.find(b"large", 1).is_err());
    }

    #[test]
    fn nothing_is_kept_without_memory() {
        let told = Told::new(0);
        let seen: Vec<_> = (0..4).map(|_| told.read(b"a", 5, b"row").is_some()).collect();
        assert_eq!(seen, [false; 4]);
    }
}
