//! Owners are killed, hand over, lose replies and are replaced while commits continue: acknowledged
//! data exists on every node in the end.

use std::collections::BTreeMap;

use cluster::{Ledger as _, LedgerFault, Request};
use store::{Commit, Kind, Mutation, Outcome, Space, Store as _, laws::ManualTime};
use store_shared::{Role, SharedShard};

use crate::nodes::{Machine, Nodes, OneShard, wait_for, wait_until_level};

pub(crate) fn put(key: &str, value: u64) -> Commit {
    let key = key.to_owned();
    Commit::new(vec![], move |_| {
        let (space, value) = (Space::Catalog, value.to_be_bytes().to_vec().into());
        vec![Mutation::Put { space, key: key.into(), value }]
    })
}

pub(crate) fn put_bytes(key: &'static str, length: usize, number: u64) -> Commit {
    Commit::new(vec![], move |_| {
        let bytes = number.to_be_bytes().repeat(length / 8);
        vec![Mutation::Put { space: Space::Catalog, key: key.into(), value: bytes.into() }]
    })
}

pub(crate) async fn value_of(node: &SharedShard, key: &str) -> Option<u64> {
    let held = node.tree().snapshot().get(Space::Catalog, key.as_bytes()).await.unwrap();
    held.map(|value| u64::from_be_bytes(value[..].try_into().unwrap()))
}

/// Commits to the owner and records the acknowledged writes.
pub(crate) async fn write(
    owner: &SharedShard,
    from: u64,
    acknowledged: &mut BTreeMap<String, u64>,
) {
    for number in from..from + 20 {
        let key = format!("key {}", number % 7);
        match owner.tree().commit(vec![put(&key, number)]).await {
            Ok(outcomes) => {
                assert!(matches!(outcomes[..], [Outcome::Committed(_)]), "{outcomes:?}");
                acknowledged.insert(key, number);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) async fn assert_has(node: &SharedShard, acknowledged: &BTreeMap<String, u64>) {
    for (key, number) in acknowledged {
        assert_eq!(value_of(node, key).await, Some(*number), "{key} at {node:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_over_many_owners() {
    let nodes = Nodes::new(ManualTime::default());
    let mut owner = (nodes.start(&Machine::new()), Machine::new());
    nodes.take_over(&owner.0);
    let mut acknowledged = BTreeMap::new();
    for round in 0..12_u64 {
        let machine = Machine::new();
        let next = nodes.start(&machine);
        write(&owner.0, round * 100, &mut acknowledged).await;
        match round % 3 {
            // Kills the owner.
            0 => owner.0.stop(),
            // Hands over; the former owner follows from then on.
            1 => {
                owner.0.hand_over();
                wait_for(&owner.0, |role| *role == Role::Following).await;
                let refused = owner.0.tree().commit(vec![put("refused", 1)]).await.unwrap_err();
                assert_eq!(refused.kind, Kind::Moved);
            }
            // Kills the owner, which then rejects commits.
            _ => {
                owner.0.stop();
                write_nothing(&owner.0).await;
            }
        }
        nodes.take_over(&next);
        owner = (next, machine);
        assert_has(&owner.0, &acknowledged).await;
        assert_eq!(value_of(&owner.0, "refused").await, None);
    }
    let late = nodes.start(&Machine::new());
    wait_until_level(&late, &owner.0);
    assert_has(&late, &acknowledged).await;
}

/// A node whose driver has ended rejects commits.
async fn write_nothing(node: &OneShard) {
    let refused = node.tree().commit(vec![put("refused", 2)]).await.unwrap_err();
    assert_eq!(refused.kind, Kind::Moved);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_requests_and_answers_cost_time_and_nothing_else() {
    let nodes = Nodes::new(ManualTime::default());
    let mut rng = fastrand::Rng::with_seed(7);
    nodes.ledger.set_faults(move |_| match rng.u8(..20) {
        0 => LedgerFault::RequestLost,
        1 => LedgerFault::AnswerLost,
        _ => LedgerFault::None,
    });
    let owner = nodes.start(&Machine::new());
    nodes.take_over(&owner);
    let follower = nodes.start(&Machine::new());
    let mut acknowledged = BTreeMap::new();
    for round in 0..10 {
        write(&owner, round * 100, &mut acknowledged).await;
    }
    owner.stop();
    nodes.take_over(&follower);
    assert_has(&follower, &acknowledged).await;
}

/// An owner that is cut off from the ledger learns that it was superseded once it is reconnected;
/// the outcome of its pending writes is unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_was_cut_off_acknowledges_nothing_and_follows() {
    let nodes = Nodes::new(ManualTime::default());
    let (machine, other) = (Machine::new(), Machine::new());
    let owner = nodes.start(&machine);
    nodes.take_over(&owner);
    let follower = nodes.start(&other);
    let mut acknowledged = BTreeMap::new();
    write(&owner, 0, &mut acknowledged).await;
    wait_until_level(&follower, &owner);
    let cut = machine.id;
    // All of the owner's requests are lost, including its appends, which are those of the first
    // epoch.
    nodes.ledger.set_faults(move |request| match request {
        Request::Beat { node, .. } | Request::Enter { node, .. } if *node == cut => {
            LedgerFault::RequestLost
        }
        Request::Append { epoch: 1, .. } => LedgerFault::RequestLost,
        _ => LedgerFault::None,
    });
    let tree = std::sync::Arc::clone(owner.tree());
    let unknown = tokio::spawn(async move { tree.commit(vec![put("key 0", 999)]).await });
    nodes.take_over(&follower);
    assert_eq!(unknown.await.unwrap().unwrap_err().kind, Kind::Moved);
    write(&follower, 100, &mut acknowledged).await;
    wait_for(&owner, |role| *role == Role::Following).await;
    wait_until_level(&owner, &follower);
    assert_has(&owner, &acknowledged).await;
    assert_has(&follower, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_says_which_entry_is_missing_and_goes_on_once_it_is_there() {
    let nodes = Nodes::new(ManualTime::default());
    let owner = nodes.start(&Machine::new());
    nodes.take_over(&owner);
    let mut acknowledged = BTreeMap::new();
    write(&owner, 0, &mut acknowledged).await;
    let machine = Machine::new();
    let next = nodes.start(&machine);
    owner.stop();
    nodes.take_over(&next);
    write(&next, 100, &mut acknowledged).await;
    let back = nodes.ledger.lose_entry(0, 1, 10);
    let late = nodes.start(&Machine::new());
    let text = "entry 10 of epoch 1 is missing";
    wait_for(&late, |role| matches!(role, Role::Failed(why) if why.contains(text))).await;
    for request in back {
        nodes.ledger.execute(request).await.unwrap();
    }
    nodes.boot.skip(3_000);
    wait_for(&late, |role| *role == Role::Following).await;
    wait_until_level(&late, &next);
    assert_has(&late, &acknowledged).await;
}
