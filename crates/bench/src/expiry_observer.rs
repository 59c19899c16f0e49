//! Findings of readers while many documents expire: expired documents in replies, and live
//! documents missing from replies. Whether a reply is wrong is decided by the times at which the
//! request was sent and answered:
//!
//! ```text
//! ───────────┬───────────────┬─────────────→ monotonic clock
//!      alive_until       expired_from
//!  a reply that arrived    a request that was sent
//!  by then must have       from then on must not
//!  every document          find an expired one
//! ```
//!
//! Between the two instants, both results are correct.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use crate::{
    error::{Error, Result},
    figures::Figures,
};

/// Maximum difference between a wall-clock time in milliseconds and the corresponding monotonic
/// time.
pub(crate) const BLUR: Duration = Duration::from_millis(2);

/// Returns whether this document expires: odd numbers do.
pub(crate) fn is_expiring(number: u64) -> bool {
    number % 2 == 1
}

/// Shared state of all observers. Instants are nanoseconds of the monotonic clock.
#[derive(Debug)]
pub(crate) struct ExpiryObserver {
    /// The instant until which replies must include all documents; `u64::MAX` while unknown.
    alive_until: AtomicU64,
    /// The instant from which requests must not return expired documents; `u64::MAX` while unknown.
    expired_from: AtomicU64,
    /// Number of expired documents found.
    late: AtomicU64,
    /// Number of times that a live document was not found.
    early: AtomicU64,
    /// Longest time after `expired_from` at which a request was sent that found an expired document.
    last_late: AtomicU64,
    /// Whether observing connections should stop.
    over: AtomicBool,
}

impl Default for ExpiryObserver {
    fn default() -> Self {
        let never = || AtomicU64::new(u64::MAX);
        let none = || AtomicU64::new(0);
        Self {
            alive_until: never(),
            expired_from: never(),
            late: none(),
            early: none(),
            last_late: none(),
            over: AtomicBool::new(false),
        }
    }
}

impl ExpiryObserver {
    /// Sets the instant until which all documents live, so that replies must include them.
    pub(crate) fn all_live_until(&self, at: Duration) {
        self.alive_until.store(to_nanos(at), Ordering::Relaxed);
    }

    /// Sets the instant from which requests must not return expired documents.
    pub(crate) fn expired_from(&self, at: Duration) {
        self.expired_from.store(to_nanos(at), Ordering::Relaxed);
    }

    /// Makes the observing connections stop.
    pub(crate) fn stop_observers(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Returns whether observing connections should stop.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Judges the reply to a request, by the times at which the request was sent and answered, and
    /// by the numbers of expiring documents that it found and missed.
    pub(crate) fn judge_request(
        &self,
        sent: Duration,
        answered: Duration,
        found: u64,
        missed: u64,
    ) {
        let (sent, answered) = (to_nanos(sent), to_nanos(answered));
        let expired_from = self.expired_from.load(Ordering::Relaxed);
        // By send time: a request in flight at the instant may return a document that was live when
        // it started.
        if 0 < found && expired_from <= sent {
            self.late.fetch_add(found, Ordering::Relaxed);
            self.last_late.fetch_max(sent - expired_from, Ordering::Relaxed);
        }
        // By reply time: a later reply may have been computed after the instant.
        if answered <= self.alive_until.load(Ordering::Relaxed) {
            self.early.fetch_add(missed, Ordering::Relaxed);
        }
    }

    /// Judges a read of one document that was answered just now. If the document does not expire, a
    /// miss is an error at any time.
    pub(crate) fn judge_read(&self, sent: Duration, number: u64, there: bool) -> Result<()> {
        match (is_expiring(number), there) {
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

    /// Adds extras to `figures`, the figures of the reads during expiry: the findings of the
    /// observers, and the figures `quiet` of a preceding window without expiry. Names of extras
    /// contain units.
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

/// Converts a reading of the monotonic clock to nanoseconds.
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
            let expiry_observer = ExpiryObserver::default();
            expiry_observer.alive_until.store(100, Ordering::Relaxed);
            expiry_observer.expired_from.store(150, Ordering::Relaxed);
            expiry_observer.judge_request(at(sent), at(answered), found, missed);
            let got = [&expiry_observer.late, &expiry_observer.early, &expiry_observer.last_late]
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
            let expiry_observer = ExpiryObserver::default();
            expiry_observer.expired_from(long_ago);
            assert_eq!(
                expiry_observer.judge_read(long_ago, number, there).is_ok(),
                fine,
                "{number} {there}"
            );
            assert_eq!(expiry_observer.late.load(Ordering::Relaxed), late, "{number} {there}");
        }
    }

    #[test]
    fn before_the_strike_is_known_nobody_is_late() {
        let expiry_observer = ExpiryObserver::default();
        expiry_observer.judge_request(Duration::from_secs(1), Duration::from_secs(2), 5, 0);
        assert_eq!(expiry_observer.late.load(Ordering::Relaxed), 0);
    }
}
