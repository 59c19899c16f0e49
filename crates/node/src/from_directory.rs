//! Creates a cluster from the data directory of a standalone server, which is only read. The
//! directory's store becomes the first base (full copy of a shard), its feature switches become a
//! row of the catalog, and its clock is the starting point of the first owner.
//!
//! ```text
//! record "not finished" → pieces of the base → shard with base and clock → record finished
//! ```
//!
//! Nodes refuse an unfinished record, so an interrupted attempt leaves no usable cluster; another
//! attempt replaces it.

use std::path::Path;

use clock::{Checkpoint, LEASE_MS};
use cluster::{ClusterRecord, Ledger, Record, Reply, Request, Swapped};
use engine::Space;
use server::{CheckpointFile, plan_memory, refused_store, store_options};
use server_base::{
    config::{ClockMode, Config},
    data_dir::{DataDir, NODE_FILE, Refused},
    failure::{Failure, failed},
    features::Features,
};
use store_shared::FirstBase;
use uuid::Uuid;

use super::ledger::{UNFINISHED, ledger_failure, new_record};

/// Progress of moving data from a directory into a cluster or back.
#[derive(Clone, Copy, Debug)]
pub struct MigrationProgress {
    /// Pieces written of a base (the copy of a shard's data in the cluster), or journal entries
    /// read.
    pub steps: u64,
    /// Total size of these pieces or entries in bytes.
    pub bytes: u64,
}

/// Creates a cluster from the data directory at `path` and returns its id; fails if a cluster
/// exists.
pub(super) async fn make_of_directory<L: Ledger>(
    ledger: &L,
    keyspace: &str,
    path: &Path,
    report: &mut (dyn FnMut(MigrationProgress) + Send),
) -> Result<Uuid, Failure> {
    let directory = DataDir::open(path, true).map_err(Failure::Refused)?;
    let (base, clock) = read_directory(&directory)?;
    let mode = if clock.manual { ClockMode::Manual } else { ClockMode::System };
    let record = new_record(mode, 1)?;
    begin(ledger, keyspace, ClusterRecord { format: UNFINISHED, ..record.clone() }).await?;
    let mut progress =
        |pieces: u32, bytes| report(MigrationProgress { steps: u64::from(pieces), bytes });
    let put = base.put(ledger, record.id, clock.encode().into(), &mut progress);
    put.await.map_err(ledger_failure)?;
    let finish = Request::ReplaceCluster { before: record.id, record: record.clone() };
    match swap(ledger, finish).await? {
        Swapped::Done => Ok(record.id),
        Swapped::Refused(_) => Err(other_makes(keyspace)),
    }
}

/// Reads a standalone data directory. Returns the first base, which contains the documents and the
/// feature switches, and the clock from which the cluster continues.
fn read_directory(directory: &DataDir) -> Result<(FirstBase, Checkpoint), Failure> {
    let path = &directory.path;
    let refused =
        |why: &str| Err(Failure::Refused(Refused::Unusable(format!("{} {why}", path.display()))));
    if path.join(NODE_FILE).exists() {
        return refused("already belongs to a cluster node");
    }
    if !path.join("store").exists() {
        return refused(
            "has no data: create the cluster without giving a data directory to start from",
        );
    }
    let Ok((_, Some(last))) = CheckpointFile::open(path, false) else {
        return refused("has no valid clock checkpoint, so time could move backwards");
    };
    let switch = Features::stored_in(path).map_err(Failure::Refused)?;
    let config = Config { data_dir: Some(path.clone()), ..Config::for_tests() };
    let options = store_options(&config, plan_memory(&config), path);
    let base = FirstBase::open(&options).map_err(refused_store)?;
    let (key, value) = Features::cluster_row(switch, base.last_stamp());
    // No instant after the checkpoint plus the lease was used; a manual clock has no lease.
    let owed_ms = if last.manual { 0 } else { LEASE_MS };
    let clock = Checkpoint { ms: last.ms.saturating_add(owed_ms), ..last };
    Ok((base.replacing(Space::Catalog, key, value), clock))
}

/// Writes the record of an unfinished cluster.
async fn begin<L: Ledger>(
    ledger: &L,
    keyspace: &str,
    record: ClusterRecord,
) -> Result<(), Failure> {
    let shown = match swap(ledger, Request::MakeCluster(record.clone())).await? {
        Swapped::Done => return Ok(()),
        Swapped::Refused(Some(Record::Cluster(shown))) => shown,
        Swapped::Refused(_) => return Err(other_makes(keyspace)),
    };
    if shown.format != UNFINISHED {
        return Err(Failure::Refused(Refused::Unusable(format!(
            "the keyspace {keyspace} already holds a cluster: choose another keyspace"
        ))));
    }
    // The unfinished record was left by another attempt. If that is still running, its further
    // requests are refused.
    match swap(ledger, Request::ReplaceCluster { before: shown.id, record }).await? {
        Swapped::Done => Ok(()),
        Swapped::Refused(_) => Err(other_makes(keyspace)),
    }
}

async fn swap<L: Ledger>(ledger: &L, request: Request) -> Result<Swapped, Failure> {
    match ledger.execute(request).await.map_err(failed)? {
        Reply::Swapped(swapped) => Ok(swapped),
        _ => Err(Failure::Failed("unexpected answer of the ledger".to_owned())),
    }
}

fn other_makes(keyspace: &str) -> Failure {
    Failure::Refused(Refused::Unusable(format!(
        "another process is creating a cluster in the keyspace {keyspace}"
    )))
}
