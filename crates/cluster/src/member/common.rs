//! What a node's seats have in common: its lease, what it sees of the others, and the numbers of their
//! machines. A node has one lease, whatever it owns: with it goes all of that at once.

use crate::{lease::Lease, settings::Settings, watch::Watch};

/// What the seats share.
#[derive(Debug)]
pub(super) struct Common {
    /// The lease.
    pub(super) lease: Lease,
    /// The other nodes.
    pub(super) watch: Watch,
    /// The numbers of those two.
    pub(super) lease_machine: u64,
    pub(super) watch_machine: u64,
    /// Machines that were made.
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

    /// The number of another machine, which no other has had.
    pub(super) fn machine(&mut self) -> u64 {
        self.machines += 1;
        self.machines
    }
}
