//! Rate-limited log lines about malformed messages, failed logins and documents that fail
//! validation: at most one per second, so that a client cannot fill the log, and without values
//! that the client sent.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Minimum time between two lines of the log.
const PAUSE: Duration = Duration::from_secs(1);

/// The earliest time of the next line, and the number of lines left out since the last one.
#[derive(Debug, Default)]
pub(crate) struct ProtocolErrorLog {
    /// Time from which the next line may be written, in milliseconds of the machine's monotonic
    /// clock.
    due: AtomicU64,
    left_out: AtomicU64,
}

impl ProtocolErrorLog {
    /// Logs that a client sent bytes that are not a message, or a malformed message. `what` follows
    /// "client sent".
    pub(crate) fn report(&self, peer: &str, what: &str) {
        if let Some(left_out) = self.take_line(clock::monotonic_time()) {
            tracing::warn!(peer, left_out, "client sent {what}");
        }
    }

    /// Logs that a login as this user has failed, with the reason.
    pub(crate) fn report_login(&self, peer: &str, user: &str, why: &str) {
        if let Some(left_out) = self.take_line(clock::monotonic_time()) {
            tracing::warn!(peer, user, why, left_out, "a login failed");
        }
    }

    /// Returns the number of lines left out if a line is due, otherwise `None`. If several threads
    /// call this function at the same time, one of them gets the number.
    pub(crate) fn take_line(&self, now: Duration) -> Option<u64> {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let due = self.due.load(Ordering::Relaxed);
        let following = ms(now.saturating_add(PAUSE));
        let won = due <= ms(now)
            && self
                .due
                .compare_exchange(due, following, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if won {
            return Some(self.left_out.swap(0, Ordering::Relaxed));
        }
        self.left_out.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_says_how_many_were_left_out() {
        let log = ProtocolErrorLog::default();
        for (ms, line) in [
            (5_000, Some(0)),
            (5_001, None),
            (5_999, None),
            (6_000, Some(2)),
            (6_500, None),
            (60_000, Some(1)),
            (61_000, Some(0)),
        ] {
            assert_eq!(log.take_line(Duration::from_millis(ms)), line, "{ms}");
        }
    }
}
