//! The read feed: all items of a container or a part of it, page by page.

use clock::Instant;
use engine::{Error, Flow, Item, ItemSink, Scan, ScanOrder};
use memory::Account;
use throughput::request_units::Work;

use super::{container_part, page_order, shared};
use crate::{
    api::NoSqlApi, catalog::Container, failure::Result, item, limits::PAGE_ITEMS, reply::Reply,
    representation::Feed, request::Request, session,
};

/// A page of items, filled by a scan of the engine.
struct Page<'a> {
    container: &'a Container,
    part: &'a container_part::ContainerPart<'a>,
    account: &'a Account,
    max_items: usize,
    max_bytes: usize,
    feed: Feed,
    scan_order: ScanOrder,
    /// Position of the page's last item in scan order, once the page is full; empty before.
    last: Vec<u8>,
    /// Whether an item follows the page. If not, the response has no continuation token.
    more: bool,
}

impl ItemSink for Page<'_> {
    fn begin(&mut self, scan_order: ScanOrder, _: Instant) -> Result<(), Error> {
        // A scan may restart if data changed during it, and the page starts over as well.
        self.scan_order = scan_order;
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
        if self.max_items <= self.feed.count() || self.max_bytes <= self.feed.bytes() {
            self.last.extend_from_slice(&page_order::order_key(self.scan_order, item));
        }
        Ok(Flow::More)
    }
}

/// `GET /dbs/{db}/colls/{c}/docs`. 200 with a page in the order of `page_order`.
pub(crate) async fn read_items(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = request.container()?;
    let part = container_part::of_headers(container, request)?;
    // The token is valid only for the read feed of this container and for the part that the headers
    // specify.
    let about: [&[u8]; 3] = [container.rid.as_bytes(), b"feed", &part.part_id];
    let (creation_order, after) = page_order::resume_page(api, request, &about)?;
    let max_items = request.headers.page_items()?.unwrap_or(PAGE_ITEMS);
    let account = &api.settings.memory;
    let feed = Feed::new(&container.rid, "Documents", account);
    let mut page = Page {
        container,
        part: &part,
        account,
        max_items,
        max_bytes: shared::page_bytes(api),
        feed,
        scan_order: ScanOrder::ByKey,
        last: Vec::new(),
        more: false,
    };
    let scan = Scan { after, creation_order, ..Scan::of(part.range.clone()) };
    let context = shared::new_context(api, request).await?;
    let scanned = api.engine.scan_items(&container.collection, &scan, &context, &mut page).await?;
    session::check_seen(request.seen, scanned.seq)?;
    let last = Some(&page.last).filter(|_| page.more);
    let continuation = last.map(|last| page_order::seal_page(api, &about, page.scan_order, last));
    let reply = page.feed.into_reply();
    let bytes = reply.body.len();
    let reply = reply.with_units(Work::Rows(scanned.items), bytes);
    Ok(Reply { continuation, seq: scanned.seq, ..reply })
}
