//! The options of every protocol's load. The doc comments of the fields are the texts of `--help`.

use std::{str::FromStr, time::Duration};

use clap::Args;

use crate::{
    entry::{self, Entry},
    error::Result,
    protocol::{Protocol, Settings},
};

/// Measure two servers in turn.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compare<P: Protocol> {
    /// Our server's address.
    #[arg(long, value_name = P::ADDRESS, value_parser = P::Address::from_str)]
    pub(crate) ours: P::Address,
    /// Process id of our server.
    #[arg(long, value_name = "PID")]
    pub(crate) ours_pid: Option<u32>,
    /// Name of our server in the table.
    #[arg(long, value_name = "NAME", default_value = "EbbDB")]
    pub(crate) ours_name: String,
    /// The other server's address.
    #[arg(long, value_name = P::ADDRESS, value_parser = P::Address::from_str)]
    pub(crate) peer: P::Address,
    /// Process id of the other server.
    #[arg(long, value_name = "PID")]
    pub(crate) peer_pid: Option<u32>,
    /// Name of the other server in the table.
    #[arg(long, value_name = "NAME", default_value = P::PEER)]
    pub(crate) peer_name: String,
    /// Further options about both servers, specific to the protocol.
    #[command(flatten)]
    pub(crate) details: P::Details,
    /// Number of times that each workload runs on each server.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: usize,
    /// Options of the load.
    #[command(flatten)]
    pub(crate) load: Load<P>,
}

/// Options of the load.
#[derive(Clone, Debug, Args)]
pub(crate) struct Load<P: Protocol> {
    /// Workloads by name.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all",
          help = P::NAMES)]
    pub(crate) work: Vec<String>,
    /// Seconds of each measured window.
    #[arg(long = P::WINDOW, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) duration: Duration,
    /// Seconds of warm-up before each measured window.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) warmup: Duration,
    /// Connections, instead of each workload's own number.
    #[arg(long, value_name = "N")]
    pub(crate) connections: Option<usize>,
    /// Sizes of the data.
    #[command(flatten)]
    pub(crate) sizes: P::Sizes,
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

impl<P: Protocol> Load<P> {
    /// Returns the named workloads in order. `known` says whether the servers' processes are known;
    /// the protocol defines the meaning of `all`. An unknown name is an error that lists the known
    /// ones.
    pub(crate) fn named_works(&self, known: bool) -> Result<Vec<&'static Entry<P::Work>>> {
        entry::find_named(P::WORKS, &self.work, |entry| P::in_all(entry.work, known))
    }

    /// Returns the sizes and times of a round. Each round has its own seed, the same for both
    /// servers of a comparison.
    pub(crate) fn round_settings(&self, round: usize) -> Settings<P::Sizes> {
        Settings {
            duration: self.duration,
            warmup: self.warmup,
            connections: self.connections.map(|connections| connections.max(1)),
            seed: self.seed.wrapping_add(round as u64),
            sizes: self.sizes,
        }
    }
}

/// Parses a number of seconds, which may have a fraction.
pub(crate) fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text:?} is not a number of seconds"))?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}
