//! The executor: a future is polled when the test says so, so every interleaving is chosen. There
//! is no runtime and no waker: whoever has to wait is polled again until it need not.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// Polls of a future that has nothing to wait for.
const POLLS: usize = 10_000;

/// An operation under way.
pub struct Task<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
}

impl<T> std::fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

impl<T> Task<T> {
    /// An operation that has not begun.
    pub fn new(future: impl Future<Output = T> + 'static) -> Self {
        Self { future: Box::pin(future) }
    }

    /// Runs until it is done or has to wait.
    pub fn poll(&mut self) -> Option<T> {
        let mut context = Context::from_waker(Waker::noop());
        match self.future.as_mut().poll(&mut context) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    /// Runs until it is done; fails when it waits for something that does not come.
    pub fn finish(mut self) -> T {
        for _ in 0..POLLS {
            if let Some(value) = self.poll() {
                return value;
            }
        }
        panic!("an operation waits for ever");
    }
}

/// Runs an operation that has nothing to wait for.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..POLLS {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("an operation waits for ever");
}
