//! The subcommands. Parsing and execution are separate: `clap` parses the command line, the
//! functions here act on the result.
//!
//! ```text
//! ebb serve         run_serve             the server, until a signal
//! ebb quickstart    quickstart.rs         sample data, on a running or a temporary server
//! ebb backup        backup/               a running server's data, or a closed data directory's
//! ebb restore       backup/restoring.rs   a data directory from backups
//! ebb export        moving/exporting.rs   a collection or container to a file
//! ebb import        moving/importing.rs   a file to a collection or container
//! ebb verify        verify.rs             a closed data directory, backups, an audit log
//! ebb admin         admin/                a running server's admin address
//! ebb keys          keys.rs               a file of keys
//! ebb cert          cert.rs               a server's certificate
//! ebb bench         bench.rs              the load generator, another binary
//! ebb completions   print_completions     a shell's completion script
//! ebb man           write_manual          manual pages, one for each subcommand
//! ```
//!
//! To add a subcommand, add its `Command` in [`command`] and its arm in [`run`].

use std::{path::PathBuf, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::{
    FAILED, USAGE, admin, backup, bench, cert, complain, end_failed, keys, moving, print_text,
    quickstart,
    settings::{self, Settings},
    verify,
};

/// Advice to new users at the end of `ebb --help`.
const BEGIN: &str = "\
Get started:
  ebb serve        a server on loopback, with its data in ./ebb-data
  ebb quickstart   sample data that expires within a minute, on that or a temporary server";

/// Returns all subcommands with their flags, for parsing, help and shell completion.
fn command() -> Command {
    let serve = Command::new("serve")
        .about("Run the server")
        // Without this, `--help` would format the flags differently below each heading.
        .next_line_help(true)
        .arg(
            Arg::new("config")
                .long("config")
                .env("EBB_CONFIG")
                .value_name("FILE")
                .help("TOML file of settings, named as the flags are [none]"),
        )
        .arg(
            Arg::new("print-config")
                .long("print-config")
                .action(ArgAction::SetTrue)
                .help("Print all settings and their sources, and exit"),
        );
    // The settings are added last, because `--config` and `--print-config` are to be first in
    // `--help`.
    let serve = settings::add_flags(serve);
    let completions = Command::new("completions").about("Print a shell's completion script").arg(
        Arg::new("shell").required(true).value_parser(clap::value_parser!(clap_complete::Shell)),
    );
    let man = Command::new("man").about("Write manual pages into a directory").arg(
        Arg::new("directory")
            .value_name("DIR")
            .required(true)
            .value_parser(clap::value_parser!(PathBuf)),
    );
    Command::new("ebb")
        .about("A document database whose documents expire exactly on time")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(BEGIN)
        .subcommand(serve)
        .subcommand(quickstart::command())
        .subcommand(backup::backup_command())
        .subcommand(backup::restore_command())
        .subcommand(moving::export_command())
        .subcommand(moving::import_command())
        .subcommand(verify::command())
        .subcommand(admin::command())
        .subcommand(keys::command())
        .subcommand(cert::command())
        .subcommand(completions)
        .subcommand(man)
        .subcommand(bench::command())
}

/// Runs the parsed subcommand and returns the exit code. For `--help`, `--version` and parse errors
/// `clap` itself exits, with code 0 or 2.
pub(crate) fn run() -> ExitCode {
    let matches = command().get_matches();
    match matches.subcommand() {
        Some(("serve", matches)) => run_serve(matches),
        Some(("quickstart", matches)) => quickstart::run(matches),
        Some(("backup", matches)) => backup::run_backup(matches),
        Some(("restore", matches)) => backup::run_restore(matches),
        Some(("export", matches)) => moving::run_export(matches),
        Some(("import", matches)) => moving::run_import(matches),
        Some(("verify", matches)) => verify::run(matches),
        Some(("admin", matches)) => admin::run(matches),
        Some(("keys", matches)) => keys::run(matches),
        Some(("cert", matches)) => cert::run(matches),
        Some(("completions", matches)) => print_completions(matches),
        Some(("man", matches)) => write_manual(matches),
        Some(("bench", matches)) => bench::run(matches),
        _ => ExitCode::from(USAGE),
    }
}

/// Runs `ebb serve`: gathers the settings, then prints them or runs the server until it ends.
fn run_serve(matches: &ArgMatches) -> ExitCode {
    let settings = match gather_settings(matches) {
        Ok(settings) => settings,
        Err(wrong) => return complain(wrong, USAGE),
    };
    if matches.get_flag("print-config") {
        print_text(settings.print());
        return ExitCode::SUCCESS;
    }
    let config = match settings.config() {
        Ok(config) => config,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    let reread = || gather_settings(matches)?.config().map_err(|wrong| wrong.0);
    match server::serve(&config, node::start, &reread) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => end_failed(failure),
    }
}

/// Gathers the settings from flags, environment and file; fails with the message to show.
fn gather_settings(matches: &ArgMatches) -> Result<Settings, String> {
    let file = match matches.get_one::<String>("config") {
        None => None,
        // An empty environment variable counts as unset.
        Some(path) if path.is_empty() => None,
        Some(path) => match std::fs::read_to_string(path) {
            Ok(text) => Some((path.as_str(), text)),
            Err(error) => return Err(format!("--config {path}: {error}")),
        },
    };
    let file = file.as_ref().map(|(path, text)| (*path, text.as_str()));
    Settings::gather(matches, file).map_err(|wrong| wrong.0)
}

/// Writes manual pages into a directory, which is created if missing.
fn write_manual(matches: &ArgMatches) -> ExitCode {
    let Some(path) = matches.get_one::<PathBuf>("directory") else { return ExitCode::from(USAGE) };
    let made = std::fs::create_dir_all(path);
    match made.and_then(|()| clap_mangen::generate_to(command(), path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(format!("{}: {error}", path.display()), FAILED),
    }
}

/// Prints the completion script of a shell.
fn print_completions(matches: &ArgMatches) -> ExitCode {
    let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") else {
        return ExitCode::from(USAGE);
    };
    clap_complete::generate(*shell, &mut command(), "ebb", &mut std::io::stdout());
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_flags_go_together() {
        command().debug_assert();
    }

    #[test]
    fn help_begins_with_what_is_needed_first() {
        let mut all = command();
        let help = all.render_help().to_string();
        assert!(help.contains("Get started:\n  ebb serve "), "{help}");
        let help = all.find_subcommand_mut("serve").unwrap().render_help().to_string();
        let at = |text: &str| help.find(text).unwrap();
        let order = ["--config <FILE>", "--print-config", "\nStorage:\n", "--data-dir", "\nLog:\n"];
        assert!(order.map(at).is_sorted(), "{help}");
    }
}
