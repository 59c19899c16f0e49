//! `ebb import`: writes the documents of a file to a collection or container.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
use transfer::{
    Earlier, Format, Import, Imported, Mode, MongoSink, NoSqlSink, RunMonitor, Sink, TableRules,
    import,
};

use super::{
    Watching,
    flags::{Common, Server, common_flags, fields, fields_flag, text},
};
use crate::{FAILED, USAGE, complain, print_text};

/// Name, without suffix, of the file of refused documents if the input is standard input.
const STANDARD: &str = "import";
/// Suffix of the file to which the refused documents are written.
const REFUSED: &str = ".refused";

pub(crate) fn import_command() -> Command {
    let flag = |id: &'static str| Arg::new(id).long(id).action(ArgAction::SetTrue);
    Command::new("import")
        .about(
            "Import the documents of a file into a collection or container. Their time to live \
             starts at the time of the import",
        )
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .help("The file; - is standard input"),
        )
        .args(common_flags())
        .arg(
            Arg::new("mode")
                .long("mode")
                .value_name("MODE")
                .value_parser(["insert", "upsert", "merge"])
                .default_value("insert")
                .help(
                    "If a document's id exists: insert refuses the document, upsert replaces the \
                     existing one, merge sets its fields in the existing one (MongoDB API)",
                ),
        )
        .arg(flag("stop-on-error").help("Stop at the first refused document"))
        .arg(
            Arg::new("batch")
                .long("batch")
                .value_name("COUNT")
                .value_parser(value_parser!(u32).range(1..=100_000))
                .default_value("1000")
                .help("Documents per batch"),
        )
        .arg(
            Arg::new("refusals")
                .long("refusals")
                .value_name("FILE")
                .help("File for refused documents, with line and reason [FILE.refused]"),
        )
        .arg(fields_flag().help("Columns of csv, if the file has no header line"))
        .arg(flag("columns-have-types").help(
            "Column names end with a type, such as age.int32(): auto, string, int32, int64, \
             double, decimal, boolean, date, objectId",
        ))
        .arg(flag("ignore-blanks").help("Omit fields that are empty in csv"))
}

/// Runs the parsed subcommand and returns the exit code.
pub(crate) fn run_import(matches: &ArgMatches) -> ExitCode {
    let (common, asked) = match prepare(matches) {
        Ok(prepared) => prepared,
        Err(message) => return complain(message, USAGE),
    };
    match run(common, &asked, matches.get_flag("json")) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(FAILED),
        Err(message) => complain(message, FAILED),
    }
}

/// Returns the parsed arguments after checking the combination of flags.
fn prepare(matches: &ArgMatches) -> Result<(Common, Import), String> {
    let typed = text(matches, "file");
    let file = Some(&typed).filter(|file| *file != "-").map(PathBuf::from);
    if file.is_none() && matches.get_flag("resume") {
        return Err("--resume needs a FILE".to_owned());
    }
    let common = Common::from_matches(matches, false, file.is_none())?;
    let rules = TableRules {
        typed: matches.get_flag("columns-have-types"),
        ignore_blanks: matches.get_flag("ignore-blanks"),
    };
    let is_table = matches!(common.format, Format::Csv(_));
    if !is_table && (rules.typed || rules.ignore_blanks || !fields(matches).is_empty()) {
        return Err(
            "--fields, --columns-have-types and --ignore-blanks need --format csv".to_owned()
        );
    }
    let mode = match text(matches, "mode").as_str() {
        "upsert" => Mode::Upsert,
        "merge" => Mode::Merge,
        _ => Mode::Insert,
    };
    let refusals = matches.get_one::<String>("refusals").map(PathBuf::from);
    let beside =
        || PathBuf::from(format!("{}{REFUSED}", if typed == "-" { STANDARD } else { &typed }));
    let batch = matches.get_one::<u32>("batch").copied().unwrap_or(1);
    let job = format!("{} {rules:?}", common.job);
    let asked = Import {
        job,
        file,
        format: common.format.clone(),
        rules,
        mode,
        stop_on_error: matches.get_flag("stop-on-error"),
        batch: usize::try_from(batch).unwrap_or(1),
        refusals: refusals.unwrap_or_else(beside),
        resume: matches.get_flag("resume"),
    };
    Ok((common, asked))
}

