//! `ebb-bench`: the load generator as a program of its own.

use std::{io::Write, process::ExitCode};

use clap::Parser;

fn main() -> ExitCode {
    match bench::main(bench::Bench::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "ebb-bench: {error}");
            match error {
                bench::Error::Usage(_) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}
