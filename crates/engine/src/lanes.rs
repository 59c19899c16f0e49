//! Limits how many long operations compute at once, so that a worker is always available for short
//! operations.
//!
//! ```text
//!  operation -- polled -- polled -- yields -- (now it is long) -- lane? -- polled -- ...
//!                                                                  | none is free
//!                                                                  +- waits in the queue
//! ```
//!
//! An operation is long once it has yielded. It waits for a lane (the permission to compute)
//! between two steps (polls) and never while it holds a lane, so that anything a step waits for can
//! make progress.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::{Mutex, MutexGuard};
thread_local! {
    /// Whether the poll of an operation that runs on this thread has yielded.
    static RESTED: Cell<bool> = const { Cell::new(false) };
    /// The lane held by the poll that runs on this thread.
    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };
}

/// Records that the current step yields, which classifies its operation as long.
pub(crate) fn record_yield() {
    RESTED.set(true);
}

/// Releases the lane of the current step, which keeps its thread but no longer occupies a worker.
pub fn leave_lane() {
    LANE.with_borrow_mut(Option::take);
}

/// Runs work that occupies its thread for long, without occupying a worker. Calls the closure
/// exactly once before it returns.
pub type BlockInPlace = fn(&mut dyn FnMut());

/// Polls an operation with `block_in_place`, since each of its steps may take long.
pub async fn poll_in_place<T>(
    block_in_place: BlockInPlace,
    mut operation: Pin<&mut impl Future<Output = T>>,
) -> T {
    poll_fn(|context| {
        let mut polled = Poll::Pending;
        block_in_place(&mut || polled = operation.as_mut().poll(context));
        polled
    })
    .await
}

/// The lanes in which long operations compute. Clones share the same lanes.
#[derive(Clone, Debug)]
pub struct Lanes(Arc<SharedLanes>);

#[derive(Debug)]
struct SharedLanes {
    count: usize,
    state: Mutex<LaneState>,
}

#[derive(Debug, Default)]
struct LaneState {
    /// Number of lanes in use or granted to a waiting operation.
    taken: usize,
    /// Queue number of the next waiting operation.
    next: u64,
    /// Waiting operations in order of arrival.
    waiting: VecDeque<(u64, Waker)>,
    /// Operations that were granted a lane and have not been polled since.
    given: Vec<u64>,
}

/// A lane in use, which is passed to the next waiting operation on drop.
#[derive(Debug)]
struct Lane(Lanes);

impl Drop for Lane {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

/// An operation's request for a lane, with its position in the queue.
#[derive(Debug)]
struct LaneRequest<'a> {
    /// A reference, because most operations are short and a shared reference count would be
    /// contended by all processors.
    lanes: &'a Lanes,
    /// Whether the operation is known to be long and so needs a lane.
    is_long: bool,
    /// Queue number of the operation while it waits.
    number: Option<u64>,
}

impl Drop for LaneRequest<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.lanes.lock();
        state.waiting.retain(|(waiting, _)| *waiting != number);
        let given = state.given.len();
        state.given.retain(|waiting| *waiting != number);
        let was_given = state.given.len() < given;
        drop(state);
        if was_given {
            self.lanes.pass_on();
        }
    }
}

