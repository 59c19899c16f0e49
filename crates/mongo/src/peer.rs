//! Whose connection it is, as whoever accepted it knows that: the address, and what the client has
//! proved of itself in the handshake of TLS. Sockets and certificates themselves are not known here.

use std::net::IpAddr;

/// The other side of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Its address, `host:port`, for logs, for `currentOp`, and for restrictions of users.
    pub address: String,
    /// The subject of the certificate that it has shown, in the form of RFC 2253: `CN=ann,OU=x,O=y`.
    /// `None`: it has shown none, or none that was checked.
    pub certificate_subject: Option<String>,
    /// The server's own address of this connection, for restrictions of users.
    pub reached_at: Option<IpAddr>,
    /// Whoever passes it on asks clients to log in, so that it has to whatever this server asks.
    pub has_to_log_in: bool,
}

impl From<String> for Peer {
    /// A client of this address that has shown no certificate.
    fn from(address: String) -> Self {
        Self { address, ..Self::default() }
    }
}
