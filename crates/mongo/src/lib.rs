//! The MongoDB API: the wire protocol and its commands over the engine. This is the only crate that
//! knows MongoDB's messages, command names and error codes; filters, updates and pipelines are
//! parsed by `mongo-query`, and nothing is evaluated or stored here.
//!
//! A command's way: `connection` reads a message (`wire`), `call` says which command it is and on
//! which database, `commands` finds its row and runs it, `replies` and `connection` send what comes
//! out. `relay` is the same way for a command that came to the portal instead of a socket.
//!
//! Modules import each other in one direction: limits, errors and arguments are at the bottom, then
//! messages, clients and cursors, the door that holds them, calls, parsers and replies, the
//! commands, and on top the two ways in.

/// Users, roles and what they permit, as values.
mod access;
/// The fields of a command, by name and type.
mod arguments;
/// What goes into the audit log.
mod audited;
/// Whether the sender of a command may have it run.
mod authorize;
/// One command that a client called.
mod call;
/// What is known about a connected client.
mod client;
/// A client's stream, whoever serves it.
mod client_stream;
/// The facts about a command.
mod command_row;
/// The table of them.
mod command_table;
/// The commands themselves, a file each.
mod commands;
/// A socket: messages in, replies out.
mod connection;
/// What a connection counts.
mod counters;
/// What is shown of an open cursor.
mod cursor_description;
/// Open cursors.
mod cursors;
/// Filters of partial indexes, for the engine.
mod dialect;
/// Checks of documents that are stored.
mod document_writer;
/// The API's state, one for all connections.
mod door;
/// Error codes and replies.
mod errors;
/// The fail point that is set.
mod exhaust;
mod fail_point;
/// The server of a cluster's first shard.
mod first_shard;
/// The first user.
mod first_user;
/// Clients whose messages go to other servers.
mod forwarded;
#[doc(hidden)]
pub mod fuzzing;
/// Messages as they come in.
mod homes;
mod incoming;
/// Sizes, counts and times.
mod limits;
/// Who is logged in on a connection.
mod login;
/// What servers tell each other of that.
mod login_word;
mod machine;
/// Rules for names of databases and collections.
mod names;
mod namespace_work;
/// Writes that drivers may send twice.
mod numbered;
/// Joins the state and the commands.
mod open;
/// Time limits and stops of an operation.
mod operation;
/// Replies as they go out.
mod outgoing;
/// What a parsed command takes.
mod parsed_command;
/// Arguments that several commands share.
mod parsers;
/// Passwords that users are given.
mod passwords;
/// Waits that decide nothing.
mod pause;
/// Whose connection it is.
mod peer;
/// Log lines about malformed messages.
mod protocol_error_log;
/// Queries at their beginning.
mod query;
/// Commands that come through the portal.
mod relay;
/// Messages that another server may answer.
mod repeatable;
/// Parts of replies that several commands share.
mod replies;
/// The reserved property `_ts`.
mod reserved_property;
/// What commands ask of their senders.
mod rights;
mod run_call;
/// The session that a command names.
mod session;
mod session_set;
mod siblings;
mod slow;
mod stranger_pace;
/// Timestamps that the server sets.
mod timestamps;
/// What a server says that ends between two messages.
mod unbegun;
/// What a client hears that nobody serves.
mod unserved;
/// What the process takes of its machine.
mod usage;
/// Users and roles, as they are kept.
mod users;
/// What another shard knows of them.
mod users_copy;
mod utf8;
/// Messages as bytes.
mod wire;

pub use client_stream::{ClientStream, Ended};
pub use command_row::{Access, ApiVersion1, CommandRow, ReadLevels, Work};
pub use command_table::NotYet;
pub use commands::{NOT_YET, table};
pub use connection::{serve, serve_movable};
pub use dialect::MongoDialect;
pub use door::{Door, Settings, Silent, Topology};
pub use errors::code_name;
pub use evaluation::serve_process;
pub use first_shard::{AskFirstShard, FirstShard, Heard};
pub use forwarded::Rooms;
pub use homes::IsHome;
pub use limits::MESSAGE_BYTES;
pub use login::KnownUser;
pub use machine::{Machine, MachineFigures};
pub use peer::Peer;
pub use relay::{NoReply, Right, Sender, home_of_command};
pub use siblings::{Answers, AskSiblings, Siblings};
pub use usage::Usage;
