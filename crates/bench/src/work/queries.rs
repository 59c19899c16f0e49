//! Queries over an index, a range and a whole collection. Each checks its result as far as that is
//! cheap, so that fast but wrong answers are reported as failures.

use document::ValueRef;
use fastrand::Rng;

use super::Settings;
use crate::{
    closed_loop::{self, Plan, Worker},
    commands,
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    limits::{CATEGORIES, CUSTOMERS, EVENTS_GROUPED, KINDS, LOT, PAGE, SCAN_DOCUMENTS},
    target::{Dataset, Target},
};

const ORDERS: &str = Dataset::Orders.collection_name();
const SALES: &str = Dataset::Sales.collection_name();
const EVENTS: &str = Dataset::Events.collection_name();

struct Lister(Rng);

impl Worker for Lister {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let customer = self.0.i32(0..CUSTOMERS);
        let batch =
            link.call_command(commands::find_orders(ORDERS, customer)).await?.read_batch()?;
        if batch.cursor != 0 || batch.is_empty() || (PAGE as usize) < batch.document_count() {
            return Err(Error::Answer(format!(
                "unexpected number of orders of customer {customer}: {}",
                batch.document_count()
            )));
        }
        Ok(())
    }
}

/// Measures queries for the newest orders of random customers, with an index in that order.
pub(super) async fn indexed_find(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    closed_loop::run_workers(target, plan, |worker| Lister(settings.worker_rng(worker))).await
}

/// Reads ranges of the collection `orders` with many documents each.
struct Scanner {
    records: u64,
    rng: Rng,
}

impl Worker for Scanner {
    /// Reads a whole range with all its batches. This is one operation.
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        // Ranges start far enough from the end to be complete.
        let wanted = u64::from(SCAN_DOCUMENTS).min(self.records);
        let from = self.rng.u64(..=self.records - wanted);
        let from = ValueRef::Int64(from.cast_signed());
        let batch = link.call_command(commands::find_scan(ORDERS, from)).await?.read_batch()?;
        let (mut cursor, mut count) = (batch.cursor, batch.document_count() as u64);
        while cursor != 0 {
            let batch =
                link.call_command(commands::get_more(ORDERS, cursor)).await?.read_batch()?;
            cursor = batch.cursor;
            count += batch.document_count() as u64;
        }
        if count == wanted {
            return Ok(());
        }
        Err(Error::Answer(format!("{count} documents in a scan of {wanted}")))
    }
}

/// Measures long ranges by `_id`, read to the end with as many requests as necessary.
pub(super) async fn run_scans(target: &Target, plan: Plan, settings: &Settings) -> Result<Figures> {
    let records = settings.sizes.records;
    closed_loop::run_workers(target, plan, |worker| Scanner {
        records,
        rng: settings.worker_rng(worker),
    })
    .await
}

/// Computes sums over sales by category.
struct Reporter(Rng);

impl Worker for Reporter {
    /// Groups all sales by category and checks the number of groups; every category has sales.
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        // A negative bound keeps every sale, and a new one each time prevents caching of replies.
        let smallest = -self.0.f64();
        let batch =
            link.call_command(commands::group_command(SALES, smallest)).await?.read_batch()?;
        if batch.document_count() == CATEGORIES as usize {
            return Ok(());
        }
        Err(Error::Answer(format!("{} groups", batch.document_count())))
    }
}

/// Measures sums and averages by category over the whole collection.
pub(super) async fn run_groups(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    closed_loop::run_workers(target, plan, |worker| Reporter(settings.worker_rng(worker))).await
}

/// Sums events of random ranges.
struct EventReporter {
    records: u64,
    rng: Rng,
}

impl Worker for EventReporter {
    /// Groups events of a range and checks the number of groups: among thousands of events each
    /// kind occurs.
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let wanted = EVENTS_GROUPED.min(self.records);
        let from = self.rng.u64(..=self.records - wanted);
        let places = from.cast_signed()..(from + wanted).cast_signed();
        let batch =
            link.call_command(commands::group_events(EVENTS, places)).await?.read_batch()?;
        if batch.document_count() == KINDS {
            return Ok(());
        }
        Err(Error::Answer(format!("{} groups of events", batch.document_count())))
    }
}

/// Measures sums by kind over index ranges whose rows are scattered.
pub(super) async fn indexed_groups(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let records = settings.sizes.records;
    let worker = |worker| EventReporter { records, rng: settings.worker_rng(worker) };
    closed_loop::run_workers(target, plan, worker).await
}

/// Lists the events of lots by their rank.
struct LotLister {
    lots: i64,
    rng: Rng,
}

impl Worker for LotLister {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let lot = self.rng.i64(0..self.lots);
        let batch = link.call_command(commands::find_lot(EVENTS, lot)).await?.read_batch()?;
        if batch.cursor == 0 && batch.document_count() == PAGE as usize {
            return Ok(());
        }
        Err(Error::Answer(format!(
            "unexpected number of events in lot {lot}: {}",
            batch.document_count()
        )))
    }
}

/// Measures finds by an index that are sorted by another field and limited.
pub(super) async fn sorted_finds(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let lots = (settings.sizes.records / LOT).max(1).cast_signed();
    let worker = |worker| LotLister { lots, rng: settings.worker_rng(worker) };
    closed_loop::run_workers(target, plan, worker).await
}
