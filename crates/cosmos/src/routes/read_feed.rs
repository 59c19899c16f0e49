//! The read feed: all items of a container or a part of it, page by page.

use clock::Instant;
use engine::{Error, Flow, Item, ItemSink, Scan, ScanOrder, Store};
use memory::Account;

use super::{container_part, page_order, shared};
use crate::{
    catalog::Container, door::Door, failure::Result, item, limits::PAGE_ITEMS, reply::Reply,
    representation::Feed, request::Request, request_units::Work, session,
};

/// A page that the engine's scan fills.
struct Page<'a> {
    container: &'a Container,
    part: &'a container_part::ContainerPart<'a>,
    account: &'a Account,
    /// Maximum number of items.
    most: usize,
    /// Maximum size in bytes.
    most_bytes: usize,
    feed: Feed,
    /// The scan order.
    comes: ScanOrder,
    /// Position of the page's last item in scan order, once the page is full; empty before.
    last: Vec<u8>,
    /// Whether an item follows the page. If not, the response has no continuation token.
    more: bool,
}

impl ItemSink for Page<'_> {
    fn begin(&mut self, comes: ScanOrder, _: Instant) -> Result<(), Error> {
        // A scan may restart if data changed during it, and the page starts over as well.
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
        // The page was already full, and this is one more item.
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

/// `GET /dbs/{db}/colls/{c}/docs`. 200 with a page in the order of `page_order`.
pub(crate) async fn read_items<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let part = container_part::of_headers(container, request)?;
    // The token is valid for this container, the read feed, and the part in the headers.
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
