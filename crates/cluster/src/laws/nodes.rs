//! Laws of node records: the requests `Enter`, `Beat` and `Fence` are applied only under their
//! conditions.

use bytes::Bytes;
use uuid::Uuid;

use super::{reply, swap};
use crate::{
    records::{NodeRecord, NodeState, TermRecord},
    request::{Ledger, Record, Reply, Request, Swapped},
};

pub(super) async fn check(ledger: &impl Ledger) {
    swaps_hold_their_conditions(ledger).await;
    nodes_do_not_touch_each_other(ledger).await;
}

/// Name, swap, and whether it is applied.
type Row = (&'static str, Request, bool);

fn about(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

fn terms(committed: u64) -> Vec<TermRecord> {
    let clock = Bytes::from_static(b"\0clock");
    vec![TermRecord { shard: 7, epoch: 3, committed, clock }]
}

fn rows(node: Uuid) -> Vec<Row> {
    let enter = |before| Request::Enter { node, before, about: about("there") };
    let fence = |incarnation, beat| Request::Fence { node, incarnation, beat };
    let beat = |incarnation, beat| Request::Beat { node, incarnation, beat, terms: terms(beat) };
    let forget = |incarnation, beat| Request::Forget { node, incarnation, beat };
    vec![
        ("forgetting a node that is not there", forget(1, 0), false),
        ("a beat of a node that is not there", beat(1, 0), false),
        ("a fence of a node that is not there", fence(1, 0), false),
        ("entering after one that is not there", enter(1), false),
        ("entering for the first time", enter(0), true),
        ("entering for the first time, again", enter(0), false),
        ("a first beat", beat(1, 0), true),
        ("the same beat, again", beat(1, 0), false),
        ("a beat that skips one", beat(1, 2), false),
        ("a second beat", beat(1, 1), true),
        ("a fence by an old beat", fence(1, 1), false),
        ("a fence of another incarnation", fence(2, 2), false),
        ("a fence", fence(1, 2), true),
        ("the same fence, again", fence(1, 2), false),
        ("a beat after a fence", beat(1, 2), false),
        ("entering after a later one", enter(2), false),
        ("entering again, which ends a fence", enter(1), true),
        ("the same, again", enter(1), false),
        ("a beat of the incarnation before", beat(1, 2), false),
        ("a beat of the incarnation before, by number", beat(1, 0), false),
        ("a beat of this one", beat(2, 0), true),
        ("entering while the one before is up", enter(2), true),
        ("a beat of the third", beat(3, 0), true),
        ("forgetting by an old beat", forget(3, 0), false),
        ("forgetting another incarnation", forget(2, 1), false),
        ("forgetting while it is up", forget(3, 1), true),
        ("the same, again", forget(3, 1), true),
        ("a beat after it was forgotten", beat(3, 1), false),
        ("a fence after it was forgotten", fence(3, 1), false),
        ("entering as if it had never been there", enter(0), false),
        ("coming back, which is never the same incarnation", enter(3), true),
        ("forgetting the one before, later", forget(3, 1), false),
        ("a beat of one that came back", beat(4, 0), true),
        ("a second fence", fence(4, 1), true),
        ("forgetting what was fenced", forget(4, 1), true),
    ]
}

async fn swaps_hold_their_conditions(ledger: &impl Ledger) {
    let node = Uuid::new_v4();
    let mut held = None;
    for (name, request, done) in rows(node) {
        let answer = swap(ledger, request.clone()).await;
        if done {
            assert_eq!(answer, Swapped::Done, "{name}");
            held = Some(after(held, request));
        } else {
            assert_eq!(answer, Swapped::Refused(held.clone().map(Record::Node)), "{name}");
        }
        assert_eq!(read(ledger, node).await, held, "the record after {name}");
    }
}

/// Returns the record after an applied swap.
fn after(held: Option<NodeRecord>, request: Request) -> NodeRecord {
    match (request, held) {
        (Request::Enter { node, before, about }, held) => NodeRecord {
            node,
            incarnation: before + 1,
            beat: 0,
            state: NodeState::Up,
            about,
            terms: held.map(|held| held.terms).unwrap_or_default(),
        },
        (Request::Beat { beat, terms, .. }, Some(held)) => {
            NodeRecord { beat: beat + 1, terms, ..held }
        }
        (Request::Fence { .. }, Some(held)) => NodeRecord { state: NodeState::Fenced, ..held },
        (Request::Forget { .. }, Some(held)) => {
            NodeRecord { state: NodeState::Fenced, about: Bytes::new(), ..held }
        }
        (request, held) => panic!("{request:?} is not done to {held:?}"),
    }
}

async fn nodes_do_not_touch_each_other(ledger: &impl Ledger) {
    let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
    for node in [one, other] {
        let enter = Request::Enter { node, before: 0, about: about("") };
        assert_eq!(swap(ledger, enter).await, Swapped::Done);
    }
    let before = read(ledger, other).await;
    let fence = Request::Fence { node: one, incarnation: 1, beat: 0 };
    assert_eq!(swap(ledger, fence).await, Swapped::Done);
    assert_eq!(read(ledger, other).await, before);
    let beat = Request::Beat { node: other, incarnation: 1, beat: 0, terms: Vec::new() };
    assert_eq!(swap(ledger, beat).await, Swapped::Done, "a beat beside the fence of another");
}

/// Reads the record of a node.
async fn read(ledger: &impl Ledger, node: Uuid) -> Option<NodeRecord> {
    let Reply::Nodes(nodes) = reply(ledger, Request::ReadNodes).await else {
        panic!("nodes are answered with nodes")
    };
    let mut found = nodes.into_iter().filter(|record| record.node == node);
    let record = found.next();
    assert_eq!(found.next(), None, "a node has one record");
    record
}
