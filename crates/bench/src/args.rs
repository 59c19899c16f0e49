//! The command line: what was typed.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{
    address::Address,
    commands::Concern,
    cosmos::Cosmos,
    work::{self, Entry, Settings, WORKS},
};

/// Loads a server that speaks the MongoDB wire protocol or the NoSQL REST API, and measures it.
#[derive(Clone, Debug, Parser)]
#[command(name = "ebb-bench", version)]
pub struct Bench {
    /// What to do.
    #[command(subcommand)]
    pub(crate) mode: Mode,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Mode {
    /// List the workloads.
    List,
    /// Measure one server.
    Run(Run),
    /// Measure two servers in turn and print a table in markdown.
    Compare(Compare),
    /// Start a server on empty directories and measure how soon it answers.
    Start(Start),
    /// Load a server that speaks the Azure Cosmos DB NoSQL REST API.
    Cosmos(Box<Cosmos>),
}

/// Measure one server.
#[derive(Clone, Debug, Args)]
pub(crate) struct Run {
    /// The server's address.
    #[arg(long, value_name = "mongodb://HOST:PORT")]
    pub(crate) target: Address,
    /// The server's process, for CPU time and memory.
    #[arg(long, value_name = "PID")]
    pub(crate) server_pid: Option<u32>,
    /// The server's data directory, for the workload `disk`.
    #[arg(long, value_name = "PATH")]
    pub(crate) data_dir: Option<PathBuf>,
    /// How the load looks.
    #[command(flatten)]
    pub(crate) load: Load,
}

/// Measure two servers in turn.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compare {
    /// Our server's address.
    #[arg(long, value_name = "mongodb://HOST:PORT")]
    pub(crate) ours: Address,
    /// Our server's process.
    #[arg(long, value_name = "PID")]
    pub(crate) ours_pid: Option<u32>,
    /// Our server's data directory, for the workload `disk`.
    #[arg(long, value_name = "PATH")]
    pub(crate) ours_data_dir: Option<PathBuf>,
    /// What the table calls our server.
    #[arg(long, value_name = "NAME", default_value = "EbbDB")]
    pub(crate) ours_name: String,
    /// The other server's address.
    #[arg(long, value_name = "mongodb://HOST:PORT")]
    pub(crate) peer: Address,
    /// The other server's process.
    #[arg(long, value_name = "PID")]
    pub(crate) peer_pid: Option<u32>,
    /// The other server's data directory, for the workload `disk`.
    #[arg(long, value_name = "PATH")]
    pub(crate) peer_data_dir: Option<PathBuf>,
    /// What the table calls the other server.
    #[arg(long, value_name = "NAME", default_value = "mongod")]
    pub(crate) peer_name: String,
    /// How often each workload runs on each server.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: usize,
    /// How the load looks.
    #[command(flatten)]
    pub(crate) load: Load,
}

/// Start a server on empty directories.
#[derive(Clone, Debug, Args)]
pub(crate) struct Start {
    /// The command, without a shell; `{dir}` and `{port}` in it are filled in.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) spawn: String,
    /// How often.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) times: usize,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the load looks.
#[derive(Clone, Debug, Args)]
pub(crate) struct Load {
    /// Workloads by name, separated by commas; or `all`, which leaves out `disk`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub(crate) work: Vec<String>,
    /// Seconds of each measured window.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) duration: Duration,
    /// Seconds before it.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) warmup: Duration,
    /// Connections, instead of each workload's own number.
    #[arg(long, value_name = "N")]
    pub(crate) connections: Option<usize>,
    /// YCSB records, and orders.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) records: u64,
    /// Documents of the workload `expiry`.
    #[arg(long, value_name = "N", default_value_t = 200_000,
          value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) expiry_records: u64,
    /// Documents of the workload `disk`.
    #[arg(long, value_name = "N", default_value_t = 400_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) disk_records: u64,
    /// Seconds that the workload `disk` waits at most.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) patience: Duration,
    /// Write with `j: false` instead of `j: true`.
    #[arg(long)]
    pub(crate) no_journal: bool,
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

impl Load {
    /// The workloads that were named.
    pub(crate) fn works(&self) -> Result<Vec<&'static Entry>, String> {
        let mut works = Vec::new();
        for name in &self.work {
            match name.as_str() {
                "all" => works.extend(WORKS.iter().filter(|entry| entry.name != "disk")),
                name => works.push(work::by_name(name).ok_or_else(|| unknown(name))?),
            }
        }
        Ok(works)
    }

    /// The sizes and times that were said.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            duration: self.duration,
            warmup: self.warmup,
            connections: self.connections.map(|connections| connections.max(1)),
            records: self.records,
            expiry_records: self.expiry_records,
            disk_records: self.disk_records,
            patience: self.patience,
            concern: Concern { journal: !self.no_journal },
            seed: self.seed,
        }
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = WORKS.iter().map(|entry| entry.name).collect();
    format!("there is no workload {name:?}; there are {}, and all", names.join(", "))
}

/// A number of seconds, as typed.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text:?} is not a number of seconds"))?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(more: &[&str]) -> Result<Run, String> {
        let start = ["ebb-bench", "run", "--target", "mongodb://h:1"];
        let words = start.iter().chain(more);
        match Bench::try_parse_from(words).map_err(|error| error.to_string())?.mode {
            Mode::Run(run) => Ok(run),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn workloads_are_named() {
        for (words, want) in [
            (&["--work", "group"][..], Ok(1)),
            (&["--work", "group,ycsb-a"], Ok(2)),
            (&["--work", "all"], Ok(WORKS.len() - 1)),
            (&[], Ok(WORKS.len() - 1)),
            (&["--work", "all,disk"], Ok(WORKS.len())),
            (&["--work", "nothing"], Err("no workload \"nothing\"")),
        ] {
            match (run(words).unwrap().load.works(), want) {
                (Ok(got), Ok(want)) => assert_eq!(got.len(), want, "{words:?}"),
                (Err(got), Err(want)) => assert!(got.contains(want), "{words:?}: {got}"),
                (got, want) => panic!("{words:?}: {got:?} instead of {want:?}"),
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for (words, why) in [
            (&["--duration=-1"][..], "negative"),
            (&["--duration", "soon"], "not a number"),
            (&["--records", "0"], "0 is not in"),
            (&["--target", "h:1"], "mongodb://"),
        ] {
            let error = run(words).unwrap_err();
            assert!(error.contains(why), "{words:?}: {error}");
        }
        assert_eq!(run(&["--warmup", "0.5"]).unwrap().load.warmup, Duration::from_millis(500));
    }
}
