//! `ebb admin`: asks a running server's admin address and prints what it answers.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, builder::OsStr};
use serde_json::Value;

use crate::{
    client::Client,
    commands::{FAILED, complain, say},
};

/// A request to the admin address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// The clock as it stands.
    Clock,
    /// A step of the wall clock that waits is right.
    AcceptClock,
    /// What a person wants to know first.
    Status,
}

/// The subcommand and its own subcommands.
pub(crate) fn command() -> Command {
    let clock = Command::new("clock")
        .about("Show the database clock")
        .subcommand(Command::new("accept").about("Accept a step of the wall clock that waits"));
    Command::new("admin")
        .about("Ask or tell a running server")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("admin-addr")
                .long("admin-addr")
                .env(OsStr::from("EBB_ADMIN_ADDR"))
                .value_name("HOST:PORT")
                .default_value("127.0.0.1:8080")
                .global(true)
                .help("The server's admin address"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .global(true)
                .help("Print what the server answers as it is"),
        )
        .subcommand(clock)
        .subcommand(Command::new("status").about("Show the server's state"))
}

/// Runs what was typed.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let address = matches.get_one::<String>("admin-addr").map_or("", String::as_str);
    let (request, inner) = match matches.subcommand() {
        Some(("clock", clock)) => match clock.subcommand() {
            Some((_, accept)) => (Request::AcceptClock, accept),
            None => (Request::Clock, clock),
        },
        Some((_, status)) => (Request::Status, status),
        None => (Request::Status, matches),
    };
    match ask(address, request) {
        Ok(answer) if inner.get_flag("json") => say(format!("{answer}\n")),
        Ok(answer) => say(shown(request, &answer)),
        Err(message) => return complain(message, FAILED),
    }
    ExitCode::SUCCESS
}

/// Sends a request and reads the answer; failures in words.
fn ask(address: &str, request: Request) -> Result<Value, String> {
    let client = Client::new(address);
    match request {
        Request::Clock => client.get("/_ebb/clock"),
        Request::AcceptClock => client.post("/_ebb/clock/accept"),
        Request::Status => client.get("/status"),
    }
}

/// An answer for people: a line a value.
fn shown(request: Request, answer: &Value) -> String {
    let mut out = String::new();
    if request == Request::AcceptClock {
        out.push_str("accepted\n");
    }
    lines("", answer, &mut out);
    out
}

fn lines(prefix: &str, value: &Value, out: &mut String) {
    let Some(fields) = value.as_object() else {
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.push_str(&format!("{prefix}: {plain}\n"));
        return;
    };
    for (name, value) in fields {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        lines(&name, value, out);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use server::Config;

    use super::*;

    fn typed(words: &[&str]) -> Result<ArgMatches, clap::Error> {
        command().try_get_matches_from([&["admin"], words].concat())
    }

    #[test]
    fn the_address_may_stand_before_or_behind_what_is_asked() {
        for words in [
            &["--admin-addr", "h:1", "clock", "accept"][..],
            &["clock", "--admin-addr", "h:1", "accept"],
            &["clock", "accept", "--admin-addr", "h:1", "--json"],
        ] {
            let matches = typed(words).unwrap();
            assert_eq!(matches.get_one::<String>("admin-addr").unwrap(), "h:1", "{words:?}");
        }
        for words in [&[][..], &["clocks"], &["clock", "reset"]] {
            typed(words).unwrap_err();
        }
    }

    #[test]
    fn a_running_server_answers() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let address = running.admin().unwrap().to_owned();
        for request in [Request::Clock, Request::AcceptClock] {
            let answer = ask(&address, request).unwrap();
            assert_eq!(answer["mode"], "manual", "{request:?}: {answer}");
        }
        let answer = ask(&address, Request::Status).unwrap();
        assert_eq!(answer["status"], "ok");
        let refused = ask(&format!("{address}/_ebb/nowhere?"), Request::Clock).unwrap_err();
        assert_eq!(refused, "there is no such page");
        runtime.block_on(running.stop()).unwrap();
        let gone = ask(&address, Request::Clock).unwrap_err();
        assert!(gone.contains("no answer from"), "{gone}");
    }

    #[test]
    fn answers_are_shown_a_line_a_value() {
        let answer = json!({ "mode": "system", "a": { "b": 1, "c": null } });
        let text = shown(Request::AcceptClock, &answer);
        let mut lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.remove(0), "accepted");
        lines.sort_unstable();
        assert_eq!(lines, ["a.b: 1", "a.c: null", "mode: system"]);
    }
}
