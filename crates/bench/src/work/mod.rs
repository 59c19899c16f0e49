//! Table of the workloads, and the function that runs one of them. A new workload needs a variant,
//! a row, an arm in each `match` below, and a file.

mod disk;
mod expiry;
mod first_load;
mod queries;
mod single;
mod ycsb;

use crate::{
    closed_loop::Plan,
    entry::{Entry, entry_row},
    error::Result,
    figures::Figures,
    limits::{MANY, THOUSAND},
    protocol,
    sizes::Sizes,
    target::{Dataset, Target},
};

/// A workload; [`WORKS`] describes each. Two rows of `WORKS` may have the same workload with
/// different numbers of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    PointRead,
    Insert,
    Update,
    /// Inserts with this number of documents per message.
    InsertMany(usize),
    /// Inserts into a new collection, with an optional secondary index on this field.
    FirstLoad(Option<&'static str>),
    FindAndModify,
    IndexedFind,
    Scan,
    Group,
    IndexedGroup,
    SortedFind,
    /// Runs one of YCSB's mixes, on shared records.
    Ycsb(ycsb::Mix),
    /// Measures expiry: moves the server's clock, or waits for the wall clock.
    Expiry,
    /// Measures disk space; needs the data directory, and is not included in `all`.
    Disk,
}

/// All workloads, in report order.
pub(crate) const WORKS: &[Entry<Work>] = &[
    entry_row("point-8", "one document by _id, uniform, 8 connections", 8, Work::PointRead),
    entry_row("point-32", "one document by _id, uniform, 32 connections", 32, Work::PointRead),
    entry_row("insert-8", "one new document of 1 KB, 8 connections", 8, Work::Insert),
    entry_row("insert", "one new document of 1 KB", 32, Work::Insert),
    entry_row("update-8", "$set of one field by _id, 8 connections", 8, Work::Update),
    entry_row("update", "$set of one field of one document by _id", 32, Work::Update),
    entry_row("insert-many", "insertMany of 100 documents of 1 KB", 8, Work::InsertMany(MANY)),
    entry_row("insert-1000-8", "insertMany of 1,000, 8 connections", 8, Work::InsertMany(THOUSAND)),
    entry_row(
        "insert-1000-32",
        "insertMany of 1,000, 32 connections",
        32,
        Work::InsertMany(THOUSAND),
    ),
    entry_row("first-load", "the first documents of a new collection", 4, Work::FirstLoad(None)),
    entry_row(
        "first-load-indexed",
        "the same under a secondary index",
        4,
        Work::FirstLoad(Some("field0")),
    ),
    entry_row("find-and-modify", "findAndModify of one document by _id", 32, Work::FindAndModify),
    entry_row("indexed-find", "find by a compound index, sorted, limit 20", 8, Work::IndexedFind),
    entry_row("scan", "1,000 documents from a random _id on, with getMore", 8, Work::Scan),
    entry_row("group", "$match and $group of 5,000 documents", 8, Work::Group),
    entry_row("indexed-group", "$group of 5,000 in a range of an index", 8, Work::IndexedGroup),
    entry_row("sorted-find", "100 by an index, sorted by another field", 8, Work::SortedFind),
    entry_row("ycsb-a", "50 % reads, 50 % updates, zipfian", 32, Work::Ycsb(ycsb::A)),
    entry_row("ycsb-b", "95 % reads, 5 % updates, zipfian", 32, Work::Ycsb(ycsb::B)),
    entry_row("ycsb-c", "reads, zipfian", 32, Work::Ycsb(ycsb::C)),
    entry_row("ycsb-d", "95 % reads of the latest, 5 % inserts", 32, Work::Ycsb(ycsb::D)),
    entry_row("ycsb-e", "95 % ranges of 1 to 100, 5 % inserts", 32, Work::Ycsb(ycsb::E)),
    entry_row("ycsb-f", "50 % reads, 50 % read-modify-writes, zipfian", 32, Work::Ycsb(ycsb::F)),
    entry_row("expiry", "point reads while half of the documents expire at once", 8, Work::Expiry),
    entry_row("disk", "the data directory after every document has expired", 1, Work::Disk),
];

/// The settings of a run, with the data sizes for the MongoDB workloads.
pub(crate) type Settings = protocol::Settings<Sizes>;

/// Loads the data that the workload needs, and runs the workload once.
pub(crate) async fn run_work(
    work: Work,
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    if let Some(dataset) = needed_dataset(work) {
        target.need_dataset(dataset, settings.sizes.records).await?;
    }
    match work {
        Work::PointRead => single::point_read(target, plan, settings).await,
        Work::Insert => single::run_inserts(target, plan, settings, 1).await,
        Work::InsertMany(at_once) => single::run_inserts(target, plan, settings, at_once).await,
        Work::FirstLoad(indexed) => first_load::run_first_load(target, settings, indexed).await,
        Work::Update => single::run_updates(target, plan, settings).await,
        Work::FindAndModify => single::find_and_modify(target, plan, settings).await,
        Work::IndexedFind => queries::indexed_find(target, plan, settings).await,
        Work::Scan => queries::run_scans(target, plan, settings).await,
        Work::Group => queries::run_groups(target, plan, settings).await,
        Work::IndexedGroup => queries::indexed_groups(target, plan, settings).await,
        Work::SortedFind => queries::sorted_finds(target, plan, settings).await,
        Work::Ycsb(mix) => ycsb::run_mix(mix, target, plan, settings).await,
        Work::Expiry => expiry::run_expiry(target, plan, settings).await,
        Work::Disk => disk::run_disk(target, settings).await,
    }
}

/// Returns the data of a workload; `None` if it creates its own.
fn needed_dataset(work: Work) -> Option<Dataset> {
    match work {
        Work::PointRead | Work::Update | Work::FindAndModify | Work::Ycsb(_) => {
            Some(Dataset::Users)
        }
        Work::IndexedFind | Work::Scan => Some(Dataset::Orders),
        Work::Group => Some(Dataset::Sales),
        Work::IndexedGroup | Work::SortedFind => Some(Dataset::Events),
        Work::Insert | Work::InsertMany(_) | Work::FirstLoad(_) | Work::Expiry | Work::Disk => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_found_and_unique() {
        crate::entry::tests::check(super::WORKS);
    }
}
