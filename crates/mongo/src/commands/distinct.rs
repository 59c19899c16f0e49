//! `distinct`: the distinct values of a field; arrays contribute their elements. The reply is one
//! document, so all values together must fit into it.
//!
//! ```text
//! {distinct: "c", key: "a.b", query: {..}}  => {values: [1, 2], ok: 1}
//! with read concern `snapshot`              => {values: [1, 2], atClusterTime: T, ok: 1}
//! ```

use document::{DocBuf, DocBuilder, DocRef, Path, ValueRef};
use engine::{BatchLimit, Plan};
use pipeline::exec::{Stage, VALUES};

use crate::{
    call::{Call, default_collation},
    counters::Counters,
    errors::{Error, Result},
    parsers::{collation::parse_collation, hint::parse_hint},
    query::begin_query,
    replies::finish_reply,
};

pub(super) const FIELDS: &[&str] = &["key", "query", "collation", "hint"];

/// Runs `distinct` as a query with a stage that collects the values.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let namespace = call.namespace_of_documents()?;
    let args = call.args();
    let collation = parse_collation(&args)?;
    let key = args.need_str("key")?;
    if key.contains('\0') {
        return Err(Error::new(31032, "Key field cannot contain an embedded null byte"));
    }
    mongo_query::field_path::check_path(key)?;
    let filter = match args.document("query")? {
        Some(filter) => mongo_query::filter::parse(filter)?,
        None => pipeline::Filter::always(),
    };
    // A stage, so that all values are read at one instant and documents are not collected first.
    let stages = vec![Stage::Distinct(Path::new(key))];
    let plan = Plan { hint: parse_hint(&args)?, ..Plan::new(filter) }.with_stages(stages);
    let found = call.find_collection(&namespace);
    let collation = collation.or_default(default_collation(found.as_deref()));
    let context = call.context_with(collation).await?;
    let mut cursor = begin_query(call, &namespace, found, plan, context)?;
    let batch = cursor.next_batch(BatchLimit { documents: 1, bytes: usize::MAX }).await?;
    let mut reply = DocBuilder::with_buffer(Vec::with_capacity(batch.bytes() + 64));
    let row = batch.documents.first().map(|row| DocRef::Raw(row));
    match row.and_then(|row| row.get(VALUES)) {
        Some(values) => reply.append(VALUES, values),
        None => reply.array(VALUES, |_| {}),
    }
    if let Some(time) = call.snapshot_time() {
        reply.append("atClusterTime", ValueRef::Timestamp(time.timestamp()));
    }
    call.connection.hold_reply_memory(batch.held);
    Ok(finish_reply(reply))
}
