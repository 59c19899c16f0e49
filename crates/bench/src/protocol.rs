//! The interface that a protocol (MongoDB or REST) provides to the measurement, and the settings of
//! a run that the user gives. Each protocol defines its own requests.

use std::{
    fmt::{Debug, Display},
    str::FromStr,
    time::Duration,
};

use clap::Args;
use fastrand::Rng;

use crate::{
    closed_loop::{LoadTarget, Plan},
    entry::Entry,
    error::Result,
    figures::Figures,
};

/// A protocol to load servers with.
pub(crate) trait Protocol: Clone + Debug + 'static {
    type Address: FromStr<Err = String> + Clone + Debug + Display + Send + Sync + 'static;
    /// Type of an additional parameter of a server, such as its key.
    type Detail;
    /// The additional parameters of two servers as command-line options: first those of our server,
    /// then those of the other.
    type Details: Args + Clone + Debug + Into<[Self::Detail; 2]>;
    /// Sizes of the data, as command-line options.
    type Sizes: Args + Clone + Copy + Debug;
    type Work: Copy + 'static;
    type Target: LoadTarget;

    /// Form of a server address, for the help text.
    const ADDRESS: &'static str;
    /// Default name of the other server in tables.
    const PEER: &'static str;
    /// Name of the option for the length of the measured window.
    const WINDOW: &'static str;
    /// Help text of the option that selects the workloads.
    const NAMES: &'static str;
    /// All workloads, in report order.
    const WORKS: &'static [Entry<Self::Work>];

    /// Returns whether `all` includes this workload. `known` is true if the process ids of the
    /// servers are given.
    fn in_all(work: Self::Work, known: bool) -> bool;

    /// Returns a target for a server, without data; `label` is the server's name in reports. May
    /// connect to check that the server answers.
    async fn reach_server(
        label: &str,
        address: Self::Address,
        detail: Self::Detail,
        pid: Option<u32>,
    ) -> Result<Self::Target>;

    /// Prepares the server for the workload, if necessary, and runs it once.
    async fn run_work(
        work: Self::Work,
        target: &mut Self::Target,
        plan: Plan,
        settings: &Settings<Self::Sizes>,
    ) -> Result<Figures>;

    /// Removes all data of workloads from the server.
    async fn remove_data(target: &mut Self::Target) -> Result<()>;
}

/// Settings of a run. `S` is the protocol's type of sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<S> {
    /// Length of the measured window.
    pub(crate) duration: Duration,
    pub(crate) warmup: Duration,
    /// Number of connections, overriding that of each workload.
    pub(crate) connections: Option<usize>,
    pub(crate) seed: u64,
    pub(crate) sizes: S,
}

impl<S> Settings<S> {
    /// Returns the plan for a workload with this default number of connections.
    pub(crate) fn plan_run(&self, connections: usize) -> Plan {
        let connections = self.connections.unwrap_or(connections);
        Plan { connections, warmup: self.warmup, duration: self.duration }
    }

    /// Returns the random generator of a worker. Each worker has a different one. With the same
    /// seed, a worker gets the same one in every run and on either server.
    pub(crate) fn worker_rng(&self, worker: usize) -> Rng {
        Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(worker as u64))
    }
}
