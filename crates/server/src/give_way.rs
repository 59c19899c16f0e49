//! Gives the worker of a thread that computes for long to another thread, so that others are served.
//!
//! The runtime has one worker more than the machine has cores, and a task keeps its worker until it
//! waits. A long sort or parse never waits; so now and then it calls [`give_way`], by the function
//! pointer that the APIs are given in their settings: they do not depend on the runtime.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor::MultiThread};

/// How long the thread waits for another to take over its worker: another one has to start or to
/// wake up for that.
const HANDOVER: Duration = Duration::from_micros(200);

/// Hands over the tasks that wait for this worker, and the watch over sockets that it may keep. The
/// calling task goes on on its thread, without a worker, until it waits next; further calls until
/// then only wait for a moment. Outside a runtime with several workers it does nothing.
pub(crate) fn give_way() {
    if on_workers() {
        // This step competes for no worker any more, so another long operation may have its lane.
        engine::leave_lane();
        tokio::task::block_in_place(pause_briefly);
    }
}

/// Runs `work`, which keeps this thread for long and has no worker meanwhile; for a step that cannot
/// call [`give_way`] in its middle. Where `give_way` returns before another thread has started, the
/// worker comes back to this one, and whatever waits for it waits for the work too. Here the worker
/// cannot come back before the work is done. Returns when it is done.
pub(crate) fn run_apart(work: &mut dyn FnMut()) {
    apart(work);
}

/// The same for work that returns something, such as one that waits for another thread: if all workers
/// waited, nobody would be left to do what they wait for.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    if !on_workers() {
        return work();
    }
    engine::leave_lane();
    tokio::task::block_in_place(|| {
        pause_briefly();
        work()
    })
}

/// Returns whether this thread belongs to a runtime with several workers; on a runtime of one thread
/// `block_in_place` would panic.
fn on_workers() -> bool {
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == MultiThread)
}

/// Sleeps on this thread for [`HANDOVER`], so that the system runs the one that takes the worker.
#[expect(clippy::disallowed_methods, reason = "the server is where waiting happens")]
fn pause_briefly() {
    std::thread::sleep(HANDOVER);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    /// How long somebody waits to be served before the test gives up.
    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn others_run_while_a_task_that_gave_way_computes() {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let (sent, received) = std::sync::mpsc::channel();
        let computing = runtime.spawn(async move {
            // Only another thread can run this now.
            tokio::spawn(async move { sent.send(()) });
            loop {
                give_way();
                if received.try_recv().is_ok() {
                    return true;
                }
            }
        });
        assert!(runtime.block_on(computing).unwrap());
    }

    #[test]
    fn others_run_while_work_apart_computes_although_the_machine_is_busy() {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        let served = std::thread::scope(|scope| {
            // More that computes than there are processors: a new thread waits for its turn.
            for _ in 0..4 * std::thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let served = (0..5).all(|_| {
                let (sent, received) = std::sync::mpsc::channel();
                let computing = runtime.spawn(async move {
                    tokio::spawn(async move { sent.send(()) });
                    let mut served = false;
                    // One step, without another chance to give way.
                    run_apart(&mut || served = received.recv_timeout(PATIENCE).is_ok());
                    served
                });
                runtime.block_on(computing).unwrap()
            });
            done.store(true, Ordering::Relaxed);
            served
        });
        assert!(served);
    }
}
