//! New items of one partition, a hundred in a transactional batch. Random partitions, so that batches
//! rarely meet in one.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use fastrand::Rng;

use super::{
    super::{container::Container, items, limits::BATCH, link::Link, load::Batch, target::Target},
    Settings,
};
use crate::{
    closed_loop::{self, Plan, Worker},
    error::{Error, Result},
    figures::Figures,
};

/// The container of these items, which is deleted afterwards.
const CONTAINER: &str = "batches";
/// Status of a batch that took place as a whole.
const ACCEPTED: u16 = 200;

/// Creates batches; numbers are taken from one counter, so that no id comes twice.
struct Creator {
    container: Container,
    /// How many partitions there are to choose from, as many as the shared container has.
    partitions: u64,
    /// The next item's number, for all workers.
    next: Arc<AtomicU64>,
    rng: Rng,
    /// The text of the request, in a buffer that is used again.
    batch: Batch,
}

impl Worker<Link> for Creator {
    /// Items are made before the request, but within the step.
    async fn run_step(&mut self, link: &mut Link) -> Result<()> {
        let partition = format!("p{}", self.rng.u64(..self.partitions));
        let first = self.next.fetch_add(BATCH as u64, Ordering::Relaxed);
        for number in first..first + BATCH as u64 {
            self.batch.add_creation(&items::item_id(number), &partition, None, &mut self.rng);
        }
        // A batch of which a part failed is answered by 207.
        let answer = self.batch.send_batch(link, &self.container, &partition).await?;
        if answer.status == ACCEPTED {
            return Ok(());
        }
        Err(Error::Answer(format!("a batch answered with {}", answer.status)))
    }
}

/// Measures batches into a container of their own. An operation is a batch.
pub(super) async fn run_batches(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let container = target.create_container(CONTAINER, None).await?;
    let next = Arc::new(AtomicU64::new(0));
    let worker = |worker| Creator {
        container: container.clone(),
        partitions: items::count_partitions(settings.sizes.items),
        next: Arc::clone(&next),
        rng: settings.worker_rng(worker),
        batch: Batch::default(),
    };
    let figures = closed_loop::run_workers(target, plan, worker).await?;
    target.delete_container(CONTAINER).await?;
    target.rest_machine().await;
    Ok(figures)
}
