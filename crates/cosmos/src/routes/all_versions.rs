//! The change feed of all versions and deletes: every write and every end of an item, in the order
//! of commits.

use document::{DocRef, Document, Value, ValueRef, json};
use engine::{Event, EventKind, Events, Item, Store};

use super::{change_feed, container_part, shared};
use crate::{
    catalog::Container,
    door::Door,
    failure::{Failure, Result},
    item,
    limits::{MAX_PAGE_BYTES, PAGE_ITEMS},
    partition_key::{Component, KeyPath},
    reply::Reply,
    representation,
    request::Request,
    session,
};

/// What is said where no versions are kept.
const NOT_ENABLED: &str = "Change Feed 'All Versions and Deletes' mode must be enabled. Refer to \
                           https://aka.ms/ChangeFeed-AllVersionsAndDeletes for Preview program.";

/// `GET /dbs/{db}/colls/{c}/docs` with `a-im: Full-Fidelity Feed`
pub(crate) async fn read<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    if !container.keeps_versions() {
        return Err(Failure::bad(NOT_ENABLED));
    }
    let part = container_part::of_headers(container, request)?;
    let range = part.range.clone();
    let after = match request.headers.if_none_match().map(str::trim) {
        Some("*") => door.engine.store().published(),
        Some(etag) if !etag.is_empty() => change_feed::position(etag)?,
        _ => {
            return Err(Failure::bad(
                "Start from beginning is not supported with 'All Versions and Deletes' mode.",
            ));
        }
    };
    let items = request.headers.page_items()?.unwrap_or(PAGE_ITEMS);
    let wanted = Events { after, range, items, bytes: MAX_PAGE_BYTES };
    let context = shared::context(door, request).await;
    let found = door.engine.events(&container.collection, &wanted, &context).await?;
    let found = found.ok_or_else(|| Failure::bad(NOT_ENABLED))?;
    session::check(request.seen, found.seq)?;
    let holds = |event: &&Event| {
        let item = event.after.as_ref().or(event.before.as_ref());
        item.is_none_or(|item| part.holds(container, item))
    };
    let images = container.keeps_images();
    let events = found.events.iter().filter(holds);
    let mut feed = representation::Feed::new(&container.rid, "Documents", &door.settings.memory);
    for event in events {
        feed.push(|out| text(container, event, images, out))?;
    }
    let reply = change_feed::page(feed, found.next, found.more);
    Ok(Reply { seq: found.seq, ..reply })
}

/// An event as text, with the item before it where the container keeps `images`.
fn text(container: &Container, event: &Event, images: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"current\":");
    match &event.after {
        Some(item) => item::write(&container.renderer, item, out),
        None => out.extend_from_slice(b"{}"),
    }
    if let Some(item) = event.before.as_ref().filter(|_| images) {
        out.extend_from_slice(b",\"previous\":");
        item::write(&container.renderer, item, out);
    }
    out.extend_from_slice(b",\"metadata\":");
    let metadata = metadata(container, event);
    json::write(ValueRef::Document(DocRef::Tree(&metadata)), out);
    out.push(b'}');
}

fn metadata(container: &Container, event: &Event) -> Document {
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
    if event.after.is_none() {
        metadata.push("timeToLiveExpired", event.kind == EventKind::Expire);
    }
    if let Some(item) = event.after.as_ref().or(event.before.as_ref()) {
        let id = item.document().get("id").and_then(ValueRef::as_str);
        metadata.push("id", id.unwrap_or_default());
        metadata.push("partitionKey", partition(container, item));
    }
    metadata
}

/// The partition key by the last names of its paths.
fn partition(container: &Container, item: &Item) -> Document {
    let components = container.key.extract(item.document());
    let name = |path: &KeyPath| path.parts().last().cloned().unwrap_or_default();
    let paths = container.key.paths().iter().map(name);
    let held = paths.zip(components).filter(|(_, held)| *held != Component::Undefined);
    held.map(|(name, held)| (name, held.as_value().to_value())).collect()
}
