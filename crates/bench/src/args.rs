//! The command line. The doc comments are the texts of `--help`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{
    address::Address,
    cosmos::Cosmos,
    mongo::Mongo,
    options::{Compare, Load, seconds},
};

/// Loads a server that speaks the MongoDB wire protocol or the NoSQL REST API, and measures it.
#[derive(Clone, Debug, Parser)]
#[command(name = "ebb-bench", version)]
pub(crate) struct Bench {
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
    Compare(Compare<Mongo>),
    /// Start a server on empty directories and measure how soon it answers.
    Start(Start),
    /// Measure a server at growing numbers of documents.
    Growth(Growth),
    /// Load a server that speaks the Azure Cosmos DB NoSQL REST API.
    Cosmos(Box<Cosmos>),
}

/// Measure one server.
#[derive(Clone, Debug, Args)]
pub(crate) struct Run {
    /// The server's address.
    #[arg(long, value_name = "mongodb://HOST:PORT")]
    pub(crate) target: Address,
    /// Process id of the server, to measure its CPU time and memory.
    #[arg(long, value_name = "PID")]
    pub(crate) server_pid: Option<u32>,
    /// The server's data directory, for the workload `disk`.
    #[arg(long, value_name = "PATH")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Load options.
    #[command(flatten)]
    pub(crate) load: Load<Mongo>,
}

/// Start a server on empty directories.
#[derive(Clone, Debug, Args)]
pub(crate) struct Start {
    /// The command, without a shell; `{dir}` and `{port}` in it are filled in.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) spawn: String,
    /// Number of starts.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) times: usize,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Measure a server at growing numbers of documents. Each number has a server and a directory of its own.
#[derive(Clone, Debug, Args)]
pub(crate) struct Growth {
    /// The command, without a shell; `{dir}` and `{port}` in it are filled in.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) spawn: String,
    /// Numbers of documents, separated by commas.
    #[arg(long, value_name = "N,...", value_delimiter = ',',
          default_value = "100000,1000000,10000000",
          value_parser = clap::value_parser!(u64).range(100..))]
    pub(crate) records: Vec<u64>,
    /// Bytes of text in each document.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) text: usize,
    /// The folder in which directories are made (default: that of temporary files).
    #[arg(long, value_name = "PATH")]
    pub(crate) folder: Option<PathBuf>,
    /// Seconds of each measured window.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) duration: Duration,
    /// Seconds of warm-up before each measured window.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) warmup: Duration,
    /// Seconds between loading and the first measurement.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    pub(crate) rest: Duration,
    /// Maximum seconds to wait until disk space is released.
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub(crate) patience: Duration,
    /// Threads of the load generator.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Seed of the random number generator.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::WORKS;

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
            (&["--work", "group"][..], Some(1)),
            (&["--work", "group,ycsb-a"], Some(2)),
            (&["--work", "all"], Some(WORKS.len() - 1)),
            (&[], Some(WORKS.len() - 1)),
            (&["--work", "all,disk"], Some(WORKS.len())),
            (&["--work", "nothing"], None),
        ] {
            let works = run(words).unwrap().load.named_works(false);
            assert_eq!(works.ok().map(|works| works.len()), want, "{words:?}");
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
