//! `ebb restore`: creates a data directory from a single backup, or from the chain of backups in a
//! directory, up to an instant.

use std::{path::PathBuf, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use server::{Interrupt, Restore, Restored};

use super::{
    instant,
    kept::{bytes_of, sources_of},
    place::Place,
    taking::{failure, usage},
};
use crate::{counted, end_failed, print_text, progress::Progress};

pub(crate) fn restore_command() -> Command {
    Command::new("restore")
        .about("Restore a backup into a new data directory")
        .arg(Arg::new("source").value_name("SOURCE").required(true).help(
            "A backup; a directory of backups, of which the newest full one and its incrementals \
             are used; or - for standard input",
        ))
        .arg(
            Arg::new("data-dir")
                .long("data-dir")
                .value_name("PATH")
                .value_parser(clap::value_parser!(PathBuf))
                .required(true)
                .help("Directory to create; must be empty or not exist"),
        )
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("INSTANT")
                .help("Restore the writes up to this instant, such as 2027-01-01T00:00:00.000Z"),
        )
        .arg(
            Arg::new("rebase-ttl")
                .long("rebase-ttl")
                .action(ArgAction::SetTrue)
                .help("Do not count the time since the backup against any TTL"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print the result as JSON"),
        )
}

/// Runs the parsed subcommand and returns the exit code.
pub(crate) fn run_restore(matches: &ArgMatches) -> ExitCode {
    let source = matches.get_one::<String>("source").map_or("", String::as_str);
    let place = match Place::parse(source) {
        Ok(place) => place,
        Err(message) => return usage(message),
    };
    let to = match matches.get_one::<String>("to").map(|text| parse_instant(text)).transpose() {
        Ok(to) => to,
        Err(message) => return usage(message),
    };
    if to.is_some() && !place.is_folder() {
        return usage("--to needs a directory with a full backup and its incrementals");
    }
    let directory = matches.get_one::<PathBuf>("data-dir").cloned().unwrap_or_default();
    let interrupt = match Interrupt::watch(|| {}) {
        Ok(interrupt) => interrupt,
        Err(error) => return failure(error),
    };
    let bar = Progress::new("restore", bytes_of(&place));
    let sources = match sources_of(&place, to, &bar, &interrupt) {
        Ok(sources) => sources,
        Err(message) => {
            bar.end();
            return failure(message);
        }
    };
    let rebase_ttl = matches.get_flag("rebase-ttl");
    let what = Restore { sources, directory: &directory, to, rebase_ttl };
    let restored = server::restore(what, &|| !interrupt.is_set(), &mut |_| {});
    bar.end();
    match restored {
        Ok(restored) => {
            report(&restored, &directory.display().to_string(), matches.get_flag("json"));
            ExitCode::SUCCESS
        }
        Err(failure) => end_failed(failure),
    }
}

/// Parses an instant as milliseconds since 1970.
fn parse_instant(text: &str) -> Result<i64, String> {
    let at: Result<jiff::Timestamp, _> = text.parse();
    at.map(|at| at.as_millisecond())
        .map_err(|_| format!("--to {text}: it is not an instant such as 2027-01-01T00:00:00.000Z"))
}

fn report(restored: &Restored, directory: &str, as_json: bool) {
    let Restored { documents, expired, at_ms, now_ms, bytes } = *restored;
    if as_json {
        let report = json!({
            "data_dir": directory,
            "documents": documents,
            "expired_on_arrival": expired,
            "at": instant(at_ms),
            "now": instant(now_ms),
            "bytes": bytes,
        });
        print_text(format!("{report}\n"));
        return;
    }
    let documents = counted(documents, "document");
    print_text(format!("{directory}: {documents} as of {}\n", instant(at_ms)));
    if 0 < expired {
        print_text(format!(
            "{expired} of them have expired since then and are not visible at {}\n",
            instant(now_ms)
        ));
    }
}
