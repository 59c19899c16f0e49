//! A cache of rows read recently by key, already verified. It is unaware of expiry: views check
//! cached rows like stored ones.
//!
//! Writes do not invalidate entries. Instead the cache records the commit at which a row was read
//! and the commit that wrote it last. A view uses the row only if that last write precedes both the
//! reading and the view:
//!
//! ```text
//!  commits   ──── 7 ───────── 9 ──────────── 12 ─────▶
//!                 written          read at 10         a view at 11 may use it: 7 is before both
//!                                             written again: a view at 12 finds 12 after 10
//! ```
//!
//! Rows are not removed when the store reaps them either. The rule that expired a row may be
//! removed later, if it belonged to a dropped index. A row is therefore used only under the
//! settings with which it was read.
//!
//! A row is cached when it is read for the second time, so that a scan over many rows copies
//! nothing.

use std::hash::{Hash, Hasher};

use bytes::Bytes;
use foldhash::fast::RandomState;
use quick_cache::{Equivalent, Weighter, sync::Cache};

use super::last_writes::{LastWrites, RowHash};
use crate::rules::Rules;

/// Memory of a row besides its bytes: bookkeeping of the cache and two allocations.
const ROW_OVERHEAD: u64 = 160;
/// Largest cached row, as a fraction of the cache: large rows must not displace many others or
/// occupy allocator pages of their own (200 rows of 100 KB, each in a page of 4 MB, used 250 MB
/// instead of 190).
const LARGEST_PART: usize = 2048;
/// Estimated row size, for the initial capacity.
const USUAL_ROW_BYTES: usize = 1024;

/// Collection and key of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RowKey {
    collection: u32,
    key: Box<[u8]>,
}

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

#[derive(Clone, Debug)]
struct CachedRow {
    /// Header and document, both verified, in an allocation of its own, so that no block of the
    /// store is kept in memory.
    value: Bytes,
    /// The view that read the row from the store.
    read_by: Reader,
}

/// The properties of a view that decide which cached rows it may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) collection: u32,
    /// The collection's fence number, which changes with its settings.
    pub(super) settings: Option<u64>,
    /// Sequence number of the newest commit that the view sees.
    pub(super) seq: u64,
}

/// Determines the size of cached rows for the cache's limit.
#[derive(Clone, Copy, Debug)]
struct Weight;

impl Weighter<RowKey, CachedRow> for Weight {
    fn weight(&self, key: &RowKey, row: &CachedRow) -> u64 {
        (key.key.len() + row.value.len()) as u64 + ROW_OVERHEAD
    }
}

/// The cache of rows read recently.
pub(crate) struct RowCache {
    /// `None` if the cache is disabled; then writes are not recorded either.
    kept: Option<KeptRows>,
    largest: usize,
}

/// The cached rows, and the writes that may have made them obsolete.
struct KeptRows {
    rows: Cache<RowKey, CachedRow, Weight, RandomState>,
    writes: LastWrites,
}

/// Permission to cache a row that was not found, with the hash of the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheMiss(RowHash);

impl RowCache {
    /// Creates a cache of at most `bytes`; 0 disables it.
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

    /// Returns the table in which commits record their writes; `None` if the cache is disabled.
    pub(super) fn last_writes(&self) -> Option<&LastWrites> {
        self.kept.as_ref().map(|kept| &kept.writes)
    }

    /// Returns the cached row if the view may use it. Otherwise returns the permission to cache the
    /// row once it was read, or `None` if it may not be cached.
    pub(super) fn find(
        &self,
        reader: Reader,
        key: &[u8],
        rules: Rules,
    ) -> Result<Bytes, Option<CacheMiss>> {
        let KeptRows { rows, writes } = self.kept.as_ref().ok_or(None)?;
        let collection = reader.collection;
        let hash = writes.hash_row(collection, key);
        if let Some(row) = rows.get(&RowKeyRef { collection, key }) {
            // Read after the row was fetched and the view was opened: every commit that the view
            // sees has been recorded.
            let newest = writes.newest_of(hash);
            // The row was not written after `newest`, so a value read then or later is what any
            // view opened then or later sees.
            let same = newest <= reader.seq.min(row.read_by.seq) || !rules.last_writes();
            if same && row.read_by.settings == reader.settings {
                return Ok(row.value);
            }
        }
        Err(writes.was_read_before(hash).then_some(CacheMiss(hash)))
    }

    /// Caches a row that a view has read and verified.
    pub(super) fn keep(&self, vacancy: CacheMiss, reader: Reader, key: &[u8], value: &[u8]) {
        let Some(KeptRows { rows, writes }) = &self.kept else { return };
        // The row has been written again since, so this version would never be used.
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

    /// A cache with some recorded writes.
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
            writes.record_commit(&[Mutation::Delete { space: Space::Rows(1), key }], seq);
        }

        fn find(&self, key: &[u8], seq: u64) -> Result<Bytes, Option<CacheMiss>> {
            self.0.find(reader(seq), key, Rules::default())
        }

        /// Returns the row that a view of the commits up to `seq` finds, and caches `stored` if
        /// that is allowed.
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
        // Commit that wrote the row, view that cached it, view that looks it up, and whether the
        // row is used.
        for (written, read, asked, used) in [
            (0, 5, 5, true),
            (4, 5, 9, true),
            (5, 5, 5, true),
            (4, 9, 5, true),
            // The asking view does not see the write.
            (4, 5, 3, false),
            // The reading view did not see the write.
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
