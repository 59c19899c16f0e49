//! Backups over HTTP: streams a backup, in the format of the crate `backup`, while the store is
//! read. The portal's access control requires a read-write key, since a backup contains users and
//! all data.

use std::{path::PathBuf, sync::Arc, time::Duration};

use ::backup::Stamp;
use axum::{
    body::Body,
    extract::{Query, State},
    http::header,
    response::{IntoResponse, Response},
};
use clock::Clock;
use engine::ReapHold;
use serde::Deserialize;
use server_base::{
    backup::{BackupKind, BackupRun, lineage_of, write_to_stream},
    failure::Failure,
    features::Features,
};
use store_tree::Images;
use tokio::sync::{OwnedSemaphorePermit, watch};
use uuid::Uuid;

use super::{
    Shared,
    error::{Error, Result},
};

/// Maximum time that a backup waits for another backup to end. A backup whose client has
/// disconnected ends within this time.
const PERMIT_WAIT: Duration = Duration::from_secs(5);

/// State with which the backup thread runs.
struct Source {
    images: Images,
    clock: Arc<Clock>,
    folder: PathBuf,
    hold: ReapHold,
    stopping: watch::Receiver<bool>,
    /// Permit held until the backup has ended, since only one runs at a time.
    _permit: OwnedSemaphorePermit,
}

/// The previous backup's end as given by the client; all fields are empty for a full backup.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackupQuery {
    after: Option<u64>,
    seq: Option<u64>,
    at: Option<i64>,
    database: Option<Uuid>,
}

impl BackupQuery {
    fn wanted(&self) -> Result<BackupKind> {
        match (self.after, self.seq, self.at, self.database) {
            (None, None, None, None) => Ok(BackupKind::Full),
            (Some(entry), Some(seq), Some(at_ms), Some(lineage)) => {
                Ok(BackupKind::After { entry, stamp: Stamp { seq, at_ms }, lineage })
            }
            _ => Err(Error::bad_request(
                "an incremental backup needs after, seq, at and database of the backup before",
            )),
        }
    }
}

/// Handles `GET /_ebb/backup`; for an incremental backup with
/// `?after=ENTRY&seq=NUMBER&at=MS&database=ID`, which are the last entry, stamp, clock and database
/// of the previous backup. If the backup cannot start, the response is an error; a later failure
/// truncates the stream.
pub(crate) async fn get_backup(
    State(shared): State<Shared>,
    Query(asked): Query<BackupQuery>,
) -> Result<Response> {
    let wanted = asked.wanted()?;
    let source = source_of(&shared).await?;
    let begun = tokio::task::spawn_blocking(move || {
        let Source { images, clock, folder, hold, stopping, _permit } = source;
        let lineage = lineage_of(&folder)?;
        let now = clock.checkpoint_of_copy();
        let taking = BackupRun::begin(&images, wanted, lineage, &now, Some(hold))?;
        let stream = write_to_stream(move |out| {
            let (_permit, clock_of_end) = (_permit, || clock.checkpoint_of_copy());
            let switches = || Features::stored_bytes(&folder).map_err(Failure::Refused);
            let goes_on = || !*stopping.borrow();
            match taking.write(out, clock_of_end, switches, goes_on, &mut |_, _| {}) {
                Ok(trailer) => tracing::info!(bytes = trailer.bytes, "backup finished"),
                Err(failure) => tracing::warn!(%failure, "backup failed"),
            }
        });
        stream.map_err(server_base::failure::failed)
    });
    let stream = begun.await.unwrap_or_else(|error| Err(server_base::failure::failed(error)));
    let stream = stream.map_err(|failure| match failure {
        Failure::Refused(why) => Error::conflict(why.to_string()),
        failure => Error::failed(format!("cannot take a backup: {failure}")),
    })?;
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, Body::new(stream)).into_response())
}

async fn source_of(shared: &Shared) -> Result<Source> {
    let config = &shared.subject.config;
    if config.cluster.is_some() {
        return Err(Error::conflict(
            "a cluster node cannot be backed up this way: dump the cluster's data into a directory \
             with 'ebb admin cluster dump', and back that up with --data-dir",
        ));
    }
    let (Some(images), Some(folder)) = (shared.images.clone(), config.data_dir.clone()) else {
        return Err(Error::conflict("an in-memory server cannot be backed up"));
    };
    let permit =
        tokio::time::timeout(PERMIT_WAIT, Arc::clone(&shared.backups).acquire_owned()).await;
    let Ok(Ok(_permit)) = permit else {
        return Err(Error::conflict("another backup is running: wait until it ends"));
    };
    // Before the image (snapshot) of the store is taken: reaping must not remove data that it
    // contains.
    let hold = shared.engine.hold_reaping();
    let clock = Arc::clone(shared.engine.clock());
    let stopping = shared.stopping.clone();
    Ok(Source { images, clock, folder, hold, stopping, _permit })
}
