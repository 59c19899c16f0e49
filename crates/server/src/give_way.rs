//! Hands the worker of a long-computing task to another thread, so that other tasks run.
//!
//! The runtime has one more worker than the machine has cores, and a task keeps its worker until it
//! awaits. A long sort or parse never does, so it calls [`give_way`] periodically, through a
//! function pointer in the APIs' settings: they do not depend on the runtime.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor::MultiThread};

/// Time for which the thread sleeps so that another one starts or wakes up and takes over its
/// worker.
const HANDOVER: Duration = Duration::from_micros(200);

/// Hands over this worker's queued tasks and I/O driver. The calling task continues on its thread,
/// without a worker, until it awaits next; further calls until then only sleep briefly. Does
/// nothing outside a multi-threaded runtime.
pub(crate) fn give_way() {
    if on_workers() {
        // From here on this task occupies no worker, so it releases its lane (permit of a long
        // operation) to another long operation.
        engine::leave_lane();
        tokio::task::block_in_place(pause_briefly);
    }
}

/// Runs a long `work` without a worker, for code that cannot call [`give_way`] in between. A call
/// of `give_way` before the work would not suffice: if it returned before another thread has taken
/// over the worker, the tasks queued on the worker would wait for the work. Also for work that
/// waits for another thread: if all workers blocked, none would be left to run the awaited work.
pub(crate) fn run_apart(work: &mut dyn FnMut()) {
    if !on_workers() {
        return work();
    }
    engine::leave_lane();
    tokio::task::block_in_place(|| {
        pause_briefly();
        work()
    })
}

/// Returns whether this thread belongs to a multi-threaded runtime; `block_in_place` panics on a
/// single-threaded one.
fn on_workers() -> bool {
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == MultiThread)
}

/// Sleeps for [`HANDOVER`], so that the thread that continues the runtime's other tasks in place of
/// this one gets scheduled.
#[expect(clippy::disallowed_methods, reason = "only the server crate may sleep")]
fn pause_briefly() {
    std::thread::sleep(HANDOVER);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    /// Maximum time until another task has to run.
    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn others_run_while_a_task_that_gave_way_computes() {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let (sent, received) = std::sync::mpsc::channel();
        let computing = runtime.spawn(async move {
            // Only another thread can run this task.
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
            // More busy threads than processors: a new thread has to wait to be scheduled.
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
                    // One poll that never yields.
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
