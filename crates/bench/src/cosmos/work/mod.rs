//! The REST workloads by name: one table row each, and who runs it.

mod batch;
mod choice;
mod expiry;
mod memory;
mod point;
mod query;

use super::{protocol::Sizes, target::Target};
use crate::{
    closed_loop::Plan,
    entry::{Entry, row},
    error::Result,
    figures::Figures,
    settings,
};

/// Something that a server is asked to do; the table says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Memory,
    PointRead,
    Upsert,
    Query,
    Count,
    Batch,
    Expiry,
}

/// Every workload, in the order of reports.
pub(crate) const WORKS: &[Entry<Work>] = &[
    row("memory", "resident memory at rest, as found and with the items", 1, Work::Memory),
    row("point-8", "one item by id and partition key, 8 connections", 8, Work::PointRead),
    row("point-32", "one item by id and partition key, 32 connections", 32, Work::PointRead),
    row("upsert-8", "one item of 1 KB replaced, 8 connections", 8, Work::Upsert),
    row("upsert-32", "one item of 1 KB replaced, 32 connections", 32, Work::Upsert),
    row("query", "the top 20 of one partition, ORDER BY", 8, Work::Query),
    row("count", "SELECT VALUE COUNT(1) over all partitions", 1, Work::Count),
    row("batch", "a transactional batch of 100 creations of 1 KB", 8, Work::Batch),
    row("expiry", "point reads while half of the items expire at once", 8, Work::Expiry),
];

/// What the user has said, with the sizes of this protocol.
pub(crate) type Settings = settings::Settings<Sizes>;

/// Gives the server what the workload needs and runs it once.
pub(crate) async fn run(
    work: Work,
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    match work {
        Work::Memory => memory::run(target, settings).await,
        Work::PointRead => point::read(target, plan, settings).await,
        Work::Upsert => point::upsert(target, plan, settings).await,
        Work::Query => query::top(target, plan, settings).await,
        Work::Count => query::count(target, plan, settings).await,
        Work::Batch => batch::run(target, plan, settings).await,
        Work::Expiry => expiry::run(target, plan, settings).await,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_found_and_unique() {
        crate::entry::tests::check(super::WORKS);
    }
}
