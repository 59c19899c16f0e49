//! Functions that wait. All pauses of the load generator are in this file, so that a pause inside a
//! measurement is easy to find.

use std::time::Duration;

/// Waits this long without blocking the thread.
#[expect(clippy::disallowed_methods, reason = "a benchmark waits for its windows to pass")]
pub(crate) async fn pause_for(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Waits until this time of the monotonic clock; returns immediately if the time has passed.
pub(crate) async fn pause_until(instant: Duration) {
    pause_for(instant.saturating_sub(clock::monotonic_time())).await;
}
