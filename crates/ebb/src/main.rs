//! The binary `ebb`: what was typed, what it means, and which exit code it ends with.

mod admin;
mod bench;
mod client;
mod commands;
mod quickstart;
mod settings;

use std::process::ExitCode;

/// Documents come and go by the thousand; the system's allocator took a quarter of a group's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run()
}
