//! `serverStatus`: state and counters. Users' tests wait for `metrics.ttl.passes` to grow.

use document::{DocBuf, Document, Value, doc};
use engine::Store;

use super::{Call, ok};
use crate::{errors::Result, limits::SERVER_VERSION};

fn int(value: u64) -> Value {
    Value::Int64(i64::try_from(value).unwrap_or(i64::MAX))
}

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let door = call.door;
    let now = door.engine.now().await;
    let uptime = clock::monotonic().saturating_sub(door.started);
    let (passes, deleted) = door.engine.reaped();
    let backlog = door.engine.backlog();
    let (connections, cursors) = door.open();
    let mut operations = Document::new();
    let mut network = Document::new();
    for (name, value) in door.counters() {
        let to = if name.starts_with("bytes") { &mut network } else { &mut operations };
        to.push(name, int(value));
    }
    let clock = door.engine.clock().status();
    ok(doc! {
        "host": door.settings.host.as_str(),
        "version": SERVER_VERSION,
        "process": "ebb",
        "pid": i64::from(std::process::id()),
        "uptime": uptime.as_secs_f64().floor(),
        "uptimeMillis": int(u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX)),
        "localTime": Value::DateTime(now.ms),
        "connections": doc! {
            "current": i32::try_from(connections).unwrap_or(i32::MAX),
            "available": 50_000,
            "totalCreated": i64::from(call.connection.id),
        },
        "network": network,
        "opcounters": operations,
        "storageEngine": doc! {
            "name": "ebb",
            "supportsCommittedReads": true,
            "persistent": true,
        },
        "metrics": doc! {
            "cursor": doc! { "open": doc! { "total": int(cursors as u64) } },
            "ttl": doc! {
                "passes": int(passes),
                "subPasses": int(passes),
                "deletedDocuments": int(deleted),
                "deletedKeys": Value::Int64(0),
                "invalidTTLIndexSkips": Value::Int64(0),
                "lateness": Value::Int64(0),
                "backlogDocuments": backlog.amount.documents,
                "backlogBytes": backlog.amount.bytes,
                "lagSeconds": backlog.oldest_dead_seconds,
            },
        },
        "ebbClock": doc! {
            "mode": match clock.mode { clock::Mode::System => "system", clock::Mode::Manual => "manual" },
            "now": Value::DateTime(clock.now.ms),
            "offsetMillis": clock.offset_ms,
            "unconfirmed": clock.unconfirmed,
        },
    })
}
