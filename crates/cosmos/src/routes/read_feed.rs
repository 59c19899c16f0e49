//! All items of a container or a part of it, page by page: the read feed.

use clock::Instant;
use engine::{Error, Flow, Item, ItemSink, Scan, ScanOrder, Store};
use memory::Account;

use super::{container_part, page_order, shared};
use crate::{
    catalog::Container, door::Door, failure::Result, item, limits::PAGE_ITEMS, reply::Reply,
    representation::Feed, request::Request, request_units::Work, session,
};

/// A page that is being filled by the engine's scan.
struct Page<'a> {
    container: &'a Container,
    part: &'a container_part::ContainerPart<'a>,
    account: &'a Account,
    /// How many items it has at the most.
    most: usize,
    /// Bytes after which it ends.
    most_bytes: usize,
    feed: Feed,
    /// The order in which items come.
    comes: ScanOrder,
    /// Place of the last item, once the page is full; empty before.
    last: Vec<u8>,
    /// Whether there is an item after it: without one the page is the last, and has no
    /// continuation.
    more: bool,
}

impl ItemSink for Page<'_> {
    fn begin(&mut self, comes: ScanOrder, _: Instant) -> Result<(), Error> {
        // A scan may begin again, when something changed under it: the page begins anew as well.
        self.comes = comes;
        self.feed = Feed::new(&self.container.rid, "Documents", self.account);
        self.last.clear();
        self.more = false;
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<Flow, Error> {
        if !self.part.contains_item(self.container, item) {
            return Ok(Flow::More);
        }
        // The page was full with the item before, and here is one more.
        if !self.last.is_empty() {
            self.more = true;
            return Ok(Flow::Enough);
        }
        self.feed.push_entry(|out| item::write_item(&self.container.renderer, item, out))?;
        if self.most <= self.feed.count() || self.most_bytes <= self.feed.bytes() {
            self.last.extend_from_slice(&page_order::order_key(self.comes, item));
        }
        Ok(Flow::More)
    }
}

/// `GET /dbs/{db}/colls/{c}/docs` 200 with a page in the order of `page_order`.
pub(crate) async fn read_items<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let part = container_part::of_headers(container, request)?;
    // A token is for this container, a read feed, and the part that the headers name.
    let about: [&[u8]; 3] = [container.rid.as_bytes(), b"feed", &part.mark];
    let (births, after) = page_order::resume_page(door, request, &about)?;
    let most = request.headers.page_items()?.unwrap_or(PAGE_ITEMS);
    let account = &door.settings.memory;
    let feed = Feed::new(&container.rid, "Documents", account);
    let mut page = Page {
        container,
        part: &part,
        account,
        most,
        most_bytes: shared::page_bytes(door),
        feed,
        comes: ScanOrder::ByKey,
        last: Vec::new(),
        more: false,
    };
    let scan = Scan { after, births, ..Scan::of(part.range.clone()) };
    let context = shared::new_context(door, request).await?;
    let scanned = door.engine.scan_items(&container.collection, &scan, &context, &mut page).await?;
    session::check_seen(request.seen, scanned.seq)?;
    let last = Some(&page.last).filter(|_| page.more);
    let continuation = last.map(|last| page_order::seal_page(door, &about, page.comes, last));
    let reply = page.feed.into_reply();
    let bytes = reply.body.len();
    let reply = reply.with_units(Work::Rows(scanned.items), bytes);
    Ok(Reply { continuation, seq: scanned.seq, ..reply })
}
