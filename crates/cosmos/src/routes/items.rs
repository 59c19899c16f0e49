//! Operations on one item: create, upsert, read, replace, patch, delete.
//!
//! All follow the same steps: validate the request against the container, build the row key from
//! partition key and id, execute one atomic unit in the engine, and return the resulting item. The
//! engine determines whether the item exists; nothing is looked up before a write.

use std::sync::Arc;

use engine::{Item, ItemAction, ItemDone, ItemKey, ItemWrite};
use throughput::request_units::Work;

use super::{condition::Condition, item_lookup, shared};
use crate::{
    api::NoSqlApi,
    catalog::Container,
    etag,
    failure::{Failure, Fault, Result},
    item::{self, NewItem, TtlRules},
    operation::Operation,
    partition_key::Component,
    patch::{self, Patch},
    reply::Reply,
    request::Request,
    session,
};

/// Refuses requests that would run a trigger. Ignoring the trigger would be worse, since the client
/// relies on its effect.
fn check_triggers(request: &Request) -> Result<()> {
    let named = [request.headers.pre_triggers(), request.headers.post_triggers()];
    if named.iter().flatten().any(|names| !names.trim().is_empty()) {
        return Err(Failure::unsupported("The execution of triggers"));
    }
    Ok(())
}

/// Parses the item in a request, and its partition key.
fn read_new_item(
    request: &Request,
    container: &Container,
    body: &[u8],
) -> Result<(NewItem, Vec<Component>)> {
    check_triggers(request)?;
    let item = NewItem::parse(body)?;
    container.check_item_id(item.id())?;
    let components = container.key.of_item(item.as_document(), request.headers.partition_key())?;
    Ok((item, components))
}

/// `POST /dbs/{db}/colls/{c}/docs` as a create or an upsert, depending on the operation. 201 if the
/// item was created and 200 if an upsert replaced it; 409 if a create finds the id in use, or if
/// another item has the same unique key.
pub(crate) async fn create_item(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let container = request.container()?;
    let (item, components) = read_new_item(request, container, body)?;
    let key = container.item_key(&components, item.id());
    let stored = item.to_buf();
    let action = match request.operation {
        Operation::UpsertItem => ItemAction::Upsert(stored),
        _ => ItemAction::Create(stored),
    };
    write_one(api, request, container, key, action).await
}

/// `PUT /dbs/{db}/colls/{c}/docs/{id}`. If the body has another id than the link, the item moves
/// and keeps its resource id. 404 if the item does not exist, 409 if the new id is in use, 412 if
/// the version of the item is not that in `if-match`.
pub(crate) async fn replace_item(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let container = request.container()?;
    let (item, components) = match read_new_item(request, container, body) {
        Ok(read) => read,
        Err(failure) => return Err(refuse_body(api, request, container, body, failure).await),
    };
    let key = item_lookup::find_key(api, request, container, &components).await?;
    let to = container.item_key(&components, item.id());
    let action = replace_action(&key, to, &item);
    write_one(api, request, container, key, action).await
}

/// Returns the failure of a replace whose body does not match its container or link. As in Azure
/// Cosmos DB, a missing item takes precedence over other failures. A body that is not an object was
/// refused before this call.
async fn refuse_body(
    api: &NoSqlApi,
    request: &Request,
    container: &Container,
    body: &[u8],
    failure: Failure,
) -> Failure {
    let fits = match failure.fault {
        Fault::PartitionKey => true,
        Fault::BadRequest => shared::parse_document(body).is_ok(),
        _ => false,
    };
    let key = match container.key.whole_key(request.headers.partition_key()) {
        Ok(components) if fits => item_lookup::find_key(api, request, container, &components).await,
        _ => return failure,
    };
    let Ok(key) = key else { return failure };
    match api.engine.read_item(&container.collection, &key).await {
        Ok((None, _)) => Failure::no_entity(),
        _ => failure,
    }
}

/// Returns the action of a replace. If the id changes, the item moves to another key atomically.
pub(super) fn replace_action(key: &ItemKey, to: ItemKey, item: &NewItem) -> ItemAction {
    match *key == to {
        true => ItemAction::Replace(item.to_buf()),
        false => ItemAction::Move(to, item.to_buf()),
    }
}

/// `PATCH /dbs/{db}/colls/{c}/docs/{id}`. The partition key comes from the header, since the body
/// has none. 412 if the item does not match the patch's condition, or its version is not that in
/// `if-match`. 400, with the number of the operation, if an operation fails. Both failures leave
/// the item unchanged.
pub(crate) async fn patch_item(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let container = request.container()?;
    check_triggers(request)?;
    let components = container.key.whole_key(request.headers.partition_key())?;
    let key = item_lookup::find_key(api, request, container, &components).await?;
    let action = patch_action(api, request, container, Patch::parse(body)?).await?;
    write_one(api, request, container, key, action).await
}

