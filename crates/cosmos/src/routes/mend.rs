//! What an end of the server between two steps of a change left behind, mended at a start: a container
//! has an offer of its own or shares its database's, and every offer has a resource.

use std::collections::HashSet;

use engine::{Expect, Store};

use super::{
    offers::{self, Throughput},
    records,
};
use crate::{containers, door::Door, failure::Result};

/// Gives containers without an offer the least one, and removes offers of what is gone: neither can
/// come to be by requests, and no creation without its offer was ever acknowledged.
pub(crate) async fn offers<S: Store>(door: &Door<S>) -> Result<()> {
    let _one = door.changing.lock().await;
    let mut known = HashSet::new();
    for database in containers::databases(&door.engine) {
        let rid = database.rid().encode();
        let shared = offers::of(door, &rid).is_some();
        for container in containers::all(&door.engine, &database) {
            if !shared && offers::of(door, &container.rid).is_none() {
                let link = format!("dbs/{rid}/colls/{}/", container.rid);
                offers::create(door, &link, &container.rid, Throughput::default()).await?;
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
            door.engine.remove_resource(&records::names(&offer), Expect::Present).await?;
            tracing::warn!("an offer had no resource; it is removed");
        }
    }
    Ok(())
}
