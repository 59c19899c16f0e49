//! `killCursors`: closes cursors by their ids and ends the requests that read them. Drivers send it when
//! a cursor is left before its end. The collection that it names selects nothing, as in mongod.
//!
//! ```text
//! {killCursors: "c", cursors: [long, ..]}
//! => {cursorsKilled: [..], cursorsNotFound: [..], cursorsAlive: [], cursorsUnknown: [], ok: 1}
//! ```

use std::collections::HashSet;

use document::{DocBuf, Value, ValueRef, doc};
use engine::Store;

use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    errors::{Error, Result, Unauthorized},
    replies::ok,
    rights::{Need, Object},
};

/// Runs `killCursors`. The reply says of each id whether it was closed.
///
/// Errors: 13 for the cursor of another user, without the right to kill any cursor of its collection; then
/// none is closed. A relayed sender is not told of the cursors of others: they are not found.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    call.namespace()?;
    let ids = cursor_ids(&call.args())?;
    let sender = call.connection.sender();
    let cursors = &call.door.cursors;
    let mut hidden = HashSet::new();
    for id in &ids {
        let Some(namespace) = cursors.read_by_another(*id, &sender) else { continue };
        let any = Need::of(Action::KillAnyCursor, Object::Collection(namespace));
        if sender.relayed.is_some() {
            hidden.insert(*id);
        } else if !call.door.asks_for_login(call.connection)
            || !call.door.permits(call.connection, &[any])
        {
            let text = format!("cursor id {id} was not created by the authenticated user");
            return Err(Error::new(Unauthorized, text));
        }
    }
    // An id is given once, so what was looked at is what is closed.
    let (killed, missing): (Vec<i64>, Vec<i64>) =
        ids.into_iter().partition(|id| !hidden.contains(id) && cursors.kill(*id));
    let list = |ids: Vec<i64>| Value::Array(ids.into_iter().map(Value::Int64).collect());
    ok(doc! {
        "cursorsKilled": list(killed),
        "cursorsNotFound": list(missing),
        "cursorsAlive": Value::Array(Vec::new()),
        "cursorsUnknown": Value::Array(Vec::new()),
    })
}

/// Returns the ids in the argument `cursors`. Each has to be a number of 64 bits (14).
fn cursor_ids(args: &Args<'_>) -> Result<Vec<i64>> {
    let id = |(at, id): (usize, ValueRef<'_>)| match id {
        ValueRef::Int64(id) => Ok(id),
        other => Err(args.wrong_type(&format!("cursors.{at}"), other, " 'long'")),
    };
    args.need_array("cursors")?.iter().enumerate().map(id).collect()
}
