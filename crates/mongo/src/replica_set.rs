//! The replica set that the server presents itself as: its only member, the member's term and the
//! set's configuration. They are kept among the engine's records, so that backups contain them.
//!
//! Drivers take a primary with a smaller term than one that they have seen for an outdated one, for
//! as long as the client lives. The term therefore rises with each start, also after a restore of an
//! older backup and in a new data directory: it is the second of the start by the machine's clock,
//! or one more than the last term.

use document::{Document, ObjectId, Value, doc};
use engine::{ClusterTime, Engine, Expected};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{
    errors::{AlreadyInitialized, Error, Result},
    topology::ReplicaSetSettings,
};

/// Path of the set among the engine's records. No API uses a path that starts like this.
const RECORD: [&str; 2] = ["_ebb", "replica_set"];

/// First bytes of an `electionId`, before the term.
const ELECTION: [u8; 4] = [0x7f, 0xff, 0xff, 0xff];

/// The only member of the set, and the set's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// The address, `host:port`, to which drivers connect.
    pub(crate) host: String,
    /// The address that a client has configured, if any.
    configured_host: Option<String>,
    pub(crate) term: i64,
    /// The version of the configuration; each reconfiguration raises it by one.
    pub(crate) version: i32,
    /// The set's own id, `replicaSetId` in the configuration.
    pub(crate) set_id: ObjectId,
    /// Whether a client has initiated the set. The server works without that, but tools that start
    /// a set have to see that they were the first.
    is_initiated: bool,
    /// Cluster time of the member's election, which took place when the server started.
    pub(crate) elected: ClusterTime,
}

impl Member {
    /// Returns the member of a new set.
    fn new(host: String) -> Self {
        Self {
            host,
            configured_host: None,
            term: clock::wall_ms() / 1000,
            version: 1,
            set_id: ObjectId(std::array::from_fn(|_| fastrand::u8(..))),
            is_initiated: false,
            elected: ClusterTime::MIN,
        }
    }

    /// Returns the `electionId` of the member's term.
    pub(crate) fn election_id(&self) -> ObjectId {
        let mut id = [0; 12];
        let (election, term) = id.split_at_mut(ELECTION.len());
        election.copy_from_slice(&ELECTION);
        term.copy_from_slice(&self.term.to_be_bytes());
        ObjectId(id)
    }

    /// Returns the member in stored form.
    fn stored(&self) -> Document {
        let mut stored = doc! {
            "term": self.term,
            "version": self.version,
            "set_id": Value::ObjectId(self.set_id),
            "initiated": self.is_initiated,
        };
        if let Some(host) = &self.configured_host {
            stored.push("host", host.as_str());
        }
        stored
    }

    /// Takes over what an earlier start has stored, except the address if a setting gives it.
    fn continue_from(&mut self, stored: &Document, has_address: bool) {
        if let Some(Value::Int64(term)) = stored.get("term") {
            self.term = self.term.max(term.saturating_add(1));
        }
        if let Some(Value::Int32(version)) = stored.get("version") {
            self.version = *version;
        }
        if let Some(Value::ObjectId(id)) = stored.get("set_id") {
            self.set_id = *id;
        }
        self.is_initiated = stored.get("initiated") == Some(&Value::Bool(true));
        if let Some(Value::String(host)) = stored.get("host") {
            self.configured_host = Some(host.clone());
            if !has_address {
                self.host.clone_from(host);
            }
        }
    }
}

/// A replica set whose only member is this server.
#[derive(Debug)]
pub(crate) struct ReplicaSet {
    settings: ReplicaSetSettings,
    member: Mutex<Member>,
    /// Serializes changes of the configuration, so that each is stored before the next begins.
    changing: tokio::sync::Mutex<()>,
    /// Number of changes since the start, which is the counter of `topologyVersion`.
    changes: watch::Sender<i64>,
}