/// Returns a patch as an engine action: a function of the item's newest version. The engine calls
/// it within the write, and again if another writer commits first.
pub(super) async fn patch_action(
    api: &NoSqlApi,
    request: &Request,
    container: &Arc<Container>,
    patch: Patch,
) -> Result<ItemAction> {
    let condition = match &patch.condition {
        None => None,
        Some(text) => {
            let context = shared::new_context(api, request).await?;
            Some(Condition::new(container, text, context)?)
        }
    };
    let container = Arc::clone(container);
    let keeps_ttl = !patch.touches("ttl");
    let edit = move |item: &Item, default| {
        if let Some(condition) = &condition
            && !condition.is_met(&container.renderer, item)?
        {
            let message = "the item does not meet the condition";
            return Err(engine::Error::new(engine::Kind::Precondition, message));
        }
        let patched = patch::apply_patch(&patch, &container.key, item.document());
        let stored = patched.map_err(|failure| failure.into_engine())?;
        // A patch that does not change `ttl` does not change the item's lifetime.
        let lifetime = if keeps_ttl {
            // The stored `ttl` is not validated, since it may have been written while TTL was
            // disabled.
            engine::Lifetime::from_ttl(stored.get("ttl"))
        } else {
            item::item_lifetime(default, stored.as_ref())?
        };
        Ok((stored, lifetime))
    };
    Ok(ItemAction::Patch(Arc::new(edit)))
}

/// `DELETE /dbs/{db}/colls/{c}/docs/{id}`. 204 without a body; 404 if the item does not exist or
/// has expired, even if its row is still stored.
pub(crate) async fn delete_item(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    check_triggers(request)?;
    let components = container.key.whole_key(request.headers.partition_key())?;
    let key = item_lookup::find_key(api, request, container, &components).await?;
    write_one(api, request, container, key, ItemAction::Delete).await
}

/// `GET /dbs/{db}/colls/{c}/docs/{id}`. 304 if the client already has this version. A client whose
/// session token is newer than the read gets the failure on which SDKs retry; this takes precedence
/// over 404.
pub(crate) async fn read_item(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let components = container.key.whole_key(request.headers.partition_key())?;
    let key = container.item_key(&components, item_lookup::item_name(request)?);
    let (mut found, seq) = api.engine.read_item(&container.collection, &key).await?;
    if found.is_none() {
        found = item_lookup::find_by_rid(api, request, container, &components).await?;
    }
    session::check_seen(request.seen, seq)?;
    let item = found.ok_or_else(Failure::no_entity)?;
    let etag = etag::quoted_etag(item.stamp);
    let item_seq = Some(item.stamp);
    if shared::is_known(request, item.stamp) {
        return Ok(Reply { seq, item_seq, ..Reply::empty(304) }.with_etag(etag));
    }
    let body = item_body(request, container, &item);
    let reply = Reply { seq, item_seq, ..Reply::json(200, Vec::new()) };
    let reply = reply.with_units(Work::PointRead, body.len()).with_etag(etag);
    Ok(Reply { body, ..reply })
}

/// Returns the body of an item, with or without its links, as the request specifies.
fn item_body(request: &Request, container: &Container, item: &Item) -> Vec<u8> {
    let mut body = Vec::new();
    match request.headers.exclude_system() {
        true => item::write_item_without_links(&container.renderer, item, &mut body),
        false => item::write_item(&container.renderer, item, &mut body),
    }
    body
}

/// Executes one write, with the version condition of the request, and returns the resulting item.
async fn write_one(
    api: &NoSqlApi,
    request: &Request,
    container: &Arc<Container>,
    key: ItemKey,
    action: ItemAction,
) -> Result<Reply> {
    let write = ItemWrite { key, action, if_match: shared::if_match(request.headers.if_match()) };
    let collection = &container.collection;
    let done = api.engine.write_items(collection, &[write], &TtlRules).await;
    let (done, seq) = done.map_err(|failure| failure.error)?;
    let done =
        done.into_iter().next().unwrap_or(ItemDone { created: false, item: None, entries: 0 });
    let Some(item) = done.item else {
        return Ok(Reply { seq, ..Reply::empty(204) }.with_units(Work::Write, 0));
    };
    let status = if done.created { 201 } else { 200 };
    let reply = Reply { seq, ..Reply::json(status, Vec::new()) };
    let reply =
        reply.with_units(Work::Write, item.body.len()).with_etag(etag::quoted_etag(item.stamp));
    if request.headers.prefers_minimal() {
        return Ok(reply);
    }
    Ok(Reply { body: item_body(request, container, &item), ..reply })
}
