//! Commands of operators that have little to do here.

use document::{DocBuf, array, doc};
use engine::Store;

use super::{Call, ok};
use crate::errors::{Error, NoReplicationEnabled, NoSuchKey, Result, TypeMismatch};

pub(super) async fn current<S: Store>(_: Call<'_, S>) -> Result<DocBuf> {
    ok(doc! { "inprog": array![] })
}

pub(super) async fn kill<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    match call.body.get("op") {
        None => return Err(Error::new(NoSuchKey, "Missing expected field \"op\"")),
        Some(op) if !op.is_number() => {
            let message = format!(
                "Expected field \"op\" to have numeric type, but found {}",
                op.kind().name()
            );
            return Err(Error::new(TypeMismatch, message));
        }
        Some(_) => {}
    }
    ok(doc! { "info": "attempting to kill op" })
}

/// An acknowledged write is durable, so there is nothing to flush.
pub(super) async fn fsync<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    if call.args().bool("lock")?.unwrap_or(false) {
        let message = "fsync with lock is not supported";
        return Err(Error::new(crate::errors::CommandNotSupported, message));
    }
    ok(doc! { "numFiles": 1 })
}

pub(super) async fn replica_set<S: Store>(_: Call<'_, S>) -> Result<DocBuf> {
    Err(Error::new(NoReplicationEnabled, "not running with --replSet"))
}
