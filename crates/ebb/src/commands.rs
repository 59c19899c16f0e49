//! The subcommands. Parsing never decides and deciding never parses: `clap` reads
//! what was typed, the functions here act on it.
//!
//! ```text
//! ebb serve         run_serve             the server, until a signal
//! ebb quickstart    quickstart.rs         the sample, on a running server or one of its own
//! ebb backup        backup/               a running server's data, or a closed data directory's
//! ebb restore       backup/restoring.rs   a data directory of backups
//! ebb export        moving/exporting.rs   a collection or container to a file
//! ebb import        moving/importing.rs   a file to a collection or container
//! ebb verify        run_verify            a closed data directory, backups, an audit log
//! ebb admin         admin.rs              a running server's admin address
//! ebb bench         bench.rs              the load generator, another binary
//! ebb completions   print_completions     a shell's completion script
//! ebb man           write_manual          manual pages, one for each subcommand
//! ```
//!
//! A new subcommand: its `Command` in [`command`], its arm in [`run`].

use std::{path::PathBuf, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;

use crate::{
    admin, backup, bench,
    ending::{FAILED, USAGE, complain, end_failed, print_text},
    moving, quickstart,
    settings::{self, Settings},
};

/// Returns all subcommands with their flags, for parsing, for `--help` and for shells' completion.
fn command() -> Command {
    let serve = settings::add_flags(Command::new("serve"))
        .about("Run the server")
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
                .help("Print all settings and where they came from, and end"),
        );
    let verify = Command::new("verify")
        .about("Check a data directory that no server has open, backups, or an audit log")
        .arg(
            Arg::new("backup")
                .value_name("BACKUP")
                .conflicts_with_all(["data-dir", "audit-file"])
                .help("Read a backup, or all of a directory, to the end: frames, entries, hashes"),
        )
        .arg(
            Arg::new("data-dir")
                .long("data-dir")
                .value_name("PATH")
                .required_unless_present_any(["audit-file", "backup"])
                .help("Walk every row, index entry and count"),
        )
        .arg(
            Arg::new("audit-file")
                .long("audit-file")
                .value_name("PATH")
                .conflicts_with("data-dir")
                .help("Check that no line of an audit log was changed, taken out or put in"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue));
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
        .subcommand(serve)
        .subcommand(quickstart::command())
        .subcommand(backup::backup_command())
        .subcommand(backup::restore_command())
        .subcommand(moving::export_command())
        .subcommand(moving::import_command())
        .subcommand(verify)
        .subcommand(admin::command())
        .subcommand(completions)
        .subcommand(man)
        .subcommand(bench::command())
}

/// Runs what was typed and returns the exit code. `clap` itself ends the process for `--help`,
/// `--version` and what it cannot parse, with code 0 or 2.
pub(crate) fn run() -> ExitCode {
    let matches = command().get_matches();
    match matches.subcommand() {
        Some(("serve", matches)) => run_serve(matches),
        Some(("quickstart", matches)) => quickstart::run(matches),
        Some(("backup", matches)) => backup::run_backup(matches),
        Some(("restore", matches)) => backup::run_restore(matches),
        Some(("export", matches)) => moving::run_export(matches),
        Some(("import", matches)) => moving::run_import(matches),
        Some(("verify", matches)) => run_verify(matches),
        Some(("admin", matches)) => admin::run(matches),
        Some(("completions", matches)) => print_completions(matches),
        Some(("man", matches)) => write_manual(matches),
        Some(("bench", matches)) => bench::run(matches),
        _ => ExitCode::from(USAGE),
    }
}

/// Runs `ebb serve`: gathers the settings, prints them or starts the server, and returns when it has
/// ended.
fn run_serve(matches: &ArgMatches) -> ExitCode {
    let file = match matches.get_one::<String>("config") {
        None => None,
        // A variable that is there and empty says nothing.
        Some(path) if path.is_empty() => None,
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

/// Runs `ebb verify`: prints what each collection's walk found, as text or as one JSON object. The
/// exit code is 0 only if there are no differences, so that a script need not read the text.
fn run_verify(matches: &ArgMatches) -> ExitCode {
    if let Some(path) = matches.get_one::<String>("audit-file") {
        return verify_audit(path, matches.get_flag("json"));
    }
    if let Some(place) = matches.get_one::<String>("backup") {
        return backup::run_verify(place, matches.get_flag("json"));
    }
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
                "{}: {} documents, {} differences, {} entries of expired documents\n",
                it.namespace, it.rows, it.count, it.dead_entries
            ));
            it.differences.iter().for_each(|difference| print_text(format!("  {difference}\n")));
        }
    }
    if differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Runs `ebb verify --audit-file`: prints how many lines hold together and the last hash, or the first line
/// that does not fit.
fn verify_audit(path: &str, as_json: bool) -> ExitCode {
    let file = std::fs::File::open(path).map(std::io::BufReader::new);
    let found = match file.and_then(server::check_audit) {
        Ok(found) => found,
        Err(error) => return complain(format!("--audit-file {path}: {error}"), FAILED),
    };
    let (text, report) = match &found {
        Ok(server::Checked { lines, begins_behind, last }) => (
            format!("{lines} lines hold together; the last hash is {last}\n"),
            json!({ "lines": lines, "begins_behind": begins_behind, "last": last }),
        ),
        Err(broken) => (format!("{broken}\n"), json!({ "line": broken.line, "why": broken.why })),
    };
    print_text(if as_json { format!("{report}\n") } else { text });
    if found.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Writes manual pages into a directory, which is made when it is missing.
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
