//! `ebb admin`: asks a running server's admin address and prints what it answers. It can do nothing
//! that a request to that address could not. Those of `ebb admin cluster` that take flags of Cassandra
//! alone ask no server: they speak to Cassandra.

mod cluster;
mod doctor;
mod ttl;
mod user;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::{
    client::{self, Client},
    ending::{FAILED, complain, print_text},
};

/// A request to the admin address.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Request {
    /// Show the clock as it stands.
    Clock,
    /// Accept a step of the wall clock that waits.
    AcceptClock,
    /// Show what a person wants to know first.
    Status,
    /// Show what of the server's settings and surroundings is not as it should be.
    Doctor,
    /// Show the cluster.
    Cluster,
    /// Have another node own the data.
    HandOver { shard: u32, to: Option<String> },
    /// Have a base made that has all there is.
    MakeBase { shard: u32 },
}

/// Returns the subcommand and its own subcommands. The flags that name the server are global: they may
/// stand at any place of the line.
pub(crate) fn command() -> Command {
    let clock = Command::new("clock")
        .about("Show the database clock")
        .subcommand(Command::new("accept").about("Accept a step of the wall clock that waits"));
    Command::new("admin")
        .about("Ask or tell a running server")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(client::client_flags().map(|arg| arg.global(true)))
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .global(true)
                .help("Print what the server answers as it is"),
        )
        .subcommand(clock)
        .subcommand(cluster::command())
        .subcommand(ttl::command())
        .subcommand(user::command())
        .subcommand(Command::new("status").about("Show the server's state"))
        .subcommand(Command::new("doctor").about("Check the settings of a server that hosts data"))
}

