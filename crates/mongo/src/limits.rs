//! Sizes, counts and times of the MongoDB API. Those that `hello` reports (`MAX_MESSAGE_BYTES`,
//! `MAX_DOCUMENT_BYTES`, `MAX_WRITE_BATCH`) are mongod's figures: drivers split batches by them.
//! The others are this server's own.

use std::{ops::RangeInclusive, time::Duration};

/// Largest message, bytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 48_000_000;
/// Sizes that the largest message may be set to, bytes. Below are messages of clients that are not known yet.
pub const MESSAGE_BYTES: RangeInclusive<usize> = MAX_FIRST_BYTES..=MAX_MESSAGE_BYTES;
/// Largest stored document, bytes.
pub(crate) const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Room for the command around a document.
pub(crate) const COMMAND_ROOM_BYTES: usize = 16 * 1024;
/// Largest command body: a document with room around it.
pub(crate) const MAX_COMMAND_BYTES: usize = MAX_DOCUMENT_BYTES + COMMAND_ROOM_BYTES;
/// Operations of one write command.
pub(crate) const MAX_WRITE_BATCH: usize = 100_000;
/// Statements of a write command that are committed together, at most.
pub(crate) const GROUP_STATEMENTS: usize = 1_000;
/// Texts of one message that are not UTF-8, at most, for the error of each document that has one. A
/// message with more of them fails as a whole.
pub(crate) const MAX_NOT_UTF8: usize = 100_000;
/// Documents of a first batch when nothing is asked for.
pub(crate) const FIRST_BATCH: usize = 101;
/// Bytes of documents of one batch, at most.
pub(crate) const BATCH_BYTES: usize = MAX_DOCUMENT_BYTES;
/// A cursor nobody asks for is closed after this long.
pub(crate) const CURSOR_IDLE: Duration = Duration::from_secs(600);
/// The same for one that holds much, when the connection has gone that opened it.
pub(crate) const ORPHAN_IDLE: Duration = Duration::from_secs(30);
/// What is much for a cursor that nobody uses.
pub(crate) const HEAVY_CURSOR_BYTES: usize = 1024 * 1024;
/// A cursor that holds less is not closed to free memory.
pub(crate) const LIGHT_CURSOR_BYTES: usize = 64 * 1024;
/// Cursors open at once.
pub(crate) const MAX_CURSORS: usize = 100_000;
/// Bytes of a command, or of a text about it, that others are shown.
pub(crate) const SHOWN_BYTES: usize = 1024;
/// Bytes of all larger commands together that are shown whole. An entry has to fit into a document, with
/// all else that is in it.
pub(crate) const MAX_WHOLE_COMMANDS: usize = MAX_DOCUMENT_BYTES - 64 * 1024;
/// The name of the application that is shown when documents were written, while that is switched
/// on.
pub(crate) const DUMPING: &str = "mongodump";
/// Connections that there may be, as far as this door knows.
pub(crate) const MAX_CONNECTIONS: i32 = 50_000;
/// Minutes a session may be unused. What is kept of its writes lives as long.
pub(crate) const SESSION_MINUTES: i32 = 30;
const _: () = assert!(SESSION_MINUTES as i64 * 60 == engine::limits::RECEIPT_SECONDS);
/// Bytes of the receipt of a numbered write: a document that is answered, and room around it.
pub(crate) const MAX_RECEIPT_BYTES: usize = MAX_DOCUMENT_BYTES + 64 * 1024;
/// How often a numbered write begins again because another attempt of it came first.
pub(crate) const MAX_BEGINNINGS: usize = 100;
/// Bytes of client metadata.
pub(crate) const MAX_CLIENT_BYTES: usize = 512;
/// The rest of a message has to arrive within this long once it has begun.
pub(crate) const MESSAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// A long message waits this long for room at most before it is read, and looks this often.
pub(crate) const ROOM_WAIT: Duration = Duration::from_secs(2);
pub(crate) const ROOM_LOOK: Duration = Duration::from_millis(10);
/// A command that still runs this long after the server began to stop is told to end.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(1);
/// A client that does not read is given up after this long.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of a message that room is made for when nothing of it has arrived.
pub(crate) const CLAIMED_BYTES: usize = 16 * 1024;
/// Bytes that room is made for at once when this many have arrived.
pub(crate) const TRUSTED_BYTES: usize = 256 * 1024;
/// Address space that is taken ahead of what has arrived, in sizes of that: a batch of a thousand
/// documents of 1 KB is copied once. A message of the largest size is copied three times.
pub(crate) const ROOM_AHEAD: usize = 16;
/// What is said last to a client has to find room within this long.
pub(crate) const CLOSE_TIME: Duration = Duration::from_secs(1);
/// What is read at once of small messages; every connection has such a buffer.
pub(crate) const BUFFER_BYTES: usize = 4 * 1024;
/// Bytes of a message of a client that has not asked anything yet.
pub(crate) const MAX_FIRST_BYTES: usize = 64 * 1024;
/// Bytes of a message that is kept until it is answered, so that another server may answer it: a usual
/// batch. One that is longer goes through as it comes.
pub(crate) const MAX_KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the message by which a client says who it is, for the servers after the first.
pub(crate) const MAX_INTRODUCTION_BYTES: usize = 4 * 1024;
/// How many servers may get one message that none of them has answered.
pub(crate) const MAX_SENDS: usize = 4;
/// Bytes of a reply that are passed on at once.
pub(crate) const PASSED_BYTES: usize = 64 * 1024;
/// How long a server that says it is not the right one any more may take to stop.
pub(crate) const MOVE_TIME: Duration = Duration::from_secs(1);
/// About what an element of a command takes once it is parsed, in the dearest case.
pub(crate) const ELEMENT_BYTES: usize = 256;
/// Bytes that take long enough to be looked at that others should not wait for it.
pub(crate) const LONG_BYTES: usize = 256 * 1024;
/// Wire versions spoken: 8.0's, with `bulkWrite`.
pub(crate) const MAX_WIRE_VERSION: i32 = 25;
/// The version of MongoDB whose behaviour is offered, as `buildInfo` and others report it: the one that
/// has this wire version, since clients branch on either of them.
pub(crate) const SERVER_VERSION: &str = "8.0.0";
/// The feature compatibility version of that version.
pub(crate) const COMPATIBILITY_VERSION: &str = "8.0";
/// Sections of one message.
pub(crate) const MAX_SECTIONS: usize = 64;
/// Ids of one `ebbExpiry`.
pub(crate) const MAX_EXPIRY_IDS: usize = 1_000;
/// Users and roles that a server keeps: all of them are in memory.
pub(crate) const MAX_ACCESS_RECORDS: usize = 10_000;
/// How long what another shard knows of them is gone by while the first shard, which keeps them, is not
/// reached: it gets another owner in less.
pub(crate) const USERS_GOOD: Duration = Duration::from_secs(10);
/// Between two questions to the first shard where the one before had no answer.
pub(crate) const USERS_AGAIN: Duration = Duration::from_millis(200);
/// Bytes of all of them together.
pub(crate) const MAX_ACCESS_BYTES: usize = 32 * 1024 * 1024;
/// Longest time that a login waits because of wrong passwords before it; whoever would wait longer is
/// refused.
pub(crate) const LOGIN_WAIT: Duration = Duration::from_secs(10);
/// Resources that one set of privileges is about.
pub(crate) const MAX_PRIVILEGES: usize = 4096;
/// Roles that one user or role has, and names in a list of users or roles.
pub(crate) const MAX_ROLES: usize = 1024;
/// Roles that a user has through others, all together.
pub(crate) const MAX_INHERITED_ROLES: usize = 16 * MAX_ROLES;
/// Bytes of the name of a user or a role, without its database.
pub(crate) const MAX_ACCESS_NAME_BYTES: usize = 1024;
/// Restrictions on where one user logs in from, and addresses in each list of one.
pub(crate) const MAX_RESTRICTIONS: usize = 256;
