//! `count`: without a filter from the counters of the collection, otherwise by looking at
//! documents.
//!
//! ```text
//! {count: "c", query: {..}, skip: n, limit: n, hint: ..}  => {n: 12, ok: 1}
//! ```

use document::{DocBuf, DocRef, doc};
use engine::{BatchLimit, Model, Plan, Store};
use pipeline::exec::Stage;

use crate::{
    call::Call,
    counters::Counters,
    errors::{BadValue, Error, Result},
    parsers::hint::{covers_all, parse_hint},
    replies::{numbers::int_or_long, ok},
};

/// Arguments of `count`. `fields` and `queryHash` are known and mean nothing here.
pub(super) const FIELDS: &[&str] =
    &["query", "limit", "skip", "hint", "collation", "fields", "queryHash"];

/// Runs `count`. A negative `limit` counts as its absolute value, as in mongod. Without a filter,
/// and with a hint that leaves nothing out, no document is looked at; else `skip`, `limit` and the
/// count are stages of a query, so that all of it is of one instant.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let namespace = call.namespace()?;
    let args = call.args();
    args.simple_collation()?;
    let filter = match args.document("query")? {
        Some(filter) => mongo_query::filter::parse(filter)?,
        None => pipeline::Filter::always(),
    };
    let skip = args.count("skip")?.unwrap_or(0);
    let limit = args.int("limit")?.unwrap_or(0);
    let limit = Some(limit.unsigned_abs()).filter(|limit| 0 < *limit);
    let hint = parse_hint(&args)?;
    let Some(collection) = call.find_collection(&namespace) else { return ok(doc! { "n": 0 }) };
    if filter.is_always() && covers_all(&hint) {
        let live = call.door.engine.live_amount(&collection).await?;
        let n = u64::try_from(live.documents).unwrap_or(0).saturating_sub(skip);
        return count_reply(limit.map_or(n, |limit| n.min(limit)));
    }
    let mut stages = Vec::new();
    if 0 < skip {
        stages.push(Stage::Skip(skip));
    }
    if let Some(limit) = limit {
        stages.push(Stage::Limit(limit));
    }
    stages.push(Stage::Count("n".to_owned()));
    let plan = Plan { hint, ..Plan::new(filter) };
    let context = call.evaluation_context().await?;
    let mut cursor = call.door.engine.begin_query(
        Model::Documents,
        &namespace,
        plan.with_stages(stages),
        context,
    )?;
    let batch = cursor.next_batch(BatchLimit { documents: 1, bytes: usize::MAX }).await?;
    let counted = batch.documents.first().and_then(|row| DocRef::Raw(row).get("n"));
    let n = counted.and_then(document::Number::of).and_then(document::Number::to_i64_exact);
    count_reply(u64::try_from(n.unwrap_or(0)).unwrap_or(0))
}

/// The reply: 32 bits while they suffice.
fn count_reply(n: u64) -> Result<DocBuf> {
    let n = i64::try_from(n).map_err(|_| Error::new(BadValue, "a count beyond 64 bits"))?;
    ok(doc! { "n": int_or_long(n) })
}
