//! `ebb backup`: streams a backup from a server, or reads a closed data directory, and writes it to
//! its target.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

use backup::{Header, Trailer, copy_checked};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use server::{Failure, Interrupt};

use super::{
    kept::newest_in,
    kind_name,
    place::Place,
    sink::{Sink, Unfinished},
};
use crate::{
    FAILED, USAGE,
    client::{self, Client},
    complain, end_failed, print_text,
    progress::Progress,
};

/// Route of the admin address that streams a backup.
const ROUTE: &str = "/_ebb/backup";

pub(crate) fn backup_command() -> Command {
    Command::new("backup")
        .about("Back up a running server, or the data directory of a stopped one")
        .arg(Arg::new("target").value_name("TARGET").required(true).help(
            "A directory, where the file is named by its time; a file; s3://BUCKET/KEY, or \
             s3://BUCKET/PREFIX/ as a directory; or - for standard output",
        ))
        .arg(
            Arg::new("incremental")
                .long("incremental")
                .action(ArgAction::SetTrue)
                .conflicts_with("data-dir")
                .help("Back up only changes since the newest backup in the directory TARGET"),
        )
        .arg(
            Arg::new("data-dir")
                .long("data-dir")
                .value_name("PATH")
                .value_parser(clap::value_parser!(PathBuf))
                .help("Back up this directory instead of a running server"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print the result as JSON"),
        )
        .args(client::client_flags())
}

/// The result of a backup.
struct Taken {
    place: String,
    header: Header,
    trailer: Trailer,
    written: u64,
}

/// Runs the parsed subcommand and returns the exit code.
pub(crate) fn run_backup(matches: &ArgMatches) -> ExitCode {
    let target = matches.get_one::<String>("target").map_or("", String::as_str);
    let place = match Place::parse(target) {
        Ok(place) => place,
        Err(message) => return complain(message, USAGE),
    };
    if matches.get_flag("incremental") && !place.is_folder() {
        return usage("--incremental needs the directory that has the previous backups");
    }
    match take(matches, &place) {
        Ok(taken) => {
            report(&taken, &place, matches.get_flag("json"));
            ExitCode::SUCCESS
        }
        Err(failure) => end_failed(failure),
    }
}

fn take(matches: &ArgMatches, place: &Place) -> Result<Taken, Failure> {
    let failed = Failure::Failed;
    let route = match matches.get_flag("incremental") {
        true => route_after(&newest_in(place).map_err(failed)?),
        false => ROUTE.to_owned(),
    };
    let unfinished = Unfinished::default();
    let removed = unfinished.clone();
    let interrupt = Interrupt::watch(move || removed.remove());
    let interrupt = interrupt.map_err(|error| failed(error.to_string()))?;
    let bar = Progress::new("backup", None);
    let taken = match matches.get_one::<PathBuf>("data-dir") {
        Some(folder) => {
            let sink = Sink::begin(place, None, unfinished).map_err(failed)?;
            read_directory(folder, sink, &bar, &interrupt)
        }
        None => {
            let client = Client::from_matches(matches).map_err(Failure::Usage)?;
            let stream = client.stream(&route).map_err(failed)?;
            let stream = io::BufReader::with_capacity(1 << 20, bar.reading(stream, &interrupt));
            copy(stream, place, unfinished)
        }
    };
    bar.end();
    let (sink, header, trailer) = taken?;
    if interrupt.is_set() {
        return Err(failed("interrupted: nothing was kept".to_owned()));
    }
    let written = sink.bytes;
    let place = sink.finish(&header).map_err(failed)?;
    Ok(Taken { place, header, trailer, written })
}

/// Returns the request path of an incremental backup that continues the backup with the header
/// `before`.
fn route_after(before: &Header) -> String {
    let Header { last_entry, last_stamp, lineage, .. } = before;
    let (seq, at) = (last_stamp.seq, last_stamp.at_ms);
    format!("{ROUTE}?after={last_entry}&seq={seq}&at={at}&database={lineage}")
}

/// Copies a backup that a server streams. Its header is read first, because the name of the target
/// depends on the header.
fn copy(
    mut stream: impl Read,
    place: &Place,
    unfinished: Unfinished,
) -> Result<(Sink, Header, Trailer), Failure> {
    let lost = |error: backup::Error| Failure::Failed(format!("no backup was kept: {error}"));
    let (first, header) = backup::read_header(&mut stream).map_err(lost)?;
    let mut sink = Sink::begin(place, Some(&header), unfinished).map_err(Failure::Failed)?;
    let copied = copy_checked(first.chain(stream), &mut sink, &mut |_, _| {});
    let (header, trailer, _) = copied.map_err(lost)?;
    Ok((sink, header, trailer))
}

/// Writes a backup of a closed data directory.
fn read_directory(
    folder: &Path,
    mut sink: Sink,
    bar: &Progress,
    interrupt: &Interrupt,
) -> Result<(Sink, Header, Trailer), Failure> {
    let mut seen = None;
    let mut tell = |header: &Header, bytes: u64| {
        seen.get_or_insert_with(|| header.clone());
        bar.set(bytes);
    };
    let goes_on = || !interrupt.is_set();
    let trailer = server::backup_directory(folder, &mut sink, &goes_on, &mut tell)?;
    let header = seen.ok_or_else(|| Failure::Failed("the directory has no data".to_owned()))?;
    Ok((sink, header, trailer))
}

/// Reports the result, unless the backup itself is written to standard output.
fn report(taken: &Taken, place: &Place, as_json: bool) {
    if *place == Place::Standard {
        return;
    }
    // A target without an extension may have been meant as a directory that does not exist yet.
    let note = match place {
        Place::File(path) if path.extension().is_none() => {
            "; written to a single file: end TARGET with / for a directory of backups"
        }
        _ => "",
    };
    let Taken { place, header, trailer, written } = taken;
    let kind = kind_name(header.kind);
    if as_json {
        let report = json!({
            "file": place,
            "kind": kind,
            "id": header.id.to_string(),
            "database": header.lineage.to_string(),
            "after_entry": header.after_entry,
            "last_entry": header.last_entry,
            "bytes": trailer.bytes,
            "written": written,
        });
        print_text(format!("{report}\n"));
    } else {
        let (data, file) = (trailer.bytes >> 20, written >> 20);
        print_text(format!("{place}: {kind} backup, {data} MiB of data in {file} MiB{note}\n"));
    }
}

/// Ends a command with a usage error.
pub(super) fn usage(message: impl std::fmt::Display) -> ExitCode {
    complain(message, USAGE)
}

pub(super) fn failure(message: impl std::fmt::Display) -> ExitCode {
    complain(message, FAILED)
}
