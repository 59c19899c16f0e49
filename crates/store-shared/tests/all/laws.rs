//! A store of a cluster keeps the laws of stores, where a crash is that of its owner and another node
//! takes over: one that followed, one whose directory is lost, or the same again.

use store::{
    Store, delegate_store,
    laws::{self, Bench, ManualTime},
};
use store_shared::SharedNode;
use store_tree::{TreeSnapshot, TreeStore};

use crate::nodes::{Machine, Nodes};

/// Who is the owner after a crash.
#[derive(Clone, Copy)]
enum Next {
    /// A node that has followed.
    Follower,
    /// A node with nothing.
    Stranger,
    /// The same node, started again.
    Same,
}

/// The store of an owner.
struct Owned {
    node: SharedNode,
    machine: Machine,
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
        Owned { node: self.nodes.start(&machine), machine }
    }

    /// Lets a node follow, where one is to take over.
    fn add_follower(&mut self) {
        if matches!(self.next, Next::Follower) {
            self.follower = Some(self.start(Machine::new()));
        }
    }
}

impl Bench for Cluster {
    type Store = Owned;

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
        let Owned { node, machine } = store;
        drop(node);
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
