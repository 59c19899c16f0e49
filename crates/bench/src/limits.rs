//! Sizes and times that the workloads fix, so that figures of different days can be compared. What a
//! user may change is an option instead (`options.rs`, `mongo.rs`).

use std::time::Duration;

/// Fields of a YCSB record.
pub(crate) const FIELDS: usize = 10;
/// Bytes of each of them.
pub(crate) const FIELD_BYTES: usize = 100;
/// The longest short range of YCSB E.
pub(crate) const RANGE_MAX: u64 = 100;
/// Documents of a range scan.
pub(crate) const SCAN_DOCUMENTS: u32 = 1000;
/// Documents of one `insertMany` that is measured.
pub(crate) const MANY: usize = 100;
/// Documents of an indexed find.
pub(crate) const PAGE: u32 = 20;
/// Customers among whom the orders are spread.
pub(crate) const CUSTOMERS: i32 = 1000;
/// Documents that are grouped.
pub(crate) const SALES: u64 = 5000;
/// Groups they fall into.
pub(crate) const CATEGORIES: i32 = 20;
/// Events whose places lie in the range that is grouped.
pub(crate) const EVENTS_GROUPED: u64 = 5000;
/// Events that share a lot.
pub(crate) const LOT: u64 = 100;
/// Kinds of events: so many groups.
pub(crate) const KINDS: usize = 20;
/// Bytes of an event's text.
pub(crate) const EVENT_TEXT: usize = 850;
/// Documents of one large `insertMany` that is measured.
pub(crate) const THOUSAND: usize = 1000;
/// Documents of one insert while loading.
pub(crate) const LOAD_BATCH: u64 = 1000;
/// Connections that load.
pub(crate) const LOADERS: usize = 4;
/// Bytes of text in a document that will expire.
pub(crate) const MORTAL_BYTES: usize = 1000;
/// Seconds that an expiring document has to live on a manual clock.
pub(crate) const LIFE_SECONDS: i64 = 3600;
/// How long a started server may take to answer, and to end.
pub(crate) const CONNECT_PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at the data directory.
pub(crate) const DISK_POLL: Duration = Duration::from_millis(50);
/// Between two attempts to reach a server that starts.
pub(crate) const START_POLL: Duration = Duration::from_millis(1);
/// How long a started server is left alone before its memory is read.
pub(crate) const REST: Duration = Duration::from_secs(1);
/// Pause between a load and the next measurement.
pub(crate) const REST_BETWEEN: Duration = Duration::from_secs(3);
/// Pause between two looks for expired documents, at least.
pub(crate) const CHECK_PAUSE: Duration = Duration::from_millis(10);
