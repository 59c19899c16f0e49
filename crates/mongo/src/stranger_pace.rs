//! How fast a client is answered that has to log in and has not: as fast as any for what drivers ask before a
//! login and to see whether the server lives, and slowly when it asks without end.

use std::time::Duration;

/// What one message costs: so often one is answered in the long run.
const MESSAGE: Duration = Duration::from_millis(20);
/// What may be owed before a client waits: a hundred messages.
const FREE: Duration = Duration::from_secs(2);

/// What a client owes.
#[derive(Debug, Default)]
pub(crate) struct StrangerPace {
    /// When all its messages will be paid for, by the monotonic clock.
    paid: Duration,
}

impl StrangerPace {
    /// Counts a message that was answered; returns how long the client has to wait before its next one is
    /// read. `now` is the monotonic clock.
    pub(crate) fn note_answered(&mut self, now: Duration) -> Duration {
        self.paid = self.paid.max(now) + MESSAGE;
        self.paid.saturating_sub(now + FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_who_ask_without_end_wait() {
        let mut pace = StrangerPace::default();
        let mut now = Duration::from_secs(1000);
        for _ in 0..100 {
            assert_eq!(pace.note_answered(now), Duration::ZERO);
        }
        for _ in 0..10 {
            let wait = pace.note_answered(now);
            assert_eq!(wait, MESSAGE);
            now += wait;
        }
        // A driver that looks every ten seconds never waits.
        for _ in 0..1000 {
            now += Duration::from_secs(10);
            assert_eq!(pace.note_answered(now), Duration::ZERO);
        }
    }
}
