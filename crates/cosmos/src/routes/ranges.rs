//! Partition key ranges: one, for ever. And conflicts, of which there are none.

use document::{Value, array, doc};
use engine::Store;
use http::Method;

use super::{common, scope};
use crate::{
    call::Call,
    charge::Work,
    door::Door,
    etag,
    failure::Result,
    reply::Reply,
    rid::{Leaf, Rid},
    session, shown,
};

/// `GET /dbs/{db}/colls/{c}/pkranges`
pub(crate) fn list<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let container = common::container(door, call)?;
    let record = &container.collection.state().record;
    let etag = etag::quoted(record.created);
    if common::is_known(call, record.created) {
        return Ok(Reply::empty(304).charged(Work::PointRead, 0).tagged(etag));
    }
    let database = container.database_number;
    let rid = Rid::in_container(database, container.collection.id, 2, Leaf::Range).encode();
    let of_database = Rid::Database(database).encode();
    let range = doc! {
        "_rid": rid.as_str(),
        "id": session::RANGE,
        "_etag": etag.as_str(),
        "minInclusive": "",
        "maxExclusive": "FF",
        "ridPrefix": Value::Int64(0),
        "_self": format!("dbs/{of_database}/colls/{}/pkranges/{rid}/", container.rid),
        "throughputFraction": Value::Int64(1),
        "status": "online",
        "parents": array![],
        "_ts": Value::Int64(container.changed_ts()),
    };
    let text = shown::text(&range);
    let mut feed = shown::Feed::new(&container.rid, "PartitionKeyRanges", &door.settings.memory);
    feed.push(|out| out.extend_from_slice(&text))?;
    Ok(feed.into_reply().charged(Work::PointRead, 0).tagged(etag))
}

/// `GET /dbs/{db}/colls/{c}/conflicts`, or `POST` with a query, which is of one partition unless it
/// says otherwise.
pub(crate) fn conflicts<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let container = common::container(door, call)?;
    let headers = &call.headers;
    let whole =
        headers.cross_partition || headers.range_id.is_some() || headers.partition_key.is_some();
    if *call.verb == Method::POST && !whole && !container.key.paths().is_empty() {
        return Err(scope::disabled());
    }
    let feed = shown::Feed::new(&container.rid, "Conflicts", &door.settings.memory);
    Ok(feed.into_reply().charged(Work::PointRead, 0))
}
