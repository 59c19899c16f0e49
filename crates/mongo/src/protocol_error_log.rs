//! Log lines about clients that cannot be understood: at most one a second, with nothing of what
//! they sent.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Least time between two lines.
const PAUSE: Duration = Duration::from_secs(1);

/// When the next line is due, and how many were left out.
#[derive(Debug, Default)]
pub(crate) struct ProtocolErrorLog {
    /// Milliseconds of the machine's monotonic clock.
    due: AtomicU64,
    left_out: AtomicU64,
}

impl ProtocolErrorLog {
    /// Says that a client sent something that is no message, or one that is malformed.
    pub(crate) fn report(&self, peer: &str, what: &str) {
        if let Some(left_out) = self.take_line(clock::monotonic()) {
            tracing::warn!(peer, left_out, "client sent {what}");
        }
    }

    /// Whether a line is due, and how many were left out before it.
    fn take_line(&self, now: Duration) -> Option<u64> {
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
            assert_eq!(log.next(Duration::from_millis(ms)), line, "{ms}");
        }
    }
}
