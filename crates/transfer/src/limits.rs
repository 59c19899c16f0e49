//! Limits of memory, sizes and timeouts.

use std::time::Duration;

/// Maximum length of an input line. A document of 16 MiB takes at most six times that in Extended
/// JSON, if all its bytes are control characters.
pub(crate) const MAX_LINE_BYTES: usize = 128 * 1024 * 1024;
/// Maximum size of a table record.
pub(crate) const MAX_RECORD_BYTES: u64 = 64 * 1024 * 1024;
/// Size of the input after which a batch is sent, with any number of documents.
pub(crate) const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of documents per page.
pub(crate) const PAGE_DOCUMENTS: i32 = 1000;
/// Maximum nesting depth of an input document.
pub(crate) const MAX_DEPTH: usize = document::MAX_STORED_DEPTH;
/// Maximum length of a refused line in the refusals file.
pub(crate) const KEPT_LINE_BYTES: usize = 64 * 1024;
/// Number of refused documents with existing ids that are listed individually.
pub(crate) const LISTED_EXISTING: u64 = 1000;
/// Maximum size of a NoSQL API response.
pub(crate) const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Interval of checks for an interruption while waiting for the server.
pub(crate) const GLANCE: Duration = Duration::from_millis(300);
/// Number of checks ([`GLANCE`]) without a response after which a request fails: ten minutes.
pub(crate) const MAX_GLANCES: u32 = 2000;
/// Timeout of a connection attempt.
pub(crate) const CONNECTS: Duration = Duration::from_secs(10);
/// Number of concurrent NoSQL API requests.
pub(crate) const WORKERS: usize = 8;
/// Maximum number of attempts of a throttled request.
pub(crate) const TRIES: u32 = 100;
