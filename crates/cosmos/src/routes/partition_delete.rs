//! Deletes all items of a partition key. It completes before the response is sent; Azure Cosmos DB
//! deletes the items in the background.

use throughput::request_units::Work;

use super::shared;
use crate::{
    api::NoSqlApi,
    failure::{Failure, Result},
    partition_key::KeyScope,
    reply::Reply,
    request::Request,
};

/// `POST /dbs/{db}/colls/{c}/operations/partitionkeydelete`. The key must be complete: a prefix of
/// a hierarchical key would delete items of many keys, and is refused with 1001. 200, whether or
/// not there were items.
pub(crate) async fn delete_partition(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let header = request.headers.partition_key().ok_or_else(|| {
        Failure::bad_request("PartitionKey value must be supplied for this operation.")
    })?;
    let scope = container.key.read_scope(header)?;
    match &scope {
        KeyScope::Whole(_) => {}
        KeyScope::Prefix(components) if components.is_empty() => {
            return Err(Failure::bad_request(
                "PartitionKey value must be supplied for this operation.",
            ));
        }
        KeyScope::Prefix(_) => return Err(Failure::mismatch_of_definition()),
    }
    let range = container.item_range(&scope);
    let context = shared::new_context(api, request).await?;
    let removed = api.engine.remove_range(&container.collection, &range, &context).await?;
    Ok(Reply::empty(200).with_units(Work::Rows(removed as u64), 0))
}
