//! Runs the conformance tests of stores on the store of a cluster. A crash kills the owner, and
//! another node takes over: a follower, a node without data, or the same node restarted.

use store::laws::{self, Bench, ManualTime};
use store_tree::TreeStore;

use crate::{
    Owned,
    nodes::{Machine, Nodes},
};

/// The owner after a crash.
#[derive(Clone, Copy)]
enum Next {
    Follower,
    Stranger,
    Same,
}

struct Cluster {
    nodes: Nodes,
    next: Next,
    follower: Option<Owned>,
}

impl Cluster {
    fn new(next: Next) -> Self {
        Self { nodes: Nodes::new(ManualTime::default()), next, follower: None }
    }

    fn start(&self, machine: Machine) -> Owned {
        Owned::new(self.nodes.start(&machine), machine)
    }

    /// Starts a follower if the next owner is to be a follower.
    fn add_follower(&mut self) {
        if matches!(self.next, Next::Follower) {
            self.follower = Some(self.start(Machine::new()));
        }
    }
}

impl Bench for Cluster {
    type Store = TreeStore;
    type Opened = Owned;

    async fn open(&mut self) -> Owned {
        self.follower = None;
        self.nodes = Nodes::new(self.nodes.time.clone());
        let owned = self.start(Machine::new());
        self.nodes.take_over(&owned.node);
        self.add_follower();
        owned
    }

    async fn crash(&mut self, store: Owned) -> Owned {
        store.node.stop();
        let machine = store.into_machine();
        let next = match self.next {
            Next::Same => self.start(machine),
            Next::Stranger => self.start(Machine::new()),
            Next::Follower => self.follower.take().unwrap(),
        };
        self.nodes.take_over(&next.node);
        self.add_follower();
        next
    }

    fn reaped_stays_gone(&self) -> bool {
        false
    }

    fn time(&self) -> &ManualTime {
        &self.nodes.time
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_takes_over_keeps_the_laws() {
    laws::check(&mut Cluster::new(Next::Follower)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_nothing_that_takes_over_keeps_the_laws() {
    laws::check(&mut Cluster::new(Next::Stranger)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_started_again_keeps_the_laws() {
    laws::check(&mut Cluster::new(Next::Same)).await;
}
