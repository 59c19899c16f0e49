//! The binary `ebb`: parses the command line, runs the subcommand and returns its exit code. This
//! file prints the output and error message of a subcommand. The server itself is in the crates
//! `server` and `node`.

mod admin;
mod backup;
mod bench;
mod cert;
mod client;
mod commands;
mod keys;
mod moving;
mod password;
mod progress;
mod quickstart;
mod settings;
mod table;
mod verify;

use std::process::ExitCode;

use server::Failure;

/// The allocator. Documents cause many small allocations; with the system's allocator they took a
/// quarter of the time of a group stage. `allocator.c` sets the options before the first
/// allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run()
}

/// Exit code: the command failed, or `verify` found differences.
pub(crate) const FAILED: u8 = 1;
/// Exit code: wrong usage or configuration.
pub(crate) const USAGE: u8 = 2;
/// Exit code: the data directory was refused, and a restart would not help.
pub(crate) const REFUSED: u8 = 3;

/// Prints an error message to standard error and returns the exit code.
#[expect(clippy::print_stderr, reason = "a process that ends reports the reason")]
pub(crate) fn complain(message: impl std::fmt::Display, code: u8) -> ExitCode {
    eprintln!("ebb: {message}");
    ExitCode::from(code)
}

/// Prints a text to standard output without adding a line break.
#[expect(clippy::print_stdout, reason = "the output of the command")]
pub(crate) fn print_text(text: impl std::fmt::Display) {
    print!("{text}");
}

/// Returns a number with its noun, in the plural unless the number is one.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let ending = match (count, noun.strip_suffix('y')) {
        (1, _) => return format!("1 {noun}"),
        (_, Some(stem)) => return format!("{count} {stem}ies"),
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Prints why a command failed and returns the exit code for that kind of failure.
pub(crate) fn end_failed(failure: Failure) -> ExitCode {
    match failure {
        Failure::Usage(message) => complain(message, USAGE),
        Failure::Refused(refused) => complain(refused, REFUSED),
        Failure::Failed(message) => complain(message, FAILED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_numbers() {
        for (count, noun, want) in [
            (0, "document", "0 documents"),
            (1, "document", "1 document"),
            (2, "entry", "2 entries"),
            (1, "entry", "1 entry"),
        ] {
            assert_eq!(counted(count, noun), want);
        }
    }
}
