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

mod arguments;
mod call;
mod client;
mod command_row;
mod commands;
mod connection;
mod counters;
mod cursor_description;
mod cursors;
mod dialect;
mod document_writer;
mod door;
mod errors;
mod fail_point;
mod limits;
mod lock;
mod names;
mod open;
mod operation;
mod parsed_command;
mod parsers;
mod protocol_error_log;
mod relay;
mod replies;
mod reserved_property;
mod session;
mod timestamps;
mod usage;
mod wire;

pub use command_row::{Access, ApiVersion1, CommandRow, NotYet, ReadLevels, Work};
pub use commands::{NOT_YET, table};
pub use connection::serve;
pub use dialect::MongoDialect;
pub use door::{Door, Settings};
pub use errors::code_name;
pub use query::filter::take_patterns_from;
pub use relay::{NoReply, Right, Sender};
pub use usage::Usage;
