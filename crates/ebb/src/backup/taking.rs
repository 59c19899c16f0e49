//! `ebb backup`: has a server stream a backup, or reads a closed data directory, and puts it where it
//! belongs.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use backup::{Header, Kind, Trailer, copy_checked};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use server::{Failure, Interrupt};

use super::{
    file::{BackupFile, Target, standard_output},
    kept::newest_in,
    place::Place,
    progress::Progress,
};
use crate::{
    client::{self, Client},
    ending::{FAILED, USAGE, complain, end_failed, print_text},
};

/// The route of a server.
const ROUTE: &str = "/_ebb/backup";

/// Returns the subcommand.
pub(crate) fn backup_command() -> Command {
    Command::new("backup")
        .about("Back up a running server, or a data directory that no server has open")
        .arg(Arg::new("target").value_name("TARGET").required(true).help(
            "A directory, in which the file gets a name by its time; a file; or - for standard output",
        ))
        .arg(
            Arg::new("incremental")
                .long("incremental")
                .action(ArgAction::SetTrue)
                .conflicts_with("data-dir")
                .help("Back up what was written since the newest backup in the directory TARGET"),
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
                .help("Print what was written as JSON"),
        )
        .args(client::client_flags())
}

/// What was written.
struct Taken {
    place: String,
    header: Header,
    trailer: Trailer,
    written: u64,
}

/// Runs what was typed and returns the exit code.
pub(crate) fn run_backup(matches: &ArgMatches) -> ExitCode {
    let target = matches.get_one::<String>("target").map_or("", String::as_str);
    let place = match Place::parse(target) {
        Ok(place) => place,
        Err(message) => return complain(message, USAGE),
    };
    if matches.get_flag("incremental") && !place.is_folder() {
        return usage("--incremental needs the directory that has the backups before it");
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
    let target = match place {
        Place::Standard => None,
        Place::File(path) => Some(Target::File(path.clone())),
        Place::Folder(path) => Some(Target::Folder(path.clone())),
    };
    let file = target.map(BackupFile::begin).transpose().map_err(failed)?;
    let part = file.as_ref().map(|file| file.part().to_owned());
    let interrupt = Interrupt::watch(move || {
        if let Some(part) = part {
            let _ = std::fs::remove_file(part);
        }
    });
    let interrupt = interrupt.map_err(|error| failed(error.to_string()))?;
    let bar = Progress::new("backup", None);
    let from = matches.get_one::<PathBuf>("data-dir").map(PathBuf::as_path);
    let mut out = Counted { out: writer_of(file.as_ref()), bytes: 0 };
    let written = match from {
        Some(folder) => read_directory(folder, &mut out, &bar, &interrupt),
        None => ask_server(matches, &route, &mut out, &bar, &interrupt),
    };
    bar.end();
    let (header, trailer) = written?;
    out.out.flush().map_err(|error| failed(error.to_string()))?;
    let written = out.bytes;
    drop(out);
    if interrupt.is_set() {
        return Err(failed("interrupted: nothing was kept".to_owned()));
    }
    let place = match file {
        None => "standard output".to_owned(),
        Some(file) => {
            let path = file.finish(&header, header.began_ms).map_err(failed)?;
            path.display().to_string()
        }
    };
    Ok(Taken { place, header, trailer, written })
}

fn writer_of(file: Option<&BackupFile>) -> Box<dyn Write + '_> {
    match file {
        Some(file) => Box::new(file.writer()),
        None => Box::new(standard_output()),
    }
}

/// The route of what was written since a backup.
fn route_after(before: &Header) -> String {
    let Header { last_entry, last_stamp, lineage, .. } = before;
    let (seq, at) = (last_stamp.seq, last_stamp.at_ms);
    format!("{ROUTE}?after={last_entry}&seq={seq}&at={at}&database={lineage}")
}

/// Copies what a server streams.
fn ask_server(
    matches: &ArgMatches,
    route: &str,
    out: &mut dyn Write,
    bar: &Progress,
    interrupt: &Interrupt,
) -> Result<(Header, Trailer), Failure> {
    let client = Client::from_matches(matches).map_err(Failure::Failed)?;
    let stream = client.stream(route).map_err(Failure::Failed)?;
    let stream = io::BufReader::with_capacity(1 << 20, bar.reading(stream, interrupt));
    copy(stream, out)
}

fn copy(stream: impl Read, mut out: &mut dyn Write) -> Result<(Header, Trailer), Failure> {
    let copied = copy_checked(stream, &mut out, &mut |_, _| {});
    let copied = copied.map_err(|error| Failure::Failed(format!("no backup was kept: {error}")));
    copied.map(|(header, trailer, _)| (header, trailer))
}

/// Writes what a directory holds.
fn read_directory(
    folder: &Path,
    out: &mut dyn Write,
    bar: &Progress,
    interrupt: &Interrupt,
) -> Result<(Header, Trailer), Failure> {
    let mut seen = None;
    let mut tell = |header: &Header, bytes: u64| {
        seen.get_or_insert_with(|| header.clone());
        bar.set(bytes);
    };
    let trailer = server::backup_directory(folder, out, &|| !interrupt.is_set(), &mut tell)?;
    let header = seen.ok_or_else(|| Failure::Failed("the directory has no data".to_owned()))?;
    Ok((header, trailer))
}

/// Counts what is written.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Says what was written. Where the backup itself goes to standard output, nothing else does.
fn report(taken: &Taken, place: &Place, as_json: bool) {
    if *place == Place::Standard {
        return;
    }
    let Taken { place, header, trailer, written } = taken;
    let kind = match header.kind {
        Kind::Full => "full",
        Kind::Incremental => "incremental",
    };
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
        print_text(format!("{place}: {kind} backup, {data} MiB of data in {file} MiB\n"));
    }
}

/// Ends a command that was typed wrongly.
pub(super) fn usage(message: impl std::fmt::Display) -> ExitCode {
    complain(message, USAGE)
}

/// Ends a command that failed.
pub(super) fn failure(message: impl std::fmt::Display) -> ExitCode {
    complain(message, FAILED)
}
