//! The binary `ebb`: what was typed, what it means, and which exit code it ends with.

mod commands;
mod settings;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run()
}
