//! Replication of MongoDB users in a cluster of several shards: the server of another shard
//! requests them from the server of the first shard, which stores them.
//!
//! ```text
//! caller → called   length (u32), version identifier of the caller's copy
//! called → caller   length (u32), users and roles, or that they are unchanged
//! ```

use std::{io, time::Duration};

use cosmos::Duplex;
use memory::Account;
use mongo::{FirstShard, FirstShardTransport, MongoApi, UsersReply};
use server::ServingTerm;
use server_base::sleep;
use tokio::io::AsyncWriteExt;

use super::{
    link::{Purpose, read_frame, write_frame},
    route::{Destination, NO_CLIENT, Route},
    routes::Routes,
};

/// Maximum time for which a request for changes is held open while users and roles are unchanged
/// (long polling).
const WAIT: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(25);
/// Time limit for the first shard's answer, in addition to [`WAIT`].
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum size of a reply with all users and roles, in bytes.
const ANSWER_MAX: usize = 48 << 20;
/// Maximum size of the token that identifies a version of the users, in bytes.
const VERSION_ID_MAX: usize = 64;

/// Requests users and roles from the first shard.
struct First {
    route: Route,
}

impl FirstShardTransport for First {
    fn ask(&self, seen: Vec<u8>, waits: bool) -> UsersReply<'_> {
        Box::pin(async move {
            if !has_owner(&self.route) {
                return Ok(None);
            }
            let late = |_| io::Error::from(io::ErrorKind::TimedOut);
            let patience = if waits { WAIT + PATIENCE } else { PATIENCE };
            tokio::time::timeout(patience, ask(&self.route, &seen, waits))
                .await
                .map_err(late)?
                .map(Some)
        })
    }
}

/// Returns whether the first shard may have an owner, by the records that this node has read. True
/// also if the ledger does not answer.
fn has_owner(route: &Route) -> bool {
    let cluster_state = &route.cluster_state;
    route.here().is_some()
        || cluster_state.seen_shard().owner.is_some()
        || !cluster_state.reaches_ledger()
}

async fn ask(route: &Route, seen: &[u8], waits: bool) -> io::Result<Vec<u8>> {
    let off = || io::Error::new(io::ErrorKind::NotConnected, "the MongoDB API is off on that node");
    let purpose = if waits { Purpose::UsersLater } else { Purpose::Users };
    match route.find(purpose, NO_CLIENT, false).await {
        Some(Destination::Here(term)) => {
            let api = term.shared.apis.mongo.clone().ok_or_else(off)?;
            // Do not keep the term alive during the wait.
            drop(term);
            answer(&api, seen, waits).await
        }
        Some(Destination::There(passage)) => {
            let (mut stream, _place) = passage.into_stream();
            write_frame(&mut *stream, seen).await?;
            stream.flush().await?;
            // The copy has a bounded size and is kept, so it is not charged to an operation.
            read_frame(&mut *stream, &mut Account::new(2 * ANSWER_MAX).share()).await
        }
        None => Err(io::Error::new(io::ErrorKind::NotConnected, "it has no owner")),
    }
}

/// Returns the users for a caller that has the version with the identifier `seen`. With `waits`,
/// first waits for a limited time until there is another version.
async fn answer(api: &MongoApi, seen: &[u8], waits: bool) -> io::Result<Vec<u8>> {
    if waits {
        let changes = async {
            while !api.has_other_users(seen) {
                sleep::wait_for(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(WAIT, changes).await;
    }
    api.encode_users(seen).map_err(io::Error::other)
}

/// Sends users and roles to another shard's server.
pub(super) async fn send_users(term: &ServingTerm, mut stream: Box<dyn Duplex>, waits: bool) {
    let Some(api) = term.shared.apis.mongo.clone() else { return };
    let sending = async {
        let seen = read_frame(&mut *stream, &mut Account::new(VERSION_ID_MAX).share()).await?;
        let answer = answer(&api, &seen, waits).await?;
        write_frame(&mut *stream, &answer).await?;
        stream.flush().await
    };
    // On failure the caller finds the reply incomplete.
    let _ = tokio::time::timeout(WAIT + PATIENCE, sending).await;
}

/// Returns a shard's access to the first shard; `None` for the first shard itself.
pub(super) fn first_shard_of(routes: &Routes, shard: u32) -> Option<FirstShard> {
    (shard != 0).then(|| FirstShard::new(First { route: routes.first().clone() }))
}
