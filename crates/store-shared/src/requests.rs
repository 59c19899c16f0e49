//! Sends requests to the ledger and repeats them, either without limit or, for commands of an
//! operator, for a minute.

use std::time::Duration;

use cluster::{Ledger, NodeRecord, Reply, Request, ShardRecord, Swapped};
use store::{Error, Kind};

/// Timeout of one attempt; it is long, since pieces of a base are large.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(100);
/// Total timeout of requests on behalf of an operator.
const LONG: Duration = Duration::from_secs(60);

pub(crate) async fn pause(time: Duration) {
    let mut ticks = tokio::time::interval(time);
    // The first tick of an interval completes immediately.
    ticks.tick().await;
    ticks.tick().await;
}

/// Sends a request until `take` accepts a reply.
pub(crate) async fn retry_until_reply<L: Ledger, T>(
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

/// Executes a write, which is repeated until it succeeds.
pub(crate) async fn write<L: Ledger>(ledger: &L, request: Request) {
    retry_until_reply(ledger, request, written).await;
}

/// Reads the record of a shard that exists.
pub(crate) async fn shard_record<L: Ledger>(ledger: &L, shard: u32) -> ShardRecord {
    retry_until_reply(ledger, Request::ReadShardSerial { shard }, shard_of).await
}

/// Sends a request as [`retry_until_reply`] does, with a timeout of a minute.
pub(crate) async fn send_request<L: Ledger, T>(
    ledger: &L,
    request: Request,
    take: impl Fn(Reply) -> Option<T>,
) -> Result<T, Error> {
    let asked = tokio::time::timeout(LONG, retry_until_reply(ledger, request, take)).await;
    asked.map_err(|_| Error::new(Kind::Unavailable, "the cluster's ledger does not answer"))
}

/// Sends a compare-and-swap, with a timeout of a minute.
pub(crate) async fn swap<L: Ledger>(ledger: &L, request: Request) -> Result<Swapped, Error> {
    send_request(ledger, request, |reply| match reply {
        Reply::Swapped(swapped) => Some(swapped),
        _ => None,
    })
    .await
}

/// Reads all node records, with a timeout of a minute.
pub(crate) async fn all_nodes<L: Ledger>(ledger: &L) -> Result<Vec<NodeRecord>, Error> {
    send_request(ledger, Request::ReadNodes, |reply| match reply {
        Reply::Nodes(nodes) => Some(nodes),
        _ => None,
    })
    .await
}

/// Returns `Some` if the reply confirms a write, `None` if it is a reply of another kind.
pub(crate) fn written(reply: Reply) -> Option<()> {
    (reply == Reply::Written).then_some(())
}

/// Returns the shard record of a reply; `None` if the record does not exist or the reply is of
/// another kind.
pub(crate) fn shard_of(reply: Reply) -> Option<ShardRecord> {
    match reply {
        Reply::Shard(record) => record,
        _ => None,
    }
}
