//! The change feed of all versions and deletes: every write and every deletion or expiry of an
//! item, in commit order.
//!
//! The feed starts now or at a position that the client has from an earlier page. It cannot start
//! at the creation of the container, because versions are kept for a limited time. A container
//! whose policy specifies no retention keeps versions from the first request for this feed on, as
//! in Azure Cosmos DB accounts with this feature; the sender of that request must be permitted to
//! write. Containers whose feed is never read thus store no old versions. The expiry of an item
//! appears as a delete with `timeToLiveExpired` in its metadata. An expiry is no write, so the
//! engine adds the event when the feed is read or at its next tick, in the order of the expiry
//! times.

use std::sync::Arc;

use document::{DocRef, Document, Value, ValueRef, json};
use engine::{Event, EventKind, EventQuery, Item};

use super::{change_feed, container_part, shared};
use crate::{
    api::NoSqlApi,
    catalog::Container,
    container,
    failure::{Failure, Fault, Result},
    item,
    limits::{BEGUN_RETENTION_S, PAGE_ITEMS},
    partition_key::{Component, KeyPath},
    reply::Reply,
    representation,
    request::Request,
    session,
};

/// Error message of Azure Cosmos DB for a container that does not keep versions.
const NOT_ENABLED: &str = "Change Feed 'All Versions and Deletes' mode must be enabled. Refer to \
                           https://aka.ms/ChangeFeed-AllVersionsAndDeletes for Preview program.";

/// `GET /dbs/{db}/colls/{c}/docs` with `a-im: Full-Fidelity Feed`. 200 with a page of events, or
/// 304.
pub(crate) async fn read_versions(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let part = container_part::of_headers(container, request)?;
    let range = part.range.clone();
    let from = match request.headers.if_none_match().map(str::trim) {
        Some("*") => None,
        Some(etag) if !etag.is_empty() => Some(change_feed::parse_position(etag)?),
        _ => {
            return Err(Failure::bad_request(
                "Start from beginning is not supported with 'All Versions and Deletes' mode.",
            ));
        }
    };
    let items = request.headers.page_items()?.unwrap_or(PAGE_ITEMS);
    keep_versions(api, container, request.may_write).await?;
    let after = match from {
        Some(position) => position,
        None => api.engine.feed_end(&container.collection).await?,
    };
    let wanted = EventQuery { after, range, items, bytes: shared::page_bytes(api) };
    let context = shared::new_context(api, request).await?;
    let found = api.engine.feed_events(&container.collection, &wanted, &context).await?;
    // Retention of versions may have been disabled since the container was looked up.
    let found = found.ok_or_else(|| Failure::bad_request(NOT_ENABLED))?;
    session::check_seen(request.seen, found.seq)?;
    let holds = |event: &&Event| {
        // The range of row keys may contain items outside the requested range of effective
        // partition keys. An event without an item cannot be checked and is returned for every
        // range.
        let item = event.after.as_ref().or(event.before.as_ref());
        item.is_none_or(|item| part.contains_item(container, item))
    };
    // The engine returns the item before every change; the response includes it only if the
    // container's policy requests previous images.
    let images = container.keeps_images();
    let events = found.events.iter().filter(holds);
    let mut feed = representation::Feed::new(&container.rid, "Documents", &api.settings.memory);
    for event in events {
        feed.push_entry(|out| write_event(container, event, images, out))?;
    }
    let reply = change_feed::feed_page(feed, found.next, found.more);
    Ok(Reply { seq: found.seq, ..reply })
}

/// Makes a container keep all versions from now on, unless it already does. Fails with 400 if the
/// container's policy disables the feed, or if the sender may not write.
async fn keep_versions(api: &NoSqlApi, container: &Container, may_write: bool) -> Result<()> {
    if container.keeps_versions() {
        return Ok(());
    }
    if !may_write {
        return Err(Failure::bad_request(NOT_ENABLED));
    }
    // Held so that no concurrent replacement of the definition ends the retention that is started
    // here.
    let _turn = api.changing.lock().await;
    let (engine, collection) = (api.engine.clone(), Arc::clone(&container.collection));
    // Must be completed even if the client disconnects.
    let begun = tokio::spawn(async move {
        engine
            .begin_feed(&collection, BEGUN_RETENTION_S, |options| {
                !container::refuses_versions(options)
            })
            .await
    });
    let begun = begun.await.unwrap_or_else(|_| {
        Err(engine::Error::new(engine::Kind::Unavailable, "the server is stopping"))
    });
    begun?;
    if container.keeps_versions() {
        return Ok(());
    }
    if container::refuses_versions(&container.collection.state().record.options) {
        return Err(Failure::bad_request(NOT_ENABLED));
    }
    Err(Failure::new(Fault::Unavailable, "The feed of all versions is starting: try again."))
}

/// Writes an event as JSON, with the item before the change if `images` is set.
fn write_event(container: &Container, event: &Event, images: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"current\":");
    match &event.after {
        Some(item) => item::write_item(&container.renderer, item, out),
        None => out.extend_from_slice(b"{}"),
    }
    if let Some(item) = event.before.as_ref().filter(|_| images) {
        out.extend_from_slice(b",\"previous\":");
        item::write_item(&container.renderer, item, out);
    }
    out.extend_from_slice(b",\"metadata\":");
    let metadata = event_metadata(container, event);
    json::write(ValueRef::Document(DocRef::Tree(&metadata)), out);
    out.push(b'}');
}

/// Returns the metadata of an event. The names are Azure Cosmos DB's; `crts` is the time of the
/// commit in seconds since 1970. `lsn` is the number of the commit, which is also the feed position
/// after the event.
fn event_metadata(container: &Container, event: &Event) -> Document {
    let int = |number: u64| Value::Int64(i64::try_from(number).unwrap_or(i64::MAX));
    let mut metadata = Document::new();
    metadata.push(
        "operationType",
        match event.kind {
            EventKind::Create => "create",
            EventKind::Replace => "replace",
            EventKind::Delete | EventKind::Expire => "delete",
        },
    );
    metadata.push("lsn", int(event.stamp));
    metadata.push("crts", Value::Int64(event.at.seconds()));
    if let Some(before) = &event.before {
        metadata.push("previousImageLSN", int(before.stamp));
    }
    // Other events contain id and partition key in `current`, and clients expect these properties
    // in the metadata only for deletes.
    if event.after.is_none() {
        metadata.push("timeToLiveExpired", event.kind == EventKind::Expire);
        if let Some(item) = &event.before {
            let id = item.document().get("id").and_then(ValueRef::as_str);
            metadata.push("id", id.unwrap_or_default());
            metadata.push("partitionKey", key_by_name(container, item));
        }
    }
    metadata
}

/// Returns the partition key of an item as an object. Its property names are the last names of the
/// partition key paths; properties that the item lacks are omitted.
fn key_by_name(container: &Container, item: &Item) -> Document {
    let components = container.key.extract_key(item.document());
    let name = |path: &KeyPath| path.parts().last().cloned().unwrap_or_default();
    let paths = container.key.paths().iter().map(name);
    let held = paths.zip(components).filter(|(_, held)| *held != Component::Undefined);
    held.map(|(name, held)| (name, held.as_value().to_value())).collect()
}
