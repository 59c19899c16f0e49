//! Waiting for database time while a checkpoint is overdue, and ending the clock.

use std::sync::atomic::Ordering;

use crate::{Instant, database::Clock};

/// The clock has ended because its node no longer owns the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockEnded;

impl std::fmt::Display for ClockEnded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this node is no longer the owner")
    }
}

impl std::error::Error for ClockEnded {}

impl Clock {
    /// Returns database time; waits while a checkpoint is overdue.
    ///
    /// # Errors
    ///
    /// [`ClockEnded`] if the clock has ended or ends during the wait.
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

    /// Returns database time, blocking the thread while a checkpoint is overdue.
    ///
    /// # Errors
    ///
    /// [`ClockEnded`] if the clock has ended or ends during the wait.
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

    /// Ends the clock permanently: no time may be used any more, and all waiting calls fail.
    pub fn end(&self) {
        let state = self.state.lock();
        self.ended.store(true, Ordering::SeqCst);
        drop(state);
        self.renewed.notify_all();
        self.renewed_async.notify_waiters();
    }

    /// Returns whether the clock has ended.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}
