//! The identity of a connection's peer, as the listener knows it: its address, and what the client
//! proved in the TLS handshake. This module depends on neither sockets nor certificates.

use std::net::IpAddr;

/// The other side of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Address of the peer, `host:port`, for logs, `currentOp`, and users' authentication
    /// restrictions.
    pub address: String,
    /// The subject of the peer's verified certificate, in the form of RFC 2253: `CN=ann,OU=x,O=y`;
    /// `None` without a certificate.
    pub certificate_subject: Option<String>,
    /// The server's own address on this connection, for users' authentication restrictions.
    pub reached_at: Option<IpAddr>,
    /// The server name that the client sent in the TLS handshake.
    pub reached_name: Option<String>,
    /// Whether the server that forwards the client requires a login. If so, this server requires
    /// it, too.
    pub has_to_log_in: bool,
}

impl From<String> for Peer {
    /// Creates a peer with this address and without a certificate.
    fn from(address: String) -> Self {
        Self { address, ..Self::default() }
    }
}
