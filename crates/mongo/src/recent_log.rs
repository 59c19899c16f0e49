//! The last lines of the server's log, as `getLog` shows them. The server keeps them.

/// A snapshot of the kept lines.
#[derive(Clone, Debug, Default)]
pub struct RecentLog {
    /// Number of lines since the start, those no longer kept included.
    pub total: u64,
    /// The kept lines, the oldest first.
    pub lines: Vec<String>,
}
