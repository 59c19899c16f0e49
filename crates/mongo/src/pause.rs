//! Waits that decide nothing about what is stored.

/// Waits on the machine's clock: such waits are asked for by the client, or are of the server's end,
/// and decide nothing about expiry.
#[expect(clippy::disallowed_methods, reason = "these waits have no effect on what is stored")]
pub(crate) async fn sleep(time: std::time::Duration) {
    tokio::time::sleep(time).await;
}
