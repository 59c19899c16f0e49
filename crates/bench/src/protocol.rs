//! What a protocol has to have so that servers can be measured by it. Whoever measures asks for
//! nothing else; what a request is stays the protocol's own.

use std::{
    fmt::{Debug, Display},
    str::FromStr,
};

use clap::Args;

use crate::{
    closed_loop::{Plan, Subject},
    entry::Entry,
    error::Result,
    figures::Figures,
    settings::Settings,
};

/// A protocol that servers are loaded by.
pub(crate) trait Protocol: Clone + Debug + 'static {
    /// Where a server listens.
    type Address: FromStr<Err = String> + Clone + Debug + Display + Send + Sync + 'static;
    /// What else has to be known of a server.
    type Detail;
    /// The same of two servers, as it is typed: of ours, then of the other.
    type Details: Args + Clone + Debug + Into<[Self::Detail; 2]>;
    /// How much there is of everything, as it is typed.
    type Sizes: Args + Clone + Copy + Debug;
    /// What a workload is.
    type Work: Copy + 'static;
    /// A server under test.
    type Target: Subject;

    /// What an address looks like.
    const ADDRESS: &'static str;
    /// What tables call the other server, unless the user says otherwise.
    const PEER: &'static str;
    /// The option for the seconds of the measured window.
    const WINDOW: &'static str;
    /// What the option for the workloads takes.
    const NAMES: &'static str;
    /// Every workload, in the order of reports.
    const WORKS: &'static [Entry<Self::Work>];

    /// Returns whether `all` stands for this work too, on servers whose processes are known or not.
    fn in_all(work: Self::Work, known: bool) -> bool;

    /// Returns a server of this name that has not been given any data. It may connect to it to see that it
    /// answers.
    async fn reach_server(
        label: &str,
        address: Self::Address,
        detail: Self::Detail,
        pid: Option<u32>,
    ) -> Result<Self::Target>;

    /// Gives the server what the work needs, unless it has it, and does the work once.
    async fn run_work(
        work: Self::Work,
        target: &mut Self::Target,
        plan: Plan,
        settings: &Settings<Self::Sizes>,
    ) -> Result<Figures>;

    /// Removes all data that workloads have given to the server.
    async fn remove_data(target: &mut Self::Target) -> Result<()>;
}
