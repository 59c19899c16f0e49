//! `ebb verify`: checks a closed data directory, backups, or an audit log, and shows the result.
//! The crates `server` and `audit` implement the checks.

use std::{path::PathBuf, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use server::Difference;

use crate::{FAILED, USAGE, backup, complain, counted, end_failed, print_text};

pub(crate) fn command() -> Command {
    Command::new("verify")
        .about("Verify the data directory of a stopped server, backups, or an audit log")
        .after_help("Exits with 0 if there are no differences, with 1 otherwise.")
        .arg(
            Arg::new("backup")
                .value_name("BACKUP")
                .conflicts_with_all(["data-dir", "audit-file"])
                .help("Verify a backup, or all backups of a directory: frames, entries, hashes"),
        )
        .arg(
            Arg::new("data-dir")
                .long("data-dir")
                .value_name("PATH")
                .required_unless_present_any(["audit-file", "backup"])
                .help("Verify every row, index entry and count of a data directory"),
        )
        .arg(
            Arg::new("audit-file")
                .long("audit-file")
                .value_name("PATH")
                .conflicts_with("data-dir")
                .help("Verify that no line of an audit log was changed, removed or inserted"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print the result as one JSON object; 'count' is the number of differences"),
        )
}

/// Runs `ebb verify`: prints the result for each collection, as text or as one JSON object. The
/// exit code is 0 only if there are no differences, so that a script need not parse the text.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
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
                    "api": it.api,
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
        print_text(format_found(&found));
    }
    if differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Formats the result for people: one line per collection, its differences, and the total.
fn format_found(found: &[Difference]) -> String {
    let mut out = String::new();
    for it in found {
        let api = it.api.map_or_else(String::new, |api| format!(" ({api} API)"));
        out.push_str(&format!(
            "{}: {}, {}, {} of expired documents{api}\n",
            it.namespace,
            counted(it.rows, "document"),
            counted(it.count, "difference"),
            counted(it.dead_entries, "entry"),
        ));
        it.differences.iter().for_each(|it| out.push_str(&format!("  {it}\n")));
    }
    let differences: u64 = found.iter().map(|it| it.count).sum();
    match differences {
        0 => out.push_str("no differences\n"),
        1 => out.push_str("1 difference: restore a backup, or check the documents it names\n"),
        n => out.push_str(&format!(
            "{n} differences: restore a backup, or check the documents they name\n"
        )),
    }
    out
}

/// Runs `ebb verify --audit-file`: prints the number of lines and the last hash if the hash chain
/// is valid, otherwise the first line that does not match it.
fn verify_audit(path: &str, as_json: bool) -> ExitCode {
    let wrong =
        |error: std::io::Error, code| complain(format!("--audit-file {path}: {error}"), code);
    let file = match std::fs::File::open(path) {
        Ok(file) => std::io::BufReader::new(file),
        Err(error) => return wrong(error, USAGE),
    };
    let found = match server::check_audit(file) {
        Ok(found) => found,
        Err(error) => return wrong(error, FAILED),
    };
    let (text, report) = match &found {
        Ok(server::Checked { lines, begins_behind, last }) => (
            format!("{lines} lines verified; the last hash is {last}\n"),
            json!({ "lines": lines, "begins_behind": begins_behind, "last": last }),
        ),
        Err(broken) => (format!("{broken}\n"), json!({ "line": broken.line, "why": broken.why })),
    };
    print_text(if as_json { format!("{report}\n") } else { text });
    if found.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::REFUSED;

    fn found(namespace: &str, api: Option<&'static str>, differences: &[&str]) -> Difference {
        Difference {
            namespace: namespace.to_owned(),
            api,
            rows: 5,
            dead_entries: 2,
            differences: differences.iter().map(|it| (*it).to_owned()).collect(),
            count: differences.len() as u64,
        }
    }

    #[test]
    fn collections_of_one_name_are_told_apart_and_the_end_is_said() {
        let both = [found("a.c", Some("MongoDB"), &[]), found("a.c", Some("NoSQL"), &[])];
        assert_eq!(
            format_found(&both),
            "a.c: 5 documents, 0 differences, 2 entries of expired documents (MongoDB API)\n\
             a.c: 5 documents, 0 differences, 2 entries of expired documents (NoSQL API)\n\
             no differences\n"
        );
        assert_eq!(format_found(&[]), "no differences\n");
        let damaged = format_found(&[found("files", None, &["x is damaged", "y is damaged"])]);
        assert!(
            damaged.contains("expired documents\n  x is damaged\n  y is damaged\n2 differences: ")
        );
    }

    #[test]
    fn every_flag_is_described() {
        for arg in command().get_arguments() {
            assert!(arg.get_help().is_some(), "{}", arg.get_id());
        }
    }

    #[test]
    fn what_is_typed_wrongly_ends_with_2_and_what_is_refused_with_3() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none");
        let typed = ["verify", "--data-dir", missing.to_str().unwrap()];
        let matches = command().try_get_matches_from(typed).unwrap();
        assert_eq!(run(&matches), ExitCode::from(REFUSED));
        assert_eq!(command().try_get_matches_from(["verify"]).unwrap_err().exit_code(), 2);
        let typed = ["verify", "--audit-file", missing.to_str().unwrap()];
        let matches = command().try_get_matches_from(typed).unwrap();
        assert_eq!(run(&matches), ExitCode::from(USAGE));
    }
}
