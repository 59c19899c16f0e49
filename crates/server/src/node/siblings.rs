//! How the server of one shard reaches those of the others, for commands that all of them answer and for
//! feeds that show what all of them have.

use std::{io, net::SocketAddr, time::Duration};

use cosmos::{Duplex, SharedFeed, Shown};
use document::{DocBuf, Document};
use mongo::{Answers, AskSiblings, Right, Sender, Siblings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    link::Purpose,
    route::{Route, Way},
    routes::Routes,
};
use crate::term::Term;

/// How long another may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of what another shows of a feed at the most.
const SHOWN_MAX: u64 = 64 << 20;

/// The ways to all other shards.
#[derive(Clone)]
struct Others(Vec<Route>);

impl AskSiblings for Others {
    fn ask(&self, command: Document, only: Option<u32>) -> Answers<'_> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(self.0.len());
            for route in &self.0 {
                let shard = route.facts.number;
                if only.is_none_or(|only| only == shard) {
                    answers.push((shard, ask_one(route, &command).await?));
                }
            }
            Ok(answers)
        })
    }
}

async fn ask_one(route: &Route, command: &Document) -> io::Result<DocBuf> {
    // Only the shard's server has to do with it, and it knows who calls.
    let nobody = SocketAddr::from(([127, 0, 0, 1], 0));
    let unreached = || io::Error::new(io::ErrorKind::NotConnected, "nobody owns it");
    let asked = async {
        match route.find(Purpose::Mongo, nobody, false).await.ok_or_else(unreached)? {
            Way::Here(term) => {
                let door = term.shared.doors.mongo.clone().ok_or_else(unreached)?;
                let peer = "another shard".to_owned();
                let sender = Sender { right: Right::Write, peer, session: [0; 32] };
                let reply = door.relay(sender, "admin", command.to_buf().bytes()).await;
                // A command's own reply is a document.
                reply.map(DocBuf::from_trusted).map_err(io::Error::other)
            }
            Way::There(passage) => {
                // Its place goes when it was answered.
                let (mut stream, _place) = passage.into_stream();
                mongo::ask_once(&mut stream, command.clone()).await
            }
        }
    };
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    tokio::time::timeout(PATIENCE, asked).await.map_err(late)?
}

impl cosmos::AskSiblings for Others {
    fn ask(&self, feed: SharedFeed) -> Shown<'_> {
        Box::pin(async move {
            let mut shown = Vec::with_capacity(self.0.len());
            for route in &self.0 {
                shown.push(ask_for_feed(route, feed).await?);
            }
            Ok(shown)
        })
    }
}

async fn ask_for_feed(route: &Route, feed: SharedFeed) -> io::Result<Vec<u8>> {
    let nobody = SocketAddr::from(([127, 0, 0, 1], 0));
    let unreached = || io::Error::new(io::ErrorKind::NotConnected, "nobody owns it");
    let purpose = match feed {
        SharedFeed::Databases => Purpose::Databases,
        SharedFeed::Offers => Purpose::Offers,
    };
    let asked = async {
        match route.find(purpose, nobody, false).await.ok_or_else(unreached)? {
            Way::Here(term) => {
                let door = term.shared.doors.cosmos.clone().ok_or_else(unreached)?;
                Ok(door.own_feed(feed))
            }
            Way::There(passage) => {
                let (stream, _place) = passage.into_stream();
                read_shown(stream).await
            }
        }
    };
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    tokio::time::timeout(PATIENCE, asked).await.map_err(late)?
}

/// Reads what [`show`] writes.
async fn read_shown(mut stream: Box<dyn Duplex>) -> io::Result<Vec<u8>> {
    let length = stream.read_u64().await?;
    if SHOWN_MAX < length {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it shows too much"));
    }
    let mut text = Vec::new();
    let read = stream.take(length).read_to_end(&mut text).await?;
    if u64::try_from(read).ok() != Some(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(text)
}

/// Shows what the shard has of a feed to the server of another: the length and the text.
pub(super) async fn show(term: &Term, feed: SharedFeed, mut stream: Box<dyn Duplex>) {
    let Some(door) = term.shared.doors.cosmos.clone() else { return };
    let text = door.own_feed(feed);
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let written = async {
        stream.write_u64(length).await?;
        stream.write_all(&text).await?;
        stream.flush().await
    };
    // Whoever asked finds that the answer is not whole.
    let _ = tokio::time::timeout(PATIENCE, written).await;
}

/// Those of a shard, for both APIs; `None`: it is the only one.
pub(super) fn siblings_of(
    routes: &Routes,
    shard: u32,
) -> (Option<Siblings>, Option<cosmos::Siblings>) {
    let others = routes.all().filter(|route| route.facts.number != shard);
    let others: Vec<_> = others.cloned().collect();
    if others.is_empty() {
        return (None, None);
    }
    let others = Others(others);
    (Some(Siblings::new(others.clone())), Some(cosmos::Siblings::new(others)))
}
