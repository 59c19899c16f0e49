//! The MongoDB wire protocol: its options, workloads and servers. The doc comments of the option
//! structures are the texts of `--help`.

use std::path::PathBuf;

use clap::Args;

use crate::{
    address::Address,
    closed_loop::Plan,
    entry::Entry,
    error::Result,
    figures::Figures,
    protocol::Protocol,
    sizes::Sizes,
    target::Target,
    work::{self, Settings, WORKS, Work},
};

/// The type that implements `Protocol` for the wire protocol; it has no values.
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
