//! `ebb admin features`: shows and sets the feature switches of a running server through its admin
//! address.
//!
//! ```text
//! ebb admin features
//! ebb admin features per-document-ttl off
//! ```

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use crate::{
    client::Client,
    table::{Column, format_table},
};

/// Command-line names of the switches, with their descriptions.
const SWITCHES: [(&str, &str); 2] = [
    (
        "per-document-ttl",
        "Whether the ttl field of MongoDB documents written from now on takes effect",
    ),
    ("carry-timestamps", "Whether dumps include _ts, until the server stops"),
];

pub(super) fn command() -> Command {
    let state =
        || Arg::new("state").value_name("on|off").required(true).value_parser(["on", "off"]);
    let switches = SWITCHES.map(|(name, about)| Command::new(name).about(about).arg(state()));
    Command::new("features")
        .about("Show or change the feature switches of a server")
        .subcommands(switches)
}

/// Executes the subcommand and returns the server's answer; fails with the message to show.
pub(super) fn run(client: &Client, matches: &ArgMatches) -> Result<Value, String> {
    let Some((name, typed)) = matches.subcommand() else { return client.get("/_ebb/features") };
    let on = typed.get_one::<String>("state").is_some_and(|state| state == "on");
    let body = json!({ name.replace('-', "_"): on });
    client.put_json("/_ebb/features", &body)
}

/// Formats the states of the switches as lines of text.
pub(super) fn format_answer(answer: &Value) -> String {
    let rows = answer.as_object().into_iter().flatten().map(|(name, switch)| {
        let why = match switch["source"].as_str() {
            None => "until the server stops",
            Some("stored") => "kept in the data directory",
            Some("flag") => "by --per-document-ttl",
            Some(_) => "by default",
        };
        let state = if switch["on"] == true { "on" } else { "off" };
        vec![name.replace('_', "-"), state.to_owned(), why.to_owned()]
    });
    let columns = [Column::Text("SWITCH"), Column::Text("STATE"), Column::Text("WHY")];
    format_table(&columns, &rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use server::Config;

    use super::*;

    #[test]
    fn switches_are_shown_and_turned() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        let ask = |words: &[&str]| {
            let typed = command().try_get_matches_from([&["features"], words].concat()).unwrap();
            format_answer(&run(&client, &typed).unwrap())
        };
        let shown = ask(&[]);
        assert!(shown.contains("carry-timestamps  off    until the server stops\n"), "{shown}");
        assert!(shown.contains("per-document-ttl  on     by default\n"), "{shown}");
        let turned = ask(&["per-document-ttl", "off"]);
        assert!(
            turned.contains("per-document-ttl  off    kept in the data directory\n"),
            "{turned}"
        );
        let turned = ask(&["carry-timestamps", "on"]);
        assert!(turned.contains("carry-timestamps  on "), "{turned}");
        assert!(turned.contains("per-document-ttl  off "), "{turned}");
        runtime.block_on(running.stop()).unwrap();
        for words in [&["features", "per-document-ttl"][..], &["features", "carry-timestamps", "1"]]
        {
            assert_eq!(command().try_get_matches_from(words).unwrap_err().exit_code(), 2);
        }
    }
}
