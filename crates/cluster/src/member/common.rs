//! State shared by a node's seats: the lease, the view of the other nodes, and the numbers of state
//! machines. A node has a single lease; if it ends, all owned shards are lost at once.

use crate::{lease::Lease, settings::Settings, watch::Watch};

/// State shared by all seats.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) lease: Lease,
    /// View of the other nodes.
    pub(super) watch: Watch,
    /// Numbers of the state machines `lease` and `watch`, by which replies are assigned to them.
    pub(super) lease_machine: u64,
    pub(super) watch_machine: u64,
    /// Number of state machines created so far.
    machines: u64,
}

impl Common {
    pub(super) fn new(settings: &Settings) -> Self {
        let (lease_machine, watch_machine) = (1, 2);
        Self {
            lease: Lease::new(settings.clone(), lease_machine),
            watch: Watch::new(settings.clone(), watch_machine),
            lease_machine,
            watch_machine,
            machines: watch_machine,
        }
    }

    /// Returns a new unique machine number.
    pub(super) fn machine(&mut self) -> u64 {
        self.machines += 1;
        self.machines
    }
}
