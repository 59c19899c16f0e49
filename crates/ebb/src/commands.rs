//! The subcommands. Parsing never decides and deciding never parses.

use std::{path::PathBuf, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use server::Failure;

use crate::{
    admin, bench, quickstart,
    settings::{self, Settings},
};

/// Failed while running.
pub(crate) const FAILED: u8 = 1;
/// Wrong usage or configuration.
const USAGE: u8 = 2;
/// The data directory was refused.
const REFUSED: u8 = 3;

fn command() -> Command {
    let serve = settings::add_flags(Command::new("serve"))
        .about("Run the server")
        .arg(Arg::new("config").long("config").value_name("FILE").help("TOML file of settings"))
        .arg(
            Arg::new("print-config")
                .long("print-config")
                .action(ArgAction::SetTrue)
                .help("Print all settings and where they came from, and end"),
        );
    let verify = Command::new("verify")
        .about("Walk every row, index entry and count of a data directory no server has open")
        .arg(Arg::new("data-dir").long("data-dir").value_name("PATH").required(true))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue));
    let completions = Command::new("completions").about("Print a shell's completion script").arg(
        Arg::new("shell").required(true).value_parser(clap::value_parser!(clap_complete::Shell)),
    );
    Command::new("ebb")
        .about("A document database whose documents expire exactly on time")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(serve)
        .subcommand(quickstart::command())
        .subcommand(verify)
        .subcommand(admin::command())
        .subcommand(completions)
        .subcommand(bench::command())
}

/// Runs what was typed.
pub(crate) fn run() -> ExitCode {
    let matches = command().get_matches();
    match matches.subcommand() {
        Some(("serve", matches)) => run_serve(matches),
        Some(("quickstart", matches)) => quickstart::run(matches),
        Some(("verify", matches)) => run_verify(matches),
        Some(("admin", matches)) => admin::run(matches),
        Some(("completions", matches)) => print_completions(matches),
        Some(("bench", matches)) => bench::run(matches),
        _ => ExitCode::from(USAGE),
    }
}

#[expect(clippy::print_stderr, reason = "the last word before a process ends")]
pub(crate) fn complain(message: impl std::fmt::Display, code: u8) -> ExitCode {
    eprintln!("ebb: {message}");
    ExitCode::from(code)
}

#[expect(clippy::print_stdout, reason = "what was asked for")]
pub(crate) fn print_text(text: impl std::fmt::Display) {
    print!("{text}");
}

pub(crate) fn end_failed(failure: Failure) -> ExitCode {
    match failure {
        Failure::Usage(message) => complain(message, USAGE),
        Failure::Refused(refused) => complain(refused, REFUSED),
        Failure::Failed(message) => complain(message, FAILED),
    }
}

fn run_serve(matches: &ArgMatches) -> ExitCode {
    let file = match matches.get_one::<String>("config") {
        None => None,
        Some(path) => match std::fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) => return complain(format!("--config {path}: {error}"), USAGE),
        },
    };
    let settings = match Settings::gather(matches, file.as_deref()) {
        Ok(settings) => settings,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    if matches.get_flag("print-config") {
        print_text(settings.print());
        return ExitCode::SUCCESS;
    }
    let config = match settings.config() {
        Ok(config) => config,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    match server::serve(&config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => end_failed(failure),
    }
}

fn run_verify(matches: &ArgMatches) -> ExitCode {
    let path = matches.get_one::<String>("data-dir").map(PathBuf::from).unwrap_or_default();
    let found = match server::verify(&path) {
        Ok(found) => found,
        Err(failure) => return end_failed(failure),
    };
    let differences: u64 = found.iter().map(|it| it.count).sum();
    if matches.get_flag("json") {
        let collections: Vec<_> = found
            .iter()
            .map(|it| {
                json!({
                    "collection": it.namespace,
                    "documents": it.rows,
                    "dead_entries": it.dead_entries,
                    "differences": it.differences,
                    "count": it.count,
                })
            })
            .collect();
        let report = json!({ "collections": collections, "differences": differences });
        print_text(format!("{report}\n"));
    } else {
        for it in &found {
            print_text(format!(
                "{}: {} documents, {} differences, {} entries of dead documents\n",
                it.namespace, it.rows, it.count, it.dead_entries
            ));
            it.differences.iter().for_each(|difference| print_text(format!("  {difference}\n")));
        }
    }
    if differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

fn print_completions(matches: &ArgMatches) -> ExitCode {
    let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") else {
        return ExitCode::from(USAGE);
    };
    clap_complete::generate(*shell, &mut command(), "ebb", &mut std::io::stdout());
    ExitCode::SUCCESS
}
