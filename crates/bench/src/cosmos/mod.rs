//! Load generator for the NoSQL REST API: signed requests over persistent HTTP/1.1 connections, as
//! the Python SDK sends them, or in direct mode as the SDKs for .NET and Java. It is not an SDK: it
//! handles one answer at a time and parses only what a figure needs. This file implements `Protocol` for the
//! API; the doc comments of the option structures are the texts of `--help`.

mod args;
mod call;
mod container;
mod date;
mod frames;
mod items;
mod key;
mod link;
mod load;
mod response;
mod target;
mod url;
mod work;

pub(crate) use args::{Cosmos, Mode, One};

use clap::Args;
use key::{EMULATOR, Key};
use target::Target;
use url::Url;
use work::{Settings, WORKS, Work};

use crate::{closed_loop::Plan, entry::Entry, error::Result, figures::Figures, protocol::Protocol};

/// The type that implements [`Protocol`] for the REST API; it has no values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rest {}

/// The master keys of two servers.
#[derive(Clone, Debug, Args)]
pub(crate) struct Keys {
    /// Our server's master key; the emulators' by default.
    #[arg(long, value_name = "BASE64", default_value = EMULATOR, hide_default_value = true)]
    ours_key: Key,
    /// The other server's master key; the emulators' by default.
    #[arg(long, value_name = "BASE64", default_value = EMULATOR, hide_default_value = true)]
    peer_key: Key,
}

impl From<Keys> for [Key; 2] {
    fn from(keys: Keys) -> Self {
        [keys.ours_key, keys.peer_key]
    }
}

/// Numbers of items to load.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Sizes {
    /// Items of all workloads but `batch` and `expiry`.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) items: u64,
    /// Items of the workload `expiry`.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) expiry_items: u64,
}

impl Protocol for Rest {
    type Address = Url;
    type Detail = Key;
    type Details = Keys;
    type Sizes = Sizes;
    type Work = Work;
    type Target = Target;

    const ADDRESS: &'static str = "http://HOST:PORT";
    const PEER: &'static str = "cosmosdb-server";
    const WINDOW: &'static str = "seconds";
    const NAMES: &'static str = "Workloads by name, separated by commas; or `all`, with `memory` \
                                 where the process is known";
    const WORKS: &'static [Entry<Work>] = WORKS;

    fn in_all(work: Work, known: bool) -> bool {
        known || work != Work::Memory
    }

    async fn reach_server(label: &str, url: Url, key: Key, pid: Option<u32>) -> Result<Target> {
        Target::reach_server(label, url, key, pid).await
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
