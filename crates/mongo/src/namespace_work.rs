//! Counts and latencies of clients' commands by collection, for `top` and for `latencyStats` of
//! `$collStats`. They start with the server and are kept in memory only.
//!
//! A collection is counted from its first command on. At most [`MAX_COUNTED`] collections are
//! counted; entries of dropped ones are evicted, and further collections are not counted.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use document::{Document, Value, doc};
use metrics::{Distribution, Histogram};
use parking_lot::{Mutex, RwLock};

use crate::command_row::{Access, CommandRow, Work};

/// Maximum number of counted collections.
const MAX_COUNTED: usize = 5_000;

/// Upper bounds of the latency buckets in microseconds: one less than the lower bound of the next
/// bucket. MongoDB shows the lower bounds: 0, 2, 4 .. 2048, then two buckets for each power of 2.
const BOUNDS_US: &[u64] = &{
    let mut bounds = [0; CLASSES - 1];
    let mut class = 1;
    while class < CLASSES {
        bounds[class - 1] = lower_bound(class) - 1;
        class += 1;
    }
    bounds
};

/// Number of latency buckets. The last one starts at 1.5 * 2^30 microseconds and is unbounded.
const CLASSES: usize = 51;

/// The lower bounds of the buckets up to this one are consecutive powers of 2. Above it, each power
/// has two buckets.
const WHOLE_POWERS: usize = 11;

/// Returns the lower bound of a latency bucket in microseconds, as `latencyStats` shows it. `class`
/// is the index of the bucket.
const fn lower_bound(class: usize) -> u64 {
    match class {
        0 => 0,
        1..=WHOLE_POWERS => 1 << class,
        _ => {
            let above = class - WHOLE_POWERS;
            let power = 1 << (WHOLE_POWERS + above / 2);
            if above & 1 == 0 { power } else { power + power / 2 }
        }
    }
}

/// The kinds of work in `top`, in its order.
const KINDS: [&str; 6] = ["queries", "getmore", "insert", "update", "remove", "commands"];

/// A category of commands: its index in [`KINDS`], whether it changes something, and its latencies
/// in `latencyStats`.
struct Category {
    kind: usize,
    changes: bool,
    latencies: Latencies,
}

#[derive(PartialEq, Eq)]
enum Latencies {
    Reads,
    Writes,
    Commands,
}

const fn category(kind: usize, changes: bool, latencies: Latencies) -> Category {
    Category { kind, changes, latencies }
}

/// The categories by which commands are counted. Every reported figure is a sum over some of them.
const CATEGORIES: [Category; 9] = [
    category(0, false, Latencies::Reads),
    category(1, false, Latencies::Reads),
    category(2, true, Latencies::Writes),
    category(3, true, Latencies::Writes),
    category(4, true, Latencies::Writes),
    category(5, false, Latencies::Reads),
    category(5, true, Latencies::Writes),
    category(5, false, Latencies::Commands),
    category(5, true, Latencies::Commands),
];

/// Returns the index in [`CATEGORIES`] of a command's category.
fn category_of(row: &CommandRow) -> usize {
    match row.work {
        Work::Query => 0,
        Work::GetMore => 1,
        Work::Insert => 2,
        Work::Update => 3,
        Work::Remove => 4,
        Work::Read => 5,
        Work::Write => 6,
        Work::Command => 7 + usize::from(matches!(row.access, Access::Writes)),
    }
}

/// The statistics of one collection: a histogram of latencies in microseconds for each category.
/// Connections share them, so a command updates no more than one histogram.
#[derive(Debug, Default)]
pub(crate) struct NamespaceWork {
    latencies: [OnceLock<Histogram>; CATEGORIES.len()],
    /// Number of commands that scanned the collection, and of those by tailable cursors.
    scans: AtomicU64,
    following_scans: AtomicU64,
}

/// A command as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedCommand<'a> {
    pub(crate) row: &'a CommandRow,
    pub(crate) took: Duration,
    /// Whether the command began a scan of the collection.
    pub(crate) scans: bool,
    /// Whether it opens a tailable cursor.
    pub(crate) follows: bool,
}

