//! Dumps a cluster's data into the data directory of a standalone server. It only reads from
//! Cassandra, whether nodes run or not, and takes no ownership. The directory's format file is
//! completed last, so that no server starts on an interrupted dump.

use std::path::Path;

use clock::Checkpoint;
use cluster::{ClusterRecord, Ledger, NodeRecord, Phase, Settings, ShardRecord};
use server::{CheckpointFile, plan_memory, store_options};
use server_base::{
    config::Config,
    data_dir::DataDir,
    failure::{Failure, failed},
    features::Features,
};
use store::Store as _;
use store_shared::CopyOptions;
use uuid::Uuid;

use super::{from_directory::MigrationProgress, ledger::ledger_failure};

/// Writes the cluster's data into a new directory; returns the last journal entry that it includes.
pub(super) async fn dump_cluster<L: Ledger>(
    ledger: &L,
    (cluster, shard): (&ClusterRecord, u32),
    path: &Path,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<u64, Failure> {
    let directory = DataDir::open_to_fill(path).map_err(Failure::Refused)?;
    let config = Config { data_dir: Some(path.to_owned()), ..Config::for_tests() };
    let tree = store_options(&config, plan_memory(&config), path);
    let copying = CopyOptions { cluster: cluster.id, shard, tree, until: None };
    let mut progress = |steps, bytes| report(MigrationProgress { steps, bytes });
    let copied = copying.run(ledger, &mut progress).await.map_err(ledger_failure)?;
    let clock = clock_of(&copied.record, &copied.nodes)?;
    let snapshot = copied.tree.snapshot();
    if let Some(on) = Features::of_catalog(&*snapshot).await.map_err(failed)? {
        Features::store_in(path, on).map_err(failed)?;
    }
    drop(snapshot);
    copied.tree.close().await.map_err(failed)?;
    let entries = copied.entries;
    drop(copied);
    let (file, _) = CheckpointFile::open(path, true).map_err(failed)?;
    file.write(&clock).map_err(failed)?;
    directory.filled().map_err(Failure::Refused)?;
    Ok(entries)
}

/// Returns the clock from which a shard, or a standalone server, continues. It is not before any
/// instant that an owner could have used.
pub(super) fn clock_of(record: &ShardRecord, nodes: &[NodeRecord]) -> Result<Checkpoint, Failure> {
    let lease_ns = Settings::new(Uuid::nil(), 0, Uuid::nil(), bytes::Bytes::new()).lease;
    let lease_ms = i64::try_from(lease_ns / 1_000_000).unwrap_or(i64::MAX);
    let of_shard = Checkpoint::decode_whole(&record.clock);
    let terms = nodes.iter().flat_map(|node| &node.terms);
    let of_terms = terms.filter(|term| (term.shard, term.epoch) == (record.shard, record.epoch));
    let of_terms = of_terms.filter_map(|term| Checkpoint::decode_whole(&term.clock));
    let owed = |last: Checkpoint| {
        // No instant after the checkpoint plus the lease was used; a manual clock has no lease.
        let owed_ms = if last.manual { 0 } else { lease_ms };
        Checkpoint { ms: last.ms.saturating_add(owed_ms), ..last }
    };
    let found = match (record.phase, of_shard) {
        // An owner releases a shard with a checkpoint of the last instant used, so no lease is
        // added.
        (Phase::Released, Some(last)) => last,
        (_, last) => {
            let all = last.into_iter().chain(of_terms).map(owed);
            all.max_by_key(|last| last.ms)
                .ok_or_else(|| Failure::Failed("the cluster has no clock checkpoint".to_owned()))?
        }
    };
    // The checkpoint is not from the current boot of this machine, so it has no boot clock.
    Ok(Checkpoint { number: 1, boot_id: Default::default(), boot_ns: 0, ..found })
}
