//! `ebb export`: writes a collection or container to a file.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
use transfer::{
    Export, Exported, Find, Format, MongoSource, NoSqlSource, RunMonitor, Source, export,
};

use super::{
    Watching,
    flags::{Common, Server, common_flags, fields, fields_flag, text},
};
use crate::{FAILED, USAGE, complain, counted, print_text};

pub(crate) fn export_command() -> Command {
    Command::new("export")
        .about("Export a collection or container to a file; expired documents are never included")
        .args(common_flags())
        .arg(
            Arg::new("query")
                .short('q')
                .long("query")
                .value_name("QUERY")
                .help("Documents to export: a filter in Extended JSON, or a NoSQL API query [all]"),
        )
        .arg(
            fields_flag()
                .help("Fields to export; for csv the columns, with dotted paths for nested fields"),
        )
        .arg(Arg::new("sort").long("sort").value_name("DOCUMENT").help(
            "Sort order, such as {\"at\":-1}; such an export cannot be resumed [by _id, MongoDB \
             API]",
        ))
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("COUNT")
                .value_parser(value_parser!(u64).range(1..))
                .help("Maximum number of documents"),
        )
        .arg(
            Arg::new("relaxed")
                .long("relaxed")
                .action(ArgAction::SetTrue)
                .help("Relaxed Extended JSON: human-readable numbers and dates"),
        )
        .arg(
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .default_value("-")
                .help("Output file; must not exist; - is standard output"),
        )
}

/// Runs the parsed subcommand and returns the exit code.
pub(crate) fn run_export(matches: &ArgMatches) -> ExitCode {
    let common = match prepare(matches) {
        Ok(common) => common,
        Err(message) => return complain(message, USAGE),
    };
    let out = text(matches, "out");
    let file = Some(&out).filter(|out| *out != "-").map(PathBuf::from);
    match run(matches, common, file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => complain(message, FAILED),
    }
}

/// Returns the common arguments after checking the combination of flags.
fn prepare(matches: &ArgMatches) -> Result<Common, String> {
    let common = Common::from_matches(matches, matches.get_flag("relaxed"), false)?;
    let has_sort = matches.contains_id("sort");
    let names = fields(matches);
    if common.format == Format::Csv(Vec::new()) {
        return Err("--format csv needs --fields, the columns".to_owned());
    }
    if has_sort && matches.get_flag("resume") {
        return Err("--resume works only in _id order: remove --sort".to_owned());
    }
    if matches!(common.server, Server::NoSql(_)) {
        if has_sort {
            return Err("--sort is for the MongoDB API: put ORDER BY into --query".to_owned());
        }
        if !matches!(common.format, Format::Csv(_)) && names.iter().any(|it| it.contains('.')) {
            return Err("--fields of the NoSQL API are names at the root of items".to_owned());
        }
    }
    if matches.get_flag("resume") && text(matches, "out") == "-" {
        return Err("--resume needs --out FILE".to_owned());
    }
    Ok(common)
}

fn run(matches: &ArgMatches, common: Common, file: Option<PathBuf>) -> Result<(), String> {
    let Common { server, database, collection, format, job } = common;
    let (query, order) = (text(matches, "query"), text(matches, "sort"));
    let limit = matches.get_one::<u64>("limit").copied();
    let mut names = fields(matches);
    let job = format!("{job} where {query} of {} up to {limit:?} in {order}", names.join(","));
    if matches!(format, Format::Csv(_)) {
        // Columns may refer to nested fields, so the whole top-level fields are requested.
        names.iter_mut().for_each(|name| name.truncate(name.find('.').unwrap_or(name.len())));
        names.sort_unstable();
        names.dedup();
    }
    let asked = Export { job, file, format, limit, resume: matches.get_flag("resume") };
    let watching = Watching::new("export", None)?;
    let watch: Arc<dyn RunMonitor> = watching.clone();
    let open = move |resume_position: Option<&str>,
                     limit: Option<u64>|
          -> Result<Box<dyn Source>, String> {
        match server {
            Server::Mongo(address) => {
                let find =
                    Find { database, collection, filter: query, fields: names, order, limit };
                Ok(Box::new(MongoSource::open(&address, find, resume_position, watch)?))
            }
            Server::NoSql(address) => {
                let place = (database.as_str(), collection.as_str());
                Ok(Box::new(NoSqlSource::open(
                    &address,
                    place,
                    &query,
                    names,
                    resume_position,
                    watch,
                )?))
            }
        }
    };
    let mut report = |done: &Exported| {
        watching.end();
        report(&text(matches, "out"), *done, matches.get_flag("json"));
    };
    let done = export(&asked, open, &*watching, &mut report);
    watching.end();
    done
}

fn report(file: &str, done: Exported, as_json: bool) {
    let Exported { documents, bytes, earlier, was_whole } = done;
    print_text(match (as_json, was_whole) {
        (true, _) => {
            let report = json!({
                "file": file,
                "documents": documents,
                "bytes": bytes,
                "documents_of_earlier_runs": earlier,
            });
            format!("{report}\n")
        }
        (false, true) => format!(
            "{file}: already complete from an earlier run, {}, {bytes} bytes\n",
            counted(documents, "document")
        ),
        (false, false) => {
            let before = match earlier {
                0 => String::new(),
                earlier => format!(" ({earlier} of them by earlier runs)"),
            };
            format!("{file}: {}{before}, {bytes} bytes\n", counted(documents, "document"))
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (words, want) in [
            (&[][..], None),
            (&["--format", "csv", "-f", "a,b.c"], None),
            (&["--nosql", "http://h:1", "--format", "extended-json"], None),
            (&["--format", "csv"], Some("needs --fields")),
            (&["--format", "jsonl", "--relaxed"], Some("--relaxed")),
            (&["--nosql", "http://h:1", "--relaxed"], Some("--relaxed")),
            (&["--sort", "{\"a\":1}", "--out", "x", "--resume"], Some("remove --sort")),
            (&["--resume"], Some("needs --out")),
            (&["--nosql", "http://h:1", "--sort", "{}"], Some("ORDER BY")),
            (&["--nosql", "http://h:1", "-f", "a.b"], Some("at the root")),
            (&["--uri", "mongodb://h", "--nosql", "http://h"], Some("exclude each other")),
            (&["--nosql", "h:1"], Some("must start with http")),
            (&["--nosql", "https://h:1"], None),
            (&["--uri", "mongodb+srv://h"], Some("mongodb+srv")),
            (&["--uri", "mongodb://ann@h", "--password-file", "/none"], Some("--password-file")),
            (&["--nosql", "http://h:1", "--key-file", "/none"], Some("/none")),
        ] {
            let words = [&["export", "-d", "d", "-c", "c"], words].concat();
            let typed = export_command().try_get_matches_from(&words).unwrap();
            match (prepare(&typed), want) {
                (Ok(_), None) => {}
                (Err(got), Some(want)) => assert!(got.contains(want), "{words:?}: {got}"),
                (got, want) => panic!("{words:?}: {got:?} instead of {want:?}"),
            }
        }
        let words = ["export", "-d", "d", "-c", "c", "--limit", "0"];
        assert!(export_command().try_get_matches_from(words).is_err());
        assert!(export_command().try_get_matches_from(["export", "-d", "d"]).is_err());
    }
}
