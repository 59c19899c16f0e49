//! Completes, when the server starts, changes that a crash or a disk error has interrupted between
//! two steps. Afterwards each container has an offer or shares the offer of its database, and each
//! offer belongs to an existing resource.
//!
//! Creating a container creates its collection first and its offer second, and deleting one
//! proceeds in the same order. An interruption can therefore leave a container without an offer,
//! whose creation was not acknowledged, or an offer without a container.

use std::collections::HashSet;

use engine::Expected;
use throughput::Throughput;

use super::{offers, resources};
use crate::{api::NoSqlApi, catalog, failure};

impl NoSqlApi {
    /// Completes interrupted changes. The server calls it before it serves requests, so that no
    /// request sees a partial change.
    pub async fn mend(&self) -> Result<(), String> {
        mend_offers(self).await.map_err(|failure| failure.text.into_owned())
    }
}

/// Gives containers without an offer the minimum offer, and removes offers without a resource. The
/// creation of a container without an offer was never acknowledged.
async fn mend_offers(api: &NoSqlApi) -> failure::Result<()> {
    let _one = api.changing.lock().await;
    let mut known = HashSet::new();
    for database in catalog::all_databases(&api.engine) {
        let rid = database.rid().encode();
        let shared = offers::offer_of(api, &rid).is_some();
        for container in catalog::all_containers(&api.engine, &database) {
            if !shared && offers::offer_of(api, &container.rid).is_none() {
                let link = format!("dbs/{rid}/colls/{}/", container.rid);
                offers::create_offer(api, &link, &container.rid, Throughput::default(), None)
                    .await?;
                let (database, container) = (&container.database, &container.name);
                tracing::warn!(database, container, "created the missing offer of a container");
            }
            known.insert(container.rid);
        }
        known.insert(rid);
    }
    for offer in offers::all_resources(api) {
        let owner = offer.body.get("offerResourceId").and_then(|id| id.as_ref().as_str());
        if !owner.is_some_and(|owner| known.contains(owner)) {
            api.engine.remove_resource(&resources::path_names(&offer), Expected::Present).await?;
            tracing::warn!("deleted an offer whose resource does not exist");
        }
    }
    Ok(())
}
