//! `ebb admin`: sends requests to a running server's admin address and prints the answers. It has
//! only the rights of the key that it sends. The `ebb admin cluster` commands that take only
//! Cassandra flags connect to Cassandra and need no server.

mod clock;
mod cluster;
mod doctor;
mod features;
mod listing;
mod slow;
mod state;
mod ttl;
mod user;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::{
    FAILED, USAGE,
    client::{self, Client},
    complain, print_text,
};

/// Executes a subcommand and returns the server's answer; fails with the message to show.
type Ask = fn(&Client, &ArgMatches) -> Result<Value, String>;
/// Formats a JSON answer of the server as text for the terminal.
type Format = fn(&Value) -> String;

/// Subcommands with their own request and format functions.
const ASKED: [(&str, (Ask, Format)); 9] = [
    ("clock", (clock::run, clock::format_answer)),
    ("collections", (listing::ask_collections, listing::format_collections)),
    ("connections", (state::ask, state::format_connections)),
    ("databases", (listing::ask_databases, listing::format_databases)),
    ("features", (features::run, features::format_answer)),
    ("health", (state::ask, state::format_health)),
    ("slow", (slow::ask, slow::format_answer)),
    ("ttl", (ttl::run, ttl::format_answer)),
    ("user", (user::run, user::format_answer)),
];

/// A request to the admin address.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Request {
    /// Show the state of the server.
    Status,
    /// Show the findings of the configuration check.
    Doctor,
    /// Show the state of the cluster.
    Cluster,
    /// Transfer the ownership of a shard to another node.
    HandOver { shard: u32, to: Option<String> },
    /// Write a base: a full copy of the shard with its current data.
    MakeBase { shard: u32 },
}

/// Returns the command `admin` with its subcommands. The flags that select the server are global,
/// so they may be given at any position.
pub(crate) fn command() -> Command {
    Command::new("admin")
        .about("Inspect a running server and change its runtime settings")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(client::client_flags().map(|arg| arg.global(true)))
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .global(true)
                .help("Print the server's answer unchanged"),
        )
        .subcommand(state::health_command())
        .subcommand(Command::new("status").about("Show all of the server's state"))
        .subcommand(state::connections_command())
        .subcommand(listing::databases_command())
        .subcommand(listing::collections_command())
        .subcommand(slow::command())
        .subcommand(ttl::command())
        .subcommand(clock::command())
        .subcommand(features::command())
        .subcommand(user::command())
        .subcommand(cluster::command())
        .subcommand(Command::new("doctor").about("Check a running server against hardening rules"))
}

