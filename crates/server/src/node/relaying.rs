//! The APIs of all shards as the portal of a node calls them: whoever serves a shard answers, here or at
//! another node, which takes this one's word for who asks.
//!
//! ```text
//! caller → called   length (u32), who asks and which database as JSON, length (u32), the command
//! called → caller   what came of it (1 byte), length (u32), the reply or why there is none
//! ```

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use auth::Right;
use axum::{
    body::Body,
    http::{HeaderValue, Request, StatusCode, header::HOST},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use cosmos::{Duplex, Home};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use mongo::{NoReply, Sender};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    known_admin,
    link::Purpose,
    route::{Passage, Way},
    routes::Routes,
};
use crate::{
    relayed::{Elsewhere, Relay},
    term::Term,
};

/// Bytes of what is said in one piece at the most: a message of the MongoDB API.
const PIECE_MAX: usize = 48 << 20;
/// For whom a call is made whose sender is told within.
const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The APIs of all shards.
pub(super) fn of(routes: Routes) -> Arc<dyn Relay> {
    Arc::new(Relaying(routes))
}

struct Relaying(Routes);

impl Relay for Relaying {
    fn nosql(&self, right: Right, request: Request<Bytes>) -> Elsewhere<'_, Option<Response>> {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let home = Home::of_request(&head.method, &head.headers, &head.uri, &body);
            let request = Request::from_parts(head, body);
            let purpose = match right {
                Right::Read => Purpose::NosqlReader,
                Right::Write => Purpose::NosqlWriter,
            };
            let route = self.0.shard(self.0.home_of(&home))?;
            match route.find(purpose, NOBODY, false).await {
                Some(Way::Here(term)) => {
                    let door = term.shared.doors.cosmos.clone()?;
                    Some(door.relay(right, request).await.map(Body::new))
                }
                Some(Way::There(passage)) => {
                    let sent = send(passage, request).await;
                    Some(sent.unwrap_or_else(|| StatusCode::SERVICE_UNAVAILABLE.into_response()))
                }
                None => Some(StatusCode::SERVICE_UNAVAILABLE.into_response()),
            }
        })
    }

    fn admin(&self, request: Request<Body>, here: Next) -> Elsewhere<'_, Response> {
        Box::pin(known_admin::answer(&self.0, request, here))
    }

    fn mongo(
        &self,
        sender: Sender,
        database: String,
        command: Bytes,
    ) -> Elsewhere<'_, Option<Result<Bytes, NoReply>>> {
        Box::pin(async move {
            let shard = match mongo::home_of_command(&database, &command) {
                Some(about) => self.0.home(&about),
                None => self.0.any_shard(),
            };
            match self.0.shard(shard)?.find(Purpose::Command, NOBODY, false).await {
                Some(Way::Here(term)) => {
                    let door = term.shared.doors.mongo.clone()?;
                    Some(door.relay(sender, &database, &command).await)
                }
                Some(Way::There(passage)) => {
                    let (stream, _place) = passage.into_stream();
                    // What became of it is not known where that fails.
                    let asked = ask(stream, &Asked::of(&sender, database), &command).await;
                    Some(asked.unwrap_or(Err(NoReply::Closed)))
                }
                None => Some(Err(NoReply::Closed)),
            }
        })
    }
}

/// Sends a request on a connection of its own.
async fn send(passage: Passage, request: Request<Bytes>) -> Option<Response> {
    let (stream, place) = passage.into_stream();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    // It ends with the answer's body, or when nobody wants it any more.
    tokio::spawn(async move {
        let _ = connection.await;
        drop(place);
    });
    let mut request = request.map(Full::new);
    request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("localhost"));
    Some(sender.send_request(request).await.ok()?.map(Body::new))
}

/// Who asks, and for what.
#[derive(Debug, Deserialize, Serialize)]
struct Asked {
    writes: bool,
    peer: String,
    session: [u8; 32],
    database: String,
}

impl Asked {
    fn of(sender: &Sender, database: String) -> Self {
        let writes = sender.right == mongo::Right::Write;
        Self { writes, peer: sender.peer.clone(), session: sender.session, database }
    }

    fn sender(&self) -> Sender {
        let right = if self.writes { mongo::Right::Write } else { mongo::Right::Read };
        Sender { right, peer: self.peer.clone(), session: self.session }
    }
}

async fn write_piece(stream: &mut (impl Duplex + ?Sized), piece: &[u8]) -> io::Result<()> {
    let length = u32::try_from(piece.len()).map_err(io::Error::other)?;
    stream.write_u32(length).await?;
    stream.write_all(piece).await
}

async fn read_piece(stream: &mut (impl Duplex + ?Sized)) -> io::Result<Vec<u8>> {
    let length = stream.read_u32().await?;
    if usize::try_from(length).map_or(true, |length| PIECE_MAX < length) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a piece that is too long"));
    }
    // As it comes: a length alone takes no memory.
    let mut piece = Vec::new();
    let read = stream.take(u64::from(length)).read_to_end(&mut piece).await?;
    if u32::try_from(read).ok() != Some(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(piece)
}

/// Has another node run a command.
async fn ask(
    mut stream: Box<dyn Duplex>,
    asked: &Asked,
    command: &[u8],
) -> io::Result<Result<Bytes, NoReply>> {
    let about = serde_json::to_vec(asked).map_err(io::Error::other)?;
    write_piece(&mut *stream, &about).await?;
    write_piece(&mut *stream, command).await?;
    stream.flush().await?;
    let became = stream.read_u8().await?;
    let piece = read_piece(&mut *stream).await?;
    Ok(match became {
        0 => Ok(Bytes::from(piece)),
        1 => Err(NoReply::Malformed(String::from_utf8_lossy(&piece).into_owned())),
        2 => Err(NoReply::TooLarge),
        _ => Err(NoReply::Closed),
    })
}

/// Runs a command for another node.
pub(super) async fn run_command(term: &Term, mut stream: Box<dyn Duplex>) {
    let Some(door) = term.shared.doors.mongo.clone() else { return };
    let heard = async {
        let about = read_piece(&mut *stream).await?;
        let asked: Asked = serde_json::from_slice(&about).map_err(io::Error::other)?;
        Ok::<_, io::Error>((asked, read_piece(&mut *stream).await?))
    };
    let Ok((asked, command)) = heard.await else { return };
    let mut left = [0];
    let ran = tokio::select! {
        ran = door.relay(asked.sender(), &asked.database, &command) => ran,
        // The caller has left: nobody wants it. What writes is finished all the same.
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
        write_piece(&mut *stream, &piece).await?;
        stream.flush().await
    };
    // Whoever asked finds that the answer is not whole.
    let _ = answered.await;
}
