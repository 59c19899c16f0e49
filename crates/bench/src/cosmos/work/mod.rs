//! The REST workloads by name: one table row each, and who runs it.

mod batch;
mod expiry;
mod memory;
mod point;
mod query;

use std::time::Duration;

use super::target::Target;
use crate::{closed_loop::Plan, error::Result, figures::Figures};

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

/// A row of the table of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
    /// Connections, unless the user says otherwise.
    pub(crate) connections: usize,
    /// What it is.
    pub(crate) work: Work,
}

const fn row(name: &'static str, about: &'static str, connections: usize, work: Work) -> Entry {
    Entry { name, about, connections, work }
}

/// Every workload, in the order of reports.
pub(crate) const WORKS: &[Entry] = &[
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

/// What the user has said about sizes and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The measured window.
    pub(crate) duration: Duration,
    /// The time before it.
    pub(crate) warmup: Duration,
    /// Connections instead of each workload's own number.
    pub(crate) connections: Option<usize>,
    /// Items of most workloads.
    pub(crate) items: u64,
    /// Items of which half expire at once.
    pub(crate) expiry_items: u64,
    /// Where chance begins.
    pub(crate) seed: u64,
}

impl Settings {
    fn plan(&self, entry: &Entry) -> Plan {
        let connections = self.connections.unwrap_or(entry.connections);
        Plan { connections, warmup: self.warmup, duration: self.duration }
    }

    fn rng(&self, worker: usize) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(worker as u64))
    }
}

/// The workload of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Entry> {
    WORKS.iter().find(|entry| entry.name == name)
}

/// Gives the server what the workload needs and runs it once.
pub(crate) async fn run(
    entry: &Entry,
    target: &mut Target,
    settings: &Settings,
) -> Result<Figures> {
    let plan = settings.plan(entry);
    let mut figures = match entry.work {
        Work::Memory => memory::run(target, settings).await,
        Work::PointRead => point::read(target, plan, settings).await,
        Work::Upsert => point::upsert(target, plan, settings).await,
        Work::Query => query::top(target, plan, settings).await,
        Work::Count => query::count(target, plan, settings).await,
        Work::Batch => batch::run(target, plan, settings).await,
        Work::Expiry => expiry::run(target, plan, settings).await,
    }?;
    figures.work = entry.name;
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unique() {
        for entry in WORKS {
            assert_eq!(by_name(entry.name), Some(entry));
            assert!(0 < entry.connections, "{}", entry.name);
        }
        assert_eq!(by_name("scan"), None);
    }
}
