//! `ebb verify` of backups: reads each backup completely, and shows which backups of a directory
//! form a chain.

use std::process::ExitCode;

use backup::{Link, check_chain};
use serde_json::{Value, json};
use server::{BackupChecked, Interrupt, Source, verify_backup};

use super::{
    instant,
    kept::{backups_at, bytes_of, source_of},
    kind_name,
    place::Place,
    taking::{failure, usage},
};
use crate::{FAILED, complain, counted, print_text, progress::Progress};

/// Verifies a backup, or all backups of a directory. The exit code is 0 only if all are complete.
pub(crate) fn run_verify(place: &str, as_json: bool) -> ExitCode {
    let place = match Place::parse(place) {
        Ok(place) => place,
        Err(message) => return usage(message),
    };
    let interrupt = match Interrupt::watch(|| {}) {
        Ok(interrupt) => interrupt,
        Err(error) => return failure(error),
    };
    let (places, links): (Vec<Place>, Vec<Link>) = match place.is_folder() {
        false => (vec![place.clone()], Vec::new()),
        true => match backups_at(&place) {
            Ok(kept) if kept.is_empty() => {
                return failure(format!("there is no backup in {place}"));
            }
            Ok(kept) => kept.into_iter().unzip(),
            Err(message) => return failure(message),
        },
    };
    let bar = Progress::new("verify", bytes_of(&place));
    let read = read_all(&places, &bar, &interrupt);
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
    places: &[Place],
    bar: &Progress,
    interrupt: &Interrupt,
) -> Result<Vec<(String, BackupChecked)>, String> {
    let mut all = Vec::new();
    for place in places {
        let Source { name, open } = source_of(place, bar, interrupt);
        let input = open().map_err(|error| format!("{name}: {error}"))?;
        let checked = verify_backup(&name, input, &|| !interrupt.is_set(), &mut |_| {});
        all.push((name, checked.map_err(|failure| failure.to_string())?));
    }
    Ok(all)
}

/// Returns the names of the backups that a restore of the directory would use.
fn chain_of(links: Vec<Link>) -> Result<Vec<String>, String> {
    if links.is_empty() {
        return Ok(Vec::new());
    }
    let chain = check_chain(links, None).map_err(|error| error.to_string())?;
    Ok(chain.into_iter().map(|link| link.name).collect())
}

fn report(read: &[(String, BackupChecked)], chain: &[String], as_json: bool) {
    let kind = |of: &BackupChecked| kind_name(of.header.kind);
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
        let (what, at) = (kind(found), instant(found.clock_ms));
        let rows = counted(found.rows, "row");
        let mib = found.bytes >> 20;
        print_text(format!("{name}: {what} as of {at}, {rows}, {mib} MiB: intact\n"));
    }
    if 1 < chain.len() {
        print_text(format!("{} of them follow each other: {}\n", chain.len(), chain.join(", ")));
    }
}
