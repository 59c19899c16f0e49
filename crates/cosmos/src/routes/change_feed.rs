//! The change feed with the latest version of each item, in commit order.
//!
//! A position in the feed is a commit number. A page contains the items whose last change is after
//! it, in the order of these changes, so a frequently changed item appears only once, at its newest
//! version. The response's etag is the position after the page, and the client sends it back in
//! `if-none-match`; a page without items is 304.

use document::ValueRef;
use engine::{ChangeQuery, Item};
use throughput::request_units::Work;

use super::{all_versions, container_part, shared};
use crate::{
    api::NoSqlApi,
    failure::{Failure, Result},
    item::{self, ItemCutter, ItemRenderer},
    limits::PAGE_ITEMS,
    reply::Reply,
    representation,
    request::Request,
    session,
};

/// `GET /dbs/{db}/colls/{c}/docs` with `a-im`. 200 with the changed items, or 304 without changes;
/// both return the next position as etag.
pub(crate) async fn read_changes(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let mode = request.headers.a_im().unwrap_or_default();
    if mode.eq_ignore_ascii_case("Full-Fidelity Feed") {
        return all_versions::read_versions(api, request).await;
    }
    if !mode.eq_ignore_ascii_case("Incremental Feed") {
        return Err(Failure::bad_request(format!("The change feed mode '{mode}' is unknown.")));
    }
    let container = request.container()?;
    let part = container_part::of_headers(container, request)?;
    let range = part.range.clone();
    // Without a position the feed starts with the oldest item; `*` requests changes from now on.
    let (after, from_now) = match request.headers.if_none_match().map(str::trim) {
        None | Some("") => (0, false),
        Some("*") => (api.engine.last_change(&container.collection).await?, true),
        Some(etag) => (parse_position(etag)?, false),
    };
    // A date is used only without a position: SDKs send it again with every page.
    let since_s = match request.headers.if_modified_since() {
        // Changes within the second of the date are excluded.
        Some(date) if after == 0 && !from_now => parse_date(date)?.saturating_add(1),
        _ => i64::MIN,
    };
    let items = request.headers.page_items()?.unwrap_or(PAGE_ITEMS);
    let wanted = ChangeQuery { after, since_s, range, items, bytes: shared::page_bytes(api) };
    let context = shared::new_context(api, request).await?;
    let found = api.engine.item_changes(&container.collection, &wanted, &context).await?;
    session::check_seen(request.seen, found.seq)?;
    // SDKs that read this feed and the feed of all versions with the same code request the format
    // of the latter.
    let wrapped = request.headers.wire_format().is_some();
    let cutter = request.cuts.then(|| ItemCutter::new(container.key.paths()));
    let items = found.items.iter().filter(|item| part.contains_item(container, item));
    let mut feed = representation::Feed::new(&container.rid, "Documents", &api.settings.memory);
    for item in items {
        let form = (wrapped, cutter);
        feed.push_entry_or_start(|out| write_entry(&container.renderer, item, form, out))?;
    }
    let reply = feed_page(feed, found.next, found.more);
    Ok(Reply { seq: found.seq, ..reply })
}

/// Returns the response with a page of a change feed, of the latest versions or of all versions.
/// `next` is the position after the page. The status is 304 if the page is empty and no more
/// changes follow.
pub(super) fn feed_page(feed: representation::Feed, next: u64, more: bool) -> Reply {
    let count = feed.count();
    let reply = match count == 0 && !more {
        // The .NET SDK also reads the count of an empty page.
        true => Reply { count: Some(0), ..Reply::empty(304) },
        false => feed.into_reply(),
    };
    // The position is only in the etag. A continuation token would mean that more changes exist
    // already.
    reply.with_units(Work::Rows(count as u64), 0).with_etag(format!("\"{next}\""))
}

/// Writes an entry of the feed: the item with its position in `_lsn`, or, if `wrapped`, an object
/// of item and metadata as in the feed of all versions and deletes. With a `cutter`, a large item
/// is truncated. Returns whether it was truncated.
fn write_entry(
    renderer: &ItemRenderer,
    item: &Item,
    (wrapped, cutter): (bool, Option<ItemCutter<'_>>),
    text: &mut Vec<u8>,
) -> bool {
    if wrapped {
        text.extend_from_slice(b"{\"current\":");
    }
    let mut is_cut = false;
    match cutter {
        Some(cutter) => {
            let whole = renderer.complete_document(item);
            is_cut = cutter.write_value(ValueRef::Document(whole.as_ref()), text);
        }
        None => item::write_item(renderer, item, text),
    }
    if wrapped {
        let metadata = format!(",\"metadata\":{{\"lsn\":{},\"crts\":{}}}}}", item.stamp, item.ts);
        text.extend_from_slice(metadata.as_bytes());
    } else {
        // The closing brace is replaced by a comma and the property `_lsn`.
        text.pop();
        text.extend_from_slice(format!(",\"_lsn\":{}}}", item.stamp).as_bytes());
    }
    is_cut
}

/// Parses the etag of a feed response to the position after which the feed continues.
pub(super) fn parse_position(etag: &str) -> Result<u64> {
    let number = etag.trim_matches('"').parse();
    number.map_err(|_| {
        Failure::bad_request(format!("'{etag}' is not a position of the change feed."))
    })
}

/// Parses a date to a second.
fn parse_date(date: &str) -> Result<i64> {
    let since = auth::http_date(date).map(|ms| ms.div_euclid(1000));
    since.ok_or_else(|| Failure::bad_request(format!("'{date}' is not a date.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_two_forms() {
        let body = document::doc! { "id": "a" }.to_buf().into_bytes();
        let item = Item { key: Default::default(), body, stamp: 9, creation_stamp: 8, ts: 7 };
        for (wrapped, start, end) in [
            (false, "{\"id\":\"a\",\"_rid\"", ",\"_ts\":7,\"_lsn\":9}"),
            (
                true,
                "{\"current\":{\"id\":\"a\"",
                ",\"_ts\":7},\"metadata\":{\"lsn\":9,\"crts\":7}}",
            ),
        ] {
            let mut text = Vec::new();
            assert!(!write_entry(&ItemRenderer::new(1, 2), &item, (wrapped, None), &mut text));
            let text = String::from_utf8(text).unwrap();
            assert!(text.starts_with(start) && text.ends_with(end), "{text}");
        }
    }

    #[test]
    fn positions_and_dates() {
        for (etag, want) in [("\"5\"", Some(5)), ("5", Some(5)), ("x", None), ("\"-1\"", None)] {
            assert_eq!(parse_position(etag).ok(), want, "{etag}");
        }
        assert_eq!(parse_date("Sun, 06 Nov 1994 08:49:37 GMT").ok(), Some(784_111_777));
        assert_eq!(parse_date("Sun, 06 Nov 1994 08:49:37 UTC").ok(), Some(784_111_777));
        assert!(parse_date("yesterday").is_err());
    }
}
