//! Sizes and times given by the user, for the workloads.

use std::time::Duration;

use fastrand::Rng;

use crate::closed_loop::Plan;

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
