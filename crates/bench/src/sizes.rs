//! Options for sizes and write durability of a run over the MongoDB protocol.

use std::time::Duration;

use clap::Args;

use crate::{commands::Concern, options::seconds};

/// Numbers of documents, and how durable writes are.
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
    /// Maximum seconds that the workload `disk` waits for the data on disk to shrink.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) patience: Duration,
    /// Write with `j: false` instead of `j: true`.
    #[arg(long)]
    no_journal: bool,
}

impl Sizes {
    /// Returns the write concern of measured writes.
    pub(crate) fn write_concern(&self) -> Concern {
        Concern { journal: !self.no_journal }
    }
}
