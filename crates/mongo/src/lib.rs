//! The MongoDB API: the wire protocol and its commands over the engine. This is the only crate that
//! depends on MongoDB's messages, command names and error codes; filters, updates and pipelines are
//! parsed by `mongo-query`, and nothing is evaluated or stored here.
//!
//! Processing of a command: `connection` reads a message (`wire`), `call` extracts the command and
//! its database, `commands` finds its row and runs it, `replies` and `connection` send the result.
//! `relay` does the same for a command that came through the portal instead of a socket.
//!
//! Modules import each other in one direction. From bottom to top: limits, errors and arguments;
//! messages, clients and cursors; the shared state (`api`); calls, parsers and replies; the
//! commands; and the two entry points.

/// Types of users, roles and privileges.
mod access;
/// The account that connection strings of cloud services name.
mod account;
/// An open cursor of either kind.
mod any_cursor;
/// The API's state, shared by all connections.
mod api;
/// The fields of a command, by name and type.
mod arguments;
/// Events of the audit log.
mod audited;
mod authorize;
/// A command that a client called.
mod call;
/// The evaluation context of a command.
mod call_context;
/// Cursors over the engine's change log.
mod change_stream;
/// The cost of commands in request units.
mod charges;
/// The state of a connected client.
mod client;
/// A client's byte stream, which may move between servers.
mod client_stream;
/// The properties of a command.
mod command_row;
/// The lookup of commands by name.
mod command_table;
/// The commands, one file each.
mod commands;
/// A socket: messages in, replies out.
mod connection;
/// Work counters of a connection.
mod counters;
/// The description of an open cursor.
mod cursor_description;
/// The session and the transaction of a cursor.
mod cursor_place;
mod cursors;
/// The language of partial index filters, for the engine.
mod dialect;
/// Checks of documents before they are stored.
mod document_writer;
/// Error codes and error replies.
mod errors;
/// Streams of replies to one request.
mod exhaust;
mod fail_point;
/// The transport to the cluster's first shard.
mod first_shard;
/// The creation of the first user.
mod first_user;
/// Forwarding of messages to other servers.
mod forwarded;
#[doc(hidden)]
pub mod fuzzing;
/// The routing of messages by database.
mod homes;
mod incoming;
mod limits;
/// The login state of a connection.
mod login;
/// The login control frame between servers.
mod login_frame;
mod machine;
/// Rules for names of databases and collections.
mod names;
mod namespace_work;
/// The control frame NOT_STARTED, by which a server reports that it did not execute a message.
mod not_started;
/// The creation of the API's state, with the table of commands.
mod open;
/// Time limits and stop requests of an operation.
mod operation;
mod other_shards;
mod outgoing;
/// The memory of parsed commands.
mod parsed_command;
/// Arguments that several commands share.
mod parsers;
mod passwords;
/// Delays that do not affect stored data, such as delays requested by a client.
mod pause;
/// The identity of a connection's peer.
mod peer;
mod pre_login_throttle;
/// The selection of commands that are recorded in `system.profile`.
mod profiler;
/// Rate-limited log lines about malformed messages.
mod protocol_error_log;
/// The shard keys and the throughput of collections and databases.
mod provisioning;
mod query;
mod recent_log;
/// Replies to logins while no server accepts them.
mod refuse_login;
/// Commands that come through the portal.
mod relay;
/// Messages that may be sent to another server.
mod repeatable;
/// The replica set that the server presents itself as.
mod replica_set;
/// Parts of replies that several commands share.
mod replies;
mod reserved_property;
mod retry_label;
mod retryable;
/// The rights that commands require.
mod rights;
mod run_call;
/// The session id of a command.
mod session;
mod session_set;
mod settings;
mod slow;
/// The snapshots of reads outside of transactions.
mod snapshot_table;
/// The definitions of views as they are stored.
mod stored_view;
/// Timestamps set by the server.
mod timestamps;
mod topology;
mod transaction_call;
/// The error labels of commands in transactions.
mod transaction_label;
mod transaction_table;
mod usage;
/// The storage of users and roles.
mod users;
/// Another shard's copy of users and roles.
mod users_copy;
mod utf8;
/// The validators of collections and their errors.
mod validator;
/// The wire format of messages.
mod wire;

pub use account::Account;
pub use api::{MongoApi, Silent};
pub use client_stream::{ClientStream, ServeEnd};
pub use command_row::{Access, ApiVersion1, CommandRow, ReadLevels, Work};
pub use command_table::NotYet;
pub use commands::{NOT_YET, table};
pub use connection::{serve, serve_movable};
pub use dialect::MongoDialect;
pub use errors::code_name;
pub use evaluation::serve_process;
pub use first_shard::{FirstShard, FirstShardTransport, UsersReply};
pub use forwarded::ForwardAccounts;
pub use homes::IsHome;
pub use limits::MESSAGE_BYTES;
pub use login::KnownUser;
pub use machine::{Machine, MachineFigures};
pub use other_shards::{OtherShards, OtherShardsTransport, ShardReplies};
pub use peer::Peer;
pub use recent_log::RecentLog;
pub use relay::{NoReply, Right, Sender, home_of_command};
pub use settings::Settings;
pub use topology::{ReplicaSetSettings, Topology};
pub use usage::Usage;
