//! Assembly: configuration, the data directory, the clock's checkpoints, listeners, background
//! work, the admin address, shutdown. The only crate that waits. It knows no protocol beyond which
//! door listens where.

mod addresses;
mod admin;
mod any_store;
mod background;
mod banner;
mod checkpoint;
mod config;
mod data_dir;
mod explorer;
mod failure;
mod features;
mod give_way;
mod listen;
mod logging;
mod machine;
mod nosql;
mod open;
mod process;
mod quickstart;
mod ready;
mod relayed;
mod sealed;
mod serve;
mod shares;
mod test_wall;
#[cfg(test)]
mod testing;
mod verify;
mod whole_file;

pub use config::{ClockMode, Config, LogFormat, REAP_DELAY};
pub use cosmos::WELL_KNOWN_KEY;
pub use data_dir::Refused;
pub use failure::Failure;
pub use memory::LEAST as LEAST_MEMORY;
pub use nosql::first_key;
pub use process::{Beside, serve, serve_beside};
pub use serve::{Running, start};
pub use verify::{Difference, verify};
