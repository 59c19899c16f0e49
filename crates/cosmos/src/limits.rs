//! Sizes, counts and times that this API enforces. A limit that Azure Cosmos DB documents has the
//! same value here, so that both servers refuse the same requests. The other limits bound the
//! resources that one client may use.

use std::{ops::RangeInclusive, time::Duration};

/// Largest item in bytes of JSON; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_ITEM_BYTES: usize = 2 * 1024 * 1024;
/// Largest request body in bytes: an item with some overhead.
pub(crate) const MAX_BODY_BYTES: usize = MAX_ITEM_BYTES + 128 * 1024;
/// The quota of a container in responses: the values of Azure Cosmos DB, in kilobytes. Here only
/// the disk limits a container.
pub(crate) const QUOTA: &str =
    "documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;";
/// Time for which responses about items repeat a measurement of the container's disk usage.
pub(crate) const USAGE_TIME: Duration = Duration::from_secs(1);
/// Range of values that may be configured for the largest request body, in bytes.
pub const BODY_BYTES: RangeInclusive<usize> = 64 * 1024..=MAX_BODY_BYTES;
/// Maximum number of bytes of a refused request's body that are read and discarded. Many clients
/// read the response only after they have sent the whole body.
pub(crate) const MAX_DISCARDED_BYTES: usize = 64 * 1024 * 1024;
/// Time without a received byte after which the server stops waiting for the rest of a refused
/// request's body.
pub(crate) const QUIET_TIME: Duration = Duration::from_millis(500);
/// Maximum number of bytes that are read and discarded after a connection was closed for writing.
pub(crate) const MAX_LINGER_BYTES: usize = 64 * 1024 * 1024;
/// Time for which a connection that is closed while its client still sends is kept open for
/// reading.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(2);
/// Bytes of stored items after which a page of results ends; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum total size of the items in a batch response as JSON, in bytes.
pub(crate) const MAX_BATCH_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Default number of items in a page.
pub(crate) const PAGE_ITEMS: usize = 100;
/// Largest number of items in a page that a client may request.
pub(crate) const MAX_PAGE_ITEMS: usize = 1000;
/// Deepest nesting of objects and arrays in an item; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_DEPTH: usize = 128;
/// Nesting levels of a batch request that surround an item.
pub(crate) const BATCH_DEPTH: usize = 2;
/// Nesting levels of a patch request that surround a value.
pub(crate) const PATCH_DEPTH: usize = 2;
/// Longest item id in bytes; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_ITEM_ID_BYTES: usize = 1023;
/// Longest id in characters of a resource that is not an item; the same limit as in Azure Cosmos
/// DB.
pub(crate) const MAX_NAME_CHARS: usize = 255;
/// Maximum number of databases of an account, and of containers of a database.
pub(crate) const MAX_RESOURCES: usize = 500;
/// Maximum number of paths of a hierarchical partition key.
pub(crate) const MAX_KEY_PATHS: usize = 3;
/// Maximum number of components that are parsed from a partition key header. It exceeds the maximum
/// of a key, so that a key with too many components gets the error for that.
pub(crate) const MAX_HEADER_KEYS: usize = 8;
/// Maximum total size of the components of a partition key in bytes; the same limit as in Azure
/// Cosmos DB for version 2 keys.
pub(crate) const MAX_KEY_BYTES: usize = 2048;
/// Maximum size of a partition key header in bytes, in which every character may be escaped.
pub(crate) const KEY_TEXT_BYTES: usize = 6 * MAX_KEY_BYTES + 64;
/// Maximum number of property names in a path of an indexing or other policy.
pub(crate) const MAX_PATH_PARTS: usize = 32;
/// Maximum number of operations of a batch or bulk request; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_BATCH: usize = 100;
/// Maximum size of a HybridRow batch in bytes; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_HYBRID_BATCH_BYTES: usize = 2_202_010;
/// Maximum number of operations of a patch; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_PATCH: usize = 10;
/// Maximum number of property names and array positions in a path of a patch.
pub(crate) const MAX_POINTER_PARTS: usize = MAX_DEPTH;
/// Maximum number of unique key constraints of a container.
pub(crate) const MAX_UNIQUE_KEYS: usize = 10;
/// Maximum number of paths of all unique key constraints of a container.
pub(crate) const MAX_UNIQUE_PATHS: usize = 16;
/// Maximum number of included paths of an indexing policy, and of excluded paths.
pub(crate) const MAX_INDEX_PATHS: usize = 1500;
/// Maximum number of paths of a composite index.
pub(crate) const MAX_COMPOSITE_PATHS: usize = 8;
/// Maximum number of composite indexes of a container.
pub(crate) const MAX_COMPOSITES: usize = 100;
/// Longest retention of deleted versions for feeds, in minutes.
pub(crate) const MAX_RETENTION_MINUTES: i64 = 10_080;
/// Retention of deleted versions for a feed that started implicitly when a client read it, in
/// seconds.
pub(crate) const BEGUN_RETENTION_S: i64 = MAX_RETENTION_MINUTES * 60;
/// Maximum number of client encryption keys of a database; the same limit as in Azure Cosmos DB.
pub(crate) const MAX_CLIENT_KEYS: usize = 20;
/// Maximum number of user-defined functions of a container.
pub(crate) const MAX_UDFS: usize = 50;
/// Maximum number of stored procedures, and of triggers, of a container.
pub(crate) const MAX_SCRIPTS: usize = 100;
/// Maximum number of session tokens in one request.
pub(crate) const MAX_SESSION_TOKENS: usize = 1000;
/// Longest continuation token that is decoded. Its longest content is the position in the results
/// of a query that is ordered by several long strings.
pub(crate) const MAX_CONTINUATION_BYTES: usize = 64 * 1024;
/// Maximum size of a request head (request line and headers) in bytes.
pub(crate) const MAX_HEAD_BYTES: usize = 128 * 1024;
/// Maximum number of headers of a request. This is hyper's default, which is deliberately not set:
/// hyper keeps this many on its stack, and for any other number it clears memory for each request.
pub(crate) const MAX_HEADERS: usize = 100;
/// Maximum number of concurrent requests of one HTTP/2 connection.
pub(crate) const MAX_STREAMS: u32 = 100;
/// Number of concurrent requests of one HTTP/2 connection that run immediately. Further requests
/// wait with long operations, so that one client cannot take all processors.
pub(crate) const FREE_STREAMS: usize = 8;
/// Longest wait for the next request head after a response; clients keep idle connections open.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(240);
/// Longest time for a request body to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time without a frame on a connection in direct mode. Clients keep such connections open,
/// and a write fails if its connection is closed at the same time.
pub(crate) const DIRECT_IDLE_TIME: Duration = Duration::from_secs(30 * 60);
/// Interval at which a connection in direct mode checks its time limits.
pub(crate) const CONNECTION_CHECK: Duration = Duration::from_secs(10);
/// Unread bytes of answers from which no further frame of a client in direct mode is read.
pub(crate) const MAX_UNSENT_BYTES: usize = 256 * 1024;
/// Longest time for a TLS handshake.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of a body that are allocated before they have arrived. Further memory is reserved as data
/// arrives.
pub(crate) const TRUSTED_BYTES: usize = 64 * 1024;
/// Maximum number of attempts to change a resource if concurrent changes of the resource conflict.
pub(crate) const MAX_TRIES: usize = 32;
/// Deadline of a scan or query for one page, waiting included.
pub(crate) const OPERATION_TIME: Duration = Duration::from_secs(60);
/// Processor time that the evaluation of one page may take.
pub(crate) const EVALUATION_TIME: Duration = Duration::from_secs(5);
/// Limit of the work to compute one page, in the work units of crate `evaluation`; most machines
/// need less than `EVALUATION_TIME` for it. Unlike `EVALUATION_TIME` this limit does not depend on
/// the load of the machine.
pub(crate) const PAGE_WORK: u64 = 5 << 30;
/// Work after which a page ends, if its query can be continued after any row. The difference to
/// `PAGE_WORK` is the maximum work of one row, so that a row started below this limit fits.
pub(crate) const PAGE_END: u64 = PAGE_WORK - evaluation::MAX_WORK;
/// Size of the flow-control window: bytes of unread bodies that an HTTP/2 client may send.
pub(crate) const WINDOW_BYTES: u32 = 256 * 1024;
/// Bytes that a client may send before its first head is complete. It exceeds the largest head,
/// because a head that is too large must still get a response.
pub(crate) const MAX_FIRST_BYTES: usize = 2 * MAX_HEAD_BYTES;
/// Memory charged for the buffers of a connection that has received data, in bytes.
pub(crate) const BUFFERS_BYTES: usize = 16 * 1024;
/// Time after which a client that reads nothing of a response is disconnected.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes that a client must read within `WRITE_TIMEOUT` to count as reading.
pub(crate) const STEADY_BYTES: usize = 64 * 1024;
/// Size of the parts in which a response is passed to the connection, in bytes.
pub(crate) const ANSWER_PART_BYTES: usize = 64 * 1024;
/// Maximum total size of the results that are cached for the next pages of queries. If the server's
/// memory limit is small, the maximum is less.
pub(crate) const AHEAD_BYTES: usize = 128 * 1024 * 1024;
/// Maximum number of queries with cached results for their next page.
pub(crate) const MAX_AHEAD: usize = 256;
/// Maximum size of a response in bytes. It exceeds `MAX_PAGE_BYTES`, since some results are longer
/// as JSON text than in stored form.
pub(crate) const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// Body size in bytes from which parsing runs on another thread, so that it does not delay other
/// requests.
pub(crate) const LONG_BODY_BYTES: usize = 256 * 1024;
/// Query size in bytes from which parsing runs on another thread. It is less than for bodies, since
/// a query takes longer per byte.
pub(crate) const LONG_QUERY_BYTES: usize = 32 * 1024;
/// Body size in bytes below which parsing reserves no memory.
pub(crate) const SMALL_BODY_BYTES: usize = 4 * 1024;
/// Estimated memory in bytes for each byte of a query text while it is parsed. The worst case is a
/// syntax tree of one-letter names.
pub(crate) const QUERY_BYTE_BYTES: usize = 128;
/// Estimated memory in bytes for each position in a JSON text at which a value may start, while the
/// text is parsed.
pub(crate) const VALUE_BYTES: usize = 64;
/// Interval of the checks for idle clients. If a client is idle in two successive checks, the
/// buffers of its connection are released.
pub(crate) const IDLE_POLL: Duration = Duration::from_secs(1);
/// Grace period of running requests when the server stops.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(1);
/// Time for which a forwarded connection stays open after the endpoint has stopped. Requests that
/// arrive in this time are refused as not executed, so that they are retried on another node.
pub(crate) const MOVED_TIME: Duration = Duration::from_millis(500);