impl Default for Lanes {
    /// Creates one lane per processor. The server has one worker thread more than processors, so
    /// that one is free for short operations while all lanes are taken.
    fn default() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Lanes {
    /// Creates this number of lanes, at least one.
    pub fn new(count: usize) -> Self {
        Self(Arc::new(SharedLanes { count: count.max(1), state: Mutex::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.0.state.lock()
    }

    /// Runs an operation, which takes turns once it is long. The operation is passed by reference:
    /// moving it would store it twice in the future of its connection.
    pub async fn run<T>(&self, operation: Pin<&mut impl Future<Output = T>>) -> T {
        self.take_turns(operation, false).await
    }

    /// Runs an operation that is known to be long.
    pub async fn run_long<T>(&self, operation: Pin<&mut impl Future<Output = T>>) -> T {
        self.take_turns(operation, true).await
    }

    /// Polls an operation, holding a lane for each step once it is long.
    async fn take_turns<T>(
        &self,
        mut operation: Pin<&mut impl Future<Output = T>>,
        is_long: bool,
    ) -> T {
        let mut request = LaneRequest { lanes: self, is_long, number: None };
        poll_fn(|context| {
            if request.is_long && !self.try_enter(&mut request, context) {
                return Poll::Pending;
            }
            let lane = request.is_long.then(|| Lane(self.clone()));
            // Polls may be nested, so the outer operation's values are restored afterwards.
            let around = LANE.replace(lane);
            let rested = RESTED.replace(false);
            let polled = operation.as_mut().poll(context);
            request.is_long |= RESTED.replace(rested);
            drop(LANE.replace(around));
            polled
        })
        .await
    }

    /// Returns whether the operation may run now; otherwise queues it.
    fn try_enter(&self, request: &mut LaneRequest<'_>, context: &Context<'_>) -> bool {
        let mut state = self.lock();
        let Some(number) = request.number else {
            if state.taken < self.0.count {
                state.taken += 1;
                return true;
            }
            let number = state.next;
            state.next += 1;
            state.waiting.push_back((number, context.waker().clone()));
            request.number = Some(number);
            return false;
        };
        if let Some(at) = state.given.iter().position(|given| *given == number) {
            state.given.swap_remove(at);
            request.number = None;
            return true;
        }
        if let Some((_, waker)) = state.waiting.iter_mut().find(|(waiting, _)| *waiting == number) {
            waker.clone_from(context.waker());
        }
        false
    }

    /// Frees a lane and grants it to the next waiting operation.
    fn pass_on(&self) {
        let mut state = self.lock();
        match state.waiting.pop_front() {
            Some((number, waker)) => {
                state.given.push(number);
                drop(state);
                waker.wake();
            }
            None => state.taken -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
    };

    use super::*;
    use crate::yielding::yield_now;

    /// An operation of `count` steps that records the maximum number of concurrent steps.
    async fn steps(count: usize, running: &AtomicUsize, most: &AtomicUsize) {
        for _ in 0..count {
            let now = running.fetch_add(1, SeqCst) + 1;
            most.fetch_max(now, SeqCst);
            std::thread::yield_now();
            running.fetch_sub(1, SeqCst);
            yield_now().await;
        }
    }

    #[test]
    fn only_so_many_compute_at_once_and_all_come_to_their_end() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let lanes = Lanes::new(2);
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let (lanes, running, most) =
                    (lanes.clone(), Arc::clone(&running), Arc::clone(&most));
                runtime.spawn(async move {
                    lanes.run_long(pin!(steps(100, &running, &most))).await;
                })
            })
            .collect();
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
        assert!(most.load(SeqCst) <= 2, "{most:?}");
        let state = lanes.lock();
        assert_eq!((state.taken, state.waiting.len(), state.given.len()), (0, 0, 0));
    }

    fn poll<T>(future: &mut std::pin::Pin<Box<impl Future<Output = T>>>) -> Poll<T> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn an_operation_is_short_until_it_lets_others_run() {
        let lanes = Lanes::new(1);
        let (one, other) = (&mut std::future::pending::<()>(), &mut std::future::pending::<()>());
        let mut short = Box::pin(lanes.run(Pin::new(one)));
        let mut first = Box::pin(lanes.run_long(Pin::new(other)));
        assert!(poll(&mut short).is_pending() && poll(&mut first).is_pending());
        assert_eq!(lanes.lock().taken, 0, "nobody keeps a lane while it waits for something else");
        let rests = pin!(async {
            yield_now().await;
            lanes.lock().taken
        });
        let mut rests = Box::pin(lanes.run(rests));
        assert!(poll(&mut rests).is_pending());
        assert_eq!(poll(&mut rests), Poll::Ready(1));
        assert_eq!(lanes.lock().taken, 0);
    }

    #[test]
    fn who_leaves_while_it_waits_gives_its_turn_to_the_next() {
        let lanes = Lanes::new(1);
        let one = || async { lanes.run_long(pin!(std::future::ready(()))).await };
        let taken = pin!(async {
            let mut others: Vec<_> = (0..3).map(|_| Box::pin(one())).collect();
            assert!(others.iter_mut().all(|other| poll(other).is_pending()));
            others
        });
        let mut taken = Box::pin(lanes.run_long(taken));
        let Poll::Ready(mut others) = poll(&mut taken) else { panic!("it waited") };
        assert_eq!(lanes.lock().given.len(), 1);
        drop(others.remove(0));
        assert_eq!(lanes.lock().given.len(), 1);
        drop(others.remove(1));
        assert!(poll(&mut others[0]).is_ready());
        assert_eq!(lanes.lock().taken, 0);
    }

    #[test]
    fn what_gives_its_worker_away_leaves_its_lane() {
        let lanes = Lanes::new(1);
        let long = pin!(async {
            leave_lane();
            lanes.lock().taken
        });
        let mut long = Box::pin(lanes.run_long(long));
        assert_eq!(poll(&mut long), Poll::Ready(0));
        assert_eq!(lanes.lock().taken, 0);
    }
}
