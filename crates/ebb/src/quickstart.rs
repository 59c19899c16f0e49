//! `ebb quickstart`: makes a server create sample data, and shows how it expires. The server
//! defines the sample (`POST /_ebb/quickstart`).
//!
//! ```text
//! a server listens at the admin address     → the server creates the sample, this process shows it
//! no server, and the address is local       → an in-memory server is started, then as above
//! no server, and the address is remote      → an error
//! ```

mod watch;

use std::{io::IsTerminal, net::ToSocketAddrs, path::Path, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;
use server::{Banner, Config};

use crate::{
    FAILED, USAGE,
    client::{self, Client},
    complain, end_failed, print_text,
};

/// A local address with any free port.
const FREE: &str = "127.0.0.1:0";

/// Output format of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// The server's answer as JSON.
    Json,
    /// Text; with `watch`, followed by a live view of the expiring sample.
    Words { watch: bool },
}

pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("quickstart")
        .about("Create a sample whose sessions expire within a minute, and watch it")
        .long_about(
            "Creates sample sessions on a running server that expire one after another within a \
             minute, in both APIs. If nothing listens at the admin address, an in-memory server is \
             started. Running it again starts over.",
        )
        .args(client::client_flags())
        .arg(flag("no-watch", "Do not watch the sessions expire"))
        .arg(flag("json", "Print the server's answer unchanged"))
}

/// Runs the parsed subcommand and returns the exit code. A server is started only if the address is
/// local and nothing listens there. For a remote address this would hide that the address is wrong.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let client = match Client::from_matches(matches) {
        Ok(client) => client,
        Err(message) => return complain(message, USAGE),
    };
    let shown = match matches.get_flag("json") {
        true => Shown::Json,
        false => {
            Shown::Words { watch: !matches.get_flag("no-watch") && std::io::stdout().is_terminal() }
        }
    };
    if client.nobody_listens() && is_here(client.address()) {
        return serve_own(client, client::key_file(matches), shown);
    }
    match make_sample(&client, shown) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => complain(message, FAILED),
    }
}

/// Returns whether an address is a loopback address.
fn is_here(address: &str) -> bool {
    address.to_socket_addrs().is_ok_and(|mut all| all.all(|address| address.ip().is_loopback()))
}

/// Runs an in-memory server with the sample until a signal ends it. The sample is created once the
/// server accepts connections; if that fails, the server ends.
fn serve_own(client: Client, key_file: Option<&Path>, shown: Shown) -> ExitCode {
    let key_file = key_file.map(Path::to_owned);
    let config = Config { key_file, ..own_config(client.address(), shown) };
    if shown != Shown::Json {
        print_text(format!("Nothing listens at {}: starting an in-memory server.\n\n", {
            client.address()
        }));
    }
    let beside: server::Companion = Box::new(move |admin| {
        make_sample(&client.with_address(&admin.unwrap_or_default()), shown)?;
        if shown != Shown::Json {
            print_text(
                "The server keeps running; its data is lost when it stops. Press Ctrl-C to stop \
                 it.\n",
            );
        }
        Ok(())
    });
    // None of the settings is in a file, so reloading returns the same.
    match server::serve_with_companion(&config, node::start, &|| Ok(config.clone()), beside) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => end_failed(failure),
    }
}

/// Returns the configuration of an in-memory server with free ports for both APIs, which the banner
/// shows.
fn own_config(admin: &str, shown: Shown) -> Config {
    Config {
        // Free ports, because the default ports may be needed for a permanent server.
        mongo_addr: Some(FREE.to_owned()),
        cosmos_addr: Some(FREE.to_owned()),
        admin_addr: Some(admin.to_owned()),
        // The server holds only the sample, and the banner says that no login is required.
        mongo_no_auth: true,
        banner: match shown {
            Shown::Json => Banner::Off,
            Shown::Words { .. } if std::io::stdout().is_terminal() => Banner::Terminal,
            Shown::Words { .. } => Banner::Lines,
        },
        ..Config::in_memory()
    }
}

/// Creates the sample and shows it.
fn make_sample(client: &Client, shown: Shown) -> Result<(), String> {
    let answer = client.post("/_ebb/quickstart")?;
    let Shown::Words { watch } = shown else {
        print_text(format!("{answer}\n"));
        return Ok(());
    };
    let is_manual = client.get("/_ebb/clock")?["mode"] == "manual";
    print_text(describe_sample(client.address(), &answer, is_manual));
    // On a manual clock nothing expires.
    if is_manual || !watch {
        return Ok(());
    }
    watch::watch_expiry(client, &parse_samples(&answer))
}

