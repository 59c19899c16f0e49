//! Whoever needs database time waits for it while a checkpoint is overdue, until the clock ends.

use std::sync::atomic::Ordering;

use crate::{database::Clock, instant::Instant};

/// The clock has ended: its node does not own what it is the time of any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockEnded;

impl std::fmt::Display for ClockEnded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this node is not the owner any more")
    }
}

impl std::error::Error for ClockEnded {}

impl Clock {
    /// Database time; waits while a checkpoint is overdue.
    ///
    /// # Errors
    ///
    /// [`ClockEnded`] when it has ended, also while this waits.
    pub async fn now(&self) -> Result<Instant, ClockEnded> {
        loop {
            let renewed = self.renewed_async.notified();
            if let Some(now) = self.try_now() {
                return Ok(now);
            }
            if self.has_ended() {
                return Err(ClockEnded);
            }
            renewed.await;
        }
    }

    /// Database time, for threads; waits while a checkpoint is overdue.
    ///
    /// # Errors
    ///
    /// As [`now`](Self::now).
    pub fn now_blocking(&self) -> Result<Instant, ClockEnded> {
        loop {
            if let Some(now) = self.try_now() {
                return Ok(now);
            }
            let mut state = self.state.lock();
            if self.has_ended() {
                return Err(ClockEnded);
            }
            if self.try_now().is_none() {
                self.renewed.wait(&mut state);
            }
        }
    }

    /// Ends it: no time may be used any more, and whoever waits for some hears of it.
    pub fn end(&self) {
        let state = self.state.lock();
        self.ended.store(true, Ordering::SeqCst);
        drop(state);
        self.renewed.notify_all();
        self.renewed_async.notify_waiters();
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}
