//! Notifications to a supervisor such as systemd, if there is one (`NOTIFY_SOCKET`): the server
//! accepts clients, reloads, stops, and its workers make progress.

use std::time::Duration;

use sd_notify::NotifyState;
use server_base::sleep;

/// Reports states to the service manager (systemd), if there is one; failures are ignored.
fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "cannot notify the service manager");
    }
}

/// Reports that clients are accepted, or that a reload is complete.
pub(crate) fn notify_ready() {
    notify(&[NotifyState::Ready]);
}

/// Reports that a reload has started, with the time, which the protocol requires.
pub(crate) fn notify_reloading() {
    let since = i128::try_from(clock::monotonic_time().as_micros()).unwrap_or(i128::MAX);
    notify(&[NotifyState::Reloading, NotifyState::MonotonicUsec(since)]);
}

pub(crate) fn notify_stopping() {
    notify(&[NotifyState::Stopping]);
}

/// Starts the watchdog, if requested: a periodic task that reports that the runtime's workers run
/// tasks. If they all hang, so does this task, and the supervisor restarts the server.
pub(crate) fn start_watchdog() {
    let Some(longest) = sd_notify::watchdog_enabled() else { return };
    let every = (longest / 3).max(Duration::from_millis(10));
    tokio::spawn(async move {
        loop {
            notify(&[NotifyState::Watchdog]);
            sleep::wait_for(every).await;
        }
    });
}