impl NamespaceWork {
    fn note(&self, command: CountedCommand<'_>) {
        let micros = u64::try_from(command.took.as_micros()).unwrap_or(u64::MAX);
        if let Some(latencies) = self.latencies.get(category_of(command.row)) {
            latencies.get_or_init(|| Histogram::new(BOUNDS_US)).observe(micros);
        }
        if command.scans {
            self.scans.fetch_add(1, Relaxed);
            self.following_scans.fetch_add(u64::from(command.follows), Relaxed);
        }
    }

    /// Returns the collection's counts of scans, as `queryExecStats` shows them.
    pub(crate) fn execution_stats(&self) -> Document {
        let (scans, following) = (self.scans.load(Relaxed), self.following_scans.load(Relaxed));
        let scans = doc! {
            "total": long(scans), "nonTailable": long(scans.saturating_sub(following)),
        };
        doc! { "collectionScans": scans }
    }

    /// Returns the combined latency distribution of the categories that meet a condition.
    fn sum(&self, condition: impl Fn(&Category) -> bool) -> Distribution {
        let counted =
            CATEGORIES.iter().zip(&self.latencies).filter(|(category, _)| condition(category));
        let mut sum = Histogram::new(BOUNDS_US).read_distribution();
        for latencies in counted.filter_map(|(_, latencies)| latencies.get()) {
            sum.add(&latencies.read_distribution());
        }
        sum
    }

    /// Returns the collection's entry in the reply of `top`.
    fn top_entry(&self) -> Document {
        let shown = |sum: Distribution| doc! { "time": long(sum.sum), "count": long(sum.measurement_count()) };
        let mut entry = doc! {
            "total": shown(self.sum(|_| true)),
            "readLock": shown(self.sum(|category| !category.changes)),
            "writeLock": shown(self.sum(|category| category.changes)),
        };
        for (kind, name) in KINDS.iter().enumerate() {
            entry.push(*name, shown(self.sum(|category| category.kind == kind)));
        }
        entry
    }

    pub(crate) fn latency_stats(&self, with_histograms: bool) -> Document {
        let entry = |sum: &Distribution| latency_entry(sum, with_histograms);
        let of = |latencies| entry(&self.sum(|category| category.latencies == latencies));
        doc! {
            "reads": of(Latencies::Reads),
            "writes": of(Latencies::Writes),
            "commands": of(Latencies::Commands),
            "transactions": entry(&self.sum(|_| false)),
        }
    }
}

/// Returns a latency distribution in MongoDB's format, with the buckets that are not empty, by
/// their lower bounds.
fn latency_entry(latencies: &Distribution, with_histograms: bool) -> Document {
    let mut entry = Document::new();
    if with_histograms {
        let classes = latencies.counts.iter().enumerate().filter(|(_, count)| 0 < **count);
        let shown = classes.map(|(class, count)| {
            Value::Document(doc! { "micros": long(lower_bound(class)), "count": long(*count) })
        });
        entry.push("histogram", Value::Array(shown.collect()));
    }
    entry.push("latency", long(latencies.sum));
    entry.push("ops", long(latencies.counts.iter().sum()));
    entry
}

