//! `killCursors`: closes cursors by id and stops the requests that read them. Drivers send it when
//! they abandon a cursor. As in mongod, the collection in the command has no effect.
//!
//! ```text
//! {killCursors: "c", cursors: [long, ..]}
//! => {cursorsKilled: [..], cursorsNotFound: [..], cursorsAlive: [], cursorsUnknown: [], ok: 1}
//! ```

use std::collections::HashSet;

use document::{DocBuf, Value, ValueRef, doc};

use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    errors::{Error, Result, Unauthorized},
    replies::ok,
    rights::{Object, Requirement},
};

/// Runs `killCursors`. The reply lists the closed ids and the unknown ones.
///
/// Fails with 13, and closes no cursor, if one of them belongs to another user and the sender lacks
/// the right to kill any cursor of that collection. For a relayed sender the cursors of other
/// senders do not exist.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    call.namespace()?;
    let ids = cursor_ids(&call.args())?;
    let sender = call.connection.sender();
    let cursors = &call.api.cursors;
    let mut hidden = HashSet::new();
    for id in &ids {
        let Some(namespace) = cursors.read_by_another(*id, &sender) else { continue };
        let any = Requirement::of(Action::KillAnyCursor, Object::Collection(namespace));
        if sender.relayed.is_some() {
            hidden.insert(*id);
        } else if !call.api.asks_for_login(call.connection)
            || !call.api.permits(call.connection, &[any])
        {
            let text = format!("cursor id {id} was not created by the authenticated user");
            return Err(Error::new(Unauthorized, text));
        }
    }
    // Ids are never reused, so the cursors checked are the cursors closed.
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

/// Returns the ids in the argument `cursors`. Each must be a 64-bit number (14).
fn cursor_ids(args: &Args<'_>) -> Result<Vec<i64>> {
    let id = |(at, id): (usize, ValueRef<'_>)| match id {
        ValueRef::Int64(id) => Ok(id),
        other => Err(args.wrong_type(&format!("cursors.{at}"), other, " 'long'")),
    };
    args.need_array("cursors")?.iter().enumerate().map(id).collect()
}
