//! Asking the ledger again and again until there is an answer: for ever, or for as long as a person
//! waits.

use std::time::Duration;

use cluster::{Ledger, NodeRecord, Reply, Request, ShardRecord, Swapped};
use store::{Error, Kind};

/// How long an answer is waited for: pieces are large.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// For how long a person waits.
const LONG: Duration = Duration::from_secs(60);

/// Lets so much time pass.
pub(crate) async fn pause(time: Duration) {
    let mut ticks = tokio::time::interval(time);
    // The first comes at once.
    ticks.tick().await;
    ticks.tick().await;
}

/// Asks until there is an answer, which is this one.
pub(crate) async fn insist<L: Ledger, T>(
    ledger: &L,
    request: Request,
    take: impl Fn(Reply) -> Option<T>,
) -> T {
    let mut attempts = tokio::time::interval(PAUSE);
    attempts.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        attempts.tick().await;
        let asked = tokio::time::timeout(PATIENCE, ledger.execute(request.clone())).await;
        if let Ok(Ok(reply)) = asked
            && let Some(answer) = take(reply)
        {
            return answer;
        }
    }
}

/// Writes until it is written.
pub(crate) async fn write<L: Ledger>(ledger: &L, request: Request) {
    insist(ledger, request, written).await;
}

/// The record of a shard that is there.
pub(crate) async fn shard_record<L: Ledger>(ledger: &L, shard: u32) -> ShardRecord {
    insist(ledger, Request::ReadShardSerial { shard }, shard_of).await
}

/// The same as [`insist`], for a minute.
pub(crate) async fn ask<L: Ledger, T>(
    ledger: &L,
    request: Request,
    take: impl Fn(Reply) -> Option<T>,
) -> Result<T, Error> {
    let asked = tokio::time::timeout(LONG, insist(ledger, request, take)).await;
    asked.map_err(|_| Error::new(Kind::Unavailable, "the cluster's ledger does not answer"))
}

/// What came of a swap, as asked for a minute.
pub(crate) async fn swap<L: Ledger>(ledger: &L, request: Request) -> Result<Swapped, Error> {
    ask(ledger, request, |reply| match reply {
        Reply::Swapped(swapped) => Some(swapped),
        _ => None,
    })
    .await
}

/// All nodes, as asked for a minute.
pub(crate) async fn all_nodes<L: Ledger>(ledger: &L) -> Result<Vec<NodeRecord>, Error> {
    ask(ledger, Request::ReadNodes, |reply| match reply {
        Reply::Nodes(nodes) => Some(nodes),
        _ => None,
    })
    .await
}

/// The answer to a write.
pub(crate) fn written(reply: Reply) -> Option<()> {
    (reply == Reply::Written).then_some(())
}

/// The answer to the question for a shard that is there.
pub(crate) fn shard_of(reply: Reply) -> Option<ShardRecord> {
    match reply {
        Reply::Shard(record) => record,
        _ => None,
    }
}
