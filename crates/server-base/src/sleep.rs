//! Sleeping, of threads and of tasks. Crates below this one take the time as an argument, or return
//! the time at which they want to be called again.

use std::time::Duration;

use tokio::sync::watch;

/// Sleeps, blocking the thread: for dedicated threads only, never for a worker of the runtime.
#[expect(clippy::disallowed_methods, reason = "only this crate sleeps for the server")]
pub fn pause_thread(time: Duration) {
    std::thread::sleep(time);
}

/// Sleeps without blocking a thread.
#[expect(clippy::disallowed_methods, reason = "only this crate sleeps for the server")]
pub async fn wait_for(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Sleeps for `time`; returns false if the server is stopping.
pub async fn has_waited(time: Duration, stop: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = wait_for(time) => true,
        _ = stop.wait_for(|stop| *stop) => false,
    }
}