fn long(value: u64) -> Value {
    Value::Int64(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Work of each collection, nested by database and collection, so that a lookup needs no combined
/// key.
type Counted = HashMap<String, HashMap<String, Arc<NamespaceWork>>>;

/// The work of the collection that a connection's last command named, which saves most lookups.
#[derive(Debug, Default)]
pub(crate) struct LastWork(Mutex<Option<(String, String, Arc<NamespaceWork>)>>);

/// The statistics of all collections.
#[derive(Debug, Default)]
pub(crate) struct AllWork(RwLock<Counted>);

impl AllWork {
    /// Counts a command on a collection. `exists` returns whether a collection exists; it is called
    /// for a collection that was not counted before, and to evict the statistics of dropped
    /// collections.
    pub(crate) fn note(
        &self,
        last: &LastWork,
        (database, collection): (&str, &str),
        command: CountedCommand<'_>,
        exists: impl Fn(&str, &str) -> bool,
    ) {
        let mut last = last.0.lock();
        if let Some((held, name, work)) = &*last
            && held == database
            && name == collection
        {
            return work.note(command);
        }
        let work =
            self.of(database, collection).or_else(|| self.begin(database, collection, exists));
        if let Some(work) = work {
            work.note(command);
            *last = Some((database.to_owned(), collection.to_owned(), work));
        }
    }

    /// Returns the statistics of a collection; `None` if it is not counted.
    pub(crate) fn of(&self, database: &str, collection: &str) -> Option<Arc<NamespaceWork>> {
        self.0.read().get(database)?.get(collection).cloned()
    }

    /// Starts counting the work of a collection, if it exists and the limit permits.
    fn begin(
        &self,
        database: &str,
        collection: &str,
        exists: impl Fn(&str, &str) -> bool,
    ) -> Option<Arc<NamespaceWork>> {
        if !exists(database, collection) {
            return None;
        }
        let mut counted = self.0.write();
        if MAX_COUNTED <= counted.values().map(HashMap::len).sum() {
            counted.retain(|database, collections| {
                collections.retain(|collection, _| exists(database, collection));
                !collections.is_empty()
            });
        }
        if MAX_COUNTED <= counted.values().map(HashMap::len).sum() {
            return None;
        }
        let collections = counted.entry(database.to_owned()).or_default();
        Some(Arc::clone(collections.entry(collection.to_owned()).or_default()))
    }

    /// Returns the entries of `top`, by full name, for the collections that exist.
    pub(crate) fn top_entries(
        &self,
        exists: impl Fn(&str, &str) -> bool,
    ) -> Vec<(String, Document)> {
        let counted = self.0.read();
        let all = counted.iter().flat_map(|(database, collections)| {
            collections.iter().map(move |(collection, work)| (database, collection, work))
        });
        let there = all.filter(|(database, collection, _)| exists(database, collection));
        let mut entries: Vec<_> = there
            .map(|(database, collection, work)| {
                (format!("{database}.{collection}"), work.top_entry())
            })
            .collect();
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> CommandRow {
        CommandRow::reads(crate::rights::Rights::Open).counted_as(Work::Query)
    }

    fn counted(row: &CommandRow, took: Duration) -> CountedCommand<'_> {
        CountedCommand { row, took, scans: false, follows: false }
    }

    #[test]
    fn scans_are_counted() {
        let (work, row) = (NamespaceWork::default(), row());
        let command = counted(&row, Duration::ZERO);
        for (scans, follows) in [(false, false), (true, false), (true, true), (true, false)] {
            work.note(CountedCommand { scans, follows, ..command });
        }
        let want = doc! { "collectionScans": doc! { "total": 3_i64, "nonTailable": 2_i64 } };
        assert_eq!(work.execution_stats(), want);
    }

    #[test]
    fn classes_of_latencies_are_those_of_mongodb() {
        let bounds: Vec<u64> = [0, 1, 10, 11, 12, 13, 14, 15].map(lower_bound).into();
        assert_eq!(bounds, [0, 2, 1024, 2048, 3072, 4096, 6144, 8192]);
        for (micros, class) in
            [(0, 0), (1, 0), (2, 2), (3, 2), (1500, 1024), (3000, 2048), (3072, 3072)]
        {
            let work = NamespaceWork::default();
            work.note(counted(&row(), Duration::from_micros(micros)));
            let histogram = doc! { "micros": long(class), "count": 1_i64 };
            let want = doc! {
                "histogram": Value::Array(vec![Value::Document(histogram)]),
                "latency": long(micros),
                "ops": 1_i64,
            };
            assert_eq!(work.latency_stats(true).get("reads"), Some(&Value::Document(want)));
        }
    }

    #[test]
    fn collections_that_are_gone_make_room() {
        let (all, row) = (AllWork::default(), row());
        let note = |name: usize, exists: &dyn Fn(&str) -> bool| {
            let name = name.to_string();
            let took = Duration::from_micros(1);
            let command = counted(&row, took);
            all.note(&LastWork::default(), ("db", &name), command, |_, it| exists(it));
            all.of("db", &name).is_some()
        };
        assert!((0..MAX_COUNTED).all(|name| note(name, &|_| true)));
        assert!(!note(MAX_COUNTED, &|_| true), "there is no room");
        assert!(!note(MAX_COUNTED, &|_| false), "a collection that is not there");
        assert!(note(MAX_COUNTED, &|name| name != "7"));
        assert!(all.of("db", "7").is_none());
        assert_eq!(all.top_entries(|_, name| name == "1").len(), 1);
    }
}
