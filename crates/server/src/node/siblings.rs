//! Calls from the server of one shard to the servers of the other shards, for commands that all of
//! them execute and feeds that combine the data of all.

use std::{io, time::Duration};

use cosmos::{Duplex, SharedFeed, Shown};
use document::{DocBuf, DocRef, Document};
use memory::Share;
use mongo::{Answers, AskSiblings, Right, Sender, Siblings};
use tokio::io::AsyncWriteExt;

use super::{
    link::{Purpose, read_piece, write_piece},
    relaying::{self, Asked},
    route::{NOBODY, Route, Way},
    routes::Routes,
};
use crate::term::Term;

/// Time limit for the answers of other shards.
const PATIENCE: Duration = Duration::from_secs(10);

/// Routes to all other shards.
#[derive(Clone)]
struct Others {
    routes: Vec<Route>,
}

impl AskSiblings for Others {
    fn ask<'a>(&'a self, command: Document, only: Option<u32>, held: &'a mut Share) -> Answers<'a> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(self.routes.len());
            for route in &self.routes {
                let shard = route.facts.number;
                if only.is_none_or(|only| only == shard) {
                    answers.push((shard, ask_one(route, &command, held).await?));
                }
            }
            Ok(answers)
        })
    }
}

/// Opens a stream to the server of a shard and performs `work` on it, within a time limit.
async fn asked<T>(
    route: &Route,
    purpose: Purpose,
    ask: impl AsyncFnOnce(Way) -> io::Result<T>,
) -> io::Result<T> {
    let asked = async {
        // For internal calls no client is involved.
        let way = route.find(purpose, NOBODY, false).await;
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
            Way::Here(term) => {
                let door = term.shared.doors.mongo.clone().ok_or_else(unreached)?;
                let reply = door.relay(sender, &database, command.bytes()).await;
                held.grow(reply.as_ref().map_or(0, |reply| reply.len()))?;
                reply
            }
            Way::There(passage) => {
                // The permit is released once it has answered.
                let (stream, _place) = passage.into_stream();
                let asked = Asked::of(&sender, database);
                relaying::ask(stream, (&asked, command.bytes()), held).await?
            }
        };
        let reply = reply.map_err(io::Error::other)?;
        document::validate(&reply).map_err(io::Error::other)?;
        Ok(DocRef::Raw(&reply).to_buf())
    };
    asked(route, Purpose::Command, ask).await
}

impl cosmos::AskSiblings for Others {
    fn ask<'a>(&'a self, feed: SharedFeed, held: &'a mut Share) -> Shown<'a> {
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
        Way::Here(term) => {
            let door = term.shared.doors.cosmos.clone().ok_or_else(unreached)?;
            let text = door.own_feed(feed);
            held.grow(text.len())?;
            Ok(text)
        }
        Way::There(passage) => {
            let (mut stream, _place) = passage.into_stream();
            read_piece(&mut *stream, held).await
        }
    };
    asked(route, purpose, ask).await
}

/// Sends this shard's part of a feed to the server of another.
pub(super) async fn show(term: &Term, feed: SharedFeed, mut stream: Box<dyn Duplex>) {
    let Some(door) = term.shared.doors.cosmos.clone() else { return };
    let text = door.own_feed(feed);
    let written = async {
        write_piece(&mut *stream, &text).await?;
        stream.flush().await
    };
    // On failure the caller finds the reply incomplete.
    let _ = tokio::time::timeout(PATIENCE, written).await;
}

/// Returns the siblings of a shard for both APIs; `None` if it is the only shard.
pub(super) fn siblings_of(
    routes: &Routes,
    shard: u32,
) -> (Option<Siblings>, Option<cosmos::Siblings>) {
    let others = routes.all().filter(|route| route.facts.number != shard);
    let others: Vec<_> = others.cloned().collect();
    if others.is_empty() {
        return (None, None);
    }
    let others = Others { routes: others };
    (Some(Siblings::new(others.clone())), Some(cosmos::Siblings::new(others)))
}
