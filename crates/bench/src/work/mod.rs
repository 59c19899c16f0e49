//! The workloads by name: one table row each, and who runs it. A new one is a variant, a row, an arm of
//! [`run`] and of [`dataset`], and a file.

mod disk;
mod expiry;
mod mortality;
mod queries;
mod single;
mod ycsb;

use crate::{
    closed_loop::Plan,
    entry::{Entry, row},
    error::Result,
    figures::Figures,
    mongo::Sizes,
    settings,
    target::{Dataset, Target},
};

/// Something that a server is asked to do; the table says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    PointRead,
    Insert,
    Update,
    InsertMany,
    FindAndModify,
    IndexedFind,
    Scan,
    Group,
    Ycsb(ycsb::Mix),
    Expiry,
    Disk,
}

/// Every workload, in the order of reports.
pub(crate) const WORKS: &[Entry<Work>] = &[
    row("point-8", "one document by _id, uniform, 8 connections", 8, Work::PointRead),
    row("point-32", "one document by _id, uniform, 32 connections", 32, Work::PointRead),
    row("insert", "one new document of 1 KB", 32, Work::Insert),
    row("update", "$set of one field of one document by _id", 32, Work::Update),
    row("insert-many", "insertMany of 100 documents of 1 KB", 8, Work::InsertMany),
    row("find-and-modify", "findAndModify of one document by _id", 32, Work::FindAndModify),
    row("indexed-find", "find by a compound index, sorted, limit 20", 8, Work::IndexedFind),
    row("scan", "1,000 documents from a random _id on, with getMore", 8, Work::Scan),
    row("group", "$match and $group of 5,000 documents", 8, Work::Group),
    row("ycsb-a", "50 % reads, 50 % updates, zipfian", 32, Work::Ycsb(ycsb::A)),
    row("ycsb-b", "95 % reads, 5 % updates, zipfian", 32, Work::Ycsb(ycsb::B)),
    row("ycsb-c", "reads, zipfian", 32, Work::Ycsb(ycsb::C)),
    row("ycsb-d", "95 % reads of the latest, 5 % inserts", 32, Work::Ycsb(ycsb::D)),
    row("ycsb-e", "95 % ranges of 1 to 100, 5 % inserts", 32, Work::Ycsb(ycsb::E)),
    row("ycsb-f", "50 % reads, 50 % read-modify-writes, zipfian", 32, Work::Ycsb(ycsb::F)),
    row("expiry", "point reads while half of the documents expire at once", 8, Work::Expiry),
    row("disk", "the data directory after every document has expired", 1, Work::Disk),
];

/// What the user has said, with the sizes of this protocol.
pub(crate) type Settings = settings::Settings<Sizes>;

/// Gives the server the data that the workload needs and runs it once.
pub(crate) async fn run(
    work: Work,
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    if let Some(dataset) = dataset(work) {
        target.need(dataset, settings.sizes.records).await?;
    }
    match work {
        Work::PointRead => single::point_read(target, plan, settings).await,
        Work::Insert => single::insert(target, plan, settings, 1).await,
        Work::InsertMany => single::insert(target, plan, settings, crate::limits::MANY).await,
        Work::Update => single::update(target, plan, settings).await,
        Work::FindAndModify => single::find_and_modify(target, plan, settings).await,
        Work::IndexedFind => queries::indexed_find(target, plan, settings).await,
        Work::Scan => queries::scan(target, plan, settings).await,
        Work::Group => queries::group(target, plan, settings).await,
        Work::Ycsb(mix) => ycsb::run(mix, target, plan, settings).await,
        Work::Expiry => expiry::run(target, plan, settings).await,
        Work::Disk => disk::run(target, settings).await,
    }
}

/// Returns the data that a workload works on; `None`: it makes its own.
fn dataset(work: Work) -> Option<Dataset> {
    match work {
        Work::PointRead | Work::Update | Work::FindAndModify | Work::Ycsb(_) => {
            Some(Dataset::Users)
        }
        Work::IndexedFind | Work::Scan => Some(Dataset::Orders),
        Work::Group => Some(Dataset::Sales),
        Work::Insert | Work::InsertMany | Work::Expiry | Work::Disk => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_found_and_unique() {
        crate::entry::tests::check(super::WORKS);
    }
}
