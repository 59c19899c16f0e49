//! Limits of the engine: sizes, counts and depths, with MongoDB's limits in parentheses.

/// Maximum number of rows in a page that a scan reads ahead.
pub const PAGE_ROWS: usize = 256;
/// Number of rows in the first page of a scan that may need few rows.
pub const FIRST_PAGE_ROWS: usize = 16;
/// Factor by which each following page of a scan that may need few rows is larger, up to a full
/// page.
pub const PAGE_GROWTH: usize = 4;
/// Approximate size of a page of rows or entries read from the store, in bytes.
pub const PAGE_BYTES: usize = 1 << 20;
/// Approximate bytes of rows that a scan returns at once; a larger row is returned alone.
pub const TAKE_BYTES: usize = 4 << 20;
/// Bytes of a stored row above which writers wait for memory before they write it.
pub const LARGE_ROW_BYTES: usize = 1 << 20;
/// Number of copies of a row in memory while it is written: the row, the edited document, the new
/// row, and the document in the reply.
pub const ROW_COPIES: usize = 4;
/// Memory charged for an open cursor, in addition to documents that it has read ahead.
pub const CURSOR_BYTES: usize = 4 * 1024;
/// Memory charged for each element that an operation collects, such as a row key, in addition to
/// its bytes.
pub const SEEN_BYTES: usize = 64;
/// Number of copies of a batch's documents in memory: in the batch and in the reply.
pub const BATCH_COPIES: usize = 2;
/// Units of work charged for examining a row, besides its bytes: operations yield about every 256
/// rows.
pub const ROW_WORK: usize = 3 * 1024;
/// Maximum size in bytes of a key in a position of the expiry order, which clients send back to get
/// the next page.
pub const MAX_EXPIRY_POSITION_BYTES: usize = 16 << 10;
/// Units of work charged for each candidate that a scan examines.
pub const CANDIDATE_WORK: usize = 1024;
/// Maximum number of attempts of an operation that conflicts with others.
pub const MAX_ATTEMPTS: usize = 10_000;
/// Maximum number of further attempts of an operation whose views were ended for using too much
/// disk space.
pub const MAX_ENDED_VIEWS: usize = 8;
/// Maximum indexes of a collection (MongoDB: 64).
pub const MAX_INDEXES: usize = 64;
/// Maximum fields of an index (MongoDB: 32).
pub const MAX_INDEX_FIELDS: usize = 32;
/// Maximum number of entries that a document has in one index.
pub const MAX_ENTRIES_PER_DOCUMENT: usize = 100_000;
/// Maximum bytes of a namespace (MongoDB: 255).
pub const MAX_NAMESPACE_BYTES: usize = 255;
/// Maximum bytes of another collection's documents joined to one row (MongoDB: 100 MB per stage).
pub const MAX_LOOKUP_BYTES: usize = 100 * 1024 * 1024;
/// Maximum number of stored views over each other, or joined by each other (MongoDB: 20).
pub const MAX_STORED_VIEW_DEPTH: usize = 20;
/// Maximum bytes of the pipelines of stored views over each other (MongoDB: 16 MB).
pub const MAX_STORED_VIEW_BYTES: usize = 16 * 1024 * 1024;
/// Approximate bytes of documents written in one commit with their receipt (`write/receipt.rs`), or
/// in one group of statements (`write/group.rs`).
pub const UNIT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum documents that a statement may write within a group; a statement that writes more runs
/// alone.
pub const GROUP_MATCHES: usize = 256;
/// Age of a view in milliseconds from which a group accepts no more statements.
pub const GROUP_VIEW_MS: i64 = 100;
/// Seconds that a receipt is kept after it was last written.
pub const RECEIPT_SECONDS: i64 = 30 * 60;
/// Maximum documents of a capped collection that one commit evicts.
pub const EVICTED_AT_ONCE: usize = 256;
/// Maximum documents of a capped collection that are copied to another one at once.
pub const COPIED_AT_ONCE: usize = 8;
/// Maximum number of documents that one statement of a transaction leaves out because they expired
/// while the transaction was open.
pub const MAX_EXPIRED_MET: usize = 10_000;
/// Maximum number of commits that are passed to the store at once.
pub const COMMITS_AT_ONCE: usize = 1_000;
/// Maximum candidates from indexes before a scan reads the rows instead.
pub const MAX_CANDIDATES: usize = 20_000;
/// Number of items a query examines for lack of an index before the path gets one. Examining them
/// takes a millisecond or two, which is hardly noticed, while every index slows down all writes.
pub const WANTED_AFTER: u64 = 1_000;
/// Maximum paths of a container indexed for queries, besides those its policy names: as many paths
/// as a large item has, so that queries cannot make writes slower than indexing everything would.
pub const MAX_INDEXED_PATHS: usize = 64;
/// Maximum items of a container that is scanned in creation order, for which each page reads all
/// creation stamps.
pub const FEW_ITEMS: usize = 2_000;
/// Maximum number of expirations of an expiry class that one commit publishes in the feed.
pub const PUBLISHED_AT_ONCE: usize = 256;
/// Maximum entries collected for an item in an index by path; at most half of them may be distinct.
/// An item of 2 MB has fewer.
pub const MAX_ENTRIES_PER_ITEM: usize = 2_000_000;
/// Bytes of a value that an index by path keeps; longer values are truncated and followed by a
/// checksum. GUIDs and textual dates fit. Candidates are rechecked anyway.
pub const KEPT_PATH_COMPONENT_BYTES: usize = 40;
/// Maximum bytes of items with equal index keys, which a scan in index order has to sort itself.
pub const MAX_EQUAL_BYTES: usize = 32 * 1024 * 1024;
/// Bits of an item's creation stamp that distinguish items of one commit: a batch has at most 100
/// actions.
pub const CREATION_BITS: u32 = 7;
/// Maximum number of actions in a batch of items.
pub const MAX_BATCH: usize = 1 << CREATION_BITS;
/// Maximum total bytes of items read by one batch.
pub const MAX_READ_BYTES: usize = 4 * 1024 * 1024;
/// Maximum seconds of a step of an expiry series: a year.
pub const MAX_SERIES_STEP_S: i64 = 31_536_000;
/// Maximum number of steps of a forecast series.
pub const MAX_SERIES_STEPS: usize = 400;
/// Number of instants that are evaluated from counters before yielding; each takes about 40 us.
pub const INSTANTS_AT_ONCE: usize = 16;
