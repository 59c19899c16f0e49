//! A fair queue for a number of permits, whose waiters return when their operation is cancelled.
//!
//! Permits are used for two purposes: the turns of a collection ([`Turns::one_at_a_time`]), and the
//! memory of writes of large documents. `write/turn.rs` determines when a writer waits for them.

use std::{pin::pin, task::Poll};

use evaluation::Context;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use crate::error::Error;

/// Memory of one permit in bytes.
const PERMIT_BYTES: usize = 64 * 1024;

/// A number of permits that operations wait for in order of arrival.
#[derive(Debug)]
pub(crate) struct Turns {
    /// A fair semaphore: waiters are served in order of arrival.
    permits: Semaphore,
    /// Number of permits, whether in use or not.
    total: u32,
    /// Notified when a turn ends, so that waiters recheck whether they may continue.
    ended: Notify,
}

/// Permits that an operation has taken, returned on drop.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    /// The permits; `None` once they are returned.
    permit: Option<SemaphorePermit<'a>>,
    turns: &'a Turns,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.permit = None;
        self.turns.ended.notify_waiters();
    }
}

impl Turns {
    /// Creates a single permit, so that operations take turns.
    pub(crate) fn one_at_a_time() -> Self {
        Self::of_permits(1)
    }

    /// Creates this many permits; at least one.
    pub(crate) fn of_permits(total: u32) -> Self {
        let total = total.max(1);
        let permits = Semaphore::new(usize::try_from(total).unwrap_or(Semaphore::MAX_PERMITS));
        Self { permits, total, ended: Notify::new() }
    }

    /// Creates the permits for this many bytes of memory.
    pub(crate) fn of_memory(bytes: usize) -> Self {
        Self::of_permits(permits_for(bytes))
    }

    /// Returns whether a permit is in use.
    pub(crate) fn is_taken(&self) -> bool {
        u32::try_from(self.permits.available_permits()).is_ok_and(|left| left < self.total)
    }

    /// Waits for this many bytes of memory, or for all of the memory if its total is less; see
    /// [`wait`](Self::wait).
    pub(crate) async fn wait_for_memory(
        &self,
        bytes: usize,
        context: &Context,
    ) -> Result<Turn<'_>, Error> {
        self.wait(permits_for(bytes), context).await
    }

    /// Waits for this many permits, or for all permits if there are fewer in total. Whenever a
    /// permit is returned, checks whether the operation was cancelled or has timed out.
    ///
    /// # Errors
    ///
    /// [`Kind::Stopped`](crate::error::Kind::Stopped)
    pub(crate) async fn wait(&self, wanted: u32, context: &Context) -> Result<Turn<'_>, Error> {
        let mut acquired = pin!(self.permits.acquire_many(wanted.min(self.total)));
        loop {
            let mut ended = pin!(self.ended.notified());
            // Enabled before the checks below, so that no notification between check and wait is
            // missed.
            ended.as_mut().enable();
            context.budget.check()?;
            let permit = std::future::poll_fn(|task| {
                if let Poll::Ready(permit) = acquired.as_mut().poll(task) {
                    return Poll::Ready(Some(permit));
                }
                ended.as_mut().poll(task).map(|()| None)
            });
            if let Some(permit) = permit.await {
                // The semaphore is never closed, so `ok` always is the permit.
                return Ok(Turn { permit: permit.ok(), turns: self });
            }
        }
    }
}

/// Returns the number of permits for this many bytes of memory.
fn permits_for(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX)
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
    struct CancelFlag(Arc<AtomicBool>);

    impl Watch for CancelFlag {
        fn check_end(&self) -> Result<(), evaluation::Error> {
            match self.0.load(Relaxed) {
                true => Err(evaluation::Error::new(evaluation::Kind::Stopped, 11601, "told")),
                false => Ok(()),
            }
        }
    }

    fn context(told: &CancelFlag) -> Context {
        Context { budget: Arc::new(Budget::watched(told.clone())), ..Context::default() }
    }

    #[test]
    fn turns_come_in_order_and_those_who_wait_can_be_told_to_end() {
        let (turns, told) = (Turns::one_at_a_time(), CancelFlag::default());
        let (going_on, ending) = (context(&CancelFlag::default()), context(&told));
        let mut task = task::Context::from_waker(task::Waker::noop());
        assert!(!turns.is_taken());
        let mut first = Box::pin(turns.wait(1, &going_on));
        let Poll::Ready(Ok(turn)) = first.as_mut().poll(&mut task) else { panic!() };
        assert!(turns.is_taken());
        let mut second = Box::pin(turns.wait(1, &ending));
        let mut third = Box::pin(turns.wait(1, &going_on));
        let mut fourth = Box::pin(turns.wait(1, &going_on));
        assert!(second.as_mut().poll(&mut task).is_pending());
        assert!(third.as_mut().poll(&mut task).is_pending());
        assert!(fourth.as_mut().poll(&mut task).is_pending());
        // A cancelled waiter leaves the turn to the next one.
        drop(third);
        drop(turn);
        let Poll::Ready(Ok(turn)) = second.as_mut().poll(&mut task) else { panic!() };
        assert!(fourth.as_mut().poll(&mut task).is_pending());
        let mut late = Box::pin(turns.wait(1, &ending));
        assert!(late.as_mut().poll(&mut task).is_pending());
        told.0.store(true, Relaxed);
        drop(turn);
        assert!(matches!(late.as_mut().poll(&mut task), Poll::Ready(Err(_))));
        let Poll::Ready(Ok(turn)) = fourth.as_mut().poll(&mut task) else { panic!() };
        drop(turn);
        assert!(!turns.is_taken());
    }

    #[test]
    fn permits_are_given_as_far_as_they_go() {
        let turns = Turns::of_permits(10);
        let going_on = context(&CancelFlag::default());
        let mut task = task::Context::from_waker(task::Waker::noop());
        let mut wait = |wanted| {
            let mut waiting = Box::pin(turns.wait(wanted, &going_on));
            match waiting.as_mut().poll(&mut task) {
                Poll::Ready(turn) => Some(turn.unwrap()),
                Poll::Pending => None,
            }
        };
        let first = wait(6).unwrap();
        let second = wait(4).unwrap();
        assert!(wait(1).is_none());
        drop(first);
        assert!(wait(7).is_none());
        assert!(wait(6).is_some());
        drop(second);
        // More than there are: all of them.
        let all = wait(11).unwrap();
        assert!(wait(1).is_none());
        drop(all);
        assert!(!turns.is_taken());
    }
}
