//! Creates items of one partition in transactional batches of a hundred. Partitions are random, so
//! batches rarely conflict.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use fastrand::Rng;

use super::{
    super::{
        container::Container,
        items,
        link::Link,
        load::{BATCH, Batch, Encoding},
        target::Target,
    },
    Settings,
};
use crate::{
    closed_loop::{self, Plan, Worker},
    error::{Error, Result},
    figures::Figures,
};

/// The container in which the batches create items; it is deleted afterwards.
const CONTAINER: &str = "batches";
/// Status of a completely applied batch.
const ACCEPTED: u16 = 200;

/// Creates batches of items. The numbers come from a shared counter, so that no id is used twice.
struct Creator {
    container: Container,
    /// Number of partitions from which each batch chooses one; as many as the shared container has.
    partitions: u64,
    /// The next item's number, for all workers.
    next: Arc<AtomicU64>,
    rng: Rng,
    batch: Batch,
}

impl Worker<Link> for Creator {
    /// Creates one batch of items. Generating the items is part of the step and of its latency.
    async fn run_step(&mut self, link: &mut Link) -> Result<()> {
        let partition = format!("p{}", self.rng.u64(..self.partitions));
        let first = self.next.fetch_add(BATCH as u64, Ordering::Relaxed);
        for number in first..first + BATCH as u64 {
            self.batch.add_creation(&items::item_id(number), &partition, None, &mut self.rng);
        }
        // A partially failed batch has status 207.
        let answer = self.batch.send_batch(link, &self.container, &partition).await?;
        if answer.status == ACCEPTED {
            return Ok(());
        }
        Err(Error::Answer(format!("a batch failed with status {}", answer.status)))
    }
}

/// Measures batches in a container of their own. An operation is a batch.
pub(super) async fn run_batches(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
    encoding: Encoding,
) -> Result<Figures> {
    let container = target.create_container(CONTAINER, None).await?;
    let next = Arc::new(AtomicU64::new(0));
    let worker = |worker| Creator {
        container: container.clone(),
        partitions: items::count_partitions(settings.sizes.items),
        next: Arc::clone(&next),
        rng: settings.worker_rng(worker),
        batch: Batch::new(encoding),
    };
    let figures = closed_loop::run_workers(target, plan, worker).await?;
    target.delete_container(CONTAINER).await?;
    target.wait_until_idle().await;
    Ok(figures)
}
