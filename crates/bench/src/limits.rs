//! Fixed sizes and times of the workloads, so that figures remain comparable over time. Sizes and
//! times that can be configured are options (`options.rs`, `sizes.rs`).

use std::time::Duration;

/// Number of fields of a YCSB record.
pub(crate) const FIELDS: usize = 10;
pub(crate) const FIELD_BYTES: usize = 100;
/// Maximum length of a short range of YCSB E.
pub(crate) const RANGE_MAX: u64 = 100;
/// Number of documents of a range scan.
pub(crate) const SCAN_DOCUMENTS: u32 = 1000;
/// Number of documents of a measured `insertMany`.
pub(crate) const MANY: usize = 100;
/// Maximum number of documents that an indexed find returns.
pub(crate) const PAGE: u32 = 20;
/// Number of distinct customers in the collection of orders.
pub(crate) const CUSTOMERS: i32 = 1000;
/// Number of sales, all of which are read by the workload that groups them.
pub(crate) const SALES: u64 = 5000;
pub(crate) const CATEGORIES: i32 = 20;
/// Number of events in the index range that is grouped.
pub(crate) const EVENTS_GROUPED: u64 = 5000;
/// Number of events of one lot in the collection of events.
pub(crate) const LOT: u64 = 100;
/// Number of kinds of events, which is the number of groups.
pub(crate) const KINDS: usize = 20;
/// Size of an event's text.
pub(crate) const EVENT_TEXT: usize = 850;
/// Number of documents of a measured large `insertMany`.
pub(crate) const THOUSAND: usize = 1000;
/// Number of documents per insert while loading.
pub(crate) const LOAD_BATCH: u64 = 1000;
pub(crate) const LOADERS: usize = 4;
/// Size of the text in an expiring document.
pub(crate) const MORTAL_BYTES: usize = 1000;
/// Lifetime in seconds of an expiring document on a manual clock.
pub(crate) const LIFE_SECONDS: i64 = 3600;
/// Timeout for the start and the stop of a server.
pub(crate) const CONNECT_PATIENCE: Duration = Duration::from_secs(30);
/// Interval of checks of the data directory.
pub(crate) const DISK_POLL: Duration = Duration::from_millis(50);
/// Interval of attempts to reach a starting server.
pub(crate) const START_POLL: Duration = Duration::from_millis(1);
/// Delay before the memory of a started server is read.
pub(crate) const REST: Duration = Duration::from_secs(1);
/// Delay between a load and the next measurement.
pub(crate) const REST_BETWEEN: Duration = Duration::from_secs(3);
/// Minimum interval of checks for expired documents.
pub(crate) const CHECK_PAUSE: Duration = Duration::from_millis(10);
