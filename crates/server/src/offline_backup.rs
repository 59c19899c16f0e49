//! Takes a backup of a data directory that no server has open.

use std::{io::Write, path::Path};

use backup::{Header, Trailer};
use clock::{Checkpoint, LEASE_MS};
use server_base::{
    backup::{BackupKind, BackupRun, lineage_of},
    config::Config,
    data_dir::{DataDir, NODE_FILE, Refused},
    failure::Failure,
    features::Features,
};
use store_tree::TreeStore;

use crate::{
    checkpoint::CheckpointFile,
    open::{refused_store, store_options},
    shares::plan_memory,
};

/// Writes a full backup of a directory. `goes_on` is polled and aborts the backup when false;
/// `tell` receives the number of bytes of data read so far.
pub fn backup_directory(
    path: &Path,
    out: &mut dyn Write,
    goes_on: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&Header, u64),
) -> Result<Trailer, Failure> {
    let refused =
        |why: &str| Err(Failure::Refused(Refused::Unusable(format!("{} {why}", path.display()))));
    let directory = DataDir::open(path, true).map_err(Failure::Refused)?;
    if path.join(NODE_FILE).exists() {
        return refused(
            "belongs to a cluster node: dump the cluster's data into a directory with 'ebb admin \
             cluster dump', and back that up",
        );
    }
    if !path.join("store").exists() {
        return refused("has no data yet");
    }
    let Ok((_, Some(last))) = CheckpointFile::open(path, false) else {
        return refused("has no valid clock checkpoint, so time could move backwards");
    };
    let config = Config { data_dir: Some(path.to_owned()), ..Config::for_tests() };
    let options = store_options(&config, plan_memory(&config), path);
    let tree = TreeStore::open_without_commits(&options, options.journal_folder())
        .map_err(refused_store)?;
    // No instant after the checkpoint plus the lease was used; a manual clock has no lease.
    let owed_ms = if last.manual { 0 } else { LEASE_MS };
    let ms = last.ms.saturating_add(owed_ms);
    let clock = Checkpoint { number: 1, boot_id: Default::default(), boot_ns: 0, ms, ..last };
    // The backup contains everything from before the checkpoint; a server that starts now may
    // continue within the lease.
    let taking =
        BackupRun::begin(&tree.images(), BackupKind::Full, lineage_of(path)?, &last, None)?;
    let switches = || Features::stored_bytes(path).map_err(Failure::Refused);
    let written = taking.write(out, || clock, switches, goes_on, tell);
    drop((tree, directory));
    written
}
