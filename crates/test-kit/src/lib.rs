//! An engine inside a test: on a memory store whose commits can be held and whose reads can be
//! paused, and a clock that moves on request. Never shipped. The executor is in this file: a future
//! is polled when the test calls for it, so that the test controls every interleaving. No runtime
//! and no waker is used: a pending future is simply polled again.
//!
//! ```text
//!  let kit = Kit::default();
//!  kit.insert(doc! { "_id": 1, "ttl": 5 })?;
//!  kit.move_to(4_999);   // live
//!  kit.move_to(5_000);   // expired
//! ```

mod build;
mod kit;
mod pausing;

pub use build::{
    EqualityDialect, TtlField, compare, date_index, equal, plain_index, sort_by, system_index,
    unique_index,
};
pub use kit::{
    Kit, START_MS, Setup, context, default_ttl, find_all, first_failure, ids_of, insert_one,
    replace_one, start_clock,
};
pub use pausing::{PausingStore, Turnstile};

pub use store::Direction;

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// Maximum number of polls of a future.
const POLLS: usize = 10_000;

/// An operation that a test polls step by step.
pub struct Task<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
}

impl<T> std::fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

impl<T> Task<T> {
    /// Creates a task that has not started.
    pub fn new(future: impl Future<Output = T> + 'static) -> Self {
        Self { future: Box::pin(future) }
    }

    /// Polls the operation once. Returns its result, or `None` if it has to wait.
    pub fn poll(&mut self) -> Option<T> {
        let mut context = Context::from_waker(Waker::noop());
        match self.future.as_mut().poll(&mut context) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    /// Polls the operation until it completes; panics if it waits forever.
    pub fn finish(mut self) -> T {
        for _ in 0..POLLS {
            if let Some(value) = self.poll() {
                return value;
            }
        }
        panic!("an operation never ends");
    }
}

/// Runs an operation that does not have to wait.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..POLLS {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("an operation never ends");
}
