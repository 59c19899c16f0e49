//! `ebb bench`: passes its arguments to the load generator, a separate binary in the same
//! directory, so that the server binary does not contain it.

use std::{env, ffi::OsString, io, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::{FAILED, complain};

/// File name of the load generator, in the directory of this binary.
const BINARY: &str = "ebb-bench";

/// Returns the subcommand. All arguments, including `--help`, are passed on.
pub(crate) fn command() -> Command {
    let arguments = Arg::new("arguments")
        .value_name("ARGUMENTS")
        .value_parser(value_parser!(OsString))
        .num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true)
        .action(ArgAction::Append);
    Command::new("bench")
        .about("Benchmark a server with the ebb-bench binary in the same directory")
        .disable_help_flag(true)
        .arg(arguments)
}

/// Runs the load generator and returns its exit code, or [`FAILED`] if it is missing or was ended
/// by a signal.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let arguments = matches.get_many::<OsString>("arguments").into_iter().flatten();
    let status = env::current_exe()
        .map(|own| own.with_file_name(BINARY))
        .and_then(|binary| std::process::Command::new(binary).args(arguments).status());
    match status {
        Ok(status) => status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::from(FAILED), ExitCode::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => complain(
            "ebb-bench not found next to this binary: build it with 'cargo build --release -p \
             bench'",
            FAILED,
        ),
        Err(error) => complain(format!("{BINARY}: {error}"), FAILED),
    }
}
