//! The binary `ebb`: what was typed, what it means, and which exit code it ends with. All that a
//! server does is in the crate `server`.

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

/// Documents come and go by the thousand; with the system's allocator a quarter of a group stage's
/// time went into it. `allocator.c` sets its options before anything is allocated.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run()
}
