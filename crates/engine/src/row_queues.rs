//! Queues of operations that write the same row, one queue per row, in order of arrival.
//!
//! The operation at the head of a queue has the turn: the right to draft the row's next version.
//! The turn passes to the next operation in the queue when its owner drops it, also if the owner is
//! cancelled, and may carry work that the next operation continues. A queue exists only while an
//! operation has its turn. Its length is bounded by the number of operations in progress, since it
//! is cleared of cancelled ones as it grows.
//!
//! ```text
//!  operation 1  [turn: draft][pass on ─▶
//!  operation 2   waits ....................[turn: draft][commit of both drafts ... drop ─▶
//!  operation 3       waits ...................................................... [turn ...
//! ```

use std::{
    any::Any,
    collections::{HashMap, VecDeque, hash_map::Entry},
    hash::BuildHasher,
    sync::Arc,
};

use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Number of independently locked parts of the table.
const SHARDS: usize = 64;

/// Length from which cancelled operations are removed from a queue.
const LONG_QUEUE: usize = 64;

/// A row: its collection's id and its key.
type RowName = (u32, Bytes);

/// The operations that wait for the turn of a row.
type Waiters = VecDeque<oneshot::Sender<RowTurn>>;

#[derive(Debug)]
pub(crate) struct RowQueues {
    shards: Box<[Mutex<HashMap<RowName, Waiters, RandomState>>]>,
    hasher: RandomState,
}

/// The right to draft the next version of a row. Dropping it gives it, with the work that it
/// carries, to the operation that has waited longest.
#[derive(Debug)]
pub(crate) struct RowTurn {
    queues: Arc<RowQueues>,
    row: RowName,
    /// The work that the owner of the turn continues. Its type is known to the writers, which are in
    /// a layer above.
    work: Option<Box<dyn Any + Send>>,
    /// Whether the queue has ended or another value has the turn.
    is_over: bool,
}

impl Default for RowQueues {
    fn default() -> Self {
        let shards = std::iter::repeat_with(Mutex::default).take(SHARDS).collect();
        Self { shards, hasher: RandomState::default() }
    }
}

impl RowQueues {
    fn shard(&self, row: &RowName) -> &Mutex<HashMap<RowName, Waiters, RandomState>> {
        let at = self.hasher.hash_one(row) as usize % self.shards.len();
        &self.shards[at]
    }

    /// Waits for the turn of a row.
    pub(crate) async fn wait_for_turn(self: &Arc<Self>, collection: u32, key: &Bytes) -> RowTurn {
        let row = (collection, key.clone());
        loop {
            let waiting = match self.shard(&row).lock().entry(row.clone()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(VecDeque::new());
                    None
                }
                Entry::Occupied(mut queue) => {
                    let (sender, receiver) = oneshot::channel();
                    let queue = queue.get_mut();
                    // Those of cancelled operations are removed when the queue has grown, not each
                    // time.
                    if LONG_QUEUE <= queue.len() && queue.len().is_power_of_two() {
                        queue.retain(|waiter| !waiter.is_closed());
                    }
                    queue.push_back(sender);
                    Some(receiver)
                }
            };
            let Some(waiting) = waiting else { return self.turn(row, None) };
            // A queue with waiters ends with their turns, so a sender is never dropped unused.
            if let Ok(turn) = waiting.await {
                return turn;
            }
        }
    }

    fn turn(self: &Arc<Self>, row: RowName, work: Option<Box<dyn Any + Send>>) -> RowTurn {
        RowTurn { queues: Arc::clone(self), row, work, is_over: false }
    }

    /// Removes the operation that has waited longest from a row's queue.
    fn take_waiter(&self, row: &RowName) -> Option<oneshot::Sender<RowTurn>> {
        self.shard(row).lock().get_mut(row)?.pop_front()
    }

    /// Removes the operation that has waited longest; ends the queue if none waits.
    fn take_waiter_or_end(&self, row: &RowName) -> Option<oneshot::Sender<RowTurn>> {
        // One lock for both, so that no operation joins a queue that ends.
        let mut shard = self.shard(row).lock();
        let waiter = shard.get_mut(row).and_then(VecDeque::pop_front);
        if waiter.is_none() {
            shard.remove(row);
        }
        waiter
    }
}

