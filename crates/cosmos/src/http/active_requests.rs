//! Counts the requests of one connection, to detect that its client is idle: an idle connection
//! releases its buffers (see `connection`).

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use crate::limits::IDLE_POLL;

/// Counts of started and finished requests, and whether a write to the socket is blocked. Clones
/// share their state.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveRequests(Arc<Counts>);

/// The shared state of `ActiveRequests`.
#[derive(Debug, Default)]
struct Counts {
    /// Number of requests started. This counter and `ended` only grow, so that a request that
    /// starts and ends between two checks is noticed.
    begun: AtomicU64,
    /// Number of requests whose response has been passed to the connection.
    ended: AtomicU64,
    /// Whether the client has not yet read all bytes of the last write.
    blocked: AtomicBool,
}

/// Counts one request as active until its response has been passed to the connection.
#[derive(Debug)]
pub(super) struct ActiveRequest(ActiveRequests);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.0.ended.fetch_add(1, Relaxed);
    }
}

impl ActiveRequests {
    /// Counts a request until the returned value is dropped.
    pub(super) fn begin_request(&self) -> ActiveRequest {
        self.0.begun.fetch_add(1, Relaxed);
        ActiveRequest(self.clone())
    }

    /// Records whether the last write of the connection was blocked.
    pub(super) fn set_blocked(&self, blocked: bool) {
        self.0.blocked.store(blocked, Relaxed);
    }

    /// Waits until the client is idle: two consecutive checks find no active request, no new
    /// request and no blocked write. If `active_requests` is `None`, idleness is not detected, and
    /// the future never completes.
    pub(super) async fn wait_until_idle(active_requests: Option<&Self>) {
        let Some(Self(counts)) = active_requests else { return std::future::pending().await };
        let mut before = None;
        loop {
            let never = std::future::pending::<()>();
            let _ = tokio::time::timeout(IDLE_POLL, never).await;
            let begun = counts.begun.load(Relaxed);
            let is_idle = begun == counts.ended.load(Relaxed) && !counts.blocked.load(Relaxed);
            if is_idle && before == Some(begun) {
                return;
            }
            before = is_idle.then_some(begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_rests_when_nothing_is_asked_and_all_is_sent() {
        let active_requests = ActiveRequests::default();
        let is_idle = || {
            tokio::time::timeout(
                IDLE_POLL * 4 + Duration::from_millis(1),
                ActiveRequests::wait_until_idle(Some(&active_requests)),
            )
        };
        assert!(is_idle().await.is_ok());
        let turn = active_requests.begin_request();
        assert!(is_idle().await.is_err());
        drop(turn);
        active_requests.set_blocked(true);
        assert!(is_idle().await.is_err());
        active_requests.set_blocked(false);
        assert!(is_idle().await.is_ok());
    }
}
