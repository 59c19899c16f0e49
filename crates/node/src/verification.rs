//! Verifies the copy of a stopped node against a replay of the cluster's journal up to the copy's
//! last entry. It only reads Cassandra and the directory; other nodes may be running.

use std::{fs, io, path::Path};

use clock::Instant;
use cluster::{ClusterRecord, Ledger};
use engine::{CopyComparison, compare_copies};
use server::{plan_memory, store_options};
use server_base::{
    config::Config,
    data_dir::{DataDir, NODE_FILE, Refused},
    failure::{Failure, failed},
};
use store_shared::{CopyOptions, open_stopped};
use store_tree::TreeOptions;

use super::{
    dump::clock_of, from_directory::MigrationProgress, identity::open_identity,
    ledger::ledger_failure, start::store_folder,
};

/// Folder in the node's directory for the replayed store; deleted afterwards.
const REPLAYED: &str = "replayed";

/// Result of verifying a node's copy of a shard.
#[derive(Clone, Debug)]
pub struct NodeVerified {
    /// Number of the verified shard.
    pub shard: u32,
    /// Last journal entry that both copies include.
    pub entry: u64,
    /// Result of the comparison: numbers of rows, and differences.
    pub compared: CopyComparison,
}

/// Verifies the node with this data directory, shard by shard.
pub(super) async fn verify_node<L: Ledger>(
    ledger: &L,
    cluster: &ClusterRecord,
    path: &Path,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<Vec<NodeVerified>, Failure> {
    let refused =
        |why: &str| Failure::Refused(Refused::Unusable(format!("{} {why}", path.display())));
    if !path.join(NODE_FILE).exists() {
        return Err(refused("is not the data directory of a cluster node"));
    }
    let directory = DataDir::open(path, false).map_err(Failure::Refused)?;
    open_identity(&directory, cluster.id)?;
    let mut verified = Vec::new();
    for shard in 0..cluster.shards {
        verified.push(verify_shard(ledger, (cluster, shard), path, report).await?);
    }
    Ok(verified)
}

async fn verify_shard<L: Ledger>(
    ledger: &L,
    (cluster, shard): (&ClusterRecord, u32),
    path: &Path,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<NodeVerified, Failure> {
    let refused =
        |why: &str| Failure::Refused(Refused::Unusable(format!("{} {why}", path.display())));
    let replayed = path.join(REPLAYED);
    remove(&replayed)?;
    let config = Config { data_dir: Some(path.to_owned()), ..Config::for_tests() };
    let memory = plan_memory(&config);
    let own =
        TreeOptions { path: store_folder(path, shard), ..store_options(&config, memory, path) };
    let own = open_stopped(&own).map_err(failed)?;
    let entry = own.last_entry().map_err(failed)?;
    let tree = store_options(&config, memory, &replayed);
    let copying = CopyOptions { cluster: cluster.id, shard, tree, until: Some(entry) };
    let mut progress = |steps, bytes| report(MigrationProgress { steps, bytes });
    let copied = copying.run(ledger, &mut progress).await.map_err(ledger_failure);
    let compared = async {
        let copied = copied?;
        let made = copied.tree.last_entry().map_err(failed)?;
        if entry < made {
            return Err(refused(
                "is behind the cluster's newest base: start the node and let it catch up first",
            ));
        }
        let at = Instant::from_ms(clock_of(&copied.record, &copied.nodes)?.ms);
        let mut compared = compare_copies(&own, &copied.tree, at).await.map_err(failed)?;
        if made < entry {
            let text = format!("the copy has entry {entry}, but the cluster ends at {made}");
            compared.differences.note(text);
        }
        Ok(NodeVerified { shard, entry: made, compared })
    };
    let compared = compared.await;
    remove(&replayed)?;
    compared
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}