impl ReplicaSet {
    /// Creates the set. `bound` is the address that the server listens on.
    pub(crate) fn new(settings: ReplicaSetSettings, bound: &str) -> Self {
        let host = settings.advertise.clone().unwrap_or_else(|| reachable(bound));
        Self {
            settings,
            member: Mutex::new(Member::new(host.to_lowercase())),
            changing: tokio::sync::Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// Returns the name of the set.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Returns the member as it is now.
    pub(crate) fn member(&self) -> Member {
        self.member.lock().clone()
    }

    /// Returns the counter of `topologyVersion`.
    pub(crate) fn changes(&self) -> i64 {
        *self.changes.borrow()
    }

    /// Waits until the counter of `topologyVersion` is larger than this.
    pub(crate) async fn until_changed(&self, from: i64) {
        // Cannot fail, since this set holds the sender.
        let _ = self.changes.subscribe().wait_for(|counter| from < *counter).await;
    }

    /// Begins a new term, which follows the last one that was stored.
    ///
    /// A term that cannot be stored, for example on a full disk, is used all the same: by the
    /// machine's clock it is larger than earlier ones.
    pub(crate) async fn begin_term(&self, engine: &Engine) {
        let _one = self.changing.lock().await;
        let mut member = self.member();
        if let Some(stored) = engine.resource_at(&RECORD) {
            member.continue_from(&stored.body, self.settings.advertise.is_some());
        }
        if let Err(error) = store(engine, &member).await {
            tracing::warn!(error = error.message, "cannot store the term of the replica set");
        }
        member.elected = engine.cluster_time();
        tracing::info!(
            set = self.name(),
            host = member.host,
            "a replica set of one: drivers connect to this address, whichever one they were given"
        );
        *self.member.lock() = member;
    }

    /// Initiates the set, with this address of its member. Fails with 23 if it was initiated
    /// before.
    pub(crate) async fn initiate(&self, engine: &Engine, host: Option<String>) -> Result<()> {
        let _one = self.changing.lock().await;
        let mut member = self.member();
        if member.is_initiated {
            return Err(Error::new(AlreadyInitialized, "already initialized"));
        }
        member.is_initiated = true;
        self.configure(engine, member, host).await
    }

    /// Replaces the configuration. `choose` returns the new version and the address of the member,
    /// or an error that leaves the configuration unchanged.
    pub(crate) async fn reconfigure(
        &self,
        engine: &Engine,
        choose: impl FnOnce(&Member) -> Result<(i32, String)>,
    ) -> Result<()> {
        let _one = self.changing.lock().await;
        let mut member = self.member();
        let (version, host) = choose(&member)?;
        member.version = version;
        self.configure(engine, member, Some(host)).await
    }

    /// Stores a configuration and puts it into effect. An address from the settings stays.
    async fn configure(
        &self,
        engine: &Engine,
        mut member: Member,
        host: Option<String>,
    ) -> Result<()> {
        if let Some(host) = host.map(|host| host.to_lowercase()) {
            if self.settings.advertise.is_none() {
                member.host.clone_from(&host);
            }
            member.configured_host = Some(host);
        }
        store(engine, &member).await?;
        *self.member.lock() = member;
        self.changes.send_modify(|counter| *counter += 1);
        Ok(())
    }
}

/// Stores the member. The caller holds the lock on changes.
async fn store(engine: &Engine, member: &Member) -> std::result::Result<(), engine::Error> {
    let is_there = engine.resource_at(&RECORD).is_some();
    let expected = if is_there { Expected::Present } else { Expected::Absent };
    engine.put_resource(&RECORD, member.stored(), expected).await?;
    Ok(())
}

/// Returns the address at which clients on this machine reach a server that listens on `bound`.
fn reachable(bound: &str) -> String {
    match bound.rsplit_once(':') {
        Some(("0.0.0.0" | "[::]", port)) => format!("localhost:{port}"),
        _ => bound.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(host: &str) -> Member {
        Member { term: 7, ..Member::new(host.to_owned()) }
    }

    #[test]
    fn an_election_id_holds_the_term() {
        assert_eq!(member("a:1").election_id().to_string(), "7fffffff0000000000000007");
    }

    #[test]
    fn a_term_follows_the_last_one_and_a_given_address_stays() {
        let stored = Member {
            term: i64::MAX - 1,
            version: 3,
            is_initiated: true,
            configured_host: Some("b:2".to_owned()),
            ..member("b:2")
        };
        for (has_address, host) in [(false, "b:2"), (true, "a:1")] {
            let mut next = member("a:1");
            next.continue_from(&stored.stored(), has_address);
            assert_eq!(next, Member { term: i64::MAX, host: host.to_owned(), ..stored.clone() });
        }
        // A term of the future is not lowered.
        let mut next = Member { term: 100, ..member("a:1") };
        next.continue_from(&member("b:2").stored(), false);
        assert_eq!((next.term, next.host.as_str()), (100, "a:1"));
    }

    #[test]
    fn an_address_that_means_all_interfaces_is_reached_as_localhost() {
        for (bound, host) in [
            ("0.0.0.0:27017", "localhost:27017"),
            ("[::]:5", "localhost:5"),
            ("127.0.0.1:5", "127.0.0.1:5"),
            ("db.example:5", "db.example:5"),
        ] {
            assert_eq!(reachable(bound), host);
        }
    }
}
