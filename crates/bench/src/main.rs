//! The binary `ebb-bench`, a load generator. It sends raw OP_MSG messages to any `mongodb://`
//! address, or NoSQL REST requests to any `http://` address, in a closed loop, and measures rates,
//! latencies, the server's CPU time and memory, and how late documents expire. It is neither a
//! driver nor a test: it expects a working server. The server does not link it.
//!
//! ```text
//! args, options, entry   command line, and selection of workloads
//! cli, compare           runs workloads on one server, or on two in turn
//! protocol               interface of a protocol: mongo.rs and cosmos/mod.rs implement it
//! work/, cosmos/work/    the workloads: what one worker does in one step
//! start, growth          start their own servers: on empty directories, with growing sizes
//! closed_loop            the measurement: connections, window, CPU time, latencies
//! figures, report        results, for people and for programs
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
mod expiry_method;
mod expiry_observer;
mod figures;
mod growth;
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
mod report;
mod sizes;
mod spawned;
mod start;
mod stream;
mod target;
mod work;
mod zipf;

use std::{io::Write, process::ExitCode};

use clap::Parser;

/// Exit code of a failed measurement.
const FAILED: u8 = 1;
/// Exit code of wrong usage, the same as `clap`'s.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let failure = match cli::main(args::Bench::parse()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(failure) => failure,
    };
    // Nothing can be reported if standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "ebb-bench: {failure}");
    ExitCode::from(if matches!(failure, error::Error::Usage(_)) { USAGE } else { FAILED })
}
