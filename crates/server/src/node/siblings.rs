//! How the server of one shard reaches those of the others, for commands that all of them answer.

use std::{io, net::SocketAddr, time::Duration};

use document::{DocBuf, Document};
use mongo::{Answers, AskSiblings, Right, Sender, Siblings};

use super::{
    link::Purpose,
    route::{Route, Way},
    routes::Routes,
};

/// How long another may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The ways to all other shards.
struct Others(Vec<Route>);

impl AskSiblings for Others {
    fn ask(&self, command: Document) -> Answers<'_> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(self.0.len());
            for route in &self.0 {
                answers.push(ask_one(route, &command).await?);
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

/// Those of a shard; `None`: it is the only one.
pub(super) fn siblings_of(routes: &Routes, shard: u32) -> Option<Siblings> {
    let others = routes.all().filter(|route| route.facts.number != shard);
    let others: Vec<_> = others.cloned().collect();
    (!others.is_empty()).then(|| Siblings::new(Others(others)))
}
