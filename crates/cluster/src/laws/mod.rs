//! Conformance tests ("laws") of ledgers, as a function that the tests of each ledger call. The
//! requests are sequential; the simulation covers lost replies.

mod bases;
mod entries;
mod nodes;
mod shards;

use bytes::Bytes;
use secret::Secret;
use uuid::Uuid;

use crate::{
    records::ClusterRecord,
    request::{Ledger, Record, Reply, Request, Swapped},
};

/// Checks all laws on an empty ledger; panics on the first violation.
pub async fn check(ledger: &impl Ledger) {
    the_cluster_is_made_once(ledger).await;
    nodes::check(ledger).await;
    shards::check(ledger).await;
    entries::check(ledger).await;
    bases::check(ledger).await;
}

async fn the_cluster_is_made_once(ledger: &impl Ledger) {
    let read = async || reply(ledger, Request::ReadCluster).await;
    assert_eq!(read().await, Reply::Cluster(None), "an empty ledger has no cluster");
    let cluster = |shards| ClusterRecord {
        format: 1,
        id: Uuid::new_v4(),
        shards,
        clock: "manual".to_owned(),
        secret: Secret::from_bytes(b"\0secret\xff".to_vec()),
    };
    let first = cluster(1);
    assert_eq!(swap(ledger, Request::MakeCluster(first.clone())).await, Swapped::Done);
    for other in [first.clone(), cluster(2)] {
        let refused = swap(ledger, Request::MakeCluster(other)).await;
        assert_eq!(refused, Swapped::Refused(Some(Record::Cluster(first.clone()))));
    }
    assert_eq!(read().await, Reply::Cluster(Some(first.clone())));
    let (second, third) = (cluster(2), cluster(3));
    let replace = |before: &ClusterRecord, record: &ClusterRecord| Request::ReplaceCluster {
        before: before.id,
        record: record.clone(),
    };
    let refused = swap(ledger, replace(&third, &second)).await;
    assert_eq!(refused, Swapped::Refused(Some(Record::Cluster(first.clone()))));
    // The second request repeats the first, whose reply may have been lost.
    for _ in 0..2 {
        assert_eq!(swap(ledger, replace(&first, &second)).await, Swapped::Done);
    }
    let refused = swap(ledger, replace(&first, &third)).await;
    assert_eq!(refused, Swapped::Refused(Some(Record::Cluster(second.clone()))));
    // A replacement may keep the id and change other fields.
    let finished = ClusterRecord { format: 2, ..second.clone() };
    assert_eq!(swap(ledger, replace(&second, &finished)).await, Swapped::Done);
    assert_eq!(read().await, Reply::Cluster(Some(finished)));
}

/// Sends a request, repeatedly if no reply arrives, as nodes do. All requests of these laws may be
/// repeated except swaps, which `swap` sends once.
async fn reply(ledger: &impl Ledger, request: Request) -> Reply {
    for _ in 0..20 {
        if let Ok(reply) = ledger.execute(request.clone()).await {
            return reply;
        }
    }
    panic!("no answer to {request:?}")
}

/// Sends a compare-and-swap once and returns its outcome.
async fn swap(ledger: &impl Ledger, request: Request) -> Swapped {
    match ledger.execute(request.clone()).await {
        Ok(Reply::Swapped(swapped)) => swapped,
        other => panic!("{other:?} answers {request:?}"),
    }
}

/// Returns bytes that are unique for the seed.
fn noise(length: usize, seed: usize) -> Bytes {
    (0..length).map(|at| (at.wrapping_mul(31) ^ (at >> 8) ^ seed).to_le_bytes()[0]).collect()
}
