//! Tests of cluster stores on an in-memory ledger; a single program, to link only once. This file
//! has the store of a node as a cloneable value.
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

use std::sync::Arc;

use nodes::{Machine, OneShard};
use store::{Store, delegate_store};
use store_tree::{TreeSnapshot, TreeStore};

/// The store of an owner.
#[derive(Clone)]
pub(crate) struct Owned {
    pub(crate) node: Arc<OneShard>,
    machine: Arc<Machine>,
}

impl Owned {
    pub(crate) fn new(node: OneShard, machine: Machine) -> Self {
        Self { node: Arc::new(node), machine: Arc::new(machine) }
    }

    /// Stops the node and returns what remains of it.
    pub(crate) fn into_machine(self) -> Machine {
        drop(self.node);
        Arc::into_inner(self.machine).unwrap()
    }
}

macro_rules! tree {
    ($owned:expr, $tree:ident => $call:expr) => {{
        let $tree: &TreeStore = $owned.node.tree();
        $call
    }};
}

impl Store for Owned {
    type Snapshot = TreeSnapshot;

    fn snapshot(&self) -> TreeSnapshot {
        self.node.tree().snapshot()
    }

    delegate_store! { self via tree:
        capabilities, published, in_flight, commit, create_space, drop_space, all_spaces,
        set_drop_predicate, reap_space, filtered_through, space_bytes, disk_bytes, tick, health,
        resume_commits, close
    }
}
