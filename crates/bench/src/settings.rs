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
    /// How wide and how long a workload runs that wants so many connections.
    pub(crate) fn plan(&self, connections: usize) -> Plan {
        let connections = self.connections.unwrap_or(connections);
        Plan { connections, warmup: self.warmup, duration: self.duration }
    }

    /// The chance of one of the workers.
    pub(crate) fn rng(&self, worker: usize) -> Rng {
        Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(worker as u64))
    }
}
