//! Calls of a node's portal to the APIs of all shards: the owner of a shard answers, here or on
//! another node, which trusts this one's authorization of the sender.
//!
//! ```text
//! caller → called   length (u32), sender and database as JSON, length (u32), the command
//! called → caller   outcome (1 byte), length (u32), the reply or the reason for none
//! ```

use std::{io, sync::Arc};

use admin::relayed::{Elsewhere, Relay};
use auth::Right;
use axum::{
    body::Body,
    http::{HeaderValue, Request, StatusCode, header::HOST},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use cosmos::{Duplex, Home};
use memory::{Account, Share};
use mongo::{NoReply, Sender};
use serde::{Deserialize, Serialize};
use server::ServingTerm;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    copy_guard, known_admin,
    link::{Purpose, read_frame, write_frame},
    route::{Destination, NO_CLIENT},
    routes::Routes,
};

/// Returns the relay to all shards.
pub(super) fn of(routes: Routes, memory: Account) -> Arc<dyn Relay> {
    Arc::new(ShardRelay { routes, memory })
}

struct ShardRelay {
    routes: Routes,
    /// Account for replies of other nodes.
    memory: Account,
}

impl Relay for ShardRelay {
    fn nosql(&self, right: Right, request: Request<Bytes>) -> Elsewhere<'_, Option<Response>> {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let home = Home::of_request(&head.method, &head.headers, &head.uri, &body);
            let request = Request::from_parts(head, body);
            let purpose = match right {
                Right::Read => Purpose::NosqlReader,
                Right::Write => Purpose::NosqlWriter,
            };
            let route = self.routes.shard(self.routes.home_of(&home))?;
            match route.find(purpose, NO_CLIENT, false).await {
                Some(Destination::Here(term)) => {
                    let api = term.shared.apis.cosmos.clone()?;
                    Some(api.relay(right, request).await.map(Body::new))
                }
                Some(Destination::There(passage)) => {
                    let mut request = request.map(Body::from);
                    let host = HeaderValue::from_static("localhost");
                    request.headers_mut().entry(HOST).or_insert(host);
                    let sent = passage.exchange(request).await;
                    Some(sent.unwrap_or_else(|| StatusCode::SERVICE_UNAVAILABLE.into_response()))
                }
                None => Some(StatusCode::SERVICE_UNAVAILABLE.into_response()),
            }
        })
    }

    fn admin(&self, request: Request<Body>, here: Next) -> Elsewhere<'_, Response> {
        Box::pin(known_admin::answer(&self.routes, request, here))
    }

    fn mongo(
        &self,
        sender: Sender,
        database: String,
        command: Bytes,
    ) -> Elsewhere<'_, Option<Result<Bytes, NoReply>>> {
        Box::pin(async move {
            let shard = match mongo::home_of_command(&database, &command) {
                Some(about) => self.routes.home(&about),
                None => self.routes.any_shard(),
            };
            match self.routes.shard(shard)?.find(Purpose::Command, NO_CLIENT, false).await {
                Some(Destination::Here(term)) => {
                    let api = term.shared.apis.mongo.clone()?;
                    Some(api.relay(sender, &database, &command).await)
                }
                Some(Destination::There(passage)) => {
                    let (stream, _place) = passage.into_stream();
                    // If the request fails from here on, the outcome of the command is unknown.
                    let asked = CommandSource::of(&sender, database);
                    let asked = ask(stream, (&asked, &command), &mut self.memory.share()).await;
                    Some(asked.unwrap_or(Err(NoReply::Closed)))
                }
                None => Some(Err(NoReply::Closed)),
            }
        })
    }

    fn problems(&self) -> Vec<String> {
        let cluster_state = self.routes.cluster_state();
        let duplicates = cluster_state.duplicates().into_iter();
        duplicates
            .map(|node| format!("node {}: {}", cluster_state.name_of(node), copy_guard::WHAT))
            .collect()
    }
}

/// Sender and database of a command.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct CommandSource {
    writes: bool,
    peer: String,
    session: [u8; 32],
    database: String,
}

impl CommandSource {
    pub(super) fn of(sender: &Sender, database: String) -> Self {
        let writes = sender.right == mongo::Right::Write;
        Self { writes, peer: sender.peer.clone(), session: sender.session, database }
    }

    fn sender(&self) -> Sender {
        let right = if self.writes { mongo::Right::Write } else { mongo::Right::Read };
        Sender { right, peer: self.peer.clone(), session: self.session }
    }
}

/// Runs a command on another node; the memory of the reply is charged to `held`.
pub(super) async fn ask(
    mut stream: Box<dyn Duplex>,
    (asked, command): (&CommandSource, &[u8]),
    held: &mut Share,
) -> io::Result<Result<Bytes, NoReply>> {
    let about = serde_json::to_vec(asked).map_err(io::Error::other)?;
    write_frame(&mut *stream, &about).await?;
    write_frame(&mut *stream, command).await?;
    stream.flush().await?;
    let became = stream.read_u8().await?;
    let piece = read_frame(&mut *stream, held).await?;
    Ok(match became {
        0 => Ok(Bytes::from(piece)),
        1 => Err(NoReply::Malformed(String::from_utf8_lossy(&piece).into_owned())),
        2 => Err(NoReply::TooLarge),
        _ => Err(NoReply::Closed),
    })
}

/// Runs a command for another node.
pub(super) async fn run_command(term: &ServingTerm, mut stream: Box<dyn Duplex>) {
    let Some(api) = term.shared.apis.mongo.clone() else { return };
    let mut held = term.shared.memory.share();
    let heard = async {
        let about = read_frame(&mut *stream, &mut held).await?;
        let asked: CommandSource = serde_json::from_slice(&about).map_err(io::Error::other)?;
        Ok::<_, io::Error>((asked, read_frame(&mut *stream, &mut held).await?))
    };
    let Ok((asked, command)) = heard.await else { return };
    let mut left = [0];
    let ran = tokio::select! {
        ran = api.relay(asked.sender(), &asked.database, &command) => ran,
        // The caller has disconnected, so reads are aborted. Writes are completed all the same.
        _ = stream.read(&mut left) => return,
    };
    let (became, piece) = match ran {
        Ok(reply) => (0, reply),
        Err(NoReply::Malformed(why)) => (1, Bytes::from(why)),
        Err(NoReply::TooLarge) => (2, Bytes::new()),
        Err(NoReply::Closed) => (3, Bytes::new()),
    };
    let answered = async {
        stream.write_u8(became).await?;
        write_frame(&mut *stream, &piece).await?;
        stream.flush().await
    };
    // On failure the caller finds the reply incomplete.
    let _ = answered.await;
}
