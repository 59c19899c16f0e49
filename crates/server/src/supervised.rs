//! What a supervisor such as systemd is told, where there is one (`NOTIFY_SOCKET`): that the server
//! accepts clients, reads files again, stops, and that its workers do not hang. Nothing is decided by it.

use std::time::Duration;

use sd_notify::NotifyState;

use crate::background;

/// Tells it; without a supervisor nothing happens. One that does not listen is no reason to stop.
fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "tell the supervisor");
    }
}

/// Clients are accepted, and files have been read again.
pub(crate) fn tell_ready() {
    tell(&[NotifyState::Ready]);
}

/// Files are read again. Since when, it asks to know.
pub(crate) fn tell_reloading() {
    let since = i128::try_from(clock::monotonic_time().as_micros()).unwrap_or(i128::MAX);
    tell(&[NotifyState::Reloading, NotifyState::MonotonicUsec(since)]);
}

/// The server stops.
pub(crate) fn tell_stopping() {
    tell(&[NotifyState::Stopping]);
}

/// Tells it every so often that the runtime's workers run tasks, if it wants to know: it starts the
/// server again when it does not hear of them for long. This task is one of theirs, so it is silent when
/// all of them hang.
pub(crate) fn start_watchdog() {
    let Some(longest) = sd_notify::watchdog_enabled() else { return };
    let every = (longest / 3).max(Duration::from_millis(10));
    tokio::spawn(async move {
        loop {
            tell(&[NotifyState::Watchdog]);
            background::wait_for(every).await;
        }
    });
}
