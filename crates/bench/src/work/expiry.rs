//! Half of a collection expires at one instant while readers run. Measures the latencies before and
//! after this instant, and whether a reader sees an expired document or misses a live one.
//!
//! ```text
//! load │ warm-up │ quiet window │  warm-up, margin  │ the documents expire here; second window │
//! ```
//!
//! In addition to the readers, one connection checks ranges and `count`, which use other code paths
//! of a server than a point read.

use std::{sync::Arc, time::Duration};

use document::ValueRef;
use fastrand::Rng;
use mongo_client::whole_number;

use super::Settings;
use crate::{
    closed_loop::{self, Plan, Worker},
    commands,
    connection::Connection,
    error::{Error, Result},
    expiry_method::ExpiryMethod,
    expiry_observer::{BLUR, ExpiryObserver, is_expiring},
    figures::Figures,
    inserts,
    limits::{CHECK_PAUSE, RANGE_MAX},
    pause,
    target::Target,
};

/// The collection whose documents with odd numbers expire.
const COLLECTION: &str = "expiring";
/// Time allowed for building a TTL index before the quiet window.
const MARGIN: Duration = Duration::from_secs(5);

struct Reader {
    /// Collects what the readers and the range checks find.
    expiry_observer: Arc<ExpiryObserver>,
    records: u64,
    rng: Rng,
}

impl Worker for Reader {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let number = self.rng.u64(..self.records);
        let id = ValueRef::Int64(number.cast_signed());
        let sent = clock::monotonic_time();
        let there =
            !link.call_command(commands::find_id(COLLECTION, id)).await?.read_batch()?.is_empty();
        self.expiry_observer.judge_read(sent, number, there)
    }
}

/// Checks ranges and the count until the run ends.
async fn check_by_ranges(
    mut link: Connection,
    expiry_observer: Arc<ExpiryObserver>,
    records: u64,
    seed: u64,
) -> Result<()> {
    let mut rng = Rng::with_seed(seed);
    while !expiry_observer.is_over() {
        let from = rng.u64(..records);
        let wanted = RANGE_MAX.min(records - from);
        let id = ValueRef::Int64(from.cast_signed());
        let sent = clock::monotonic_time();
        let batch =
            link.call_command(commands::find_range(COLLECTION, id, wanted)).await?.read_batch()?;
        let ids = batch.iter_documents().filter_map(|document| whole_number(document.get("_id")));
        let odd = ids.filter(|id| is_expiring(id.cast_unsigned())).count() as u64;
        let there = (from..from + wanted).filter(|number| is_expiring(*number)).count() as u64;
        expiry_observer.judge_request(
            sent,
            clock::monotonic_time(),
            odd,
            there.saturating_sub(odd),
        );

        let sent = clock::monotonic_time();
        let count = link
            .call_command(commands::collection_command("count", COLLECTION))
            .await?
            .integer_field("n");
        // A wrong count does not show which documents are wrong, so it is recorded as one document.
        let beyond = count.cast_unsigned().saturating_sub(records.div_ceil(2));
        let missing = records.saturating_sub(count.cast_unsigned());
        expiry_observer.judge_request(sent, clock::monotonic_time(), beyond.min(1), missing.min(1));
        pause::pause_for(CHECK_PAUSE).await;
    }
    Ok(())
}

/// Measures reads in a window without expiry, then in a window in which half of the documents
/// expire. Returns the figures of the second window. The figures of the first window and the
/// numbers of wrong results are extras.
pub(super) async fn run_expiry(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let records = settings.sizes.expiry_records;
    let expiry_method = ExpiryMethod::prepare_collection(target, COLLECTION).await?;
    let make =
        move |number, rng: &mut Rng| expiry_method.make_document(number, is_expiring(number), rng);
    inserts::insert_documents(target, COLLECTION, records, make).await?;
    target.settle_server().await?;
    let at = clock::monotonic_time() + plan.warmup + plan.duration + plan.warmup + MARGIN;
    let at = expiry_method.fix_instant(target, COLLECTION, at).await?;

    let expiry_observer = Arc::new(ExpiryObserver::default());
    let reader = |worker| Reader {
        expiry_observer: Arc::clone(&expiry_observer),
        records,
        rng: settings.worker_rng(worker),
    };
    let link = target.connect_link().await?;
    let looker =
        tokio::spawn(check_by_ranges(link, Arc::clone(&expiry_observer), records, settings.seed));
    expiry_observer.all_live_until(at.saturating_sub(BLUR));
    let quiet = closed_loop::run_workers(target, plan, reader).await?;

    let mut link = target.connect_link().await?;
    // The second window starts when the documents expire.
    let during = Plan { warmup: at.saturating_sub(clock::monotonic_time()), ..plan };
    let told = Arc::clone(&expiry_observer);
    let striker = tokio::spawn(async move {
        let bounds = expiry_method.wait_for_expiry(&mut link, at).await?;
        told.all_live_until(bounds.alive_until);
        told.expired_from(bounds.expired_from);
        Ok::<_, Error>(bounds)
    });
    let mut figures = closed_loop::run_workers(target, during, reader).await?;
    let joined = |error: tokio::task::JoinError| Error::Usage(error.to_string());
    let bounds = striker.await.map_err(joined)??;
    expiry_observer.stop_observers();
    looker.await.map_err(joined)??;
    expiry_observer.add_to_figures(&mut figures, &quiet);
    let took = bounds.expired_from.saturating_sub(bounds.alive_until);
    figures.add_extra("from alive to dead, ms", took.as_secs_f64() * 1e3);
    target.drop_collection(COLLECTION).await?;
    Ok(figures)
}
