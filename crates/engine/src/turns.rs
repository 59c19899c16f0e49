//! Serializes writers that must examine all documents of a collection to find the first in sort
//! order. If several find the same document, one changes it and the others must examine everything
//! again: N writers would do so N*N times. A writer takes turns once it has lost a conflict or
//! another writer holds a turn. It takes no other lock while it waits.

use std::{pin::pin, task::Poll};

use evaluation::Context;
use tokio::sync::{Mutex, MutexGuard, Notify};

use crate::error::Error;

/// The turns of one collection.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// A fair lock: waiters are served in order of arrival.
    lock: Mutex<()>,
    /// Notified when a turn ends, so that waiters recheck whether they may continue.
    ended: Notify,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    /// `None` once it has ended.
    guard: Option<MutexGuard<'a, ()>>,
    turns: &'a Turns,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.guard = None;
        self.turns.ended.notify_waiters();
    }
}

impl Turns {
    /// Returns whether a writer holds a turn.
    pub(crate) fn is_taken(&self) -> bool {
        self.lock.try_lock().is_err()
    }

    /// Waits for a turn. Whenever another turn ends, checks whether the operation was cancelled or
    /// has timed out.
    ///
    /// # Errors
    ///
    /// [`Kind::Stopped`](crate::error::Kind::Stopped)
    pub(crate) async fn wait(&self, context: &Context) -> Result<Turn<'_>, Error> {
        let mut locked = pin!(self.lock.lock());
        loop {
            let mut ended = pin!(self.ended.notified());
            // From here on no notification is missed.
            ended.as_mut().enable();
            context.budget.check()?;
            let guard = std::future::poll_fn(|task| {
                if let Poll::Ready(guard) = locked.as_mut().poll(task) {
                    return Poll::Ready(Some(guard));
                }
                ended.as_mut().poll(task).map(|()| None)
            });
            if let Some(guard) = guard.await {
                return Ok(Turn { guard: Some(guard), turns: self });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering::Relaxed},
        },
        task,
    };

    use evaluation::{Budget, Watch};

    use super::*;

    /// Cancels an operation once the flag is set.
    #[derive(Clone, Default)]
    struct Told(Arc<AtomicBool>);

    impl Watch for Told {
        fn check_end(&self) -> Result<(), evaluation::Error> {
            match self.0.load(Relaxed) {
                true => Err(evaluation::Error::new(evaluation::Kind::Stopped, 11601, "told")),
                false => Ok(()),
            }
        }
    }

    fn context(told: &Told) -> Context {
        Context { budget: Arc::new(Budget::watched(told.clone())), ..Context::default() }
    }

    #[test]
    fn turns_come_in_order_and_those_who_wait_can_be_told_to_end() {
        let (turns, told) = (Turns::default(), Told::default());
        let (going_on, ending) = (context(&Told::default()), context(&told));
        let mut task = task::Context::from_waker(task::Waker::noop());
        assert!(!turns.is_taken());
        let mut first = Box::pin(turns.wait(&going_on));
        let Poll::Ready(Ok(turn)) = first.as_mut().poll(&mut task) else { panic!() };
        assert!(turns.is_taken());
        let mut second = Box::pin(turns.wait(&ending));
        let mut third = Box::pin(turns.wait(&going_on));
        let mut fourth = Box::pin(turns.wait(&going_on));
        assert!(second.as_mut().poll(&mut task).is_pending());
        assert!(third.as_mut().poll(&mut task).is_pending());
        assert!(fourth.as_mut().poll(&mut task).is_pending());
        // A cancelled waiter leaves the turn to the next one.
        drop(third);
        drop(turn);
        let Poll::Ready(Ok(turn)) = second.as_mut().poll(&mut task) else { panic!() };
        assert!(fourth.as_mut().poll(&mut task).is_pending());
        let mut late = Box::pin(turns.wait(&ending));
        assert!(late.as_mut().poll(&mut task).is_pending());
        told.0.store(true, Relaxed);
        drop(turn);
        assert!(matches!(late.as_mut().poll(&mut task), Poll::Ready(Err(_))));
        let Poll::Ready(Ok(turn)) = fourth.as_mut().poll(&mut task) else { panic!() };
        drop(turn);
        assert!(!turns.is_taken());
    }
}
