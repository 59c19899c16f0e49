//! Table of the REST workloads, and the function that runs one of them. A new workload needs a
//! variant, a row, an arm in the `match` below, and a file. The workload that measures memory is in
//! this file.

mod batch;
mod choice;
mod expiry;
mod point;
mod query;

use super::{Sizes, load::Encoding, target::Target};
use crate::{
    closed_loop::Plan,
    entry::{Entry, entry_row},
    error::{Error, Result},
    figures::{Figures, megabytes},
    process, protocol,
};

/// A workload; [`WORKS`] describes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Measures memory; needs the server's process.
    Memory,
    PointRead,
    Upsert,
    Query,
    /// Counts the items of all partitions. Each page of the result has a partial count, and the
    /// worker adds them up.
    Count,
    Batch,
    /// Transactional batches in the encoding of the .NET SDK (HybridRow).
    BatchHybrid,
    Expiry,
}

/// All workloads, in report order.
pub(crate) const WORKS: &[Entry<Work>] = &[
    entry_row("memory", "resident memory at rest, as found and with the items", 1, Work::Memory),
    entry_row("point-8", "one item by id and partition key, 8 connections", 8, Work::PointRead),
    entry_row("point-32", "one item by id and partition key, 32 connections", 32, Work::PointRead),
    entry_row("upsert-8", "one item of 1 KB replaced, 8 connections", 8, Work::Upsert),
    entry_row("upsert-32", "one item of 1 KB replaced, 32 connections", 32, Work::Upsert),
    entry_row("query", "the top 20 of one partition, ORDER BY", 8, Work::Query),
    entry_row("count", "SELECT VALUE COUNT(1) over all partitions", 1, Work::Count),
    entry_row("batch", "a transactional batch of 100 creations of 1 KB", 8, Work::Batch),
    entry_row("batch-hybrid", "the same in the encoding of .NET", 8, Work::BatchHybrid),
    entry_row("expiry", "point reads while half of the items expire at once", 8, Work::Expiry),
];

/// The settings of a run, with the numbers of items for the REST workloads.
pub(crate) type Settings = protocol::Settings<Sizes>;

/// Prepares the server for the workload, and runs the workload once.
pub(crate) async fn run_work(
    work: Work,
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    match work {
        Work::Memory => run_memory(target, settings).await,
        Work::PointRead => point::run_reads(target, plan, settings).await,
        Work::Upsert => point::run_upserts(target, plan, settings).await,
        Work::Query => query::run_top(target, plan, settings).await,
        Work::Count => query::run_counts(target, plan, settings).await,
        Work::Batch => batch::run_batches(target, plan, settings, Encoding::Json).await,
        Work::BatchHybrid => batch::run_batches(target, plan, settings, Encoding::HybridRow).await,
        Work::Expiry => expiry::run_expiry(target, plan, settings).await,
    }
}

/// Measures the memory, loads the items, and measures it again. Requires the server's process id.
async fn run_memory(target: &mut Target, settings: &Settings) -> Result<Figures> {
    let (Some(pid), Some(at_rest)) = (target.pid, target.at_rest) else {
        let why = "this workload reads the server's memory: specify the server's process";
        return Err(Error::Usage(why.to_owned()));
    };
    target.need_items(settings.sizes.items).await?;
    target.wait_until_idle().await;
    let mut figures = Figures { connections: 1, ..Figures::default() };
    figures.add_extra("resident memory as found, MB", megabytes(at_rest));
    figures
        .add_extra("resident memory with the items, MB", megabytes(process::resident_memory(pid)?));
    Ok(figures)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_found_and_unique() {
        crate::entry::tests::check(super::WORKS);
    }
}
