//! Finds the item that a link names, by id or by resource id. Finding a resource id requires a scan
//! of the logical partition; only clients that follow the `_self` of an item use resource ids.

use clock::Instant;
use engine::{Flow, Item, ItemKey, ItemSink, Scan, ScanOrder};

use super::shared;
use crate::{
    api::NoSqlApi,
    catalog::Container,
    failure::{Failure, Fault, Result},
    item,
    partition_key::{Component, KeyScope},
    request::Request,
    rid::Rid,
    transport::Transport,
};

/// Returns the name in the link. Fails for a name that Azure Cosmos DB's gateway refuses or does
/// not find, with the same status: in the gateway, items with such ids are accessible only by
/// queries, by batches and by resource id.
pub(super) fn item_name(request: &Request) -> Result<&str> {
    let id = request.name();
    let is_path = request.transport == Transport::Http;
    if is_path && (id.contains(['/', '\\', '#']) || id.ends_with(' ')) {
        let text = "A link cannot name an id with '/', '\\' or '#' in it or a space at its end: use \
                    the item's own link, a query or a batch.";
        return Err(Failure::new(Fault::Unauthorized, text));
    }
    // An item with an invalid id cannot exist.
    item::check_id(id).map_err(|_| Failure::no_entity())?;
    Ok(id)
}

/// Returns the key of the item that the link of a write names. The item whose id is the name takes
/// precedence. A name in the form of a resource id is searched for only if no item has this id.
pub(super) async fn find_key(
    api: &NoSqlApi,
    request: &Request,
    container: &Container,
    components: &[Component],
) -> Result<ItemKey> {
    let key = container.item_key(components, item_name(request)?);
    if link_rid(request).is_none()
        || api.engine.read_item(&container.collection, &key).await?.0.is_some()
    {
        return Ok(key);
    }
    let found = find_by_rid(api, request, container, components).await?;
    Ok(found.map_or(key, |item| item.item_key()))
}

/// Returns the item's name in the request's path as a resource id, if it has that form.
fn link_rid(request: &Request) -> Option<Rid> {
    Rid::parse(request.link.name.as_deref()?).filter(|rid| matches!(rid, Rid::Leaf { .. }))
}

/// Returns the live item whose resource id the request's path contains.
pub(super) async fn find_by_rid(
    api: &NoSqlApi,
    request: &Request,
    container: &Container,
    components: &[Component],
) -> Result<Option<Item>> {
    let Some(wanted) = link_rid(request) else { return Ok(None) };
    let range = container.item_range(&KeyScope::Whole(components.to_vec()));
    let mut search = Search { container, wanted, found: None };
    let context = shared::new_context(api, request).await?;
    api.engine.scan_items(&container.collection, &Scan::of(range), &context, &mut search).await?;
    Ok(search.found)
}

/// Sink of a scan that ends at the item with this resource id.
struct Search<'a> {
    container: &'a Container,
    wanted: Rid,
    found: Option<Item>,
}

impl ItemSink for Search<'_> {
    fn begin(&mut self, _: ScanOrder, _: Instant) -> std::result::Result<(), engine::Error> {
        self.found = None;
        Ok(())
    }

    fn item(&mut self, item: &Item) -> std::result::Result<Flow, engine::Error> {
        if self.container.renderer.resource_id(item) != self.wanted {
            return Ok(Flow::More);
        }
        self.found = Some(item.clone());
        Ok(Flow::Enough)
    }
}
