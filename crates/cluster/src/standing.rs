//! Tests of members on an in-memory ledger with simulated time: which node claims a free shard, and
//! how much of the journal it has read by then.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use uuid::Uuid;

use crate::{
    entry::Entry,
    event::ShardEvent,
    host::{Backlog, ClockLowerBounds, Host},
    member::Member,
    memory::{LedgerFault, MemoryLedger},
    position::{MissingEntry, Position},
    request::{Ledger as _, Reply, Request, Unanswered},
    settings::Settings,
};

const MS: u64 = 1_000_000;

/// A host whose clock checkpoints are empty.
#[derive(Debug, Default)]
pub(crate) struct ClocklessHost {
    claims: u64,
    pub(crate) backlog: Backlog,
}

impl Host for ClocklessHost {
    fn begin(&mut self, _: u32, _: &ClockLowerBounds, _: u64) -> Bytes {
        Bytes::new()
    }

    fn checkpoint(&mut self, _: u32, _: u64) -> Bytes {
        Bytes::new()
    }

    fn finish(&mut self, _: u32, _: u64) -> Bytes {
        Bytes::new()
    }

    fn claim(&mut self) -> Uuid {
        self.claims += 1;
        Uuid::from_u64_pair(std::ptr::from_ref(self).addr() as u64, self.claims)
    }

    fn backlog(&self, _: u32) -> Backlog {
        self.backlog
    }
}

/// A member with its simulated node and the events it reported.
pub(crate) struct TestNode {
    pub(crate) member: Member,
    pub(crate) host: Box<ClocklessHost>,
    pub(crate) events: Vec<ShardEvent>,
    pub(crate) lives: bool,
}

/// Several members on one ledger.
pub(crate) struct TestCluster {
    pub(crate) ledger: MemoryLedger,
    pub(crate) nodes: Vec<TestNode>,
    pub(crate) now: u64,
}

impl TestCluster {
    pub(crate) fn new() -> Self {
        Self { ledger: MemoryLedger::new(), nodes: Vec::new(), now: MS }
    }

    /// Adds a node with an empty tree.
    pub(crate) fn add(&mut self) -> usize {
        let id = Uuid::from_u128(self.nodes.len() as u128 + 1);
        let mut settings = Settings::new(Uuid::from_u128(9), 0, id, Bytes::new());
        settings.read_bytes = 2_000;
        let member = Member::new(settings, &[(Position::default(), false)]);
        let host = Box::<ClocklessHost>::default();
        self.nodes.push(TestNode { member, host, events: Vec::new(), lives: true });
        self.nodes.len() - 1
    }

    pub(crate) fn ask(&self, request: Request) -> Result<Reply, Unanswered> {
        let asked = pin!(self.ledger.execute(request));
        match asked.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer,
            Poll::Pending => panic!("it waits"),
        }
    }

    /// Lets time pass, with a tick of all members every 10 ms.
    pub(crate) fn pass(&mut self, ms: u64) {
        for _ in 0..ms.div_ceil(10) {
            self.now += 10 * MS;
            for at in 0..self.nodes.len() {
                if self.nodes[at].lives {
                    self.tick(at);
                }
            }
        }
    }

    fn tick(&mut self, at: usize) {
        let now = self.now;
        let node = &mut self.nodes[at];
        node.member.tick(now, &mut *node.host);
        loop {
            let requests = self.nodes[at].member.take_requests();
            if requests.is_empty() {
                break;
            }
            for ask in requests {
                let answer = self.ask(ask.request);
                let node = &mut self.nodes[at];
                node.member.handle_reply(ask.token, answer, now, &mut *node.host);
            }
        }
        let node = &mut self.nodes[at];
        node.events.extend(node.member.take_events().into_iter().map(|(_, event)| event));
    }

    pub(crate) fn owns(&self, at: usize) -> bool {
        self.nodes[at].member.owner(0).is_some_and(crate::Owner::serves)
    }

    /// Appends `count` entries of 500 bytes.
    pub(crate) fn append(&mut self, at: usize, count: usize) {
        for _ in 0..count {
            let (now, body) = (self.now, Bytes::from_static(&[7; 500]));
            assert!(self.nodes[at].member.append(0, body, now).is_some());
            self.tick(at);
        }
    }

    pub(crate) fn applied(&self, at: usize) -> Vec<&Entry> {
        let events = self.nodes[at].events.iter();
        events
            .filter_map(|event| {
                if let ShardEvent::Apply { entry, .. } = event { Some(entry) } else { None }
            })
            .collect()
    }

    /// Creates a cluster of one node, which owns the shard and has written `count` entries.
    pub(crate) fn with_owner(count: usize) -> Self {
        let mut cluster = Self::new();
        cluster.add();
        cluster.pass(2_000);
        assert!(cluster.owns(0));
        cluster.append(0, count);
        cluster
    }
}

