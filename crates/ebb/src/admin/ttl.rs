//! `ebb admin ttl`: shows and controls the reaper of a running server, and previews the effect of
//! another default TTL, through its admin address.
//!
//! ```text
//! ebb admin ttl show
//! ebb admin ttl show shop carts
//! ebb admin ttl pause
//! ebb admin ttl resume
//! ebb admin ttl preview shop carts 3600
//! ebb admin ttl preview shop logs 30d --index at_ttl
//! ```

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::listing::default_ttl;
use crate::{
    client::{Client, escaped},
    counted,
    settings::parse_span,
};

pub(super) fn command() -> Command {
    let api = || {
        Arg::new("api")
            .long("api")
            .alias("door")
            .value_name("mongo|nosql")
            .value_parser(["mongo", "nosql"])
            .help("API, if both have a collection of that name")
    };
    let show = Command::new("show")
        .about("Show that state, or when documents of a collection expire")
        .arg(Arg::new("database").value_name("DB").requires("collection"))
        .arg(Arg::new("collection").value_name("COLLECTION"))
        .arg(api());
    let preview =
        Command::new("preview")
            .about("Show which documents a default would expire, without changing it")
            .arg(Arg::new("database").value_name("DB").required(true))
            .arg(Arg::new("collection").value_name("COLLECTION").required(true))
            .arg(
                Arg::new("default")
                    .value_name("DEFAULT")
                    .required(true)
                    .allow_hyphen_values(true)
                    .value_parser(parse_default)
                    .help(
                        "Seconds, a duration such as 30d, -1 (on, but documents do not expire by \
                         default) or off",
                    ),
            )
            .arg(Arg::new("index").long("index").value_name("NAME").help(
                "Preview for a date index: DEFAULT is how long after the date documents expire",
            ))
            .arg(api());
    Command::new("ttl")
        .about("Show the state of the removal of expired documents")
        .subcommand(show)
        .subcommand(Command::new("pause").about(
            "Stop removing expired documents until 'resume', across restarts; they stay invisible",
        ))
        .subcommand(Command::new("resume").about("Resume the removal of expired documents"))
        .subcommand(preview)
}

/// Parses a default TTL; the server validates its range.
fn parse_default(text: &str) -> Result<Value, String> {
    match text {
        "off" => Ok(Value::Null),
        text => match (text.parse::<i64>(), parse_span(text)) {
            (Ok(seconds), _) => Ok(seconds.into()),
            (_, Ok(span)) if span.subsec_nanos() == 0 => Ok(span.as_secs().into()),
            _ => Err("it is not a number of seconds, a duration such as 30d, -1 or off".to_owned()),
        },
    }
}

/// Returns the request path of the collection that the command line names.
fn collection_path(matches: &ArgMatches) -> String {
    let text = |id: &str| escaped(matches.get_one::<String>(id).map_or("", String::as_str));
    format!("/_ebb/databases/{}/collections/{}", text("database"), text("collection"))
}

/// Returns the query string that selects the API given on the command line.
fn api_argument(matches: &ArgMatches) -> String {
    let api = matches.get_one::<String>("api").map(|api| format!("?door={api}"));
    api.unwrap_or_default()
}

/// Executes the subcommand and returns the server's answer; fails with the message to show.
pub(super) fn run(client: &Client, matches: &ArgMatches) -> Result<Value, String> {
    let answer = ask(client, matches);
    answer.map_err(|why| {
        why.replace("add ?door=mongo or ?door=nosql", "specify --api mongo or --api nosql")
    })
}

fn ask(client: &Client, matches: &ArgMatches) -> Result<Value, String> {
    match matches.subcommand() {
        Some(("pause", _)) => client.post("/_ebb/ttl/pause"),
        Some(("resume", _)) => client.post("/_ebb/ttl/resume"),
        Some(("preview", preview)) => {
            let (collection, api) = (collection_path(preview), api_argument(preview));
            let path = format!("{collection}/expiry/preview{api}");
            let default = preview.get_one::<Value>("default").cloned().unwrap_or_default();
            let asked = match preview.get_one::<String>("index") {
                Some(index) => json!({ "index": index, "expire_after_seconds": default }),
                None => json!({ "default": default }),
            };
            client.post_json(&path, &asked)
        }
        Some(("show", shown)) if shown.contains_id("database") => {
            client.get(&format!("{}/expiry{}", collection_path(shown), api_argument(shown)))
        }
        _ => client.get("/_ebb/ttl"),
    }
}

