//! Half of a collection dies at one instant while readers read: how long their reads take before
//! and after, and whether anyone meets a dead document, or misses a live one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use document::ValueRef;
use fastrand::Rng;

use super::{
    Settings,
    mortality::{BLUR, Mortality},
};
use crate::{
    closed_loop::{self, Plan, Worker},
    commands,
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    limits::{CHECK_PAUSE, RANGE_MAX},
    load, pause,
    reply::integer,
    target::Target,
};

const COLLECTION: &str = "mortals";
/// Time that a TTL index may take to be built before the quiet window.
const MARGIN: Duration = Duration::from_secs(5);

/// Odd documents die.
fn mortal(number: u64) -> bool {
    number % 2 == 1
}

/// What all observers know and have found. Instants are nanoseconds of the monotonic clock.
#[derive(Debug)]
struct Witness {
    alive_until: AtomicU64,
    dead_from: AtomicU64,
    late: AtomicU64,
    early: AtomicU64,
    last_late: AtomicU64,
    over: AtomicBool,
}

impl Default for Witness {
    fn default() -> Self {
        let never = || AtomicU64::new(u64::MAX);
        let none = || AtomicU64::new(0);
        Self {
            alive_until: never(),
            dead_from: never(),
            late: none(),
            early: none(),
            last_late: none(),
            over: AtomicBool::new(false),
        }
    }
}

