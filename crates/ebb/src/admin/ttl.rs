//! `ebb admin ttl`: reaping of a running server, and what another default would make expire, through its
//! admin address.
//!
//! ```text
//! ebb admin ttl
//! ebb admin ttl pause
//! ebb admin ttl resume
//! ebb admin ttl preview shop carts 3600
//! ```

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use crate::client::{Client, escaped};

/// Returns the subcommand and its own subcommands.
pub(super) fn command() -> Command {
    let preview = Command::new("preview")
        .about("Show what a default would make expire; it changes nothing")
        .arg(Arg::new("database").value_name("DB").required(true))
        .arg(Arg::new("collection").value_name("COLLECTION").required(true))
        .arg(
            Arg::new("default")
                .value_name("DEFAULT")
                .required(true)
                .allow_hyphen_values(true)
                .value_parser(parse_default)
                .help("Seconds, -1 (on, and documents live on by themselves) or off"),
        )
        .arg(
            Arg::new("door")
                .long("door")
                .value_name("mongo|nosql")
                .value_parser(["mongo", "nosql"])
                .help("Which API's, where both have one of that name"),
        );
    Command::new("ttl")
        .about("Show how the removal of expired documents stands")
        .subcommand(Command::new("pause").about(
            "Remove no expired documents until 'resume', also after restarts; they stay invisible",
        ))
        .subcommand(Command::new("resume").about("Remove expired documents again"))
        .subcommand(preview)
}

/// Reads a default; the server says which numbers it takes.
fn parse_default(text: &str) -> Result<Value, String> {
    match text {
        "off" => Ok(Value::Null),
        number => number
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| "it is neither a number of seconds nor -1 nor off".to_owned()),
    }
}

/// Does what was typed and returns what the server answers; an error is the text to show.
pub(super) fn run(client: &Client, matches: &ArgMatches) -> Result<Value, String> {
    match matches.subcommand() {
        Some(("pause", _)) => client.post("/_ebb/ttl/pause"),
        Some(("resume", _)) => client.post("/_ebb/ttl/resume"),
        Some((_, preview)) => {
            let text = |id: &str| preview.get_one::<String>(id).cloned().unwrap_or_default();
            let (database, collection) = (escaped(&text("database")), escaped(&text("collection")));
            let door = preview.get_one::<String>("door").map(|door| format!("?door={door}"));
            let path = format!(
                "/_ebb/databases/{database}/collections/{collection}/expiry/preview{}",
                door.unwrap_or_default()
            );
            let default = preview.get_one::<Value>("default").cloned().unwrap_or_default();
            client.post_json(&path, &json!({ "default": default }))
        }
        None => client.get("/_ebb/ttl"),
    }
}

/// Returns an answer for people.
pub(super) fn format_answer(answer: &Value) -> String {
    let amount = |amount: &Value| {
        let number = |name: &str| amount[name].as_i64().unwrap_or(0);
        format!("{} documents, {} bytes", number("documents"), number("bytes"))
    };
    if let Some(now) = answer.get("dies_now") {
        let mut out = format!("at once: {}\n", amount(now));
        for (name, words) in [("hour", "an hour"), ("day", "a day"), ("week", "a week")] {
            let within = &answer["dies_within"][name];
            out.push_str(&format!("then within {words}: {}\n", amount(within)));
        }
        return out;
    }
    let mut out = match answer["paused"].as_bool() {
        Some(true) => "reaping is paused: 'ebb admin ttl resume' ends that\n".to_owned(),
        _ => "reaping goes on\n".to_owned(),
    };
    if !answer["held_behind_ms"].is_null() {
        out.push_str(
            "what a jump of the clock made expire is kept until 'ebb admin clock accept', or for \
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
        for (words, paused) in
            [(&[][..], false), (&["pause"], true), (&["pause"], true), (&[], true)]
        {
            assert_eq!(ask(words).unwrap()["paused"], paused, "{words:?}");
        }
        assert!(ask(&[]).unwrap()["paused_since_ms"].is_i64());
        assert_eq!(client.get("/status").unwrap()["reaper"]["paused"], true);
        for words in [&["resume"][..], &["resume"], &[]] {
            let answer = ask(words).unwrap();
            assert_eq!(answer["paused"], false, "{words:?}");
            assert!(format_answer(&answer).starts_with("reaping goes on\n"));
        }
        let missing = ask(&["preview", "d/b", "c c", "-1"]).unwrap_err();
        assert!(missing.contains("there is no collection d/b.c c"), "{missing}");
        runtime.block_on(running.stop()).unwrap();
    }

    #[test]
    fn defaults_are_numbers_or_off() {
        for (text, want) in [("off", Value::Null), ("-1", json!(-1)), ("60", json!(60))] {
            let matches = typed(&["preview", "d", "c", text]).unwrap();
            let (_, preview) = matches.subcommand().unwrap();
            assert_eq!(preview.get_one::<Value>("default"), Some(&want));
        }
        for words in [
            &["preview", "d", "c"][..],
            &["preview", "d", "c", "1.5"],
            &["preview", "d", "c", "never"],
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
