//! Fixed sizes and times of the REST workloads.

use std::time::Duration;

/// Number of items per partition key.
pub(crate) const PARTITION_ITEMS: u64 = 1000;
/// Number of operations per transactional batch, which is the maximum of Azure Cosmos DB.
pub(crate) const BATCH: usize = 100;
/// Number of items that a query of one partition requests.
pub(crate) const TOP: usize = 20;
/// Exclusive upper bound of the values by which items are sorted.
pub(crate) const ORDER: u32 = 1_000_000;
/// Default TTL in seconds of containers whose items must not expire during the measurement.
pub(crate) const DEFAULT_TTL: i64 = 86_400;
/// Maximum size of a status line and headers.
pub(crate) const HEAD_MAX: usize = 64 * 1024;
/// Maximum size of a body.
pub(crate) const BODY_MAX: usize = 256 * 1024 * 1024;
/// Time for which a formatted date is reused. Formatting costs time, and servers tolerate dates
/// that are minutes old.
pub(crate) const DATE_LIFE: Duration = Duration::from_secs(2);
/// Idle time after which a connection is reopened, because the server may have closed it.
pub(crate) const IDLE: Duration = Duration::from_secs(2);
/// Timeout of a starting server's first answer.
pub(crate) const FIRST_ANSWER: Duration = Duration::from_secs(10);
/// Minimum time between the end of a load and the first expiry.
pub(crate) const MARGIN: Duration = Duration::from_secs(5);
/// Maximum number of rewrites of an item that would expire in another second than intended.
pub(crate) const REWRITES: usize = 10;
/// Maximum interval of checks for expired items.
pub(crate) const CHECK_PAUSE_MAX: Duration = Duration::from_secs(5);
