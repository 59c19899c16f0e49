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
    figures::Figures,
    inserts,
    limits::{CHECK_PAUSE, RANGE_MAX},
    mortality::Mortality,
    pause,
    target::Target,
    witness::{BLUR, Witness, is_mortal},
};

/// The collection whose odd documents expire.
const COLLECTION: &str = "mortals";
/// Time allowed for building a TTL index before the quiet window.
const MARGIN: Duration = Duration::from_secs(5);

/// Reads single documents.
struct Reader {
    /// Collects what the readers and the range checks find.
    witness: Arc<Witness>,
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
        self.witness.judge_read(sent, number, there)
    }
}

/// Checks ranges and the count until the run ends.
async fn look_by_ranges(
    mut link: Connection,
    witness: Arc<Witness>,
    records: u64,
    seed: u64,
) -> Result<()> {
    let mut rng = Rng::with_seed(seed);
    while !witness.is_over() {
        let from = rng.u64(..records);
        let wanted = RANGE_MAX.min(records - from);
        let id = ValueRef::Int64(from.cast_signed());
        let sent = clock::monotonic_time();
        let batch =
            link.call_command(commands::find_range(COLLECTION, id, wanted)).await?.read_batch()?;
        let ids = batch.iter_documents().filter_map(|document| whole_number(document.get("_id")));
        let odd = ids.filter(|id| is_mortal(id.cast_unsigned())).count() as u64;
        let there = (from..from + wanted).filter(|number| is_mortal(*number)).count() as u64;
        witness.judge_request(sent, clock::monotonic_time(), odd, there.saturating_sub(odd));

        let sent = clock::monotonic_time();
        let count = link
            .call_command(commands::collection_command("count", COLLECTION))
            .await?
            .integer_field("n");
        // A wrong count does not show which documents are wrong, so it is recorded as one document.
        let beyond = count.cast_unsigned().saturating_sub(records.div_ceil(2));
        let missing = records.saturating_sub(count.cast_unsigned());
        witness.judge_request(sent, clock::monotonic_time(), beyond.min(1), missing.min(1));
        pause::pause_for(CHECK_PAUSE).await;
    }
    Ok(())
}

/// Measures reads in a window without expiry, then in a window in which half of the documents
/// expire. The figures are those of the second window. The figures of the first window and the
/// findings of the witness are extras.
pub(super) async fn run_expiry(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let records = settings.sizes.expiry_records;
    let mortality = Mortality::prepare_collection(target, COLLECTION).await?;
    let make = move |number, rng: &mut Rng| mortality.make_document(number, is_mortal(number), rng);
    inserts::insert_documents(target, COLLECTION, records, make).await?;
    target.settle_server().await?;
    let at = clock::monotonic_time() + plan.warmup + plan.duration + plan.warmup + MARGIN;
    let at = mortality.fix_instant(target, COLLECTION, at).await?;

    let witness = Arc::new(Witness::default());
    let reader = |worker| Reader {
        witness: Arc::clone(&witness),
        records,
        rng: settings.worker_rng(worker),
    };
    let link = target.connect_link().await?;
    let looker = tokio::spawn(look_by_ranges(link, Arc::clone(&witness), records, settings.seed));
    witness.all_live_until(at.saturating_sub(BLUR));
    let quiet = closed_loop::run_workers(target, plan, reader).await?;

    let mut link = target.connect_link().await?;
    // The second window starts when the documents expire.
    let during = Plan { warmup: at.saturating_sub(clock::monotonic_time()), ..plan };
    let told = Arc::clone(&witness);
    let striker = tokio::spawn(async move {
        let strike = mortality.wait_for_strike(&mut link, at).await?;
        told.all_live_until(strike.alive_until);
        told.dead_from(strike.dead_from);
        Ok::<_, Error>(strike)
    });
    let mut figures = closed_loop::run_workers(target, during, reader).await?;
    let joined = |error: tokio::task::JoinError| Error::Usage(error.to_string());
    let strike = striker.await.map_err(joined)??;
    witness.end_looking();
    looker.await.map_err(joined)??;
    witness.add_to_figures(&mut figures, &quiet);
    let took = strike.dead_from.saturating_sub(strike.alive_until);
    figures.add_extra("from alive to dead, ms", took.as_secs_f64() * 1e3);
    target.drop_collection(COLLECTION).await?;
    Ok(figures)
}