/// Imports, reports the result and returns the number of refused documents.
fn run(common: Common, asked: &Import, as_json: bool) -> Result<u64, String> {
    let Common { server, database, collection, .. } = common;
    let size = asked.file.as_deref().and_then(|path: &Path| path.metadata().ok());
    let watching = Watching::new("import", size.map(|it| it.len()))?;
    let watch: Arc<dyn RunMonitor> = watching.clone();
    let (mode, ordered) = (asked.mode, asked.stop_on_error);
    let open = move || -> Result<Box<dyn Sink>, String> {
        let (database, collection) = (database.as_str(), collection.as_str());
        Ok(match server {
            Server::Mongo(address) => {
                Box::new(MongoSink::open(&address, database, collection, mode, ordered, watch)?)
            }
            Server::NoSql(address) => {
                Box::new(NoSqlSink::open(&address, database, collection, mode, ordered, watch)?)
            }
        })
    };
    let mut report = |done: &Imported| {
        watching.end();
        report(asked, *done, as_json);
    };
    let done = import(asked, open, &*watching, &mut report);
    watching.end();
    done.map(|done| done.refused)
}

fn report(asked: &Import, done: Imported, as_json: bool) {
    let Imported { read, created, replaced, refused, existing, dead, stopped, earlier } = done;
    let refusals = asked.refusals.display();
    if as_json {
        let report = json!({
            "read": read,
            "inserted": created,
            "replaced": replaced,
            "refused": refused,
            "refused_as_id_exists": existing,
            "expired_on_arrival": dead,
            "refusals": (0 < refused).then(|| refusals.to_string()),
            "stopped_at_line": stopped,
            "read_by_earlier_runs": earlier.map(|earlier| earlier.read),
            "was_finished": earlier.is_some_and(|earlier| earlier.was_finished),
        });
        print_text(format!("{report}\n"));
        return;
    }
    let mut line =
        format!("{read} read, {created} inserted, {replaced} replaced, {refused} refused");
    if 0 < existing {
        line.push_str(&format!(
            " ({existing} of them because their ids exist; --mode upsert replaces them)"
        ));
    }
    if let Some(dead) = dead {
        line.push_str(&format!(", {dead} expired on arrival"));
    }
    if 0 < refused {
        line.push_str(&format!("; see {refusals}"));
    }
    match earlier {
        Some(Earlier { was_finished: true, .. }) => {
            line.push_str("; an earlier run finished this import; nothing to do");
        }
        Some(Earlier { read, line: at, .. }) => {
            line.push_str(&format!("; {read} of them by earlier runs, resumed at line {at}"));
        }
        None => {}
    }
    if let Some(stopped) = stopped {
        line.push_str(&format!("; stopped at line {stopped}; continue with --resume"));
    }
    print_text(format!("{line}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (words, want) in [
            (&["a"][..], None),
            (&["-", "--mode", "merge"], None),
            (&["a", "--format", "csv", "--ignore-blanks", "--columns-have-types"], None),
            (&["-", "--uri", "mongodb://ann@h"], Some("--password-file")),
            (&["-", "--resume"], Some("needs a FILE")),
            (&["a", "--ignore-blanks"], Some("--format csv")),
            (&["a", "-f", "x", "--format", "jsonl"], Some("--format csv")),
        ] {
            let words = [&["import", "-d", "d", "-c", "c"], words].concat();
            let typed = import_command().try_get_matches_from(&words).unwrap();
            match (prepare(&typed), want) {
                (Ok((_, asked)), None) => {
                    let name = asked.refusals.display().to_string();
                    assert!(name.ends_with(".refused"), "{name}");
                }
                (Err(got), Some(want)) => assert!(got.contains(want), "{words:?}: {got}"),
                (got, want) => panic!("{words:?}: {got:?} instead of {want:?}"),
            }
        }
        for words in [&["a", "--batch", "0"][..], &["a", "--mode", "delete"], &[]] {
            let words = [&["import", "-d", "d", "-c", "c"], words].concat();
            assert!(import_command().try_get_matches_from(&words).is_err(), "{words:?}");
        }
    }
}
