//! Connects to the cluster's ledger (ownership records and journals) in Cassandra, and reads and
//! creates the record of the cluster.

use std::{fs, time::Duration};

use auth::Secret;
use cluster::{ClusterRecord, Ledger, Reply, Request, Unanswered};
use journal_cassandra::{CassandraLedger, Certificates, Options};
use server_base::{
    config::{ClockMode, ClusterConfig},
    data_dir::Refused,
    failure::{Failure, failed},
    random::random_secret,
    sleep,
};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// Maximum number of shards: a node has a store and two threads for each.
pub(super) const SHARDS_MAX: u32 = 64;
/// Format of records and entries that this version reads and writes.
const FORMAT: u32 = 1;
/// Format of a cluster that is being created from a directory; nodes refuse it.
pub(super) const UNFINISHED: u32 = 0;
/// Maximum number of attempts to read the cluster's record; [`PAUSE`] is the time between them.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_millis(500);

pub(super) fn options_of(config: &ClusterConfig) -> Result<Options, Failure> {
    let mut options = Options::new(config.contact_points.clone(), config.keyspace.clone());
    options.datacenter.clone_from(&config.datacenter);
    options.accept_unsynced = config.accept_unsynced;
    options.tls = config
        .cassandra_tls
        .clone()
        .map(|files| Certificates { authority: files.authority, own: files.own });
    if let Some((user, file)) = &config.login {
        let password = fs::read_to_string(file).map(Secret::from_text).map_err(|error| {
            Failure::Usage(format!("--cassandra-password-file {}: {error}", file.display()))
        })?;
        let text = password.text().unwrap_or_default().trim_end_matches(['\r', '\n']);
        options.login = Some((user.clone(), Secret::from_text(text.to_owned())));
    }
    Ok(options)
}

/// Maps a ledger error: refused if the operator can repair it, failed if it may be transient.
pub(super) fn ledger_failure(error: store::Error) -> Failure {
    match error.kind {
        store::Kind::Refused | store::Kind::Corrupt => {
            Failure::Refused(Refused::Unusable(error.to_string()))
        }
        store::Kind::Invalid => Failure::Usage(error.to_string()),
        store::Kind::Full
        | store::Kind::Unavailable
        | store::Kind::Reopened
        | store::Kind::ViewEnded
        | store::Kind::Moved => failed(error),
    }
}

/// The cluster's ledger, with its own runtime: heartbeats of the lease must not wait for workers
/// that clients keep busy.
pub(crate) struct ClusterLedger {
    ledger: CassandraLedger,
    runtime: Option<Runtime>,
}

impl Ledger for ClusterLedger {
    fn execute(&self, request: Request) -> impl Future<Output = Result<Reply, Unanswered>> + Send {
        self.ledger.execute(request)
    }
}

impl Drop for ClusterLedger {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Does not wait, since this may run in a task of another runtime.
            runtime.shutdown_background();
        }
    }
}

/// Connects to the cluster's ledger.
pub(crate) async fn connect(config: &ClusterConfig) -> Result<ClusterLedger, Failure> {
    let options = options_of(config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("cassandra")
        .enable_all()
        .build()
        .map_err(failed)?;
    // Connections are bound to the runtime that creates them.
    let connected = runtime.spawn(async move { CassandraLedger::connect(&options).await }).await;
    match connected.map_err(failed).and_then(|connected| connected.map_err(ledger_failure)) {
        Ok(ledger) => Ok(ClusterLedger { ledger, runtime: Some(runtime) }),
        Err(failure) => {
            runtime.shutdown_background();
            Err(failure)
        }
    }
}

/// Creates the record of a new cluster.
pub(super) fn new_record(clock: ClockMode, shards: u32) -> Result<ClusterRecord, Failure> {
    if !(1..=SHARDS_MAX).contains(&shards) {
        return Err(Failure::Usage(format!(
            "a cluster has 1 to {SHARDS_MAX} shards, not {shards}"
        )));
    }
    Ok(ClusterRecord {
        format: FORMAT,
        id: Uuid::new_v4(),
        shards,
        clock: match clock {
            ClockMode::System => "system".to_owned(),
            ClockMode::Manual => "manual".to_owned(),
        },
        secret: random_secret().map_err(failed)?,
    })
}

pub(super) fn unfinished() -> Failure {
    Failure::Refused(Refused::Unusable(
        "the cluster is incomplete: 'ebb admin cluster init --from' is running or was interrupted; \
         run it again, or choose another keyspace"
            .to_owned(),
    ))
}

/// Reads the cluster's record. Retries for a while without an answer, since all machines may be
/// starting at once.
pub(super) async fn read_cluster<L: Ledger>(ledger: &L) -> Result<ClusterRecord, Failure> {
    match ask(ledger, Request::ReadCluster, (ATTEMPTS, PAUSE)).await {
        Ok(Reply::Cluster(Some(record))) => check_cluster(record),
        Ok(_) => Err(Failure::Refused(Refused::Unusable(
            "the keyspace holds no cluster: create one with 'ebb admin cluster init'".to_owned(),
        ))),
        Err(last) => Err(Failure::Failed(format!("the cluster's record cannot be read: {last}"))),
    }
}

/// Sends an idempotent request until it is answered, at most `attempts` times.
pub(super) async fn ask<L: Ledger>(
    ledger: &L,
    request: Request,
    (attempts, pause): (u32, Duration),
) -> Result<Reply, String> {
    let mut last = String::new();
    for _ in 0..attempts {
        match ledger.execute(request.clone()).await {
            Ok(reply) => return Ok(reply),
            Err(unanswered) => last = unanswered.to_string(),
        }
        sleep::wait_for(pause).await;
    }
    Err(last)
}

/// Refuses a record of another format.
fn check_cluster(record: ClusterRecord) -> Result<ClusterRecord, Failure> {
    let refused = |why: String| Err(Failure::Refused(Refused::Unusable(why)));
    if record.format == UNFINISHED {
        return Err(unfinished());
    }
    if record.format != FORMAT {
        return refused(format!(
            "the cluster has format {}, but this version supports {FORMAT}: start the version that \
             the other nodes run",
            record.format
        ));
    }
    if !(1..=SHARDS_MAX).contains(&record.shards) {
        return refused(format!(
            "the cluster has {} shards, but this version supports 1 to {SHARDS_MAX}",
            record.shards
        ));
    }
    Ok(record)
}

/// Returns the selected shard, or the only shard if none is selected. A data directory holds the
/// data of one shard.
pub(super) fn chosen_shard(record: &ClusterRecord, shard: Option<u32>) -> Result<u32, Failure> {
    let shards = record.shards;
    match shard {
        None if shards == 1 => Ok(0),
        None => Err(Failure::Usage(format!(
            "the cluster has {shards} shards, but a directory holds only one: give --shard"
        ))),
        Some(shard) if shard < shards => Ok(shard),
        Some(shard) => Err(Failure::Usage(format!(
            "there is no shard {shard}: the cluster has shards 0 to {}",
            shards.saturating_sub(1)
        ))),
    }
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
            secret: Secret::from_bytes(vec![7; 32]),
        };
        for (made, want) in [
            (None, "cluster init"),
            (Some(record(2, 1)), "format 2"),
            (Some(record(UNFINISHED, 1)), "incomplete"),
            (Some(record(1, 0)), "0 shards"),
            (Some(record(1, 1_000)), "1000 shards"),
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