/// Formats a TTL setting as lines of text.
pub(super) fn format_answer(answer: &Value) -> String {
    let amount = |amount: &Value| {
        let number = |name: &str| amount[name].as_i64().unwrap_or(0);
        let documents = u64::try_from(number("documents")).unwrap_or(0);
        format!("{}, {} bytes", counted(documents, "document"), number("bytes"))
    };
    if let Some(all) = answer.get("dies_within") {
        let within = [("hour", "an hour"), ("day", "a day"), ("week", "a week")]
            .map(|(name, words)| format!("then within {words}: {}\n", amount(&all[name])));
        let first = match answer.get("dies_now") {
            Some(now) => format!("at once: {}\n", amount(now)),
            None => {
                let default = default_ttl(&answer["default"]);
                format!("default: {default}\nlive: {}\n", amount(&answer["live"]))
            }
        };
        return first + &within.concat();
    }
    let mut out = match answer["paused"].as_bool() {
        Some(true) => "reaping is paused: 'ebb admin ttl resume' resumes it\n".to_owned(),
        _ => "reaping is running\n".to_owned(),
    };
    if !answer["held_behind_ms"].is_null() {
        out.push_str(
            "documents that a clock jump expired are kept until 'ebb admin clock accept', or for \
             24 hours\n",
        );
    }
    let waiting = amount(&answer["unreaped_estimate"]);
    out.push_str(&format!("expired and not removed yet, about: {waiting}\n"));
    out.push_str(&format!("removed since the start: {} documents\n", answer["reaped_documents"]));
    out
}

#[cfg(test)]
mod tests {
    use server::Config;

    use super::*;

    fn typed(words: &[&str]) -> Result<ArgMatches, clap::Error> {
        command().try_get_matches_from([&["ttl"], words].concat())
    }

    #[test]
    fn a_running_server_is_paused_and_goes_on() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        let ask = |words: &[&str]| run(&client, &typed(words).unwrap());
        for (words, paused) in [
            (&[][..], false),
            (&["pause"], true),
            (&["pause"], true),
            (&["show"], true),
            (&[], true),
        ] {
            assert_eq!(ask(words).unwrap()["paused"], paused, "{words:?}");
        }
        assert!(ask(&[]).unwrap()["paused_since_ms"].is_i64());
        assert_eq!(client.get("/status").unwrap()["reaper"]["paused"], true);
        for words in [&["resume"][..], &["resume"], &[]] {
            let answer = ask(words).unwrap();
            assert_eq!(answer["paused"], false, "{words:?}");
            assert!(format_answer(&answer).starts_with("reaping is running\n"));
        }
        client.post("/_ebb/quickstart").unwrap();
        let of_sample = ["show", "quickstart", "sessions"];
        let both = ask(&of_sample).unwrap_err();
        let want = "both APIs have a collection of this name: specify --api mongo or --api nosql";
        assert_eq!(both, want);
        for api in ["mongo", "nosql"] {
            let words = [&of_sample[..], &["--api", api]].concat();
            let text = format_answer(&ask(&words).unwrap());
            assert!(
                text.starts_with("default: ") && text.contains("\nlive: 40 documents, "),
                "{text}"
            );
            assert!(text.contains("\nthen within an hour: "), "{text}");
        }
        let of_index = ["preview", "quickstart", "sessions", "30d", "--index", "none"];
        let missing = ask(&[&of_index[..], &["--api", "mongo"]].concat()).unwrap_err();
        assert!(missing.contains("none"), "{missing}");
        let missing = ask(&["preview", "d/b", "c c", "-1"]).unwrap_err();
        assert!(missing.contains("there is no collection d/b.c c"), "{missing}");
        runtime.block_on(running.stop()).unwrap();
    }

    #[test]
    fn defaults_are_numbers_or_off() {
        for (text, want) in [
            ("off", Value::Null),
            ("-1", json!(-1)),
            ("60", json!(60)),
            ("30d", json!(2_592_000)),
            ("90m", json!(5400)),
        ] {
            let matches = typed(&["preview", "d", "c", text]).unwrap();
            let (_, preview) = matches.subcommand().unwrap();
            assert_eq!(preview.get_one::<Value>("default"), Some(&want));
        }
        for words in [
            &["preview", "d", "c"][..],
            &["preview", "d", "c", "1.5"],
            &["preview", "d", "c", "never"],
            &["preview", "d", "c", "1500ms"],
            &["preview", "d", "c", "1", "--door", "x"],
            &["stop"],
        ] {
            typed(words).unwrap_err();
        }
    }

    #[test]
    fn answers_are_sentences() {
        let some = json!({ "documents": 3, "bytes": 90 });
        let answer = json!({
            "paused": true, "held_behind_ms": 7, "reaped_documents": 2, "unreaped_estimate": some,
        });
        let text = format_answer(&answer);
        for part in ["is paused", "clock accept", "about: 3 documents, 90 bytes", "start: 2 doc"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let within = json!({ "hour": some, "day": some, "week": some });
        let text = format_answer(&json!({ "dies_now": some, "dies_within": within }));
        assert!(
            text.starts_with("at once: 3 documents, 90 bytes\nthen within an hour: 3"),
            "{text}"
        );
    }
}
