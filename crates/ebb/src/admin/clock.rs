//! `ebb admin clock`: shows and moves the database clock of a running server through its admin
//! address.
//!
//! ```text
//! ebb admin clock
//! ebb admin clock advance 90d
//! ebb admin clock set 2027-01-01T00:00:00Z
//! ebb admin clock accept
//! ```

use clap::{Arg, ArgMatches, Command};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::format_lines;
use crate::{client::Client, settings::parse_span};

pub(super) fn command() -> Command {
    let advance = Command::new("advance").about("Move a manual clock forward").arg(
        Arg::new("span")
            .value_name("DURATION")
            .required(true)
            .value_parser(parse_span)
            .help("Duration: 90d, 36h, 15m or 90s; a bare number is seconds"),
    );
    let set = Command::new("set").about("Set a manual clock; it cannot move backwards").arg(
        Arg::new("instant")
            .value_name("INSTANT")
            .required(true)
            .value_parser(parse_instant)
            .help("Time with time zone, such as 2027-01-01T00:00:00Z"),
    );
    Command::new("clock")
        .about("Show or move the database clock")
        .subcommand(advance)
        .subcommand(set)
        .subcommand(Command::new("accept").about(
            "Accept a pending wall clock step, and remove the documents that a clock jump expired",
        ))
}

fn parse_instant(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "it is not a time such as 2027-01-01T00:00:00Z".to_owned())
}

/// Executes the subcommand and returns the server's answer; fails with the message to show.
pub(super) fn run(client: &Client, matches: &ArgMatches) -> Result<Value, String> {
    let body = match matches.subcommand() {
        None => return client.get("/_ebb/clock"),
        Some(("accept", _)) => return client.post("/_ebb/clock/accept"),
        Some(("advance", typed)) => {
            let span = typed.get_one::<std::time::Duration>("span").copied().unwrap_or_default();
            json!({ "advance_seconds": span.as_secs_f64() })
        }
        Some((_, typed)) => {
            let instant = typed.get_one::<Timestamp>("instant").copied().unwrap_or_default();
            json!({ "set": instant.to_string() })
        }
    };
    client.post_json("/_ebb/clock", &body)
}

/// Formats the database time and the clock mode as lines of text.
pub(super) fn format_answer(answer: &Value) -> String {
    match (answer["now"].as_str(), answer["mode"].as_str()) {
        (Some(now), Some(mode)) => format!("{now}, {mode} clock\n"),
        _ => format_lines(answer),
    }
}

#[cfg(test)]
mod tests {
    use server::{ClockMode, Config};

    use super::*;

    fn typed(words: &[&str]) -> Result<ArgMatches, clap::Error> {
        command().try_get_matches_from([&["clock"], words].concat())
    }

    #[test]
    fn a_manual_clock_is_moved_and_never_goes_back() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        let ask = |words: &[&str]| run(&client, &typed(words).unwrap());
        let now = |answer: &Value| answer["now_ms"].as_i64().unwrap();
        let mut before = now(&ask(&[]).unwrap());
        for (span, ms) in
            [("90d", 7_776_000_000), ("36h", 129_600_000), ("1.5s", 1_500), ("2", 2_000)]
        {
            let after = now(&ask(&["advance", span]).unwrap());
            assert_eq!(after - before, ms, "{span}");
            before = after;
        }
        let set = ask(&["set", "2040-01-01T01:00:00+01:00"]).unwrap();
        assert_eq!(format_answer(&set), "2040-01-01T00:00:00.000Z, manual clock\n");
        let back = ask(&["set", "2039-01-01T00:00:00Z"]).unwrap_err();
        let wanted = "the clock never goes back; it stands at 2040-01-01T00:00:00.000Z";
        assert!(back.starts_with(wanted), "{back}");
        let accepted = ask(&["accept"]).unwrap();
        assert_eq!((&accepted["mode"], &accepted["now"]), (&set["mode"], &set["now"]));
        runtime.block_on(running.stop()).unwrap();
    }

    #[test]
    fn a_clock_of_the_machine_is_not_moved() {
        let config = Config { clock: ClockMode::System, ..Config::for_tests() };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&config)).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        let refused = run(&client, &typed(&["advance", "1d"]).unwrap()).unwrap_err();
        assert!(refused.contains("--clock manual"), "{refused}");
        runtime.block_on(running.stop()).unwrap();
    }

    #[test]
    fn what_is_no_span_and_no_instant_is_wrong_usage() {
        for (words, text) in [
            (&["advance", "much"][..], "such as 90s, 15m, 36h or 30d"),
            (&["advance", "-1d"], "unexpected argument"),
            (&["advance"], "<DURATION>"),
            (&["set", "tomorrow"], "such as 2027-01-01T00:00:00Z"),
            (&["set", "2027-01-01"], "such as 2027-01-01T00:00:00Z"),
            (&["reset"], "unrecognized subcommand"),
        ] {
            let refused = typed(words).unwrap_err();
            assert_eq!(refused.exit_code(), 2, "{words:?}");
            assert!(refused.to_string().contains(text), "{words:?}: {refused}");
        }
    }
}
