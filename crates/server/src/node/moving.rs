//! What an operator has done beside the nodes: a cluster made, empty or of a directory, its data written
//! as a directory, the copy of a stopped node verified, a node forgotten, and a loss accepted. None of it
//! asks a node for anything.

use std::path::{Path, PathBuf};

use cluster::{Ledger as _, Record, Reply, Request, Swapped};
use journal_cassandra::{CassandraLedger, Replication};
use store_shared::Loss;
use uuid::Uuid;

use super::{
    accepting, dump,
    forgetting::{self, Forgotten},
    from_directory::{Moved, make_of_directory},
    ledger::{
        UNFINISHED, chosen_shard, connect, ledger_failure, new_record, options_of, read_cluster,
        unfinished,
    },
    verifying::{self, NodeVerified},
};
use crate::{
    config::{ClockMode, ClusterConfig},
    data_dir::Refused,
    failure::{Failure, failed},
};

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
    /// How many shards, 1 to 64, for as long as it lives.
    pub shards: u32,
    /// The data directory of a server of its own that the cluster begins with; its clock is the
    /// cluster's then.
    pub from: Option<PathBuf>,
}

/// Makes keyspace, tables and the record of a cluster; refuses where there is one. What an attempt
/// before left half done is finished. Returns the cluster's id.
pub fn init_cluster(
    new: &NewCluster,
    tell: &mut (dyn FnMut(Moved) + Send),
) -> Result<Uuid, Failure> {
    block_on(init(new, tell))
}

/// Writes what a shard of a cluster has, the only one if none is named, as the data directory of a server
/// of its own; returns how many entries of the journal it has.
pub fn dump_cluster(
    at: &ClusterConfig,
    shard: Option<u32>,
    directory: &Path,
    tell: &mut (dyn FnMut(Moved) + Send),
) -> Result<u64, Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        let shard = chosen_shard(&record, shard)?;
        dump::dump_cluster(&ledger, (&record, shard), directory, tell).await
    })
}

/// Compares the copies of a node that is stopped, which has this data directory, with what the cluster's
/// journals make of nothing; one of each shard.
pub fn verify_node(
    at: &ClusterConfig,
    directory: &Path,
    tell: &mut (dyn FnMut(Moved) + Send),
) -> Result<Vec<NodeVerified>, Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        verifying::verify_node(&ledger, &record, directory, tell).await
    })
}

/// Takes a node that is gone for good, of this name or id, out of all lists.
pub fn forget_node(at: &ClusterConfig, called: &str) -> Result<Forgotten, Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        forgetting::forget(&ledger, &record, called, forgetting::silence()).await
    })
}

/// Goes on without what is missing in a shard's journal, if `yes`. `tell` hears what that is.
pub fn accept_loss(
    at: &ClusterConfig,
    shard: u32,
    yes: bool,
    tell: &mut (dyn FnMut(&Loss) + Send),
) -> Result<(), Failure> {
    block_on(async {
        let ledger = connect(at).await?;
        let record = read_cluster(&ledger).await?;
        let silence = forgetting::silence();
        accepting::accept_loss(&ledger, &record, shard, (yes, silence), tell).await
    })
}

fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(failed)?.block_on(work)
}

async fn init(new: &NewCluster, tell: &mut (dyn FnMut(Moved) + Send)) -> Result<Uuid, Failure> {
    let options = options_of(&new.at)?;
    // Nothing is made by a number that is refused.
    new_record(new.clock, new.shards)?;
    if new.from.is_some() && new.shards != 1 {
        return Err(Failure::Usage(format!(
            "a data directory becomes a cluster of one shard, and not of {}: its databases are not \
             spread",
            new.shards
        )));
    }
    let replication = match &new.datacenter {
        Some(name) => Replication::Datacenter(name.clone(), new.copies),
        None => Replication::Simple(new.copies),
    };
    CassandraLedger::create(&options, &replication).await.map_err(ledger_failure)?;
    // Its settings are checked before anything is in it.
    let ledger = connect(&new.at).await?;
    let keyspace = &new.at.keyspace;
    if let Some(path) = &new.from {
        return make_of_directory(&ledger, keyspace, path, tell).await;
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
            "the keyspace {keyspace} holds a cluster already: start nodes on it, or give another \
             keyspace"
        )))),
    }
}
