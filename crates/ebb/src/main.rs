//! The binary `ebb`: parses the command line, runs the subcommand and returns its exit code. The
//! server itself is in crate `server`.

mod admin;
mod backup;
mod bench;
mod client;
mod commands;
mod ending;
mod keys;
mod moving;
mod password;
mod progress;
mod quickstart;
mod settings;
mod table;
mod verify;

use std::process::ExitCode;

/// The allocator. Documents cause many small allocations; with the system's allocator they took a
/// quarter of the time of a group stage. `allocator.c` sets the options before the first
/// allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run()
}
