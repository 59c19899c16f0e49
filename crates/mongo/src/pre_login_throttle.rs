//! Throttles clients that must log in and have not. What drivers send before a login, and
//! heartbeats, are answered at full speed; a client that sends many messages is slowed down.

use std::time::Duration;

/// Average interval between messages above which a client is never delayed.
const MESSAGE: Duration = Duration::from_millis(20);
/// Time that a client may be ahead of the rate of one message per [`MESSAGE`] before it is delayed:
/// it may send a hundred messages at once.
const FREE: Duration = Duration::from_secs(2);

/// Throttles the messages of a client that must log in and has not.
#[derive(Debug, Default)]
pub(crate) struct PreLoginThrottle {
    /// Time on the monotonic clock at which a client that sent one message per [`MESSAGE`] would
    /// have sent as many as this one.
    paid: Duration,
}

impl PreLoginThrottle {
    /// Counts an answered message. Returns the delay before the client's next message is read.
    /// `now` is the monotonic clock.
    pub(crate) fn record_answer(&mut self, now: Duration) -> Duration {
        self.paid = self.paid.max(now) + MESSAGE;
        self.paid.saturating_sub(now + FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_who_ask_without_end_wait() {
        let mut throttle = PreLoginThrottle::default();
        let mut now = Duration::from_secs(1000);
        for _ in 0..100 {
            assert_eq!(throttle.record_answer(now), Duration::ZERO);
        }
        for _ in 0..10 {
            let wait = throttle.record_answer(now);
            assert_eq!(wait, MESSAGE);
            now += wait;
        }
        // A driver that sends a heartbeat every ten seconds never waits.
        for _ in 0..1000 {
            now += Duration::from_secs(10);
            assert_eq!(throttle.record_answer(now), Duration::ZERO);
        }
    }
}
