//! Sizes, counts and times of the MongoDB API. The values that `hello` reports
//! (`MAX_MESSAGE_BYTES`, `MAX_DOCUMENT_BYTES`, `MAX_WRITE_BATCH`) are mongod's, since drivers split
//! batches by them. All other values are this server's own.

use std::{ops::RangeInclusive, time::Duration};

pub(crate) const MAX_MESSAGE_BYTES: usize = 48_000_000;
/// Allowed settings of the largest message in bytes. The lower bound is the limit for new clients,
/// `MAX_FIRST_BYTES`.
pub const MESSAGE_BYTES: RangeInclusive<usize> = MAX_FIRST_BYTES..=MAX_MESSAGE_BYTES;
/// Largest stored document in bytes.
pub(crate) const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Space for the fields of a command besides its document, in bytes.
pub(crate) const COMMAND_ROOM_BYTES: usize = 16 * 1024;
/// Largest command body: a document and the command around it.
pub(crate) const MAX_COMMAND_BYTES: usize = MAX_DOCUMENT_BYTES + COMMAND_ROOM_BYTES;
/// Maximum number of operations in one write command.
pub(crate) const MAX_WRITE_BATCH: usize = 100_000;
/// Maximum number of statements of a write command that are committed together.
pub(crate) const GROUP_STATEMENTS: usize = 1_000;
/// Maximum number of strings in one message that are not UTF-8 and get an error for their document.
/// A message with more of them fails as a whole.
pub(crate) const MAX_NOT_UTF8: usize = 100_000;
/// Maximum size of a collection's validator, in bytes.
pub(crate) const MAX_VALIDATOR_BYTES: usize = 1024 * 1024;
/// Maximum number of databases with settings of the profiler. Their filters are kept in memory.
pub(crate) const MAX_PROFILED_DATABASES: usize = 1_000;
/// Maximum size of a filter of the profiler in bytes.
pub(crate) const MAX_PROFILE_FILTER_BYTES: usize = 16 * 1024;
/// Maximum size of the description of why one document fails validation, in bytes.
pub(crate) const MAX_DETAIL_BYTES: usize = 4 * 1024 * 1024;
/// Maximum memory in bytes that an operation may hold when it describes why a document fails
/// validation. If it holds more, the error contains no reason.
pub(crate) const MAX_DETAILS_BYTES: usize = 8 * 1024 * 1024;
/// Maximum nesting of the description of why a document fails validation. The reply that contains
/// the description is a few levels deeper.
pub(crate) const DETAIL_DEPTH: usize = 180;
/// Default number of documents in a first batch.
pub(crate) const FIRST_BATCH: usize = 101;
/// Maximum size of the documents of one batch, in bytes.
pub(crate) const BATCH_BYTES: usize = MAX_DOCUMENT_BYTES;
/// Idle timeout of a cursor.
pub(crate) const CURSOR_IDLE: Duration = Duration::from_secs(600);
/// The parameter that limits how long a transaction may be open, in seconds.
pub(crate) const TRANSACTION_LIFETIME: &str = "transactionLifetimeLimitSeconds";
/// Initial value of the parameter.
pub(crate) const DEFAULT_TRANSACTION_LIFETIME: Duration = Duration::from_secs(60);
/// Maximum number of open transactions.
pub(crate) const MAX_TRANSACTIONS: usize = 10_000;
/// Maximum number of snapshots that are kept for reads outside of transactions.
pub(crate) const MAX_SNAPSHOTS: usize = 1_000;
/// Number of attempts to open a snapshot whose time no other one has.
pub(crate) const MAX_SNAPSHOT_ATTEMPTS: usize = 16;
/// Maximum number of sessions whose newest transaction is remembered.
pub(crate) const MAX_TRANSACTION_SESSIONS: usize = 200_000;
/// Idle timeout of a large cursor whose connection is closed.
pub(crate) const ORPHAN_IDLE: Duration = Duration::from_secs(30);
/// Size from which an idle cursor counts as large for `ORPHAN_IDLE`.
pub(crate) const HEAVY_CURSOR_BYTES: usize = 1024 * 1024;
/// Size up to which a cursor is not closed to free memory.
pub(crate) const LIGHT_CURSOR_BYTES: usize = 64 * 1024;
/// Default maximum number of open cursors.
pub(crate) const MAX_CURSORS: usize = 100_000;
/// Maximum size of a command, or of an error about it, in `currentOp` and logs.
pub(crate) const SHOWN_BYTES: usize = 1024;
/// Total size of the larger commands that one reply of `currentOp` shows in full. The reply has to
/// fit into a document, with everything else in it.
pub(crate) const MAX_WHOLE_COMMANDS: usize = MAX_DOCUMENT_BYTES - 64 * 1024;
/// Application name of clients that also read the reserved property `_ts`, the time of a document's
/// last write, while the setting `carry_timestamps` is on.
pub(crate) const DUMP_APP_NAME: &str = "mongodump";
/// Maximum number of connections, as `serverStatus` reports it.
pub(crate) const MAX_CONNECTIONS: i32 = 50_000;
/// Session timeout in minutes. Receipts of the session's writes expire after the same time.
pub(crate) const SESSION_MINUTES: i32 = 30;
const _: () = assert!(SESSION_MINUTES as i64 * 60 == engine::limits::RECEIPT_SECONDS);
/// Maximum size of the receipt of a retryable write: a returned document and the fields around it.
pub(crate) const MAX_RECEIPT_BYTES: usize = MAX_DOCUMENT_BYTES + 64 * 1024;
/// Maximum number of times that a retryable write restarts because another attempt of it was
/// committed first.
pub(crate) const MAX_RETRYABLE_RESTARTS: usize = 100;
/// Maximum size of client metadata, in bytes.
pub(crate) const MAX_CLIENT_BYTES: usize = 512;
/// Time within which the rest of a message must arrive once it has begun.
pub(crate) const MESSAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time that a long message waits for memory before it is read; `MEMORY_POLL` is the
/// polling interval.
pub(crate) const MEMORY_WAIT: Duration = Duration::from_secs(2);
pub(crate) const MEMORY_POLL: Duration = Duration::from_millis(10);
/// Time that a `getMore` of a cursor with `awaitData` waits for documents if the client gives none.
pub(crate) const AWAIT_TIME: Duration = Duration::from_secs(1);
/// Grace period after which a stopping server interrupts running commands.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(1);
/// Time after which a client that does not read its reply is disconnected.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Initial buffer size for a message of which nothing has arrived yet.
pub(crate) const CLAIMED_BYTES: usize = 16 * 1024;
/// Minimum step in bytes by which the buffer grows once the first data has arrived.
pub(crate) const TRUSTED_BYTES: usize = 256 * 1024;
/// Size to which the buffer grows, as a multiple of the bytes that have arrived: a batch of a
/// thousand documents of 1 KB is copied once, and a message of the largest size three times.
pub(crate) const ROOM_AHEAD: usize = 16;
/// Timeout for sending the last bytes to a client when its connection is closed.
pub(crate) const CLOSE_TIME: Duration = Duration::from_secs(1);
/// Size of the read buffer of each connection, for small messages.
pub(crate) const BUFFER_BYTES: usize = 4 * 1024;
/// Largest message in bytes of a new client: one that has not logged in or, where no login is
/// required, has not received a reply.
pub(crate) const MAX_FIRST_BYTES: usize = 64 * 1024;
/// Largest message that is kept until it is answered, so that another server may answer it: a
/// typical batch. Longer messages are streamed.
pub(crate) const MAX_KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Largest handshake message, in bytes, that is kept so that it can be repeated to servers to which
/// the client is passed on.
pub(crate) const MAX_INTRODUCTION_BYTES: usize = 4 * 1024;
/// Maximum number of servers that receive one unanswered message.
pub(crate) const MAX_SENDS: usize = 4;
/// Chunk size for forwarding replies, in bytes.
pub(crate) const PASSED_BYTES: usize = 64 * 1024;
/// Time in which a server that no longer owns its shard must stop.
pub(crate) const MOVE_TIME: Duration = Duration::from_secs(1);
/// Estimated memory of one element of a parsed command, in the worst case.
pub(crate) const ELEMENT_BYTES: usize = 256;
/// Size of a message from which processing it blocks other tasks for too long.
pub(crate) const LONG_BYTES: usize = 256 * 1024;
/// Highest wire version that the server speaks: that of MongoDB 8.0, with `bulkWrite`.
pub(crate) const MAX_WIRE_VERSION: i32 = 25;
/// The version of MongoDB whose behavior is implemented, as reported by `buildInfo` and others. It
/// must match the wire version, since some clients check the one and some the other.
pub(crate) const SERVER_VERSION: &str = "8.0.0";
/// Feature compatibility version that the server reports.
pub(crate) const COMPATIBILITY_VERSION: &str = "8.0";
/// Maximum number of sections in one message.
pub(crate) const MAX_SECTIONS: usize = 64;
/// Maximum number of ids in one `ebbExpiry`.
pub(crate) const MAX_EXPIRY_IDS: usize = 1_000;
/// Maximum number of users and roles, which are all kept in memory.
pub(crate) const MAX_ACCESS_RECORDS: usize = 10_000;
/// Time for which another shard's copy of the users stays valid while the first shard cannot be
/// reached. A failover of the first shard takes less.
pub(crate) const USERS_GOOD: Duration = Duration::from_secs(10);
/// Delay before asking the first shard again after a failed request.
pub(crate) const USERS_AGAIN: Duration = Duration::from_millis(200);
/// Maximum size of all users and roles together, in bytes.
pub(crate) const MAX_ACCESS_BYTES: usize = 32 * 1024 * 1024;
/// Maximum delay of a login because of earlier wrong passwords. A login that would be delayed
/// longer is refused.
pub(crate) const LOGIN_WAIT: Duration = Duration::from_secs(10);
/// Maximum number of resources in one set of privileges.
pub(crate) const MAX_PRIVILEGES: usize = 4096;
/// Maximum number of roles of one user or role, and of names in a list of users or roles.
pub(crate) const MAX_ROLES: usize = 1024;
/// Maximum number of roles that a user inherits.
pub(crate) const MAX_INHERITED_ROLES: usize = 16 * MAX_ROLES;
/// Maximum length in bytes of the name of a user or role, without its database.
pub(crate) const MAX_ACCESS_NAME_BYTES: usize = 1024;
/// Maximum number of authentication restrictions of one user, and of addresses in one list.
pub(crate) const MAX_RESTRICTIONS: usize = 256;

/// Number of seconds for which the records of the change log are kept by default.
pub(crate) const CHANGE_RETENTION_SECONDS: i64 = 24 * 60 * 60;
