//! The MongoDB wire protocol as a load: what is typed about it, its workloads and its servers. The doc
//! comments of the option structures are the texts of `--help`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    address::Address,
    closed_loop::Plan,
    commands::Concern,
    entry::Entry,
    error::Result,
    figures::Figures,
    options::seconds,
    protocol::Protocol,
    target::Target,
    work::{self, Settings, WORKS, Work},
};

/// The protocol, as a type parameter; it has no values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mongo {}

/// The data directories of two servers.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataDirs {
    /// Our server's data directory, for the workload `disk`.
    #[arg(long, value_name = "PATH")]
    ours_data_dir: Option<PathBuf>,
    /// The other server's data directory, for the workload `disk`.
    #[arg(long, value_name = "PATH")]
    peer_data_dir: Option<PathBuf>,
}

impl From<DataDirs> for [Option<PathBuf>; 2] {
    fn from(dirs: DataDirs) -> Self {
        [dirs.ours_data_dir, dirs.peer_data_dir]
    }
}

/// How much there is of everything, and how durable writes are.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Sizes {
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
    no_journal: bool,
}

impl Sizes {
    /// Returns how durable the measured writes are.
    pub(crate) fn write_concern(&self) -> Concern {
        Concern { journal: !self.no_journal }
    }
}

impl Protocol for Mongo {
    type Address = Address;
    type Detail = Option<PathBuf>;
    type Details = DataDirs;
    type Sizes = Sizes;
    type Work = Work;
    type Target = Target;

    const ADDRESS: &'static str = "mongodb://HOST:PORT";
    const PEER: &'static str = "mongod";
    const WINDOW: &'static str = "duration";
    const NAMES: &'static str =
        "Workloads by name, separated by commas; or `all`, which leaves out `disk`";
    const WORKS: &'static [Entry<Work>] = WORKS;

    fn in_all(work: Work, _known: bool) -> bool {
        work != Work::Disk
    }

    async fn reach_server(
        label: &str,
        address: Address,
        data_dir: Option<PathBuf>,
        pid: Option<u32>,
    ) -> Result<Target> {
        Ok(Target::new(label, address, pid, data_dir))
    }

    async fn run_work(
        work: Work,
        target: &mut Target,
        plan: Plan,
        settings: &Settings,
    ) -> Result<Figures> {
        work::run_work(work, target, plan, settings).await
    }

    async fn remove_data(target: &mut Target) -> Result<()> {
        target.remove_data().await
    }
}
