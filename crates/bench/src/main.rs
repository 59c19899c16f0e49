//! The binary `ebb-bench`, the load generator: it speaks raw OP_MSG to any `mongodb://` address, or the
//! NoSQL REST API to any `http://` address, in a closed loop, and measures rates, latencies, the
//! server's CPU time and memory, and how late documents expire. It is not a driver and not a test: it
//! expects a server that works. The server does not link it.
//!
//! ```text
//! args, options, entry   what was typed, and which workloads that names
//! cli, compare           runs them on one server, or on two in turn
//! protocol               what a protocol has to have: mongo.rs and cosmos/protocol.rs implement it
//! work/, cosmos/work/    the workloads: what one worker does in one step
//! start, growth          what starts its server itself: on empty directories, at growing sizes
//! closed_loop            the measurement: connections, window, CPU time, latencies
//! figures, report        what came of it, for people and for programs
//! ```

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
mod growth;
mod histogram;
mod inserts;
mod keys;
mod limits;
mod load;
mod mongo;
mod mortality;
mod options;
mod pause;
mod process;
mod protocol;
mod records;
mod report;
mod settings;
mod shrink;
mod sizes;
mod spawned;
mod start;
mod stream;
mod target;
mod witness;
mod work;
mod zipf;

use std::{io::Write, process::ExitCode};

use clap::Parser;

/// Exit code after a measurement that failed.
const FAILED: u8 = 1;
/// Exit code after wrong usage, as `clap` ends too.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let failure = match cli::main(args::Bench::parse()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(failure) => failure,
    };
    // Nobody is left to tell if standard error is gone.
    let _ = writeln!(std::io::stderr().lock(), "ebb-bench: {failure}");
    ExitCode::from(if matches!(failure, error::Error::Usage(_)) { USAGE } else { FAILED })
}
