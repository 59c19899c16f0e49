//! Users of the MongoDB API in a cluster of several shards: how the server of another shard asks that of the
//! first one, which keeps them, and how that one answers.
//!
//! ```text
//! caller → called   length (u32), the mark of what the caller knows
//! called → caller   length (u32), users and roles, or that they are the same
//! ```

use std::{io, time::Duration};

use cosmos::Duplex;
use memory::Account;
use mongo::{AskFirstShard, FirstShard, Heard};
use tokio::io::AsyncWriteExt;

use super::{
    link::{Purpose, read_piece, write_piece},
    route::{NOBODY, Route, Way},
    routes::Routes,
};
use crate::{any_store::AnyStore, background, term::Term};

/// How long an answer waits for a change.
const WAIT: Duration = Duration::from_secs(1);
/// Between two looks whether there is one.
const LOOK: Duration = Duration::from_millis(25);
/// How long the first shard may take to answer, beside that.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of an answer at the most: all users and roles.
const ANSWER_MAX: usize = 48 << 20;
/// Bytes of a mark at the most.
const MARK_MAX: usize = 64;

type Door = mongo::Door<AnyStore>;

/// The way to the first shard.
struct First {
    route: Route,
}

impl AskFirstShard for First {
    fn ask(&self, seen: Vec<u8>, waits: bool) -> Heard<'_> {
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

/// Whether anybody may own the first shard, as far as this node knows: one that does not hear of the cluster
/// knows nothing.
fn has_owner(route: &Route) -> bool {
    let facts = &route.facts;
    route.here().is_some() || facts.seen_shard().owner.is_some() || !facts.hears()
}

async fn ask(route: &Route, seen: &[u8], waits: bool) -> io::Result<Vec<u8>> {
    let off = || io::Error::new(io::ErrorKind::NotConnected, "the MongoDB API is off there");
    let purpose = if waits { Purpose::UsersLater } else { Purpose::Users };
    match route.find(purpose, NOBODY, false).await {
        Some(Way::Here(term)) => {
            let door = term.shared.doors.mongo.clone().ok_or_else(off)?;
            // It is not kept from ending meanwhile.
            drop(term);
            answer(&door, seen, waits).await
        }
        Some(Way::There(passage)) => {
            let (mut stream, _place) = passage.into_stream();
            write_piece(&mut *stream, seen).await?;
            stream.flush().await?;
            // What is known is bounded, and stays.
            read_piece(&mut *stream, &mut Account::new(2 * ANSWER_MAX).share()).await
        }
        None => Err(io::Error::new(io::ErrorKind::NotConnected, "nobody owns it")),
    }
}

/// The answer to whoever knows what this mark stands for.
async fn answer(door: &Door, seen: &[u8], waits: bool) -> io::Result<Vec<u8>> {
    if waits {
        let changes = async {
            while !door.has_other_users(seen) {
                background::wait_for(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(WAIT, changes).await;
    }
    door.told_users(seen).map_err(io::Error::other)
}

/// Answers the server of another shard.
pub(super) async fn tell(term: &Term, mut stream: Box<dyn Duplex>, waits: bool) {
    let Some(door) = term.shared.doors.mongo.clone() else { return };
    let told = async {
        let seen = read_piece(&mut *stream, &mut Account::new(MARK_MAX).share()).await?;
        let answer = answer(&door, &seen, waits).await?;
        write_piece(&mut *stream, &answer).await?;
        stream.flush().await
    };
    // Whoever asked finds that the answer is not whole.
    let _ = tokio::time::timeout(WAIT + PATIENCE, told).await;
}

/// The way of a shard to the first one; `None`: it is the first.
pub(super) fn first_shard_of(routes: &Routes, shard: u32) -> Option<FirstShard> {
    (shard != 0).then(|| FirstShard::new(First { route: routes.first().clone() }))
}