impl RowTurn {
    /// Makes the turn carry this work.
    pub(crate) fn carry<T: Send + 'static>(&mut self, work: T) {
        self.work = Some(Box::new(work));
    }

    /// Returns the work that the turn carries, if it is of this type.
    pub(crate) fn work<T: 'static>(&mut self) -> Option<&mut T> {
        self.work.as_mut()?.downcast_mut()
    }

    /// Removes the work that the turn carries; drops it if it is of another type.
    pub(crate) fn take_work<T: 'static>(&mut self) -> Option<Box<T>> {
        self.work.take()?.downcast().ok()
    }

    /// Returns whether another operation waits for the turn, or was cancelled while it waited.
    pub(crate) fn is_awaited(&self) -> bool {
        let shard = self.queues.shard(&self.row).lock();
        shard.get(&self.row).is_some_and(|queue| !queue.is_empty())
    }

    /// Gives the turn to the operation that has waited longest; returns it if none waits.
    pub(crate) fn pass_on(self) -> Option<Self> {
        let mut turn = self;
        while let Some(waiter) = turn.queues.take_waiter(&turn.row) {
            match waiter.send(turn) {
                Ok(()) => return None,
                Err(returned) => turn = returned,
            }
        }
        Some(turn)
    }

    /// Makes the caller the first operation of the queue, which gets the next turn.
    pub(crate) fn queue_first(&self) -> oneshot::Receiver<Self> {
        let (sender, receiver) = oneshot::channel();
        if let Some(queue) = self.queues.shard(&self.row).lock().get_mut(&self.row) {
            queue.push_front(sender);
        }
        receiver
    }
}

impl Drop for RowTurn {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut next = self.queues.turn(std::mem::take(&mut self.row), self.work.take());
        // A loop, since an operation that was cancelled returns the turn, and thousands may have
        // been.
        while let Some(waiter) = next.queues.take_waiter_or_end(&next.row) {
            match waiter.send(next) {
                Ok(()) => return,
                Err(returned) => next = returned,
            }
        }
        next.is_over = true;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    type Waiting<'a> = Pin<Box<dyn Future<Output = RowTurn> + 'a>>;

    fn poll(waiting: &mut Waiting<'_>) -> Option<RowTurn> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    fn wait<'a>(queues: &'a Arc<RowQueues>, key: &'a Bytes) -> Waiting<'a> {
        Box::pin(queues.wait_for_turn(1, key))
    }

    fn is_empty(queues: &RowQueues) -> bool {
        queues.shards.iter().all(|shard| shard.lock().is_empty())
    }

    #[test]
    fn turns_pass_in_order_of_arrival_with_their_work() {
        let (queues, key) = (Arc::<RowQueues>::default(), Bytes::from_static(b"a"));
        let mut first = poll(&mut wait(&queues, &key)).unwrap();
        let [mut second, mut third] = [wait(&queues, &key), wait(&queues, &key)];
        assert!(poll(&mut second).is_none() && poll(&mut third).is_none());
        // Another row has its own queue.
        assert!(poll(&mut wait(&queues, &Bytes::from_static(b"b"))).is_some());
        first.carry(7_u32);
        assert!(first.pass_on().is_none());
        assert!(poll(&mut third).is_none());
        let mut turn = poll(&mut second).unwrap();
        assert_eq!(turn.take_work(), Some(Box::new(7_u32)));
        let mut again = turn.queue_first();
        drop(turn);
        assert!(poll(&mut third).is_none());
        drop(again.try_recv().unwrap());
        let last = poll(&mut third).unwrap().pass_on().expect("no other operation waits");
        drop(last);
        assert!(is_empty(&queues));
    }

    #[test]
    fn cancelled_operations_leave_a_queue_that_does_not_move() {
        let (queues, key) = (Arc::<RowQueues>::default(), Bytes::from_static(b"a"));
        let turn = poll(&mut wait(&queues, &key)).unwrap();
        let mut last = wait(&queues, &key);
        assert!(poll(&mut last).is_none());
        (0..10_000).for_each(|_| assert!(poll(&mut wait(&queues, &key)).is_none()));
        let waiting: usize = queues
            .shards
            .iter()
            .flat_map(|shard| shard.lock().values().map(Waiters::len).collect::<Vec<_>>())
            .sum();
        assert!(waiting <= LONG_QUEUE, "{waiting}");
        drop(turn);
        assert!(poll(&mut last).is_some());
    }

    #[test]
    fn a_turn_skips_operations_that_were_cancelled() {
        let (queues, key) = (Arc::<RowQueues>::default(), Bytes::from_static(b"a"));
        let mut turn = poll(&mut wait(&queues, &key)).unwrap();
        turn.carry(7_u32);
        let mut gone: Vec<_> = (0..100).map(|_| wait(&queues, &key)).collect();
        gone.iter_mut().for_each(|it| assert!(poll(it).is_none()));
        let mut last = wait(&queues, &key);
        assert!(poll(&mut last).is_none());
        // One is cancelled after it was given the turn and before it was polled.
        let given = gone.remove(0);
        assert!(turn.pass_on().is_none());
        drop(gone);
        drop(given);
        let mut turn = poll(&mut last).unwrap();
        assert_eq!(turn.work(), Some(&mut 7_u32));
        drop(turn);
        assert!(is_empty(&queues));
    }
}
