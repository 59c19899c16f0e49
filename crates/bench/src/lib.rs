//! The load generator: speaks raw OP_MSG to any `mongodb://` address, or the NoSQL REST API to any
//! `http://` address, in a closed loop and measures rates, latencies, the server's CPU time and memory, and the lateness of expiry.
//! It is not a driver and not a test: it expects a server that works.

mod address;
mod args;
mod cli;
mod closed_loop;
mod commands;
mod compare;
mod connection;
mod cosmos;
mod entry;
mod error;
mod figures;
mod histogram;
mod inserts;
mod keys;
mod limits;
mod load;
mod mongo;
mod options;
mod pause;
mod process;
mod protocol;
mod records;
mod reply;
mod report;
mod settings;
mod start;
mod target;
mod wire;
mod witness;
mod work;
mod zipf;

pub use args::Bench;
pub use cli::main;
pub use error::{Error, Result};
