//! `top`: how often clients used each collection, and for how long. In a cluster the reply covers
//! the collections of all shards.
//!
//! ```text
//! {top: 1}
//! => {totals: {note: "..", "db.c": {total: {time: long, count: long}, readLock: {..}, queries: {..}, ..}}, ok: 1}
//! ```

use document::{DocBuf, DocRef, Document, Value, doc};
use engine::{Model, Namespace};

use crate::{call::Call, errors::Result, replies::ok};

/// Runs `top`. Times are microseconds.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let mut totals = doc! { "note": "all times in microseconds" };
    let exists = |database: &str, collection: &str| {
        call.api
            .engine
            .collection(Model::Documents, &Namespace::new(database, collection))
            .is_some()
    };
    for (name, entry) in call.api.work.top_entries(exists) {
        totals.push(name, Value::Document(entry));
    }
    // Keeps the memory of the replies, whose entries are in `totals`, reserved until the end.
    let mut _held = None;
    if let Some(other_shards) = call.other_shards() {
        let (answers, counted) =
            other_shards.ask(doc! { "top": 1 }, &call.api.settings.memory).await?;
        for (_, reply) in answers {
            add_totals(&mut totals, &reply);
        }
        _held = Some(counted);
    }
    ok(doc! { "totals": totals })
}

/// Adds to `totals` the collections that the reply of another shard lists.
fn add_totals(totals: &mut Document, reply: &DocBuf) {
    let reply = DocRef::Raw(reply.bytes()).to_tree();
    let Some(Value::Document(others)) = reply.get("totals").cloned() else { return };
    let collections = others.into_iter().filter(|(_, entry)| matches!(entry, Value::Document(_)));
    collections.for_each(|(name, entry)| totals.push(name, entry));
}
