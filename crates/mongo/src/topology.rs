//! Topology as which the server presents itself to drivers. They decide by it whether to number
//! their writes, to use transactions and change streams, and which addresses to connect to.

/// How the server presents itself to drivers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// The server presents itself as a standalone `mongod`.
    #[default]
    Standalone,
    /// A `mongos` router, one of possibly several in front of a cluster. Drivers number their
    /// writes (`txnNumber`) and may repeat an unacknowledged write, even through another router.
    Router,
    /// The only member of a replica set. Drivers number their writes, and connect to the address
    /// that the server reports, whichever address they were given.
    ReplicaSet(ReplicaSetSettings),
}

/// The settings of a replica set whose only member is this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSetSettings {
    /// Name of the set, which drivers compare with `replicaSet`.
    pub name: String,
    /// The address, `host:port`, to which drivers connect; `None` for the one of the configuration
    /// that a client sends, or the address that the server listens on.
    pub advertise: Option<String>,
}

impl Topology {
    /// Returns whether the server accepts commands with a `txnNumber`. Drivers number the writes
    /// that they send to anything but a standalone server.
    pub(crate) fn accepts_numbers(&self) -> bool {
        *self != Self::Standalone
    }
}
