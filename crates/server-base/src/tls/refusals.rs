//! Logging of clients that a listener rejected: at most one line per second, so that a port scanner
//! cannot fill the log, and without any client data.

use std::{net::SocketAddr, time::Duration};

use parking_lot::Mutex;

/// Minimum time between two log lines.
const PAUSE: Duration = Duration::from_secs(1);

/// Earliest time of the next log line, and number of lines suppressed since the last one.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<(Duration, u64)>);

impl Refusals {
    /// Logs a rejected client with the name of the listener's setting and the reason.
    pub(super) fn report(&self, setting: &str, peer: SocketAddr, why: &dyn std::fmt::Display) {
        if let Some(left_out) = self.take_line(clock::monotonic_time()) {
            tracing::warn!(setting, %peer, %why, left_out, "client rejected");
        }
    }

    /// Returns the number of lines that were suppressed since the last one, if a line is due now.
    /// Otherwise counts a suppressed line and returns `None`.
    fn take_line(&self, now: Duration) -> Option<u64> {
        let (due, left_out) = &mut *self.0.lock();
        if now < *due {
            *left_out += 1;
            return None;
        }
        *due = now.saturating_add(PAUSE);
        Some(std::mem::take(left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_says_how_many_were_left_out() {
        let refusals = Refusals::default();
        for (ms, line) in
            [(5_000, Some(0)), (5_001, None), (5_999, None), (6_000, Some(2)), (60_000, Some(0))]
        {
            assert_eq!(refusals.take_line(Duration::from_millis(ms)), line, "{ms}");
        }
    }
}
