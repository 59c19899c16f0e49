//! Partition key ranges, of which there is exactly one, and conflicts between regions, of which
//! there are none.

use document::{Value, array, doc};
use throughput::request_units::Work;

use super::{container_part, shared};
use crate::{
    api::NoSqlApi,
    etag,
    failure::Result,
    operation::Operation,
    reply::Reply,
    representation,
    request::Request,
    rid::{Leaf, Rid},
    session,
};

/// `GET /dbs/{db}/colls/{c}/pkranges`. SDKs read the ranges once per container and cache them by
/// the etag. The etag is derived from the container's creation, because a change of the definition
/// does not change the range.
pub(crate) fn list_ranges(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let record = &container.collection.state().record;
    let etag = etag::quoted_etag(record.created);
    if shared::is_known(request, record.created) {
        return Ok(Reply::empty(304).with_units(Work::PointRead, 0).with_etag(etag));
    }
    let database = container.database_number;
    // Azure Cosmos DB numbers the ranges of a container from 2.
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
    let text = representation::resource_text(&range);
    let mut feed =
        representation::Feed::new(&container.rid, "PartitionKeyRanges", &api.settings.memory);
    feed.push_entry(|out| out.extend_from_slice(&text))?;
    Ok(feed.into_reply().with_units(Work::PointRead, 0).with_etag(etag))
}

/// `GET /dbs/{db}/colls/{c}/conflicts`, or `POST` with a query. The query must be limited to one
/// partition or have the header that permits cross-partition queries; it is not evaluated, since
/// there are no conflicts.
pub(crate) fn list_conflicts(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let asks = request.operation == Operation::QueryConflicts;
    // A query that needs and lacks permission to cross partitions is refused, as for items.
    if asks && !container_part::may_be_whole(container, request) {
        return Err(container_part::cross_partition_disabled());
    }
    let feed = representation::Feed::new(&container.rid, "Conflicts", &api.settings.memory);
    Ok(feed.into_reply().with_units(Work::PointRead, 0))
}
