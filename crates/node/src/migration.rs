//! Offline operations of an operator: creating a cluster, empty or from a directory; dumping its
//! data into a directory; verifying a stopped node's copy; forgetting a node; accepting the loss of
//! journal entries.
//! They use the ledger only and contact no node.

use std::path::{Path, PathBuf};

use cluster::{Ledger as _, Record, Reply, Request, Swapped};
use journal_cassandra::{CassandraLedger, Replication};
use server_base::{
    config::{ClockMode, ClusterConfig},
    data_dir::Refused,
    failure::{Failure, failed},
};
use store_shared::Loss;
use uuid::Uuid;

use super::{
    dump,
    forgetting::{self, RemovedNode},
    from_directory::{MigrationProgress, make_of_directory},
    ledger::{
        UNFINISHED, chosen_shard, connect, ledger_failure, new_record, options_of, read_cluster,
        unfinished,
    },
    loss_acceptance,
    verification::{self, NodeVerified},
};

/// Parameters of a new cluster.
#[derive(Clone, Debug)]
pub struct NewCluster {
    /// Contact points and credentials of Cassandra; settings of the node itself are ignored.
    pub at: ClusterConfig,
    /// Datacenter that holds the replicas; `None` for any node.
    pub datacenter: Option<String>,
    /// Number of replicas of the keyspace.
    pub copies: u32,
    /// Mode in which the cluster's clock advances.
    pub clock: ClockMode,
    /// Number of shards, 1 to 64; fixed for the cluster's lifetime.
    pub shards: u32,
    /// Data directory of a standalone server to start from; the cluster continues its clock.
    pub from: Option<PathBuf>,
}

/// Creates keyspace, tables and the record of a cluster, completing an interrupted attempt; returns
/// the cluster's id. Refuses if a cluster exists.
pub fn init_cluster(
    new: &NewCluster,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<Uuid, Failure> {
    block_on(init(new, report))
}

/// Dumps a shard, by default the only one, into the data directory of a standalone server; returns
/// the number of journal entries included.
pub fn dump_cluster(
    at: &ClusterConfig,
    shard: Option<u32>,
    directory: &Path,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<u64, Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        let shard = chosen_shard(&record, shard)?;
        dump::dump_cluster(&ledger, (&record, shard), directory, report).await
    })
}

/// Compares the copies in a stopped node's data directory with a replay of the cluster's journals,
/// for each shard.
pub fn verify_node(
    at: &ClusterConfig,
    directory: &Path,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<Vec<NodeVerified>, Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        verification::verify_node(&ledger, &record, directory, report).await
    })
}

/// Removes a permanently lost node, by name or id, from the cluster.
pub fn forget_node(at: &ClusterConfig, called: &str) -> Result<RemovedNode, Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        forgetting::forget(&ledger, &record, called, forgetting::silence()).await
    })
}

/// Lets a shard continue without the missing part of its journal, if `yes` confirms it. `report` is
/// called with a description of the loss.
pub fn accept_loss(
    at: &ClusterConfig,
    shard: u32,
    yes: bool,
    report: &mut (dyn FnMut(&Loss) + Send),
) -> Result<(), Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        let silence = forgetting::silence();
        loss_acceptance::accept_loss(&ledger, &record, shard, (yes, silence), report).await
    })
}

fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(failed)?.block_on(work)
}

async fn init(
    new: &NewCluster,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<Uuid, Failure> {
    let options = options_of(&new.at)?;
    // Reject an invalid number before anything is created.
    new_record(new.clock, new.shards)?;
    if new.from.is_some() && new.shards != 1 {
        return Err(Failure::Usage(format!(
            "a data directory can only become a cluster of one shard, not {}: its databases are \
             not distributed",
            new.shards
        )));
    }
    let replication = match &new.datacenter {
        Some(name) => Replication::Datacenter(name.clone(), new.copies),
        None => Replication::Simple(new.copies),
    };
    CassandraLedger::create(&options, &replication).await.map_err(ledger_failure)?;
    // Connecting checks the keyspace's settings before anything is stored.
    let ledger = connect(&new.at).await?;
    let keyspace = &new.at.keyspace;
    if let Some(path) = &new.from {
        return make_of_directory(&ledger, keyspace, path, report).await;
    }
    let record = new_record(new.clock, new.shards)?;
    let made = ledger.execute(Request::MakeCluster(record.clone())).await;
    match made.map_err(failed)? {
        Reply::Swapped(Swapped::Done) => Ok(record.id),
        Reply::Swapped(Swapped::Refused(Some(Record::Cluster(shown))))
            if shown.format == UNFINISHED =>
        {
            Err(unfinished())
        }
        _ => Err(Failure::Refused(Refused::Unusable(format!(
            "the keyspace {keyspace} already holds a cluster: start nodes on it, or choose another \
             keyspace"
        )))),
    }
}
