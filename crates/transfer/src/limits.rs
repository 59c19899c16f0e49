//! How much is held at once, and how long a server may be silent.

use std::time::Duration;

/// The longest line of an input. A document of 16 MiB is at most six times as long in Extended JSON, where
/// each of its bytes is a control character.
pub(crate) const MAX_LINE_BYTES: usize = 128 * 1024 * 1024;
/// The longest record of a table.
pub(crate) const MAX_RECORD_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of input after which a batch is sent, however few documents it has.
pub(crate) const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Documents of a page, if they are small.
pub(crate) const PAGE_DOCUMENTS: i32 = 1000;
/// Deepest nesting that is read.
pub(crate) const MAX_DEPTH: usize = document::limits::MAX_STORED_DEPTH;
/// How much of a refused line is kept beside its reason.
pub(crate) const KEPT_LINE_BYTES: usize = 64 * 1024;
/// Documents whose ids exist that an import lists one by one.
pub(crate) const LISTED_EXISTING: u64 = 1000;
/// The longest answer of the NoSQL API that is read.
pub(crate) const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Between two looks at whether the command was asked to end, while a server is silent.
pub(crate) const GLANCE: Duration = Duration::from_millis(300);
/// Looks after which a silent server is given up: ten minutes.
pub(crate) const MAX_GLANCES: u32 = 2000;
/// How long a server may take to accept a connection.
pub(crate) const CONNECTS: Duration = Duration::from_secs(10);
/// Requests of the NoSQL API at once.
pub(crate) const WORKERS: usize = 8;
/// How often a request is sent again that the server has put off.
pub(crate) const TRIES: u32 = 100;
