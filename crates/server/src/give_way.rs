//! Gives the worker of a thread that computes for long to another thread, so that others are served.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor::MultiThread};

/// How long the thread waits for another to take its worker.
const HANDOVER: Duration = Duration::from_micros(200);

/// Hands over what else waits for this worker, and the watch over sockets that it may keep. What
/// runs here goes on without a worker; then this does nothing but wait for a moment.
pub(crate) fn give_way() {
    if Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == MultiThread) {
        engine::leave_lane();
        tokio::task::block_in_place(pause);
    }
}

#[expect(clippy::disallowed_methods, reason = "the server is where waiting happens")]
fn pause() {
    std::thread::sleep(HANDOVER);
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