impl Witness {
    /// A request, sent and answered then, has found so many mortal documents and missed so many.
    fn judge(&self, sent: Duration, answered: Duration, found: u64, missed: u64) {
        let (sent, answered) = (nanos(sent), nanos(answered));
        let dead_from = self.dead_from.load(Ordering::Relaxed);
        if 0 < found && dead_from <= sent {
            self.late.fetch_add(found, Ordering::Relaxed);
            self.last_late.fetch_max(sent - dead_from, Ordering::Relaxed);
        }
        if answered <= self.alive_until.load(Ordering::Relaxed) {
            self.early.fetch_add(missed, Ordering::Relaxed);
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

struct Reader {
    witness: Arc<Witness>,
    records: u64,
    rng: Rng,
}

impl Worker for Reader {
    async fn step(&mut self, link: &mut Connection) -> Result<()> {
        let number = self.rng.u64(..self.records);
        let id = ValueRef::Int64(number.cast_signed());
        let sent = clock::monotonic();
        let there = !link.call(commands::find_id(COLLECTION, id)).await?.batch()?.is_empty();
        if mortal(number) {
            let (found, missed) = (u64::from(there), u64::from(!there));
            self.witness.judge(sent, clock::monotonic(), found, missed);
        } else if !there {
            return Err(Error::Answer(format!("document {number} is missing")));
        }
        Ok(())
    }
}

/// Looks by ranges and by count, beside the readers, until it is over.
async fn look(mut link: Connection, witness: Arc<Witness>, records: u64, seed: u64) -> Result<()> {
    let mut rng = Rng::with_seed(seed);
    while !witness.over.load(Ordering::Relaxed) {
        let from = rng.u64(..records);
        let wanted = RANGE_MAX.min(records - from);
        let id = ValueRef::Int64(from.cast_signed());
        let sent = clock::monotonic();
        let batch = link.call(commands::find_range(COLLECTION, id, wanted)).await?.batch()?;
        let ids = batch.documents().filter_map(|document| integer(document.get("_id")));
        let odd = ids.filter(|id| mortal(id.cast_unsigned())).count() as u64;
        let there = (from..from + wanted).filter(|number| mortal(*number)).count() as u64;
        witness.judge(sent, clock::monotonic(), odd, there.saturating_sub(odd));

        let sent = clock::monotonic();
        let count = link.call(commands::on("count", COLLECTION)).await?.integer("n");
        let beyond = count.cast_unsigned().saturating_sub(records.div_ceil(2));
        let missing = records.saturating_sub(count.cast_unsigned());
        witness.judge(sent, clock::monotonic(), beyond.min(1), missing.min(1));
        pause::pause(CHECK_PAUSE).await;
    }
    Ok(())
}

/// Measures quiet reads, then reads while half of the documents die.
pub(super) async fn run(target: &Target, plan: Plan, settings: &Settings) -> Result<Figures> {
    let records = settings.expiry_records;
    let mortality = Mortality::prepare(target, COLLECTION).await?;
    let make = move |number, rng: &mut Rng| mortality.document(number, mortal(number), rng);
    load::load(target, COLLECTION, records, make).await?;
    target.settle().await?;
    let at = clock::monotonic() + plan.warmup + plan.duration + plan.warmup + MARGIN;
    let at = mortality.arm(target, COLLECTION, at).await?;

    let witness = Arc::new(Witness::default());
    let reader =
        |worker| Reader { witness: Arc::clone(&witness), records, rng: settings.rng(worker) };
    let link = target.connect().await?;
    let looker = tokio::spawn(look(link, Arc::clone(&witness), records, settings.seed));
    witness.alive_until.store(nanos(at.saturating_sub(BLUR)), Ordering::Relaxed);
    let quiet = closed_loop::run(target, plan, reader).await?;

    let mut link = target.connect().await?;
    let during = Plan { warmup: at.saturating_sub(clock::monotonic()), ..plan };
    let told = Arc::clone(&witness);
    let striker = tokio::spawn(async move {
        let strike = mortality.strike(&mut link, at).await?;
        told.alive_until.store(nanos(strike.alive_until), Ordering::Relaxed);
        told.dead_from.store(nanos(strike.dead_from), Ordering::Relaxed);
        Ok::<_, Error>(strike)
    });
    let mut figures = closed_loop::run(target, during, reader).await?;
    let joined = |error: tokio::task::JoinError| Error::Usage(error.to_string());
    let strike = striker.await.map_err(joined)??;
    witness.over.store(true, Ordering::Relaxed);
    looker.await.map_err(joined)??;
    report(&mut figures, &quiet, &witness);
    let took = strike.dead_from.saturating_sub(strike.alive_until);
    figures.extra("from alive to dead, ms", took.as_secs_f64() * 1e3);
    target.drop(COLLECTION).await?;
    Ok(figures)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn report(figures: &mut Figures, quiet: &Figures, witness: &Witness) {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    figures.failures += quiet.failures;
    figures.extra("quiet reads per second", quiet.rate);
    figures.extra("quiet p99, us", quiet.p99);
    figures.extra("p99 while expiring, us", figures.p99);
    figures.extra("p99 ratio", figures.p99 / quiet.p99.max(1.0));
    figures.extra("dead documents seen", read(&witness.late));
    figures.extra("last one seen after, ms", read(&witness.last_late) / 1e6);
    figures.extra("live documents missed", read(&witness.early));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let at = Duration::from_nanos;
        for (sent, answered, found, missed, late, early, last_late) in [
            (10, 20, 1, 0, 0, 0, 0),
            (10, 20, 0, 3, 0, 3, 0),
            (90, 100, 0, 1, 0, 1, 0),
            (90, 101, 0, 1, 0, 0, 0),
            (149, 300, 1, 0, 0, 0, 0),
            (150, 300, 2, 0, 2, 0, 0),
            (170, 300, 1, 1, 1, 0, 20),
            (170, 300, 0, 1, 0, 0, 0),
        ] {
            let witness = Witness::default();
            witness.alive_until.store(100, Ordering::Relaxed);
            witness.dead_from.store(150, Ordering::Relaxed);
            witness.judge(at(sent), at(answered), found, missed);
            let got = [&witness.late, &witness.early, &witness.last_late]
                .map(|counter| counter.load(Ordering::Relaxed));
            assert_eq!(got, [late, early, last_late], "{sent} {answered}");
        }
    }

    #[test]
    fn before_the_strike_is_known_nobody_is_late() {
        let witness = Witness::default();
        witness.judge(Duration::from_secs(1), Duration::from_secs(2), 5, 0);
        assert_eq!(witness.late.load(Ordering::Relaxed), 0);
    }
}
