//! Delays by the monotonic clock, which do not affect stored data.

/// Sleeps on the machine's clock. Such delays are requested by a client or belong to the shutdown,
/// and have no effect on expiry.
#[expect(clippy::disallowed_methods, reason = "these waits have no effect on what is stored")]
pub(crate) async fn sleep(time: std::time::Duration) {
    tokio::time::sleep(time).await;
}
