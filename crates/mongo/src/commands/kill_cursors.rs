//! `killCursors`: closes cursors of a collection.

use document::{DocBuf, Value, doc};
use engine::Store;

use super::{Call, cursor_reply::ids, ok};
use crate::errors::Result;

pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let ids = ids(call.args().need_array("cursors")?)?;
    let visitor = call.connection.visitor;
    let (killed, missing): (Vec<i64>, Vec<i64>) =
        ids.into_iter().partition(|id| call.door.cursors.kill(*id, &namespace, visitor));
    let list = |ids: Vec<i64>| Value::Array(ids.into_iter().map(Value::Int64).collect());
    ok(doc! {
        "cursorsKilled": list(killed),
        "cursorsNotFound": list(missing),
        "cursorsAlive": Value::Array(Vec::new()),
        "cursorsUnknown": Value::Array(Vec::new()),
    })
}
