//! The message with which a call on the link begins, and the verdict of the called node.

use std::net::{IpAddr, SocketAddr};

use mongo::{KnownUser, Peer};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Purpose of a call, which determines the protocol on the rest of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// A client of the MongoDB API.
    Mongo,
    /// A client of the NoSQL API.
    Nosql,
    /// A request to the admin address.
    Admin,
    /// An admin request that the caller has authorized.
    KnownAdmin,
    /// Requests the shard's databases of the NoSQL API. The connection ends with the reply.
    Databases,
    /// Requests the throughput offers of the shard's databases and containers. The connection ends
    /// with the reply.
    Offers,
    /// A client of the NoSQL API that the caller has authorized to read.
    NosqlReader,
    /// A client of the NoSQL API that the caller has authorized to read and write.
    NosqlWriter,
    /// One command for the MongoDB API, of a sender that the caller has authorized.
    Command,
    /// Requests users and roles of the MongoDB API from the first shard: the version identifier of
    /// the caller's copy follows, then the reply.
    Users,
    /// Requests users and roles like `Users`, but the reply is delayed until they change, up to a
    /// time limit.
    UsersLater,
    /// Control message: leave the shard to other nodes when it becomes free to be claimed.
    HoldBack,
    /// Control message: claim the shard instead of leaving it to other nodes.
    GoFirst,
    /// Control message: the ownership of the shard has changed; read its record.
    Look,
    /// Control message: an operator assigns the shard to this node. The node claims the shard as
    /// for [`GoFirst`](Self::GoFirst), and placement then leaves the shard on this node.
    Keep,
    /// Requests the node's progress in each shard; only the reply follows.
    Standing,
}

impl Purpose {
    /// Returns whether the call is only a control message, after which no stream follows.
    pub(crate) fn is_control_message(self) -> bool {
        match self {
            Self::HoldBack | Self::GoFirst | Self::Look | Self::Keep => true,
            Self::Mongo
            | Self::Nosql
            | Self::Admin
            | Self::KnownAdmin
            | Self::Databases
            | Self::Offers
            | Self::NosqlReader
            | Self::NosqlWriter
            | Self::Command
            | Self::Users
            | Self::UsersLater
            | Self::Standing => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForwardedClient {
    pub(crate) client: SocketAddr,
    /// Whether the client's connection to the forwarding node uses TLS.
    pub(crate) secure: bool,
    /// User, certificate and address of a client of the MongoDB API; `None` for other clients.
    pub(crate) guest: Option<ForwardedLogin>,
}

/// Information about a forwarded client of the MongoDB API. The called node trusts it, because the
/// caller has proved knowledge of the cluster's secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct ForwardedLogin {
    pub(crate) user: Option<User>,
    /// Subject of the client's verified certificate.
    pub(crate) certificate_subject: Option<String>,
    /// Address at which the client connected to the calling node.
    pub(crate) reached_at: Option<IpAddr>,
    /// Whether clients of the calling node have to log in.
    pub(crate) has_to_log_in: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct User {
    user: String,
    database: String,
    id: [u8; 16],
}

impl ForwardedLogin {
    /// Returns the data about a client and its login that the called node needs.
    pub(crate) fn of(peer: &Peer, user: Option<&KnownUser>) -> Self {
        let user =
            user.cloned().map(|KnownUser { user, database, id }| User { user, database, id });
        Self {
            user,
            certificate_subject: peer.certificate_subject.clone(),
            reached_at: peer.reached_at,
            has_to_log_in: peer.has_to_log_in,
        }
    }

    /// Converts to the MongoDB API's peer and login.
    pub(crate) fn into_peer(self, client: SocketAddr) -> (Peer, Option<KnownUser>) {
        let Self { user, certificate_subject, reached_at, has_to_log_in } = self;
        let user = user.map(|User { user, database, id }| KnownUser { user, database, id });
        let address = client.to_string();
        // Handshake replies of a node of a cluster contain no address.
        let reached_name = None;
        (Peer { address, certificate_subject, reached_at, reached_name, has_to_log_in }, user)
    }
}

/// The first message of a call: the purpose of the stream, and the client for which it is opened.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Call {
    pub(crate) cluster: Uuid,
    /// The shard that the call is for.
    #[serde(default)]
    pub(crate) shard: u32,
    /// Purpose of the stream that follows the call.
    pub(crate) purpose: Purpose,
    /// Address of the client; `None` for calls of the node itself.
    pub(crate) client: Option<SocketAddr>,
    /// Whether the client's connection to the calling node uses TLS.
    pub(crate) secure: bool,
    /// User, certificate and address of a forwarded client of the MongoDB API; `None` for other
    /// calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) guest: Option<ForwardedLogin>,
    /// Whether the caller's admin address is open without authentication.
    pub(crate) open: bool,
    /// Random number of this call, hexadecimal.
    pub(crate) nonce: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallReply {
    Served = 0,
    /// The called node does not own the shard.
    NotOwner = 1,
    /// The called node belongs to another cluster.
    OtherCluster = 2,
    /// The called node's admin address is open without authentication, but the caller's is not.
    OtherAccess = 3,
    /// The requested API is off on the called node.
    Off = 4,
}

impl CallReply {
    /// Decodes the byte of a reply.
    pub(crate) fn of(byte: u8) -> Option<Self> {
        [Self::Served, Self::NotOwner, Self::OtherCluster, Self::OtherAccess, Self::Off]
            .into_iter()
            .find(|verdict| *verdict as u8 == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_is_the_same_client_at_the_node_that_is_called() {
        let peer = Peer {
            address: "10.0.0.7:5000".to_owned(),
            certificate_subject: Some("CN=ann".to_owned()),
            reached_at: Some([10, 0, 0, 1].into()),
            reached_name: None,
            has_to_log_in: true,
        };
        let user = KnownUser { user: "ann".to_owned(), database: "admin".to_owned(), id: [7; 16] };
        for user in [None, Some(user)] {
            let told = serde_json::to_string(&ForwardedLogin::of(&peer, user.as_ref())).unwrap();
            let heard: ForwardedLogin = serde_json::from_str(&told).unwrap();
            let client = peer.address.parse().unwrap();
            assert_eq!(heard.into_peer(client), (peer.clone(), user));
        }
        // The call of an older version, without `guest`.
        let told = r#"{"cluster": "00000000-0000-0000-0000-000000000001", "purpose": "mongo",
            "client": null, "secure": false, "open": false, "nonce": ""}"#;
        assert_eq!(serde_json::from_str::<Call>(told).unwrap().guest, None);
    }
}