#[test]
fn of_several_the_one_whose_tree_has_all_goes_first() {
    for behind in [1, 2] {
        let mut cluster = TestCluster::with_owner(10);
        assert_eq!((cluster.add(), cluster.add()), (1, 2));
        cluster.nodes[behind].host.backlog = Backlog { entries: 3, bytes: 30 };
        cluster.pass(2_000);
        cluster.nodes[0].lives = false;
        cluster.pass(4_000);
        assert!(cluster.owns(3 - behind) && !cluster.owns(behind), "{behind}");
    }
}

#[test]
fn who_is_behind_is_the_owner_half_a_second_later_where_nobody_else_is() {
    let taken_after = |backlog| {
        let mut cluster = TestCluster::with_owner(10);
        cluster.add();
        cluster.nodes[1].host.backlog = backlog;
        cluster.pass(2_000);
        cluster.nodes[0].lives = false;
        let from = cluster.now;
        while !cluster.owns(1) {
            cluster.pass(10);
            assert!(cluster.now < from + 10_000 * MS);
        }
        (cluster.now - from) / MS
    };
    let first = taken_after(Backlog::default());
    assert_eq!(taken_after(Backlog { entries: 3, bytes: 30 }), first + 500);
}

/// A taker holds the entries it applies in memory, so an empty node follows first.
#[test]
fn a_node_with_nothing_reads_the_journal_before_it_stands() {
    let mut cluster = TestCluster::with_owner(300);
    cluster.nodes[0].lives = false;
    cluster.add();
    let (mut applied, mut at_once) = (0, 0);
    while !cluster.owns(1) {
        cluster.pass(10);
        at_once = at_once.max(cluster.applied(1).len() - applied);
        applied = cluster.applied(1).len();
    }
    assert!(301 <= applied, "{applied}");
    assert!(at_once <= 5, "{at_once} entries at once");
}

#[test]
fn an_entry_of_a_closed_epoch_that_is_missing_is_told_and_waited_for() {
    let mut cluster = TestCluster::with_owner(20);
    cluster.add();
    cluster.pass(2_000);
    cluster.nodes[0].lives = false;
    cluster.pass(5_000);
    assert!(cluster.owns(1));
    cluster.append(1, 5);
    let back = cluster.ledger.lose_entry(0, 1, 10);
    assert_eq!(back.len(), 1);
    let late = cluster.add();
    cluster.pass(2_000);
    // 20 entries and the first entry of the epoch, which has no body.
    let missing = ShardEvent::Missing(MissingEntry { epoch: 1, end: 9, committed: 21 });
    assert!(cluster.nodes[late].events.contains(&missing), "{:?}", cluster.nodes[late].events);
    let asked = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&asked);
    cluster.ledger.set_faults(move |request| {
        let reads = matches!(request, Request::ReadEntries { .. });
        counted.fetch_add(u64::from(reads), Ordering::Relaxed);
        LedgerFault::None
    });
    cluster.pass(30_000);
    assert!((5..20).contains(&asked.load(Ordering::Relaxed)), "{asked:?}");
    let told = cluster.nodes[late].events.iter().filter(|event| **event == missing).count();
    assert_eq!((told, cluster.applied(late).len()), (1, 9));
    for request in back {
        cluster.ask(request).unwrap();
    }
    cluster.pass(5_000);
    assert_eq!(cluster.applied(late).len(), 27);
}
