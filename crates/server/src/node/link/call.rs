//! What a node says when it calls another, and what it is answered.

use std::net::{IpAddr, SocketAddr};

use mongo::{KnownUser, Peer};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What the rest of the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// A client of the MongoDB API.
    Mongo,
    /// A client of the NoSQL API.
    Nosql,
    /// A request to the admin address.
    Admin,
    /// A request to the admin address, which the caller has let in.
    KnownAdmin,
    /// The caller asks for the databases of the NoSQL API that the shard has; nothing follows but the
    /// answer.
    Databases,
    /// The same for offers.
    Offers,
    /// A client of the NoSQL API whom the caller knows, and who may only read.
    NosqlReader,
    /// The same, who may write.
    NosqlWriter,
    /// One command for the MongoDB API, of somebody whom the caller knows.
    Command,
    /// The caller asks for users and roles of the MongoDB API, which the first shard has: the mark of what it
    /// knows follows, and the answer.
    Users,
    /// The same; the answer comes when they change, or after a while.
    UsersLater,
    /// Nothing: the node is to let others go first when the shard is free.
    HoldBack,
    /// Nothing: the node need not let others go first any more.
    GoFirst,
    /// Nothing: the data have another owner, or none, and the node is to look.
    Look,
    /// Nothing: an operator has the node own the shard. It claims the shard as for [`GoFirst`](Self::GoFirst),
    /// and keeps it.
    Keep,
    /// The caller asks how far the node is with each shard; nothing follows but the answer.
    Standing,
}

impl Purpose {
    /// Whether the call is all there is, and no stream follows.
    pub(crate) fn is_word(self) -> bool {
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

/// A client that is passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) client: SocketAddr,
    /// Whether it speaks TLS to the node that passes it on.
    pub(crate) secure: bool,
    /// What else that node knows of it; `None`: nothing.
    pub(crate) guest: Option<Guest>,
}

/// What a node knows of a client of the MongoDB API that it passes on. The node that is called believes it:
/// who calls knows the cluster's secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Guest {
    /// Who is logged in.
    pub(crate) user: Option<User>,
    /// The subject of the certificate that it has shown.
    pub(crate) certificate_subject: Option<String>,
    /// The address of the node at which it came in.
    pub(crate) reached_at: Option<IpAddr>,
    /// Whether clients of that node have to log in.
    pub(crate) has_to_log_in: bool,
}

/// [`KnownUser`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct User {
    user: String,
    database: String,
    id: [u8; 16],
}

impl Guest {
    /// A client, and who is logged in.
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

    /// Who it is to the MongoDB API, and who is logged in.
    pub(crate) fn into_peer(self, client: SocketAddr) -> (Peer, Option<KnownUser>) {
        let Self { user, certificate_subject, reached_at, has_to_log_in } = self;
        let user = user.map(|User { user, database, id }| KnownUser { user, database, id });
        let address = client.to_string();
        (Peer { address, certificate_subject, reached_at, has_to_log_in }, user)
    }
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Call {
    /// Which cluster the caller means.
    pub(crate) cluster: Uuid,
    /// Which shard it is about.
    #[serde(default)]
    pub(crate) shard: u32,
    /// What the stream is.
    pub(crate) purpose: Purpose,
    /// The client's address; `None`: the caller itself.
    pub(crate) client: Option<SocketAddr>,
    /// Whether the client speaks TLS to the caller.
    pub(crate) secure: bool,
    /// What the caller knows of a client of the MongoDB API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) guest: Option<Guest>,
    /// Whether the caller's admin address asks nobody who they are.
    pub(crate) open: bool,
    /// Made for this call, in hexadecimal digits.
    pub(crate) nonce: String,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The stream is served from here on.
    Served = 0,
    /// This node does not own the data.
    NotOwner = 1,
    /// It is a node of another cluster.
    OtherCluster = 2,
    /// This node's admin address asks who people are, or does not, unlike the caller's.
    OtherAccess = 3,
    /// That API is off here.
    Off = 4,
}

impl Verdict {
    /// Reads the byte of an answer.
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
            has_to_log_in: true,
        };
        let user = KnownUser { user: "ann".to_owned(), database: "admin".to_owned(), id: [7; 16] };
        for user in [None, Some(user)] {
            let told = serde_json::to_string(&Guest::of(&peer, user.as_ref())).unwrap();
            let heard: Guest = serde_json::from_str(&told).unwrap();
            let client = peer.address.parse().unwrap();
            assert_eq!(heard.into_peer(client), (peer.clone(), user));
        }
        // A call of which nothing is known.
        let told = r#"{"cluster": "00000000-0000-0000-0000-000000000001", "purpose": "mongo",
            "client": null, "secure": false, "open": false, "nonce": ""}"#;
        assert_eq!(serde_json::from_str::<Call>(told).unwrap().guest, None);
    }
}
