//! Statistics of a collection's indexes, in memory only: how often each was used since it was
//! created or the server started, and the progress of its build. They influence no decision.
//!
//! Counting takes no lock: readers find an index's figures in a map that is replaced only when the
//! record changes. Figures of indexes that remain are carried over, so no use is lost.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
};

use arc_swap::ArcSwap;
use clock::Instant;

use super::Record;

/// Id of the primary key, in whose order rows are stored. Other indexes have ids from 1.
pub const ID_INDEX: u32 = 0;

/// Usage counters of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexUsage {
    /// Number of operations that read the index.
    pub count: u64,
    /// Second of the last use, counted from 1970; 0 if the index was not used.
    pub last_s: i64,
    /// Start of counting, milliseconds of database time.
    pub since_ms: i64,
}

/// Progress of an index build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildProgress {
    /// Number of rows processed so far.
    pub rows: u64,
    /// Total number of rows to process; 0 before the build has counted them.
    pub of: u64,
}

impl BuildProgress {
    /// Returns the progress in percent, below 100 until the build is complete.
    pub(crate) fn per_cent(self) -> u8 {
        let per_cent = self.rows.saturating_mul(100) / self.of.max(1);
        u8::try_from(per_cent).unwrap_or(99).min(99)
    }
}

#[derive(Debug, Default)]
struct Figures {
    since_ms: i64,
    uses: AtomicU64,
    last_s: AtomicI64,
    built: AtomicU64,
    to_build: AtomicU64,
}

/// The statistics of all indexes of a collection, by index id.
#[derive(Debug)]
pub(crate) struct IndexFigures(ArcSwap<BTreeMap<u32, Arc<Figures>>>);

impl IndexFigures {
    /// Creates figures for a record's indexes, counted from `now` on.
    pub(crate) fn new(record: &Record, now: Instant) -> Self {
        let figures = Self(ArcSwap::default());
        figures.follow(record, now);
        figures
    }

    /// Follows a change of the record: statistics of new indexes start at `now`, and those of
    /// dropped indexes are removed. Not called concurrently, since changes of a record are
    /// serialized.
    pub(crate) fn follow(&self, record: &Record, now: Instant) {
        let held = self.0.load();
        let ids = record.indexes.iter().map(|index| index.id).chain([ID_INDEX]);
        let figures = ids.map(|id| {
            let begun = || Arc::new(Figures { since_ms: now.ms, ..Figures::default() });
            (id, held.get(&id).cloned().unwrap_or_else(begun))
        });
        self.0.store(Arc::new(figures.collect()));
    }

    /// Counts a use of an index in this second; ignored if the index was dropped.
    pub(crate) fn count_use(&self, index: u32, now_s: i64) {
        if let Some(figures) = self.0.load().get(&index) {
            figures.uses.fetch_add(1, Relaxed);
            figures.last_s.fetch_max(now_s, Relaxed);
        }
    }

    /// Returns the usage of an index, or `None` if it was dropped.
    pub(crate) fn usage_of(&self, index: u32) -> Option<IndexUsage> {
        self.0.load().get(&index).map(|figures| IndexUsage {
            count: figures.uses.load(Relaxed),
            last_s: figures.last_s.load(Relaxed),
            since_ms: figures.since_ms,
        })
    }

    /// Records the progress of an index build.
    pub(crate) fn record_progress(&self, index: u32, progress: BuildProgress) {
        if let Some(figures) = self.0.load().get(&index) {
            figures.built.store(progress.rows, Relaxed);
            figures.to_build.store(progress.of, Relaxed);
        }
    }

    /// Returns the progress of an index build.
    pub(crate) fn progress_of(&self, index: u32) -> BuildProgress {
        let figures = self.0.load().get(&index).cloned();
        figures.map_or_else(BuildProgress::default, |figures| {
            let (rows, of) = (figures.built.load(Relaxed), figures.to_build.load(Relaxed));
            // Rows inserted during the build are processed too, so the count may exceed the total.
            BuildProgress { rows: rows.min(of), of }
        })
    }
}

#[cfg(test)]
mod tests {
    use document::Document;

    use super::*;
    use crate::{
        catalog::{CounterState, IndexSpec},
        names::{Model, Namespace},
    };

    fn record(ids: &[u32]) -> Record {
        let index = |id: &u32| IndexSpec { id: *id, ..IndexSpec::new(format!("{id}"), Vec::new()) };
        Record {
            id: 1,
            model: Model::Documents,
            namespace: Namespace::new("db", "c"),
            settings: expiry::Settings::default(),
            indexes: ids.iter().map(index).collect(),
            next_index: 9,
            dropped: Vec::new(),
            counters: CounterState::Off,
            created: 0,
            options: Document::new(),
            items: None,
            cluster_key: None,
            temporary: false,
            capped: None,
            told: None,
        }
    }

    fn at(ms: i64) -> Instant {
        Instant::from_ms(ms)
    }

    #[test]
    fn figures_stay_with_an_index_as_long_as_it_is_there() {
        let figures = IndexFigures::new(&record(&[1, 2]), at(5));
        figures.count_use(1, 7);
        figures.count_use(1, 6);
        figures.count_use(2, 8);
        let used = |count, last_s, since_ms| Some(IndexUsage { count, last_s, since_ms });
        figures.follow(&record(&[1, 3]), at(9));
        assert_eq!(figures.usage_of(1), used(2, 7, 5));
        assert_eq!((figures.usage_of(2), figures.usage_of(3)), (None, used(0, 0, 9)));
        assert_eq!(figures.usage_of(ID_INDEX), used(0, 0, 5));
        figures.count_use(2, 9);
        assert_eq!(figures.usage_of(2), None, "nobody counts what has gone");
    }

    #[test]
    fn no_use_is_lost_while_records_change() {
        let figures = IndexFigures::new(&record(&[1]), at(0));
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| (0..10_000).for_each(|now_s| figures.count_use(1, now_s)));
            }
            for id in 2..1_000 {
                figures.follow(&record(&[1, id]), at(0));
            }
        });
        let used = figures.usage_of(1).unwrap();
        assert_eq!((used.count, used.last_s), (30_000, 9_999));
    }

    #[test]
    fn builds_beside_each_other_have_a_progress_each() {
        let figures = IndexFigures::new(&record(&[1, 2]), at(0));
        for (rows, of, per_cent) in [(0, 0, 0), (1, 3, 33), (3, 3, 99), (9, 3, 99)] {
            figures.record_progress(1, BuildProgress { rows, of });
            let progress = figures.progress_of(1);
            assert_eq!((progress.per_cent(), progress.rows), (per_cent, rows.min(of)));
        }
        assert_eq!(figures.progress_of(2), BuildProgress::default());
    }
}
