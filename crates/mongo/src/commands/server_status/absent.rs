//! Sections of `serverStatus` for features that do not exist here, with all values 0. Some
//! exporters fail completely if a name that they read is missing.

use document::{Document, Value, doc};

use super::work::Tickets;

/// Returns 64-bit zeros for these names.
fn long_zeros(names: &[&str]) -> Document {
    names.iter().map(|name| ((*name).to_owned(), Value::Int64(0))).collect()
}

/// Returns 32-bit zeros, which MongoDB uses for some counters.
fn int_zeros(names: &[&str]) -> Document {
    names.iter().map(|name| ((*name).to_owned(), Value::Int32(0))).collect()
}

/// Returns a section of zeros; empty for an unknown name.
pub(super) fn absent_section(name: &str) -> Document {
    match name {
        "locks" => locks(),
        "logicalSessionRecordCache" => int_zeros(&[
            "activeSessionsCount",
            "sessionsCollectionJobCount",
            "lastSessionsCollectionJobDurationMillis",
            "transactionReaperJobCount",
            "sessionCatalogSize",
        ]),
        "opcountersRepl" => {
            long_zeros(&["insert", "query", "update", "delete", "getmore", "command"])
        }
        "security" => security(),
        "transactions" => long_zeros(&[
            "retriedCommandsCount",
            "retriedStatementsCount",
            "transactionsCollectionWriteCount",
            "currentActive",
            "currentInactive",
            "currentOpen",
            "totalAborted",
            "totalCommitted",
            "totalStarted",
            "totalPrepared",
            "totalPreparedThenCommitted",
            "totalPreparedThenAborted",
            "currentPrepared",
        ]),
        _ => Document::new(),
    }
}

/// Returns the section `locks`, all zero: no operation locks data. Conflicts of concurrent writers
/// are detected when they commit.
fn locks() -> Document {
    let one = || doc! { "acquireCount": long_zeros(&["r", "w", "R", "W"]) };
    doc! { "Global": one(), "Database": one(), "Collection": one() }
}

/// Returns the section `metrics.repl`: no server replicates from this one by MongoDB's protocol.
pub(super) fn replication() -> Document {
    let timed = || doc! { "num": 0, "totalMillis": 0 };
    let network = doc! {
        "bytes": 0_i64,
        "getmores": doc! { "num": 0, "totalMillis": 0, "numEmptyBatches": 0_i64 },
        "notPrimaryLegacyUnacknowledgedWrites": 0_i64,
        "notPrimaryUnacknowledgedWrites": 0_i64,
        "oplogGetMoresProcessed": timed(),
        "ops": 0_i64,
        "readersCreated": 0_i64,
        "replSetUpdatePosition": doc! { "num": 0_i64 },
    };
    doc! {
        "executor": doc! {
            "pool": doc! { "inProgressCount": 0 },
            "queues": doc! { "networkInProgress": 0, "sleepers": 0 },
            "unsignaledEvents": 0,
            "shuttingDown": false,
        },
        "apply": doc! {
            "attemptsToBecomeSecondary": 0_i64,
            "batchSize": 0_i64,
            "batches": timed(),
            "ops": 0_i64,
        },
        "buffer": long_zeros(&["count", "maxSizeBytes", "sizeBytes"]),
        "initialSync": long_zeros(&["completed", "failedAttempts", "failures"]),
        "network": network,
    }
}

fn security() -> Document {
    let one = || {
        let tries = || long_zeros(&["received", "successful"]);
        doc! {
            "speculativeAuthenticate": tries(),
            "clusterAuthenticate": tries(),
            "authenticate": tries(),
        }
    };
    let mechanisms = doc! {
        "MONGODB-X509": one(),
        "SCRAM-SHA-1": one(),
        "SCRAM-SHA-256": one(),
    };
    doc! { "authentication": doc! { "saslSupportedMechsReceived": 0_i64, "mechanisms": mechanisms } }
}

/// Returns the section `wiredTiger`: the store is a different one, but concurrent operations are
/// reported.
pub(super) fn wired_tiger(tickets: &[(&str, Tickets)]) -> Document {
    let concurrent: Document = tickets
        .iter()
        .map(|(name, tickets)| {
            let of = doc! {
                "out": tickets.out,
                "available": tickets.total.saturating_sub(tickets.out),
                "totalTickets": tickets.total,
            };
            ((*name).to_owned(), Value::Document(of))
        })
        .collect();
    doc! {
        "block-manager": int_zeros(&[
            "blocks pre-loaded",
            "blocks read",
            "blocks written",
            "bytes read",
            "bytes written",
            "mapped blocks read",
            "mapped bytes read",
        ]),
        "cache": int_zeros(&[
            "bytes currently in the cache",
            "bytes read into cache",
            "bytes written from cache",
            "eviction server evicting pages",
            "maximum bytes configured",
            "modified pages evicted",
            "pages currently held in the cache",
            "pages evicted by application threads",
            "pages read into cache",
            "pages written from cache",
            "percentage overhead",
            "tracked dirty bytes in the cache",
            "tracked dirty pages in the cache",
            "unmodified pages evicted",
        ]),
        "log": int_zeros(&[
            "log bytes of payload data",
            "log bytes written",
            "log flush operations",
            "log read operations",
            "log records compressed",
            "log records not compressed",
            "log scan operations",
            "log scan records requiring two reads",
            "log sync operations",
            "log sync time duration (usecs)",
            "log sync_dir operations",
            "log write operations",
            "total log buffer size",
        ]),
        "session": int_zeros(&["open cursor count", "open session count"]),
        "transaction": int_zeros(&[
            "transaction begins",
            "transaction checkpoint currently running",
            "transaction checkpoint generation",
            "transaction checkpoint max time (msecs)",
            "transaction checkpoint min time (msecs)",
            "transaction checkpoint most recent time (msecs)",
            "transaction checkpoint total time (msecs)",
            "transaction checkpoints",
            "transactions committed",
            "transactions rolled back",
        ]),
        "concurrentTransactions": concurrent,
    }
}
