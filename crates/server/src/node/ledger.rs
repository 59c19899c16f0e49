//! The cluster's ledger in Cassandra: connecting to it, its record, and making a new one.

use std::{fs, time::Duration};

use bytes::Bytes;
use cluster::{ClusterRecord, Ledger, Reply, Request, Swapped, Unanswered};
use journal_cassandra::{CassandraLedger, Options, Replication};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{
    background,
    config::{ClockMode, ClusterConfig},
    data_dir::Refused,
    failure::{Failure, failed},
    nosql::random_bytes,
};

/// The format of records and entries that this version writes and reads.
const FORMAT: u32 = 1;
/// How often the cluster's record is asked for, and the pause between.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_millis(500);

/// A cluster that is to be made.
#[derive(Clone, Debug)]
pub struct NewCluster {
    /// Where Cassandra is; of the node's own settings nothing is used.
    pub at: ClusterConfig,
    /// The datacenter that holds the copies; `None`: any node.
    pub datacenter: Option<String>,
    /// How many copies.
    pub copies: u32,
    /// How the cluster's clock moves.
    pub clock: ClockMode,
}

fn options_of(config: &ClusterConfig) -> Result<Options, Failure> {
    let mut options = Options::new(config.contact_points.clone(), config.keyspace.clone());
    options.datacenter.clone_from(&config.datacenter);
    options.accept_unsynced = config.accept_unsynced;
    if let Some((user, file)) = &config.login {
        let password = fs::read_to_string(file).map_err(|error| {
            Failure::Usage(format!("--cassandra-password-file {}: {error}", file.display()))
        })?;
        options.login = Some((user.clone(), password.trim_end_matches(['\r', '\n']).to_owned()));
    }
    Ok(options)
}

/// What the operator can repair is refused, what may pass by itself has failed.
fn ledger_failure(error: store::Error) -> Failure {
    match error.kind {
        store::Kind::Refused | store::Kind::Corrupt => {
            Failure::Refused(Refused::Unusable(error.to_string()))
        }
        store::Kind::Invalid => Failure::Usage(error.to_string()),
        store::Kind::Full
        | store::Kind::Unavailable
        | store::Kind::Reopened
        | store::Kind::Moved => failed(error),
    }
}

/// The cluster's ledger, with a runtime of its own for its connections: beats of the lease do not wait
/// for workers that clients keep busy.
pub(crate) struct Connected {
    ledger: CassandraLedger,
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
}

impl Ledger for Connected {
    fn execute(&self, request: Request) -> impl Future<Output = Result<Reply, Unanswered>> + Send {
        self.ledger.execute(request)
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Without waiting: it may be dropped by a task of another one.
            runtime.shutdown_background();
        }
    }
}

/// Connects to the cluster's ledger.
pub(crate) async fn connect(config: &ClusterConfig) -> Result<Connected, Failure> {
    let options = options_of(config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("cassandra")
        .enable_all()
        .build()
        .map_err(failed)?;
    // Its connections live where they are made.
    let connected = runtime.spawn(async move { CassandraLedger::connect(&options).await }).await;
    match connected.map_err(failed).and_then(|connected| connected.map_err(ledger_failure)) {
        Ok(ledger) => Ok(Connected { ledger, runtime: Some(runtime) }),
        Err(failure) => {
            runtime.shutdown_background();
            Err(failure)
        }
    }
}

/// Makes keyspace, tables and the record of a cluster; refuses where there is one. What an attempt
/// before left half done is finished. Returns the cluster's id.
pub fn init_cluster(new: &NewCluster) -> Result<Uuid, Failure> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(init(new))
}

async fn init(new: &NewCluster) -> Result<Uuid, Failure> {
    let options = options_of(&new.at)?;
    let replication = match &new.datacenter {
        Some(name) => Replication::Datacenter(name.clone(), new.copies),
        None => Replication::Simple(new.copies),
    };
    CassandraLedger::create(&options, &replication).await.map_err(ledger_failure)?;
    // Its settings are checked before anything is in it.
    let ledger = CassandraLedger::connect(&options).await.map_err(ledger_failure)?;
    let record = ClusterRecord {
        format: FORMAT,
        id: Uuid::new_v4(),
        shards: 1,
        clock: match new.clock {
            ClockMode::System => "system".to_owned(),
            ClockMode::Manual => "manual".to_owned(),
        },
        secret: Bytes::copy_from_slice(&random_bytes().map_err(failed)?),
    };
    let made = ledger.execute(Request::MakeCluster(record.clone())).await;
    match made.map_err(failed)? {
        Reply::Swapped(Swapped::Done) => Ok(record.id),
        _ => Err(Failure::Refused(Refused::Unusable(format!(
            "the keyspace {} holds a cluster already: start nodes on it, or give another keyspace",
            new.at.keyspace
        )))),
    }
}

/// Reads the cluster's record. Without an answer it asks again for a while: all machines may be
/// starting at once.
pub(super) async fn read_cluster<L: Ledger>(ledger: &L) -> Result<ClusterRecord, Failure> {
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        match ledger.execute(Request::ReadCluster).await {
            Ok(Reply::Cluster(Some(record))) => return check_cluster(record),
            Ok(_) => {
                return Err(Failure::Refused(Refused::Unusable(
                    "the keyspace holds no cluster: make one with 'ebb admin cluster init'"
                        .to_owned(),
                )));
            }
            Err(unanswered) => last = unanswered.to_string(),
        }
        background::wait_for(PAUSE).await;
    }
    Err(Failure::Failed(format!("the cluster's record cannot be read: {last}")))
}

/// Refuses a record that another version wrote.
fn check_cluster(record: ClusterRecord) -> Result<ClusterRecord, Failure> {
    let refused = |why: String| Err(Failure::Refused(Refused::Unusable(why)));
    if record.format != FORMAT {
        return refused(format!(
            "the cluster has format {}, and this version knows {FORMAT}: start the version that \
             the other nodes have",
            record.format
        ));
    }
    if record.shards != 1 {
        return refused(format!("the cluster has {} shards, and this version one", record.shards));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use cluster::MemoryLedger;

    use super::*;

    #[tokio::test]
    async fn a_record_of_another_kind_is_refused() {
        let record = |format, shards| ClusterRecord {
            format,
            id: Uuid::from_u128(1),
            shards,
            clock: "system".to_owned(),
            secret: Bytes::from_static(&[7; 32]),
        };
        for (made, want) in [
            (None, "cluster init"),
            (Some(record(2, 1)), "format 2"),
            (Some(record(1, 2)), "2 shards"),
        ] {
            let ledger = MemoryLedger::new();
            if let Some(record) = made {
                ledger.execute(Request::MakeCluster(record)).await.unwrap();
            }
            let refusal = read_cluster(&ledger).await.unwrap_err();
            assert!(matches!(refusal, Failure::Refused(_)));
            assert!(refusal.to_string().contains(want), "{refusal}");
        }
        let ledger = MemoryLedger::new();
        ledger.execute(Request::MakeCluster(record(1, 1))).await.unwrap();
        assert_eq!(read_cluster(&ledger).await.unwrap(), record(1, 1));
    }
}
