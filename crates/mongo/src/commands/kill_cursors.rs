//! `killCursors`: closes cursors of a collection. Drivers send it when a cursor is left before its
//! end.
//!
//! ```text
//! {killCursors: "c", cursors: [long, ..]}
//! => {cursorsKilled: [..], cursorsNotFound: [..], cursorsAlive: [], cursorsUnknown: [], ok: 1}
//! ```

use document::{ArrayRef, DocBuf, Value, ValueRef, doc};
use engine::Store;

use crate::{
    access::Action,
    call::Call,
    errors::{Error, Result, TypeMismatch},
    replies::ok,
    rights::{Need, Object},
};

/// Runs `killCursors`. The reply says of each id whether it was closed. One of another collection
/// or of another sender is not found.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let ids = cursor_ids(call.args().need_array("cursors")?)?;
    let sender = call.connection.sender();
    let any = Need::of(Action::KillAnyCursor, Object::Collection(namespace.clone()));
    let is_any =
        call.door.asks_for_login(call.connection) && call.door.permits(call.connection, &[any]);
    let sender = if is_any { None } else { Some(&sender) };
    if let Some(sender) = sender {
        ids.iter().try_for_each(|id| call.door.cursors.check_kill(*id, &namespace, sender))?;
    }
    let (killed, missing): (Vec<i64>, Vec<i64>) =
        ids.into_iter().partition(|id| call.door.cursors.kill(*id, &namespace, sender));
    let list = |ids: Vec<i64>| Value::Array(ids.into_iter().map(Value::Int64).collect());
    ok(doc! {
        "cursorsKilled": list(killed),
        "cursorsNotFound": list(missing),
        "cursorsAlive": Value::Array(Vec::new()),
        "cursorsUnknown": Value::Array(Vec::new()),
    })
}

/// The ids in an array of cursor ids. Clients may send small numbers as 32 bits.
fn cursor_ids(array: ArrayRef<'_>) -> Result<Vec<i64>> {
    array
        .iter()
        .map(|id| match id {
            ValueRef::Int64(id) => Ok(id),
            ValueRef::Int32(id) => Ok(i64::from(id)),
            other => Err(Error::new(
                TypeMismatch,
                format!("a cursor id is a long, not a {}", other.kind().name()),
            )),
        })
        .collect()
}
