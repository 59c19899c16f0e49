//! `ebb verify` of backups: reads each to its end, and says which of a directory belong together.

use std::{fs::File, io, path::PathBuf, process::ExitCode};

use backup::{Kind, Link, check_chain};
use serde_json::{Value, json};
use server::{BackupChecked, Interrupt, verify_backup};

use super::{
    kept::{backups_in, bytes_of},
    place::Place,
    progress::Progress,
    taking::{failure, usage},
};
use crate::ending::{FAILED, complain, print_text};

/// Reads what was named. The exit code is 0 only if all of it is whole.
pub(crate) fn run_verify(place: &str, as_json: bool) -> ExitCode {
    let place = match Place::parse(place) {
        Ok(place) => place,
        Err(message) => return usage(message),
    };
    let interrupt = match Interrupt::watch(|| {}) {
        Ok(interrupt) => interrupt,
        Err(error) => return failure(error),
    };
    let (paths, links) = match &place {
        Place::Standard => (Vec::new(), Vec::new()),
        Place::File(path) => (vec![path.clone()], Vec::new()),
        Place::Folder(folder) => match backups_in(folder) {
            Ok(kept) if kept.is_empty() => {
                return failure(format!("there is no backup in {}", folder.display()));
            }
            Ok(kept) => kept.into_iter().unzip(),
            Err(message) => return failure(message),
        },
    };
    let bar = Progress::new("verify", bytes_of(&place));
    let read = read_all(&place, paths, &bar, &interrupt);
    bar.end();
    match read.and_then(|read| chain_of(links).map(|chain| (read, chain))) {
        Ok((read, chain)) => {
            report(&read, &chain, as_json);
            ExitCode::SUCCESS
        }
        Err(message) => complain(message, FAILED),
    }
}

fn read_all(
    place: &Place,
    paths: Vec<PathBuf>,
    bar: &Progress,
    interrupt: &Interrupt,
) -> Result<Vec<(String, BackupChecked)>, String> {
    let goes_on = || !interrupt.is_set();
    let read = |name: String, input: Box<dyn io::Read + Send>| {
        let checked = verify_backup(&name, input, &goes_on, &mut |_| {});
        checked.map(|checked| (name, checked)).map_err(|failure| failure.to_string())
    };
    if *place == Place::Standard {
        let input = Box::new(bar.reading(io::stdin(), interrupt));
        return Ok(vec![read("standard input".to_owned(), input)?]);
    }
    let mut all = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|error| format!("{name}: {error}"))?;
        let file = io::BufReader::with_capacity(1 << 20, file);
        all.push(read(name, Box::new(bar.reading(file, interrupt)))?);
    }
    Ok(all)
}

/// The names of those that a restore of a directory would take.
fn chain_of(links: Vec<Link>) -> Result<Vec<String>, String> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let chain = check_chain(links, None).map_err(|error| error.to_string())?;
    Ok(chain.into_iter().map(|link| link.name).collect())
}

fn report(read: &[(String, BackupChecked)], chain: &[String], as_json: bool) {
    let instant = |ms: i64| match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => format!("{at:.3}"),
        Err(_) => format!("{ms} ms"),
    };
    let kind = |of: &BackupChecked| match of.header.kind {
        Kind::Full => "full",
        Kind::Incremental => "incremental",
    };
    if as_json {
        let of = |(name, found): &(String, BackupChecked)| {
            json!({
                "file": name,
                "kind": kind(found),
                "database": found.header.lineage.to_string(),
                "after_entry": found.header.after_entry,
                "last_entry": found.header.last_entry,
                "at": instant(found.clock_ms),
                "rows": found.rows,
                "bytes": found.bytes,
            })
        };
        let backups: Vec<Value> = read.iter().map(of).collect();
        print_text(format!("{}\n", json!({ "backups": backups, "chain": chain })));
        return;
    }
    for (name, found) in read {
        let (what, rows, at) = (kind(found), found.rows, instant(found.clock_ms));
        let mib = found.bytes >> 20;
        print_text(format!("{name}: {what} as of {at}, {rows} rows, {mib} MiB: whole\n"));
    }
    if 1 < chain.len() {
        print_text(format!("{} of them follow each other: {}\n", chain.len(), chain.join(", ")));
    }
}
