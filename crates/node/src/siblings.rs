//! Calls from the server of one shard to the servers of the other shards, for commands that all of
//! them execute and feeds that combine the data of all.

use std::{io, time::Duration};

use cosmos::{Duplex, FeedsOfShards, SharedFeed};
use document::{DocBuf, DocRef, Document};
use memory::Share;
use mongo::{OtherShards, OtherShardsTransport, Right, Sender, ShardReplies};
use server::ServingTerm;
use tokio::io::AsyncWriteExt;

use super::{
    link::{Purpose, read_frame, write_frame},
    route::{Destination, NO_CLIENT, Route},
    routes::Routes,
    shard_relay::{self, CommandSource},
};

/// Time limit for the answers of other shards.
const PATIENCE: Duration = Duration::from_secs(10);

/// Routes to all other shards.
#[derive(Clone)]
struct RoutedTransport {
    routes: Vec<Route>,
}

impl OtherShardsTransport for RoutedTransport {
    fn ask<'a>(
        &'a self,
        command: Document,
        only: Option<u32>,
        held: &'a mut Share,
    ) -> ShardReplies<'a> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(self.routes.len());
            for route in &self.routes {
                let shard = route.cluster_state.number;
                if only.is_none_or(|only| only == shard) {
                    answers.push((shard, ask_one(route, &command, held).await?));
                }
            }
            Ok(answers)
        })
    }
}

/// Opens a stream to the server of a shard and performs `work` on it, within a time limit.
async fn with_stream<T>(
    route: &Route,
    purpose: Purpose,
    ask: impl AsyncFnOnce(Destination) -> io::Result<T>,
) -> io::Result<T> {
    let asked = async {
        // An internal call belongs to no client.
        let way = route.find(purpose, NO_CLIENT, false).await;
        ask(way.ok_or_else(unreached)?).await
    };
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    tokio::time::timeout(PATIENCE, asked).await.map_err(late)?
}

fn unreached() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "it has no owner")
}

async fn ask_one(route: &Route, command: &Document, held: &mut Share) -> io::Result<DocBuf> {
    let peer = "another shard".to_owned();
    let sender = Sender { right: Right::Write, peer, session: [0; 32] };
    let (database, command) = ("admin".to_owned(), command.to_buf());
    let ask = async |way| {
        let reply = match way {
            Destination::Here(term) => {
                let api = term.shared.apis.mongo.clone().ok_or_else(unreached)?;
                let reply = api.relay(sender, &database, command.bytes()).await;
                held.grow(reply.as_ref().map_or(0, |reply| reply.len()))?;
                reply
            }
            Destination::There(passage) => {
                // The permit is released once the other server has answered.
                let (stream, _place) = passage.into_stream();
                let asked = CommandSource::of(&sender, database);
                shard_relay::ask(stream, (&asked, command.bytes()), held).await?
            }
        };
        let reply = reply.map_err(io::Error::other)?;
        document::validate(&reply).map_err(io::Error::other)?;
        Ok(DocRef::Raw(&reply).to_buf())
    };
    with_stream(route, Purpose::Command, ask).await
}

impl cosmos::OtherShardsTransport for RoutedTransport {
    fn ask<'a>(&'a self, feed: SharedFeed, held: &'a mut Share) -> FeedsOfShards<'a> {
        Box::pin(async move {
            let mut shown = Vec::with_capacity(self.routes.len());
            for route in &self.routes {
                shown.push(ask_for_feed(route, feed, held).await?);
            }
            Ok(shown)
        })
    }
}

async fn ask_for_feed(route: &Route, feed: SharedFeed, held: &mut Share) -> io::Result<Vec<u8>> {
    let purpose = match feed {
        SharedFeed::Databases => Purpose::Databases,
        SharedFeed::Offers => Purpose::Offers,
    };
    let ask = async |way| match way {
        Destination::Here(term) => {
            let api = term.shared.apis.cosmos.clone().ok_or_else(unreached)?;
            let text = api.own_feed(feed);
            held.grow(text.len())?;
            Ok(text)
        }
        Destination::There(passage) => {
            let (mut stream, _place) = passage.into_stream();
            read_frame(&mut *stream, held).await
        }
    };
    with_stream(route, purpose, ask).await
}

/// Sends this shard's part of a feed to the calling server of another shard.
pub(super) async fn show(term: &ServingTerm, feed: SharedFeed, mut stream: Box<dyn Duplex>) {
    let Some(api) = term.shared.apis.cosmos.clone() else { return };
    let text = api.own_feed(feed);
    let written = async {
        write_frame(&mut *stream, &text).await?;
        stream.flush().await
    };
    // On failure the caller finds the reply incomplete.
    let _ = tokio::time::timeout(PATIENCE, written).await;
}

/// Returns the means by which a shard's server calls the other shards, for the MongoDB API and for
/// the NoSQL API; `None` if it is the only shard.
pub(super) fn siblings_of(
    routes: &Routes,
    shard: u32,
) -> (Option<OtherShards>, Option<cosmos::OtherShards>) {
    let others = routes.all().filter(|route| route.cluster_state.number != shard);
    let others: Vec<_> = others.cloned().collect();
    if others.is_empty() {
        return (None, None);
    }
    let others = RoutedTransport { routes: others };
    (Some(OtherShards::new(others.clone())), Some(cosmos::OtherShards::new(others)))
}
