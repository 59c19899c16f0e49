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

/// Name of a case, a compare-and-swap, and whether it is applied.
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
        ("forgetting a node that is not recorded", forget(1, 0), false),
        ("a heartbeat of a node that is not recorded", beat(1, 0), false),
        ("fencing a node that is not recorded", fence(1, 0), false),
        ("entering after an incarnation that is not recorded", enter(1), false),
        ("a node that enters for the first time", enter(0), true),
        ("a node that enters for the first time, repeated", enter(0), false),
        ("a first heartbeat", beat(1, 0), true),
        ("the same heartbeat, repeated", beat(1, 0), false),
        ("a heartbeat that skips a number", beat(1, 2), false),
        ("a second heartbeat", beat(1, 1), true),
        ("fencing by an old heartbeat number", fence(1, 1), false),
        ("fencing another incarnation", fence(2, 2), false),
        ("fencing", fence(1, 2), true),
        ("the same fencing, repeated", fence(1, 2), false),
        ("a heartbeat of a fenced node", beat(1, 2), false),
        ("entering after an incarnation later than the recorded one", enter(2), false),
        ("entering again, which ends the fencing", enter(1), true),
        ("the same, again", enter(1), false),
        ("a heartbeat of the previous incarnation", beat(1, 2), false),
        ("a heartbeat of the previous incarnation, with its first number", beat(1, 0), false),
        ("a heartbeat of the current incarnation", beat(2, 0), true),
        ("entering while the previous incarnation is up", enter(2), true),
        ("a heartbeat of the third incarnation", beat(3, 0), true),
        ("forgetting by an old heartbeat number", forget(3, 0), false),
        ("forgetting another incarnation", forget(2, 1), false),
        ("forgetting a node that is up", forget(3, 1), true),
        ("the same, again", forget(3, 1), true),
        ("a heartbeat of a forgotten node", beat(3, 1), false),
        ("fencing a forgotten node", fence(3, 1), false),
        ("entering as a node without a record although it was forgotten", enter(0), false),
        ("entering after having been forgotten, as a new incarnation", enter(3), true),
        ("forgetting an incarnation that has ended", forget(3, 1), false),
        ("a heartbeat of the new incarnation", beat(4, 0), true),
        ("fencing a second time", fence(4, 1), true),
        ("forgetting a fenced node", forget(4, 1), true),
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

/// Returns the record that is expected after `request` was applied to the record `held`.
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
    assert_eq!(swap(ledger, beat).await, Swapped::Done, "a heartbeat while another node is fenced");
}

/// Reads the record of a node.
async fn read(ledger: &impl Ledger, node: Uuid) -> Option<NodeRecord> {
    let Reply::Nodes(nodes) = reply(ledger, Request::ReadNodes).await else {
        panic!("the reply to a request for nodes has nodes")
    };
    let mut found = nodes.into_iter().filter(|record| record.node == node);
    let record = found.next();
    assert_eq!(found.next(), None, "the node has one record");
    record
}
