//! What the user has said about sizes and times, as a workload wants it.

use std::time::Duration;

use fastrand::Rng;

use crate::closed_loop::Plan;

/// What the user has said. `S` is how much there is of everything, in the words of a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<S> {
    /// The measured window.
    pub(crate) duration: Duration,
    /// The time before it.
    pub(crate) warmup: Duration,
    /// Connections instead of each workload's own number.
    pub(crate) connections: Option<usize>,
    /// Where chance begins.
    pub(crate) seed: u64,
    /// How much there is of everything.
    pub(crate) sizes: S,
}

impl<S> Settings<S> {
    /// Returns how wide and how long a workload runs that wants this many connections, unless the user gave
    /// a number for all.
    pub(crate) fn plan_run(&self, connections: usize) -> Plan {
        let connections = self.connections.unwrap_or(connections);
        Plan { connections, warmup: self.warmup, duration: self.duration }
    }

    /// Returns the chance of one of the workers: workers differ from each other, and are the same in the
    /// next run with the same seed, on either server.
    pub(crate) fn worker_rng(&self, worker: usize) -> Rng {
        Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(worker as u64))
    }
}
