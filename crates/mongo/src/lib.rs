//! The MongoDB door: the wire protocol and its commands over the engine. The only crate that knows
//! MongoDB's messages, command names and error codes.

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
