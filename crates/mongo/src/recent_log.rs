//! The last lines of the server's log, as `getLog` shows them. The server keeps them.

/// The last lines of the server's log at one moment.
#[derive(Clone, Debug, Default)]
pub struct RecentLog {
    /// Number of lines logged since the server's start, including lines that are no longer kept.
    pub total: u64,
    /// The last log lines, the oldest first.
    pub lines: Vec<String>,
}
