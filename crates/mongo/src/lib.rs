//! The MongoDB door: the wire protocol and its commands over the engine. The only crate that knows
//! MongoDB's messages, command names and error codes.

mod args;
mod client;
mod command_row;
mod commands;
mod complaints;
mod concern;
mod connection;
mod cursor_about;
mod cursors;
mod dialect;
mod door;
mod errors;
mod limits;
mod names;
mod open;
mod operation;
mod program;
mod relay;
mod session;
mod timestamps;
mod ttl;
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
