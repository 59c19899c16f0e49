//! The command line of the REST load: what was typed.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{
    key::{EMULATOR, Key},
    url::Url,
    work::{self, Entry, Settings, WORKS, Work},
};
use crate::args::seconds;

/// Load a server that speaks the Azure Cosmos DB NoSQL REST API.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cosmos {
    /// What to do instead of measuring one server.
    #[command(subcommand)]
    pub(crate) mode: Option<Mode>,
    /// Measure one server.
    #[command(flatten)]
    pub(crate) one: One,
}

/// What to do instead of measuring one server.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Mode {
    /// List the workloads.
    List,
    /// Measure two servers in turn and print a table in markdown.
    Compare(Box<Compare>),
}

/// Measure one server.
#[derive(Clone, Debug, Args)]
pub(crate) struct One {
    /// The server's address.
    #[arg(long, value_name = "http://HOST:PORT", default_value = "http://127.0.0.1:8081")]
    pub(crate) url: Url,
    /// The account's master key; the emulators' by default.
    #[arg(long, value_name = "BASE64", default_value = EMULATOR, hide_default_value = true)]
    pub(crate) key: Key,
    /// The server's process, for CPU time and memory.
    #[arg(long, value_name = "PID")]
    pub(crate) server_pid: Option<u32>,
    /// How the load looks.
    #[command(flatten)]
    pub(crate) load: Load,
}

/// Measure two servers in turn.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compare {
    /// Our server's address.
    #[arg(long, value_name = "http://HOST:PORT")]
    pub(crate) ours: Url,
    /// Our server's master key; the emulators' by default.
    #[arg(long, value_name = "BASE64", default_value = EMULATOR, hide_default_value = true)]
    pub(crate) ours_key: Key,
    /// Our server's process.
    #[arg(long, value_name = "PID")]
    pub(crate) ours_pid: Option<u32>,
    /// What the table calls our server.
    #[arg(long, value_name = "NAME", default_value = "EbbDB")]
    pub(crate) ours_name: String,
    /// The other server's address.
    #[arg(long, value_name = "http://HOST:PORT")]
    pub(crate) peer: Url,
    /// The other server's master key; the emulators' by default.
    #[arg(long, value_name = "BASE64", default_value = EMULATOR, hide_default_value = true)]
    pub(crate) peer_key: Key,
    /// The other server's process.
    #[arg(long, value_name = "PID")]
    pub(crate) peer_pid: Option<u32>,
    /// What the table calls the other server.
    #[arg(long, value_name = "NAME", default_value = "cosmosdb-server")]
    pub(crate) peer_name: String,
    /// How often each workload runs on each server.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: usize,
    /// How the load looks.
    #[command(flatten)]
    pub(crate) load: Load,
}

/// How the load looks.
#[derive(Clone, Debug, Args)]
pub(crate) struct Load {
    /// Workloads by name, separated by commas; or `all`, with `memory` where the process is known.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub(crate) work: Vec<String>,
    /// Seconds of each measured window.
    #[arg(long = "seconds", value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) duration: Duration,
    /// Seconds before it.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) warmup: Duration,
    /// Connections, instead of each workload's own number.
    #[arg(long, value_name = "N")]
    pub(crate) connections: Option<usize>,
    /// Items of all workloads but `batch` and `expiry`.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) items: u64,
    /// Items of the workload `expiry`.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) expiry_items: u64,
    /// Threads of the load generator.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Where chance begins.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Cosmos {
    /// Threads of the load generator.
    pub(crate) fn threads(&self) -> usize {
        match &self.mode {
            None => self.one.load.threads,
            Some(Mode::Compare(compare)) => compare.load.threads,
            Some(Mode::List) => 1,
        }
    }
}

impl Load {
    /// The workloads that were named, for servers whose process is known or not.
    pub(crate) fn works(&self, known: bool) -> Result<Vec<&'static Entry>, String> {
        let mut works = Vec::new();
        for name in &self.work {
            match name.as_str() {
                "all" => {
                    works.extend(WORKS.iter().filter(|it| known || it.work != Work::Memory));
                }
                name => works.push(work::by_name(name).ok_or_else(|| unknown(name))?),
            }
        }
        Ok(works)
    }

    /// The sizes and times that were said, in this round.
    pub(crate) fn settings(&self, round: usize) -> Settings {
        Settings {
            duration: self.duration,
            warmup: self.warmup,
            connections: self.connections.map(|connections| connections.max(1)),
            items: self.items,
            expiry_items: self.expiry_items,
            seed: self.seed.wrapping_add(round as u64),
        }
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = WORKS.iter().map(|entry| entry.name).collect();
    format!("there is no workload {name:?}; there are {}, and all", names.join(", "))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{self, Bench};

    fn parse(words: &[&str]) -> Result<Cosmos, String> {
        let words = ["ebb-bench", "cosmos"].iter().chain(words);
        match Bench::try_parse_from(words).map_err(|error| error.to_string())?.mode {
            args::Mode::Cosmos(cosmos) => Ok(*cosmos),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn what_was_typed() {
        let words = ["--url", "http://h:1", "--connections", "8", "--seconds", "0.5", "--json"];
        let typed = parse(&words).unwrap();
        let settings = typed.one.load.settings(1);
        assert_eq!(typed.one.url.to_string(), "http://h:1");
        assert_eq!((settings.connections, settings.seed), (Some(8), 2));
        assert_eq!(settings.duration, Duration::from_millis(500));
        assert!(typed.mode.is_none() && typed.one.load.json);
        let words = ["compare", "--ours", "http://h:1", "--peer", "http://h:2", "--threads", "2"];
        assert_eq!(parse(&words).unwrap().threads(), 2);
        assert!(matches!(parse(&["list"]).unwrap().mode, Some(Mode::List)));
    }

    #[test]
    fn workloads_are_named() {
        for (work, known, want) in [
            ("all", true, Ok(WORKS.len())),
            ("all", false, Ok(WORKS.len() - 1)),
            ("count,batch", false, Ok(2)),
            ("memory", false, Ok(1)),
            ("scan", true, Err("no workload \"scan\"")),
        ] {
            match (parse(&["--work", work]).unwrap().one.load.works(known), want) {
                (Ok(got), Ok(want)) => assert_eq!(got.len(), want, "{work}"),
                (Err(got), Err(want)) => assert!(got.contains(want), "{work}: {got}"),
                (got, want) => panic!("{work}: {got:?} instead of {want:?}"),
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for (words, why) in [
            (&["--url", "https://h:1"][..], "https is not supported"),
            (&["--url", "mongodb://h:1"], "http://"),
            (&["--key", "???"], "not base64"),
            (&["--seconds=-1"], "negative"),
            (&["--items", "0"], "0 is not in"),
            (&["--expiry-items", "1"], "1 is not in"),
            (&["compare", "--ours", "http://h:1"], "--peer"),
            (&["--json", "list"], "cannot be used with"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(why), "{words:?}: {error}");
        }
    }
}