/// Runs what was typed and returns the exit code.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    match matches.subcommand() {
        Some(("user", typed)) => return run_own(matches, typed, user::run, user::format_answer),
        Some(("ttl", typed)) => return run_own(matches, typed, ttl::run, ttl::format_answer),
        _ => {}
    }
    let (request, inner) = match matches.subcommand() {
        Some(("clock", clock)) => match clock.subcommand() {
            Some((_, accept)) => (Request::AcceptClock, accept),
            None => (Request::Clock, clock),
        },
        Some(("cluster", cluster)) => match cluster.subcommand() {
            Some(("init", init)) => return cluster::run_init(init),
            Some(("dump", dump)) => return cluster::run_dump(dump),
            Some(("verify", verify)) => return cluster::run_verify(verify),
            Some(("forget", forget)) => return cluster::run_forget(forget),
            Some(("accept-loss", accept)) => return cluster::run_accept_loss(accept),
            Some(("hand-over", inner)) => (cluster::hand_over_of(inner), inner),
            Some(("base", inner)) => (cluster::base_of(inner), inner),
            Some((_, status)) => (Request::Cluster, status),
            None => (Request::Cluster, cluster),
        },
        Some(("doctor", doctor)) => (Request::Doctor, doctor),
        Some((_, status)) => (Request::Status, status),
        None => (Request::Status, matches),
    };
    let client = match Client::from_matches(matches) {
        Ok(client) => client,
        Err(message) => return complain(message, FAILED),
    };
    let answer = match ask_server(&client, &request) {
        Ok(answer) => answer,
        Err(message) => return complain(message, FAILED),
    };
    match inner.get_flag("json") {
        true => print_text(format!("{answer}\n")),
        false => print_text(format_answer(&request, &answer)),
    }
    let is_clean = request != Request::Doctor || doctor::is_clean(&answer);
    if is_clean { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Runs a subcommand that asks for itself and says how its answer is shown, and returns the exit code.
fn run_own(
    matches: &ArgMatches,
    typed: &ArgMatches,
    run: fn(&Client, &ArgMatches) -> Result<Value, String>,
    format: fn(&Value) -> String,
) -> ExitCode {
    let answer = Client::from_matches(matches).and_then(|client| run(&client, typed));
    match answer {
        Ok(answer) if matches.get_flag("json") => print_text(format!("{answer}\n")),
        Ok(answer) => print_text(format(&answer)),
        Err(message) => return complain(message, FAILED),
    }
    ExitCode::SUCCESS
}

/// Sends a request and returns the answer; an error is the text to show.
fn ask_server(client: &Client, request: &Request) -> Result<Value, String> {
    match request {
        Request::Clock => client.get("/_ebb/clock"),
        Request::AcceptClock => client.post("/_ebb/clock/accept"),
        Request::Status => client.get("/status"),
        Request::Doctor => client.get("/_ebb/doctor"),
        Request::Cluster => client.get("/_ebb/cluster"),
        Request::HandOver { shard, to } => {
            let body = json!({ "shard": shard, "to": to });
            client.post_json("/_ebb/cluster/hand-over", &body)
        }
        Request::MakeBase { shard } => cluster::make_base(client, *shard),
    }
}

/// Returns an answer for people: a line for each value, `clock.mode: system`.
fn format_answer(request: &Request, answer: &Value) -> String {
    let mut out = String::new();
    match request {
        Request::Cluster => return cluster::format_cluster(answer),
        Request::Doctor => return doctor::format_findings(answer),
        _ => {}
    }
    if *request == Request::AcceptClock {
        out.push_str("accepted\n");
    }
    push_lines("", answer, &mut out);
    out
}

/// Adds the lines of a value whose name so far is `prefix`; objects inside objects are joined by dots.
fn push_lines(prefix: &str, value: &Value, out: &mut String) {
    let Some(fields) = value.as_object() else {
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.push_str(&format!("{prefix}: {plain}\n"));
        return;
    };
    for (name, value) in fields {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        push_lines(&name, value, out);
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
            let answer = ask_server(&Client::new(&address, None), &request).unwrap();
            assert_eq!(answer["mode"], "manual", "{request:?}: {answer}");
        }
        let answer = ask_server(&Client::new(&address, None), &Request::Status).unwrap();
        assert_eq!(answer["status"], "ok");
        let refused =
            ask_server(&Client::new(&format!("{address}/_ebb/nowhere?"), None), &Request::Clock)
                .unwrap_err();
        assert_eq!(refused, "there is no such page");
        runtime.block_on(running.stop()).unwrap();
        let gone = ask_server(&Client::new(&address, None), &Request::Clock).unwrap_err();
        assert!(gone.contains("no answer from"), "{gone}");
    }

    #[test]
    fn a_server_is_asked_over_tls() {
        let folder = std::env::temp_dir().join(format!("ebb-admin-tls-{}", std::process::id()));
        let config = Config {
            data_dir: Some(folder.clone()),
            admin_tls: server::TlsMode::Require,
            ..Config::for_tests()
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&config)).unwrap();
        let address = running.admin().unwrap().to_owned();
        let authority = folder.join("nosql").join("certificate.pem");
        let client = Client::over_tls(&address, None, &authority).unwrap();
        assert_eq!(ask_server(&client, &Request::Status).unwrap()["status"], "ok");
        ask_server(&Client::new(&address, None), &Request::Status).unwrap_err();
        let key = folder.join("nosql").join("key.pem");
        let wrong = Client::over_tls(&address, None, &key).unwrap_err();
        assert!(wrong.contains("--tls-ca") && wrong.contains("no certificate"), "{wrong}");
        let alone = typed(&["--tls", "status"]).unwrap();
        assert_eq!(Client::from_matches(&alone).unwrap_err(), "--tls needs --tls-ca");
        runtime.block_on(running.stop()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_server_that_asks_for_a_key_gets_one() {
        let file = std::env::temp_dir().join(format!("ebb-key-{}", std::process::id()));
        std::fs::write(&file, "MDEyMzQ1Njc4OWFiY2RlZg==\n").unwrap();
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, own).unwrap();
        let config = Config { key_file: Some(file.clone()), ..Config::for_tests() };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&config)).unwrap();
        let address = running.admin().unwrap().to_owned();
        let key = server::first_key(&file).unwrap();
        for request in [Request::Clock, Request::AcceptClock, Request::Status] {
            ask_server(&Client::new(&address, Some(&key)), &request).unwrap();
        }
        let refused = ask_server(&Client::new(&address, None), &Request::Clock).unwrap_err();
        assert!(refused.contains("give --key-file"), "{refused}");
        let other = server::Secret::from_text(server::WELL_KNOWN_KEY.to_owned());
        let refused =
            ask_server(&Client::new(&address, Some(&other)), &Request::Clock).unwrap_err();
        assert!(refused.contains("none of the account's keys"), "{refused}");
        runtime.block_on(running.stop()).unwrap();
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn answers_are_shown_a_line_a_value() {
        let answer = json!({ "mode": "system", "a": { "b": 1, "c": null } });
        let text = format_answer(&Request::AcceptClock, &answer);
        let mut lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.remove(0), "accepted");
        lines.sort_unstable();
        assert_eq!(lines, ["a.b: 1", "a.c: null", "mode: system"]);
    }
}