/// Runs the parsed subcommand and returns the exit code.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    if let Some((name, typed)) = matches.subcommand()
        && let Some((_, (ask, format))) = ASKED.iter().find(|(known, _)| *known == name)
    {
        return run_own(matches, typed, *ask, *format);
    }
    let (request, inner) = match matches.subcommand() {
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
        Err(message) => return complain(message, USAGE),
    };
    let answer = match ask_server(&client, &request) {
        Ok(answer) => answer,
        Err(message) => return complain(message, FAILED),
    };
    match inner.get_flag("json") {
        true => print_text(format!("{answer}\n")),
        false => print_text(format_answer(&request, &answer)),
    }
    let is_done = match &request {
        Request::Doctor => doctor::is_clean(&answer),
        Request::HandOver { .. } => cluster::is_handed_over(&answer),
        _ => true,
    };
    if is_done { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Runs a subcommand that has its own request function (`ask`) and format function, and returns the
/// exit code.
fn run_own(matches: &ArgMatches, typed: &ArgMatches, ask: Ask, format: Format) -> ExitCode {
    let client = match Client::from_matches(matches) {
        Ok(client) => client,
        Err(message) => return complain(message, USAGE),
    };
    let answer = match ask(&client, typed) {
        Ok(answer) => answer,
        Err(message) => return complain(message, FAILED),
    };
    match matches.get_flag("json") {
        true => print_text(format!("{answer}\n")),
        false => print_text(format(&answer)),
    }
    let is_health = matches.subcommand_name() == Some("health");
    let is_good = !is_health || state::is_served(&answer);
    if is_good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Sends a request and returns the answer; fails with the message to show.
fn ask_server(client: &Client, request: &Request) -> Result<Value, String> {
    match request {
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

/// Formats an answer for people, by default with one line per value, such as `clock.mode: system`.
fn format_answer(request: &Request, answer: &Value) -> String {
    match request {
        Request::Cluster => cluster::format_cluster(answer),
        Request::Doctor => doctor::format_findings(answer),
        Request::HandOver { .. } => cluster::format_hand_over(answer),
        _ => format_lines(answer),
    }
}

/// Formats an answer with one line per value.
fn format_lines(answer: &Value) -> String {
    let mut out = String::new();
    push_lines("", answer, &mut out);
    out
}

/// Appends the lines of a value named `prefix`; names of nested fields are joined by dots.
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
        let answer = ask_server(&Client::new(&address, None), &Request::Status).unwrap();
        assert_eq!(answer["status"], "ok");
        let refused =
            ask_server(&Client::new(&format!("{address}/_ebb/nowhere?"), None), &Request::Doctor)
                .unwrap_err();
        assert_eq!(refused, "page not found");
        for request in [Request::Cluster, Request::MakeBase { shard: 0 }] {
            let refused = ask_server(&Client::new(&address, None), &request).unwrap_err();
            assert_eq!(refused, "this server is not a cluster node");
        }
        runtime.block_on(running.stop()).unwrap();
        let gone = ask_server(&Client::new(&address, None), &Request::Status).unwrap_err();
        assert_eq!(
            gone,
            format!(
                "no answer from {address}: nothing listens there. Is the server running? 'ebb serve' \
                 starts one; choose another address with --admin-addr"
            )
        );
    }

    #[test]
    fn whoever_names_no_server_has_used_it_wrongly_and_one_that_is_gone_has_failed() {
        let ends = |words: &[&str]| run(&typed(words).unwrap());
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let closed = closed.to_string();
        for command in ["health", "status", "databases", "clock", "doctor"] {
            let missing = ["--key-file", "/nowhere/keys", command];
            assert_eq!(ends(&missing), ExitCode::from(USAGE), "{command}");
            assert_eq!(
                ends(&["--tls-ca", "/nowhere/ca", command]),
                ExitCode::from(USAGE),
                "{command}"
            );
            let gone = ["--admin-addr", &closed, command];
            assert_eq!(ends(&gone), ExitCode::from(FAILED), "{command}");
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        for command in ASKED.map(|(name, _)| name).into_iter().filter(|name| *name != "user") {
            for json in [&[][..], &["--json"]] {
                let words = [&["--admin-addr", running.admin().unwrap(), command], json].concat();
                assert_eq!(ends(&words), ExitCode::SUCCESS, "{words:?}");
            }
        }
        runtime.block_on(running.stop()).unwrap();
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
        let client = Client::over_tls(&address, None, Some(&authority)).unwrap();
        assert_eq!(ask_server(&client, &Request::Status).unwrap()["status"], "ok");
        ask_server(&Client::new(&address, None), &Request::Status).unwrap_err();
        let key = folder.join("nosql").join("key.pem");
        let wrong = Client::over_tls(&address, None, Some(&key)).unwrap_err();
        assert!(wrong.contains("--tls-ca") && wrong.contains("no certificate"), "{wrong}");
        // The server's certificate is not signed by one of the system's certificate authorities.
        let alone = typed(&["--admin-addr", &address, "--tls", "status"]).unwrap();
        let wrong = Client::from_matches(&alone).and_then(|it| ask_server(&it, &Request::Status));
        let wrong = wrong.unwrap_err();
        assert!(wrong.contains("--tls-ca"), "{wrong}");
        runtime.block_on(running.stop()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_server_that_asks_for_a_key_gets_one() {
        let file = std::env::temp_dir().join(format!("ebb-key-{}", std::process::id()));
        std::fs::write(&file, "MDEyMzQ1Njc4OWFiY2RlZg==\n").unwrap();
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, own).unwrap();
        let key_file = Some(file.clone());
        let config = Config { key_file, mongo_no_auth: true, ..Config::for_tests() };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&config)).unwrap();
        let address = running.admin().unwrap().to_owned();
        let key = server::first_key(&file).unwrap();
        for request in [Request::Doctor, Request::Status] {
            ask_server(&Client::new(&address, Some(&key)), &request).unwrap();
        }
        let refused = ask_server(&Client::new(&address, None), &Request::Doctor).unwrap_err();
        assert!(refused.contains("give --key-file"), "{refused}");
        let other = server::Secret::from_text(server::WELL_KNOWN_KEY.to_owned());
        let refused =
            ask_server(&Client::new(&address, Some(&other)), &Request::Doctor).unwrap_err();
        assert!(refused.contains("not a key of this account"), "{refused}");
        runtime.block_on(running.stop()).unwrap();
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn answers_are_shown_a_line_a_value() {
        let answer = json!({ "mode": "system", "a": { "b": 1, "c": null } });
        let text = format_answer(&Request::Status, &answer);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["a.b: 1", "a.c: null", "mode: system"]);
    }
}
