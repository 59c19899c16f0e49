//! Sizes and times that the REST workloads fix.

use std::time::Duration;

/// Items of one partition key.
pub(crate) const PARTITION_ITEMS: u64 = 1000;
/// Operations of one transactional batch; the service takes no more.
pub(crate) const BATCH: usize = 100;
/// Items that the query of one partition asks for.
pub(crate) const TOP: usize = 20;
/// The numbers by which items are ordered lie below.
pub(crate) const ORDER: u32 = 1_000_000;
/// Lifetime of containers whose items do not outlive the measurement, in seconds.
pub(crate) const DEFAULT_TTL: i64 = 86_400;
/// Bytes of an answer's status line and headers, at most.
pub(crate) const HEAD_MAX: usize = 64 * 1024;
/// Bytes of an answer's body, at most.
pub(crate) const BODY_MAX: usize = 256 * 1024 * 1024;
/// How long a date may be used again: formatting one costs time, and a server allows minutes.
pub(crate) const DATE_LIFE: Duration = Duration::from_secs(2);
/// A connection that was idle for longer is opened again: the server may have closed it.
pub(crate) const IDLE: Duration = Duration::from_secs(2);
/// How long a server may take to answer for the first time.
pub(crate) const FIRST_ANSWER: Duration = Duration::from_secs(10);
/// Time that goes by between a load and the first measurement of an expiry, at least.
pub(crate) const MARGIN: Duration = Duration::from_secs(5);
/// How often an item that got another second than its neighbours is written again.
pub(crate) const REWRITES: usize = 10;
/// The longest time between two looks for expired items.
pub(crate) const CHECK_PAUSE_MAX: Duration = Duration::from_secs(5);
