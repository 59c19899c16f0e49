//! Queries over an index, over a range and over a whole collection. Each checks what it gets as far as
//! that is cheap: a fast wrong answer is a failure.

use document::ValueRef;
use fastrand::Rng;

use super::Settings;
use crate::{
    closed_loop::{self, Plan, Worker},
    commands,
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    limits::{CATEGORIES, CUSTOMERS, PAGE, SCAN_DOCUMENTS},
    target::{Dataset, Target},
};

const ORDERS: &str = Dataset::Orders.name();
const SALES: &str = Dataset::Sales.name();

/// Lists orders.
struct Lister(Rng);

impl Worker for Lister {
    async fn step(&mut self, link: &mut Connection) -> Result<()> {
        let customer = self.0.i32(0..CUSTOMERS);
        let batch = link.call(commands::find_orders(ORDERS, customer)).await?.batch()?;
        if batch.cursor != 0 || batch.is_empty() || (PAGE as usize) < batch.len() {
            return Err(Error::Answer(format!("{} orders of customer {customer}", batch.len())));
        }
        Ok(())
    }
}

/// Measures the newest orders of random customers, by an index that has them in that order.
pub(super) async fn indexed_find(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    closed_loop::run(target, plan, |worker| Lister(settings.rng(worker))).await
}

/// Reads long ranges of orders.
struct Scanner {
    records: u64,
    rng: Rng,
}

impl Worker for Scanner {
    async fn step(&mut self, link: &mut Connection) -> Result<()> {
        // So far from the end that each range is whole.
        let wanted = u64::from(SCAN_DOCUMENTS).min(self.records);
        let from = self.rng.u64(..=self.records - wanted);
        let from = ValueRef::Int64(from.cast_signed());
        let batch = link.call(commands::find_scan(ORDERS, from)).await?.batch()?;
        let (mut cursor, mut count) = (batch.cursor, batch.len() as u64);
        while cursor != 0 {
            let batch = link.call(commands::get_more(ORDERS, cursor)).await?.batch()?;
            cursor = batch.cursor;
            count += batch.len() as u64;
        }
        if count == wanted {
            return Ok(());
        }
        Err(Error::Answer(format!("{count} documents in a scan of {wanted}")))
    }
}

/// Measures long ranges by `_id`, read to their end with as many requests as that takes.
pub(super) async fn scan(target: &Target, plan: Plan, settings: &Settings) -> Result<Figures> {
    let records = settings.sizes.records;
    closed_loop::run(target, plan, |worker| Scanner { records, rng: settings.rng(worker) }).await
}

/// Adds up sales.
struct Reporter(Rng);

impl Worker for Reporter {
    async fn step(&mut self, link: &mut Connection) -> Result<()> {
        // A negative bound keeps every sale, and a new one each time keeps replies from being cached.
        let smallest = -self.0.f64();
        let batch = link.call(commands::group(SALES, smallest)).await?.batch()?;
        if batch.len() == CATEGORIES as usize {
            return Ok(());
        }
        Err(Error::Answer(format!("{} groups", batch.len())))
    }
}

/// Measures sums and means by category over the whole collection.
pub(super) async fn group(target: &Target, plan: Plan, settings: &Settings) -> Result<Figures> {
    closed_loop::run(target, plan, |worker| Reporter(settings.rng(worker))).await
}
