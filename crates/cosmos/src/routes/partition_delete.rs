//! The removal of everything under a partition key. It is done before the response is sent; the service
//! does it in the background.

use engine::Store;

use super::shared;
use crate::{
    door::Door,
    failure::{Failure, Result},
    reply::Reply,
    request::Request,
    request_units::Work,
};

/// `POST /dbs/{db}/colls/{c}/operations/partitionkeydelete`. A prefix of a hierarchical key is
/// allowed; an empty one would be the whole container, which nobody means. 200, whether there was
/// an item or not.
pub(crate) async fn delete_partition<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let header = request.headers.partition_key().ok_or_else(|| {
        Failure::bad_request("PartitionKey value must be supplied for this operation.")
    })?;
    let range = container.item_range(&container.key.read_scope(header)?);
    if range.is_all() && !container.key.paths().is_empty() {
        return Err(Failure::bad_request(
            "PartitionKey value must be supplied for this operation.",
        ));
    }
    let context = shared::new_context(door, request).await?;
    let removed = door.engine.remove_range(&container.collection, &range, &context).await?;
    Ok(Reply::empty(200).with_units(Work::Rows(removed as u64), 0))
}
