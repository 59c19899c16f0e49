//! What an end of the server, or an error of the disk, left undone between two steps of a change,
//! finished at a start: a container has an offer of its own or shares its database's, and every offer has
//! a resource.
//!
//! Creating a container makes its collection first and its offer second; removing one goes the same
//! way. So in between there may be a container without an offer or an offer without a resource, and
//! never a response that promised otherwise.

use std::collections::HashSet;

use engine::{Expected, Store};

use super::{
    offers::{self, Throughput},
    resources,
};
use crate::{catalog, door::Door, failure};

impl<S: Store> Door<S> {
    /// Mends what an end of the server between two steps of a change left undone. The server calls it
    /// before the door serves anybody, so that no request meets half a change.
    pub async fn mend(&self) -> Result<(), String> {
        mend_offers(self).await.map_err(|failure| failure.text.into_owned())
    }
}

/// Gives containers without an offer the least one, and removes offers of what is gone. No creation
/// without its offer was ever acknowledged.
async fn mend_offers<S: Store>(door: &Door<S>) -> failure::Result<()> {
    let _one = door.changing.lock().await;
    let mut known = HashSet::new();
    for database in catalog::all_databases(&door.engine) {
        let rid = database.rid().encode();
        let shared = offers::offer_of(door, &rid).is_some();
        for container in catalog::all_containers(&door.engine, &database) {
            if !shared && offers::offer_of(door, &container.rid).is_none() {
                let link = format!("dbs/{rid}/colls/{}/", container.rid);
                offers::create_offer(door, &link, &container.rid, Throughput::default(), None)
                    .await?;
                let (database, container) = (&container.database, &container.name);
                tracing::warn!(database, container, "a container had no offer; it has one now");
            }
            known.insert(container.rid);
        }
        known.insert(rid);
    }
    for offer in offers::all_resources(door) {
        let owner = offer.body.get("offerResourceId").and_then(|id| id.as_ref().as_str());
        if !owner.is_some_and(|owner| known.contains(owner)) {
            door.engine.remove_resource(&resources::path_names(&offer), Expected::Present).await?;
            tracing::warn!("an offer had no resource; it is removed");
        }
    }
    Ok(())
}
