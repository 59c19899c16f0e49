//! Tests of cluster stores on an in-memory ledger, in one program so that it is linked once. This
//! file defines a node that owns the shard, together with its machine.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod accepting;
mod bases;
mod clocks;
mod documents;
mod faulty;
mod laws;
mod many_shards;
mod nodes;
mod own_copy;
mod take_over;

use std::ops::Deref;

use nodes::{Machine, OneShard};
use store_tree::TreeStore;

/// An owner, used as its store.
pub(crate) struct Owned {
    pub(crate) node: OneShard,
    machine: Machine,
}

impl Owned {
    pub(crate) fn new(node: OneShard, machine: Machine) -> Self {
        Self { node, machine }
    }

    /// Stops the node and returns what remains of it.
    pub(crate) fn into_machine(self) -> Machine {
        drop(self.node);
        self.machine
    }
}

impl Deref for Owned {
    type Target = TreeStore;

    fn deref(&self) -> &TreeStore {
        self.node.tree()
    }
}
