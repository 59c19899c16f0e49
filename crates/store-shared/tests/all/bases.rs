//! Bases: an owner writes them as its journal grows, the journal before them is truncated, and
//! nodes that are empty or lag too far load them. No acknowledged data is missing anywhere.

use std::{collections::BTreeMap, time::Duration};

use cluster::{Ledger as _, LedgerFault, Reply, Request, ShardRecord};
use store::{Store as _, laws::ManualTime};
use store_shared::Role;

use crate::{
    nodes::{Machine, Nodes, OneShard, wait_for, wait_until_level},
    take_over::{assert_has, put_bytes, write},
};

/// Journal size after which a base is written.
const BASE_BYTES: u64 = 200 << 10;

fn nodes() -> Nodes {
    Nodes { base_bytes: Some(BASE_BYTES), ..Nodes::new(ManualTime::default()) }
}

async fn shard(nodes: &Nodes) -> ShardRecord {
    loop {
        let read = nodes.ledger.execute(Request::ReadShardSerial { shard: 0 }).await;
        if let Ok(Reply::Shard(Some(record))) = read {
            return record;
        }
    }
}

/// Returns whether a segment of the journal has any entry.
async fn has_segment(nodes: &Nodes, epoch: u64, segment: u64) -> bool {
    let request = Request::ReadEntries { shard: 0, epoch, segment, after: 0, limit: 1 };
    loop {
        if let Ok(Reply::Parts(parts)) = nodes.ledger.execute(request.clone()).await {
            return !parts.is_empty();
        }
    }
}

/// Writes until another base is published.
async fn write_a_base(nodes: &Nodes, owner: &OneShard, acknowledged: &mut BTreeMap<String, u64>) {
    let before = shard(nodes).await.base();
    let from = owner.tree().published() * 100;
    for round in 0..1_000 {
        if shard(nodes).await.base() != before {
            return;
        }
        write(owner, from + round * 20, acknowledged).await;
        for number in 0..5 {
            owner.tree().commit(vec![put_bytes("large", 8_192, number)]).await.unwrap();
        }
    }
    panic!("there is no base");
}

async fn assert_same(node: &OneShard, owner: &OneShard, acknowledged: &BTreeMap<String, u64>) {
    wait_for(node, |role| *role == Role::Following).await;
    wait_until_level(node, owner);
    assert_eq!(node.tree().last_entry(), owner.tree().last_entry());
    assert_eq!(node.tree().published(), owner.tree().published());
    assert_has(node, acknowledged).await;
}

async fn bases_come_and_the_journal_goes(nodes: Nodes) {
    let mut acknowledged = BTreeMap::new();
    let machines = [(); 4].map(|()| Machine::new());
    let [first, second, late, other] = &machines;
    let owner = nodes.start(first);
    nodes.take_over(&owner);
    let follower = nodes.start(second);
    write(&owner, 0, &mut acknowledged).await;
    wait_until_level(&follower, &owner);
    follower.stop();
    drop(follower);
    for _ in 0..4 {
        write_a_base(&nodes, &owner, &mut acknowledged).await;
    }
    let record = shard(&nodes).await;
    assert_eq!(record.bases.len(), 2);
    assert!(0 < record.bases[0].segment, "{record:?}");
    for segment in 0..record.bases[0].segment {
        // The last truncation may still be running.
        let mut looks = 0..2_000;
        while has_segment(&nodes, 1, segment).await {
            assert!(looks.next().is_some(), "segment {segment} of {record:?}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
    assert!(has_segment(&nodes, 1, record.bases[0].segment).await);
    // An empty node, and a node that lags too far, load a base.
    let late = nodes.start(late);
    let follower = nodes.start(second);
    assert_same(&late, &owner, &acknowledged).await;
    assert_same(&follower, &owner, &acknowledged).await;
    assert_eq!(follower.discarded_copies(), 0, "it was loaded, not damaged");
    drop((follower, owner));
    nodes.take_over(&late);
    let follower = nodes.start(second);
    for _ in 0..2 {
        write_a_base(&nodes, &late, &mut acknowledged).await;
    }
    assert_same(&follower, &late, &acknowledged).await;
    // Nodes catch up across two epochs, with copies that were loaded from a base.
    let owner = nodes.start(first);
    let other = nodes.start(other);
    assert_same(&owner, &late, &acknowledged).await;
    assert_same(&other, &late, &acknowledged).await;
    drop((late, follower, other));
    nodes.take_over(&owner);
    write(&owner, 1 << 40, &mut acknowledged).await;
    assert_has(&owner, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_nothing_or_is_too_old_is_made_of_a_base() {
    bases_come_and_the_journal_goes(nodes()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_requests_and_answers_do_not_hurt_a_base() {
    let nodes = nodes();
    let mut rng = fastrand::Rng::with_seed(11);
    nodes.ledger.set_faults(move |_| match rng.u8(..20) {
        0 => LedgerFault::RequestLost,
        1 => LedgerFault::AnswerLost,
        _ => LedgerFault::None,
    });
    bases_come_and_the_journal_goes(nodes).await;
}

/// A damaged piece is rejected; the node succeeds with the next attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_piece_is_noticed() {
    let nodes = nodes();
    let (first, late) = (Machine::new(), Machine::new());
    let owner = nodes.start(&first);
    nodes.take_over(&owner);
    let mut acknowledged = BTreeMap::new();
    write_a_base(&nodes, &owner, &mut acknowledged).await;
    let (shard_number, base) = (0, shard(&nodes).await.base());
    let piece = Request::LoadPiece { shard: shard_number, base, piece: 1 };
    let Ok(Reply::Piece(Some(right))) = nodes.ledger.execute(piece).await else { panic!("none") };
    let mut wrong = right.to_vec();
    wrong[20] ^= 1;
    let put = |body| Request::PutPiece { shard: shard_number, base, piece: 1, body };
    nodes.ledger.execute(put(wrong.into())).await.unwrap();
    let late = nodes.start(&late);
    let told = |role: &Role| matches!(role, Role::Failed(why) if why.contains("rebuilt"));
    wait_for(&late, told).await;
    nodes.ledger.execute(put(right)).await.unwrap();
    assert_same(&late, &owner, &acknowledged).await;
}