/// The sample documents that one API serves.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sample {
    /// Name of the API in paths and queries of the admin address.
    api: &'static str,
    /// Display name of the API.
    name: &'static str,
    /// Number of session documents in the sample.
    count: u64,
}

/// Returns the samples in the server's answer, one for each API; a disabled API has none.
fn parse_samples(answer: &Value) -> Vec<Sample> {
    let sample = |api, name, count: &Value| count.as_u64().map(|count| Sample { api, name, count });
    let nosql = sample("nosql", "NoSQL", &answer["nosql"]["items"]);
    let mongo = sample("mongo", "MongoDB", &answer["mongo"]["documents"]);
    nosql.into_iter().chain(mongo).collect()
}

/// Describes the sample: its size, lifetime and addresses, and how to move a manual clock.
fn describe_sample(address: &str, answer: &Value, is_manual: bool) -> String {
    let samples = parse_samples(answer);
    let ms = |name: &str| answer[name].as_i64().unwrap_or_default();
    let seconds = ((ms("last_dies_ms") - ms("now_ms")).max(0) + 999) / 1000;
    let counts: Vec<String> = samples
        .iter()
        .map(|sample| format!("{} in the {} API", sample.count, sample.name))
        .collect();
    let when = match is_manual {
        false => {
            format!("They expire one after another; the last one in {seconds} s.")
        }
        true => format!(
            "The clock is manual, so none of them expires until it is advanced. All have expired \
             after\n  ebb admin clock advance {seconds}s --admin-addr {address}"
        ),
    };
    let mut out = format!(
        "\nThe sample sessions are stored in the database quickstart: {}.\n{when}\n\n  Portal  \
         http://{address}/\n",
        counts.join(", "),
    );
    for Sample { api, .. } in &samples {
        out.push_str(&format!("          http://{address}/{api}/quickstart/sessions/items\n"));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_running_server_makes_the_sample() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        assert!(!client.nobody_listens());
        for shown in [Shown::Json, Shown::Words { watch: false }, Shown::Words { watch: true }] {
            make_sample(&client, shown).unwrap();
        }
        runtime.block_on(running.stop()).unwrap();
        assert!(client.nobody_listens() && is_here(client.address()));
        assert!(make_sample(&client, Shown::Json).unwrap_err().contains("no answer from"));
    }

    #[test]
    fn a_server_of_its_own_takes_free_ports() {
        let config = own_config("127.0.0.1:1", Shown::Json);
        assert_eq!(config.mongo_addr.as_deref(), Some(FREE));
        assert_eq!(config.cosmos_addr.as_deref(), Some(FREE));
        assert_eq!(config.admin_addr.as_deref(), Some("127.0.0.1:1"));
        assert_eq!((config.data_dir, config.clock), (None, server::ClockMode::System));
    }

    #[test]
    fn the_answer_in_words() {
        let mut answer = json!({
            "database": "quickstart",
            "nosql": { "container": "sessions", "items": 40 },
            "mongo": null,
            "now_ms": 1_000,
            "last_dies_ms": 60_500,
        });
        let text = describe_sample("h:1", &answer, true);
        assert!(text.contains("clock is manual") && text.contains("clock advance 60s"), "{text}");
        let text = describe_sample("h:1", &answer, false);
        assert!(!text.contains("clock"), "{text}");
        assert!(text.contains("40 in the NoSQL API."), "{text}");
        assert!(text.contains("in 60 s"), "{text}");
        assert!(text.contains("http://h:1/nosql/quickstart/sessions/items"), "{text}");
        assert!(!text.contains("mongo/"), "{text}");
        answer["mongo"] = json!({ "collection": "sessions", "documents": 40 });
        assert!(
            describe_sample("h:1", &answer, false)
                .contains("40 in the NoSQL API, 40 in the MongoDB API.")
        );
    }

    #[test]
    fn only_addresses_of_this_machine_are_here() {
        for (address, here) in
            [("127.0.0.1:1", true), ("[::1]:1", true), ("192.0.2.1:1", false), ("nonsense", false)]
        {
            assert_eq!(is_here(address), here, "{address}");
        }
    }
}
