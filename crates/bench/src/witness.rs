//! What those who read beside a mass expiry have seen: expired documents in replies, live ones
//! missing. Both are wrong, and both are judged from outside by when a request was sent and answered:
//!
//! ```text
//! ───────────┬───────────────┬─────────────→ monotonic clock
//!      alive_until       dead_from
//!  a reply that arrived    a request that was sent
//!  by then must have       from then on must not
//!  every document          find an expired one
//! ```
//!
//! Between the two either may be right.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use crate::{
    error::{Error, Result},
    figures::Figures,
};

/// How far the wall clock's milliseconds may lie from the monotonic clock's reading of them.
pub(crate) const BLUR: Duration = Duration::from_millis(2);

/// Returns whether this is one of the half that expire: the odd ones.
pub(crate) fn is_mortal(number: u64) -> bool {
    number % 2 == 1
}

/// What all observers know and have found; they share it. Instants are nanoseconds of the monotonic
/// clock.
#[derive(Debug)]
pub(crate) struct Witness {
    /// See the module; `u64::MAX` until it is known.
    alive_until: AtomicU64,
    /// See the module; `u64::MAX` until it is known.
    dead_from: AtomicU64,
    /// How often an expired document was found.
    late: AtomicU64,
    /// How often a live one was missing.
    early: AtomicU64,
    /// How long after `dead_from` the last request was sent that found one.
    last_late: AtomicU64,
    /// Whether observers may stop.
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
    /// Notes that nothing had expired for a reply that had arrived by then.
    pub(crate) fn all_live_until(&self, at: Duration) {
        self.alive_until.store(to_nanos(at), Ordering::Relaxed);
    }

    /// Notes that all has expired for a request sent from then on.
    pub(crate) fn dead_from(&self, at: Duration) {
        self.dead_from.store(to_nanos(at), Ordering::Relaxed);
    }

    /// Tells observers that they may stop.
    pub(crate) fn end_looking(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Returns whether observers may stop.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Judges a request that was sent and answered then, by how many documents that expire it found, and
    /// how many of them it missed.
    pub(crate) fn judge_request(
        &self,
        sent: Duration,
        answered: Duration,
        found: u64,
        missed: u64,
    ) {
        let (sent, answered) = (to_nanos(sent), to_nanos(answered));
        let dead_from = self.dead_from.load(Ordering::Relaxed);
        // By when it was sent: a request under way at the instant may find what was live when it began.
        if 0 < found && dead_from <= sent {
            self.late.fetch_add(found, Ordering::Relaxed);
            self.last_late.fetch_max(sent - dead_from, Ordering::Relaxed);
        }
        // By when it was answered: one that was answered later may have been read after the instant.
        if answered <= self.alive_until.load(Ordering::Relaxed) {
            self.early.fetch_add(missed, Ordering::Relaxed);
        }
    }

    /// Judges a read of one document, sent then and answered just now, which was found or not. One that
    /// does not expire has to be there at any time.
    pub(crate) fn judge_read(&self, sent: Duration, number: u64, there: bool) -> Result<()> {
        match (is_mortal(number), there) {
            (true, _) => self.judge_request(
                sent,
                clock::monotonic_time(),
                u64::from(there),
                u64::from(!there),
            ),
            (false, true) => {}
            (false, false) => return Err(Error::Answer(format!("document {number} is missing"))),
        }
        Ok(())
    }

    /// Adds what was found to the figures of the reads while documents expired, beside those of a quiet
    /// time before. Times are microseconds or milliseconds, as the names say.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(crate) fn add_to_figures(&self, figures: &mut Figures, quiet: &Figures) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        figures.failures += quiet.failures;
        figures.add_extra("quiet reads per second", quiet.rate);
        figures.add_extra("quiet p99, us", quiet.p99);
        figures.add_extra("p99 while expiring, us", figures.p99);
        figures.add_extra("p99 ratio", figures.p99 / quiet.p99.max(1.0));
        figures.add_extra("dead documents seen", read(&self.late));
        figures.add_extra("last one seen after, ms", read(&self.last_late) / 1e6);
        figures.add_extra("live documents missed", read(&self.early));
    }
}

/// Returns a reading of the clock as the counters keep it.
fn to_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
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
            witness.judge_request(at(sent), at(answered), found, missed);
            let got = [&witness.late, &witness.early, &witness.last_late]
                .map(|counter| counter.load(Ordering::Relaxed));
            assert_eq!(got, [late, early, last_late], "{sent} {answered}");
        }
    }

    #[test]
    fn reads_are_judged_by_who_dies() {
        let long_ago = Duration::ZERO;
        for (number, there, late, fine) in
            [(1, true, 1, true), (1, false, 0, true), (2, true, 0, true), (2, false, 0, false)]
        {
            let witness = Witness::default();
            witness.dead_from(long_ago);
            assert_eq!(
                witness.judge_read(long_ago, number, there).is_ok(),
                fine,
                "{number} {there}"
            );
            assert_eq!(witness.late.load(Ordering::Relaxed), late, "{number} {there}");
        }
    }

    #[test]
    fn before_the_strike_is_known_nobody_is_late() {
        let witness = Witness::default();
        witness.judge_request(Duration::from_secs(1), Duration::from_secs(2), 5, 0);
        assert_eq!(witness.late.load(Ordering::Relaxed), 0);
    }
}
