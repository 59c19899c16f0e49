//! Sizes, counts and times of this door. Where the service documents a figure it is that figure, so
//! that what is refused there is refused here; the others bound what one client may take of the
//! server.

use std::{ops::RangeInclusive, time::Duration};

/// Largest item, bytes of JSON: the service's figure.
pub(crate) const MAX_ITEM_BYTES: usize = 2 * 1024 * 1024;
/// Largest request body, bytes: an item with room around it.
pub(crate) const MAX_BODY_BYTES: usize = MAX_ITEM_BYTES + 128 * 1024;
/// What a container may hold, as responses say it: the service's figures, in kilobytes. Nothing but the
/// disk bounds a container here.
pub(crate) const QUOTA: &str =
    "documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;";
/// For how long responses about items repeat what their container takes on disk.
pub(crate) const USAGE_TIME: Duration = Duration::from_secs(1);
/// Sizes that the largest request body may be set to, bytes.
pub const BODY_BYTES: RangeInclusive<usize> = 64 * 1024..=MAX_BODY_BYTES;
/// Bytes of a refused request's body that are read and forgotten, so that its sender hears why.
pub(crate) const MAX_DISCARDED_BYTES: usize = 64 * 1024 * 1024;
/// A client that has sent nothing for this long is not waited for when its request is refused.
pub(crate) const QUIET_TIME: Duration = Duration::from_millis(500);
/// Bytes that are read and forgotten after a connection has been closed for writing.
pub(crate) const MAX_LINGER_BYTES: usize = 64 * 1024 * 1024;
/// A connection that is closed while its client sends stays for this long.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(2);
/// Bytes of a page of results after which it ends: the service's figure. What is counted are items
/// as they are stored.
pub(crate) const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the items in the response to a batch, as JSON.
pub(crate) const MAX_BATCH_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Items of a page when nothing is asked for.
pub(crate) const PAGE_ITEMS: usize = 100;
/// Items of a page at most, whatever a client asks for.
pub(crate) const MAX_PAGE_ITEMS: usize = 1000;
/// Nested objects and arrays of an item: the service's figure.
pub(crate) const MAX_DEPTH: usize = 128;
/// Objects and arrays around an item in a batch.
pub(crate) const BATCH_DEPTH: usize = 2;
/// Objects and arrays around a value in a patch, without the item that it becomes part of.
pub(crate) const PATCH_DEPTH: usize = 2;
/// Bytes of an item's id: the service's figure.
pub(crate) const MAX_ITEM_ID_BYTES: usize = 1023;
/// Characters of the id of anything else: the service's figure.
pub(crate) const MAX_NAME_CHARS: usize = 255;
/// Databases, and containers of a database.
pub(crate) const MAX_RESOURCES: usize = 500;
/// Paths of a hierarchical partition key.
pub(crate) const MAX_KEY_PATHS: usize = 3;
/// Components of a partition key that are read at all. It is more than a key can have, so that one
/// with too many gets the failure that says so.
pub(crate) const MAX_HEADER_KEYS: usize = 8;
/// Bytes of a partition key's values: the service's figure for keys of the newer version.
pub(crate) const MAX_KEY_BYTES: usize = 2048;
/// Bytes of a header that holds a partition key: every character may be escaped.
pub(crate) const KEY_TEXT_BYTES: usize = 6 * MAX_KEY_BYTES + 64;
/// Names of a path of a policy.
pub(crate) const MAX_PATH_PARTS: usize = 32;
/// Operations of a batch or bulk: the service's figure.
pub(crate) const MAX_BATCH: usize = 100;
/// Bytes of a batch in HybridRow: the service's figure.
pub(crate) const MAX_HYBRID_BATCH_BYTES: usize = 2_202_010;
/// Operations of a patch: the service's figure.
pub(crate) const MAX_PATCH: usize = 10;
/// Parts of a path of a patch.
pub(crate) const MAX_POINTER_PARTS: usize = MAX_DEPTH;
/// Constraints of unique keys.
pub(crate) const MAX_UNIQUE_KEYS: usize = 10;
/// Paths of all constraints of unique keys.
pub(crate) const MAX_UNIQUE_PATHS: usize = 16;
/// Included, and excluded paths of an indexing policy.
pub(crate) const MAX_INDEX_PATHS: usize = 1500;
/// Paths of a composite index.
pub(crate) const MAX_COMPOSITE_PATHS: usize = 8;
/// Composite indexes of a container.
pub(crate) const MAX_COMPOSITES: usize = 100;
/// Minutes that deleted versions may be kept for feeds.
pub(crate) const MAX_RETENTION_MINUTES: i64 = 10_080;
/// Seconds that deleted versions are kept for a feed that began because somebody read it.
pub(crate) const BEGUN_RETENTION_S: i64 = MAX_RETENTION_MINUTES * 60;
/// Client encryption keys of a database: the service's figure.
pub(crate) const MAX_CLIENT_KEYS: usize = 20;
/// User-defined functions of a container.
pub(crate) const MAX_UDFS: usize = 50;
/// Stored procedures, or triggers, of a container.
pub(crate) const MAX_SCRIPTS: usize = 100;
/// Smallest throughput that is set by hand.
pub(crate) const MIN_THROUGHPUT: i64 = 400;
/// Smallest upper end of a throughput that scales by itself.
pub(crate) const MIN_AUTOSCALE: i64 = 1000;
/// Largest throughput.
pub(crate) const MAX_THROUGHPUT: i64 = 1_000_000;
/// Containers whose throughput is measured before those that rest are forgotten. It bounds memory:
/// names of containers come from clients.
pub(crate) const METERS: usize = 4096;
/// Session tokens of one request.
pub(crate) const MAX_SESSION_TOKENS: usize = 1000;
/// Bytes of a continuation token that is looked at. The longest state is a key in the order of
/// several long texts.
pub(crate) const MAX_CONTINUATION_BYTES: usize = 64 * 1024;
/// Bytes of a line and headers of a request.
pub(crate) const MAX_HEAD_BYTES: usize = 128 * 1024;
/// Headers of a request. It is what hyper takes unless it is told otherwise, which it is not: for
/// this many it has room on its stack, for any other number it clears memory at each request.
pub(crate) const MAX_HEADERS: usize = 100;
/// Requests at once of one connection of HTTP/2.
pub(crate) const MAX_STREAMS: u32 = 100;
/// This many of them run at once; further ones wait for their turn with what is long, so that one
/// client cannot take all processors.
pub(crate) const FREE_STREAMS: usize = 8;
/// A head has to arrive within this long after the response before it: clients keep connections for
/// their next request.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(240);
/// A body has to arrive within this long.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// A TLS handshake has to be done within this long.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of a body that room is made for before they have arrived. A client has to send that many
/// before it holds more than it has sent.
pub(crate) const TRUSTED_BYTES: usize = 64 * 1024;
/// Times that a change of a resource is tried again when another one came first.
pub(crate) const MAX_TRIES: usize = 32;
/// A scan or query may take this long for one page, others' turns included.
pub(crate) const OPERATION_TIME: Duration = Duration::from_secs(60);
/// The evaluation of a page may have a processor for this long.
pub(crate) const EVALUATION_TIME: Duration = Duration::from_secs(5);
/// Work of evaluating a page, in the units that evaluation counts in: on most machines less than
/// that time. It ends what the time limit would end too late, because it does not depend on how
/// busy the machine is.
pub(crate) const PAGE_WORK: u64 = 5 << 30;
/// Work of reading and evaluating rows after which a page ends that may end anywhere: the next row
/// may still take as much as one may.
pub(crate) const PAGE_END: u64 = PAGE_WORK - evaluation::limits::MAX_WORK;
/// Bytes of bodies that a client of HTTP/2 may send before they are read.
pub(crate) const WINDOW_BYTES: u32 = 256 * 1024;
/// What a client may send before its first head is whole. It is more than the largest head, because
/// a head that is too large gets a response before that.
pub(crate) const MAX_FIRST_BYTES: usize = 2 * MAX_HEAD_BYTES;
/// What a connection takes besides, as soon as something has come.
pub(crate) const BUFFERS_BYTES: usize = 16 * 1024;
/// A client that reads nothing of a response is given up after this long.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// What a client has to read in that time to count as reading.
pub(crate) const STEADY_BYTES: usize = 64 * 1024;
/// Bytes of a response that are handed to the connection at once.
pub(crate) const ANSWER_PART_BYTES: usize = 64 * 1024;
/// Bytes that results kept for the next pages of queries may take, of all queries together. A small
/// account gives less.
pub(crate) const AHEAD_BYTES: usize = 128 * 1024 * 1024;
/// Queries whose next page is kept.
pub(crate) const MAX_AHEAD: usize = 256;
/// Bytes of a response: some results of a page have more bytes as text than they are stored in.
pub(crate) const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of a body that take long enough to be parsed that others should not wait for it.
pub(crate) const LONG_BODY_BYTES: usize = 256 * 1024;
/// The same of a query, whose parsing takes longer for each byte.
pub(crate) const LONG_QUERY_BYTES: usize = 32 * 1024;
/// A body of fewer bytes is parsed without asking for memory.
pub(crate) const SMALL_BODY_BYTES: usize = 4 * 1024;
/// About how many bytes of memory a byte of a query takes once it is parsed, in the dearest case: a
/// tree of one-letter names.
pub(crate) const QUERY_BYTE_BYTES: usize = 128;
/// The same of a place in JSON where a value may follow.
pub(crate) const VALUE_BYTES: usize = 64;
/// How often it is looked whether a client rests; one that does for two looks has no buffers.
pub(crate) const REST_LOOK: Duration = Duration::from_secs(1);
/// Requests that run when the server is told to stop may go on for this long.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(1);
/// How long a connection from another node stays behind the end of the door, to say so to what comes still.
pub(crate) const MOVED_TIME: Duration = Duration::from_millis(500);
