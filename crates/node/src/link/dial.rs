//! Calls another node and returns the stream to it if the call is accepted.

use std::{io, time::Duration};

use auth::Key;
use cosmos::Duplex;
use server_base::random::random_bytes;
use tokio::net::TcpStream;
use uuid::Uuid;

use super::{
    alive::keep_alive,
    call::{Call, CallReply, ForwardedClient, Purpose},
    handshake,
    tls::LinkTls,
};

/// Time limit of a call.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) enum Unreached {
    /// The node did not answer, or its answer was not from a member of this cluster.
    Silent(io::Error),
    /// The node refused the call with this verdict.
    Refused(CallReply),
}

/// Common parameters of a node's calls about a shard.
#[derive(Clone)]
pub(crate) struct Dialer {
    pub(crate) cluster: Uuid,
    /// The shard that calls are for.
    pub(crate) shard: u32,
    pub(crate) key: Key,
    /// TLS of the link; `None` for connections without TLS, between nodes of one machine.
    pub(crate) tls: Option<LinkTls>,
    /// Whether this node's admin address is open without authentication.
    pub(crate) open: bool,
}

impl Dialer {
    /// Calls the node at this address; the returned stream then carries the forwarded client.
    pub(crate) async fn call(
        &self,
        address: &str,
        purpose: Purpose,
        passed: Option<&ForwardedClient>,
    ) -> Result<Box<dyn Duplex>, Unreached> {
        let called = async {
            let stream = TcpStream::connect(address).await.map_err(Unreached::Silent)?;
            // Messages are written whole; Nagle's algorithm would only delay them.
            let _ = stream.set_nodelay(true);
            keep_alive(&stream).map_err(Unreached::Silent)?;
            let mut stream: Box<dyn Duplex> = match &self.tls {
                Some(tls) => {
                    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
                    let host = host.trim_start_matches('[').trim_end_matches(']');
                    tls.connect(host, stream).await.map_err(Unreached::Silent)?
                }
                None => Box::new(stream),
            };
            let nonce = random_bytes().map_err(Unreached::Silent)?;
            let nonce = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
            let Self { cluster, shard, open, .. } = *self;
            let call = Call {
                cluster,
                shard,
                purpose,
                client: passed.map(|passed| passed.client),
                secure: passed.is_some_and(|passed| passed.secure),
                guest: passed.and_then(|passed| passed.guest.clone()),
                open,
                nonce,
            };
            let verdict = handshake::call(&mut *stream, &call, &self.key).await;
            match verdict.map_err(Unreached::Silent)? {
                CallReply::Served => Ok(stream),
                verdict => Err(Unreached::Refused(verdict)),
            }
        };
        let late = |_| Unreached::Silent(io::ErrorKind::TimedOut.into());
        tokio::time::timeout(PATIENCE, called).await.map_err(late)?
    }
}
