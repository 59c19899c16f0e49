//! Sizes, counts and depths of the engine, with the figures of the systems it is compatible with.

/// Rows of one page that a scan reads ahead.
pub const PAGE_ROWS: usize = 256;
/// Rows of the first page of a walk of which only the beginning may be wanted.
pub const FIRST_PAGE_ROWS: usize = 16;
/// How many times larger each further page of such a walk is, up to a whole one.
pub const PAGE_GROWTH: usize = 4;
/// Bytes of one page, roughly.
pub const PAGE_BYTES: usize = 1 << 20;
/// Bytes of rows that a walk answers at once, roughly: one that is larger comes alone.
pub const TAKE_BYTES: usize = 4 << 20;
/// What an open cursor takes beside the documents that it holds back.
pub const CURSOR_BYTES: usize = 4 * 1024;
/// What a key takes in a set of keys, beside its bytes.
pub const SEEN_BYTES: usize = 64;
/// How often a document of a batch is in memory until it is sent: in the batch, then in the answer.
pub const BATCH_COPIES: usize = 2;
/// Work of looking at a row, beside its bytes: others run about every 256 rows.
pub const ROW_WORK: usize = 3 * 1024;
/// Bytes of a key in a place in the order of expiry, as clients send it back.
pub const MAX_EXPIRY_PLACE_BYTES: usize = 16 << 10;
/// Work of looking at a candidate.
pub const CANDIDATE_WORK: usize = 1024;
/// Times a write looks again after a conflict before it gives up.
pub const MAX_ATTEMPTS: usize = 10_000;
/// Indexes of one collection (MongoDB: 64).
pub const MAX_INDEXES: usize = 64;
/// Fields of one index (MongoDB: 32).
pub const MAX_INDEX_FIELDS: usize = 32;
/// Index entries one document may have in one index.
pub const MAX_ENTRIES_PER_DOCUMENT: usize = 100_000;
/// Bytes of the name of a namespace (MongoDB: 255).
pub const MAX_NAMESPACE_BYTES: usize = 255;
/// Documents of another collection that one row may bring in, bytes (MongoDB: 100 MB a stage).
pub const MAX_LOOKUP_BYTES: usize = 100 * 1024 * 1024;
/// Bytes of documents that are written in one commit with their receipt, or in one group of
/// statements, roughly.
pub const UNIT_BYTES: usize = 4 * 1024 * 1024;
/// Documents that a statement of a group may update or remove; a statement with more runs alone.
pub const GROUP_MATCHES: usize = 256;
/// Milliseconds after which a view takes no more statements of a group.
pub const GROUP_VIEW_MS: i64 = 100;
/// Seconds that the receipt of a write is kept after it was put last.
pub const RECEIPT_SECONDS: i64 = 30 * 60;
/// Commits of one commit call.
pub const COMMITS_AT_ONCE: usize = 1_000;
/// Items that indexes may name for one walk before the rows are walked instead.
pub const MAX_CANDIDATES: usize = 20_000;
/// Items that a query looks at for want of an index before the path gets one. So many take a
/// millisecond or two: what a query takes with fewer would not be noticed, and each path that is kept
/// makes every write dearer.
pub const WANTED_AFTER: u64 = 1_000;
/// Paths of a container that queries may have kept beside those that its policy names: as many as a
/// large item has, so that no flood of queries makes writes dearer than entries of everything would.
pub const MAX_KEPT_PATHS: usize = 64;
/// Items of a container that are walked in the order in which they were made. Each page of a walk
/// reads the births of all of them.
pub const FEW_ITEMS: usize = 2_000;
/// Expirations of a class that are published in a feed in one commit.
pub const PUBLISHED_AT_ONCE: usize = 256;
/// Entries that an item is given room for in an index by path; half of them have to differ. An item
/// of 2 MB has fewer.
pub const MAX_ENTRIES_PER_ITEM: usize = 2_000_000;
/// Bytes of a value that an index by path keeps in order; of longer ones a checksum follows. A GUID
/// and a date as text are whole. What an index names is looked at again anyway.
pub const KEPT_PATH_COMPONENT_BYTES: usize = 40;
/// Bytes of items that a walk in the order of a path sorts itself.
pub const MAX_ALIKE_BYTES: usize = 32 * 1024 * 1024;
/// Bits of an item's birth that tell it from others of the same commit: a batch has 100 actions at
/// most.
pub const BIRTH_BITS: u32 = 7;
/// Actions of one batch of items.
pub const MAX_BATCH: usize = 1 << BIRTH_BITS;
/// Bytes of items that the reads of one batch answer together.
pub const MAX_READ_BYTES: usize = 4 * 1024 * 1024;
/// Seconds of one step of a series of expirations: a year.
pub const MAX_SERIES_STEP_S: i64 = 31_536_000;
/// Steps of one series of expirations.
pub const MAX_SERIES_STEPS: usize = 400;
/// Instants that are looked up in the counters before others may run; some 40 us each.
pub const INSTANTS_AT_ONCE: usize = 16;
