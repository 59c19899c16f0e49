//! State shared by a node's replicas: the lease, the heartbeats of the other nodes, and the
//! identifiers of state machines. A node has a single lease; if it ends, all owned shards are lost
//! at once.

use crate::{lease::Lease, node_monitor::NodeMonitor, settings::Settings};

/// State shared by all replicas.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) lease: Lease,
    /// The last heartbeats of the other nodes.
    pub(super) node_monitor: NodeMonitor,
    /// Numbers of the state machines `lease` and `node_monitor`, by which replies are assigned to
    /// them.
    pub(super) lease_machine: u64,
    pub(super) node_monitor_machine: u64,
    /// Number of state machines created so far.
    machines: u64,
}

impl Common {
    pub(super) fn new(settings: &Settings) -> Self {
        let (lease_machine, node_monitor_machine) = (1, 2);
        Self {
            lease: Lease::new(settings.clone(), lease_machine),
            node_monitor: NodeMonitor::new(settings.clone(), node_monitor_machine),
            lease_machine,
            node_monitor_machine,
            machines: node_monitor_machine,
        }
    }

    /// Returns a new unique machine number.
    pub(super) fn machine(&mut self) -> u64 {
        self.machines += 1;
        self.machines
    }
}
