//! The JSON form of resources other than items: their stored properties, followed by the properties
//! that the server sets. Also pages of feeds (lists) of resources.

use document::{DocRef, Document, Value, ValueRef, json};
use memory::{Account, InsufficientMemory, Share};
use throughput::request_units::Work;

use crate::{
    api::NoSqlApi, continuation, etag, failure, limits::MAX_PAGE_ITEMS, reply::Reply,
    request::Request, rid::Rid,
};

/// Values of the properties that the server adds to a resource in responses.
#[derive(Clone, Debug)]
pub(crate) struct SystemProperties {
    pub(crate) rid: Rid,
    /// Link of the parent by resource ids, with a trailing slash: `dbs/.../`.
    pub(crate) owner: String,
    /// Path segment of the resource type in links, such as `docs`.
    pub(crate) word: &'static str,
    /// The commit of the last change, from which the etag is derived.
    pub(crate) stamp: u64,
    /// Second of the last change.
    pub(crate) ts: i64,
}

impl SystemProperties {
    /// Appends the properties that the server sets to the resource's own properties. `links` are
    /// the feeds below the resource, each as property name and value.
    pub(crate) fn complete_body(&self, mut body: Document, links: &[(&str, &str)]) -> Document {
        let rid = self.rid.encode();
        body.push("_self", format!("{}{}/{rid}/", self.owner, self.word));
        body.push("_rid", rid);
        body.push("_etag", etag::quoted_etag(self.stamp));
        for (name, link) in links {
            body.push(*name, *link);
        }
        body.push("_ts", Value::Int64(self.ts));
        body
    }
}

/// Returns a resource as JSON text.
pub(crate) fn resource_text(resource: &Document) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    json::write(ValueRef::Document(DocRef::Tree(resource)), &mut out);
    out
}

/// Returns the response with one resource and its etag. Status 200 is charged as a point read, any
/// other as a write.
pub(crate) fn resource_reply(status: u16, resource: &Document) -> Reply {
    let body = resource_text(resource);
    let work = if status == 200 { Work::PointRead } else { Work::Write };
    let reply = Reply::json(status, Vec::new()).with_units(work, body.len());
    let etag = resource.get("_etag").and_then(|etag| etag.as_ref().as_str());
    let reply = match etag {
        Some(etag) => reply.with_etag(etag.to_owned()),
        None => reply,
    };
    Reply { body, ..reply }
}

/// The body of a feed response, written entry by entry. Memory for the text is reserved as the text
/// grows, so that a feed that becomes too large fails early.
#[derive(Debug)]
pub(crate) struct Feed {
    /// The JSON text so far, without the brackets that close it.
    text: Vec<u8>,
    count: usize,
    /// Positions of the truncated entries in the feed.
    cut: Vec<usize>,
    held: Share,
}

impl Feed {
    /// Creates an empty feed of the resource with the id `rid`; `name` is the property name of the
    /// feed's array.
    pub(crate) fn new(rid: &str, name: &str, account: &Account) -> Self {
        let mut text = b"{\"_rid\":".to_vec();
        json::write_string(rid, &mut text);
        text.push(b',');
        json::write_string(name, &mut text);
        text.extend_from_slice(b":[");
        Self { text, count: 0, cut: Vec::new(), held: account.share() }
    }

    /// Appends an entry written by `write`.
    pub(crate) fn push_entry(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), InsufficientMemory> {
        self.push_entry_or_start(|out| {
            write(out);
            false
        })
    }

    /// Appends an entry; `write` returns whether it has truncated the entry.
    pub(crate) fn push_entry_or_start(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> Result<(), InsufficientMemory> {
        if 0 < self.count {
            self.text.push(b',');
        }
        if write(&mut self.text) {
            self.cut.push(self.count);
        }
        self.count += 1;
        self.held.set(self.text.capacity())
    }

    /// Returns the number of entries.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the approximate length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the response with the feed. If entries were truncated, its property `_cut` lists
    /// their positions.
    pub(crate) fn into_reply(mut self) -> Reply {
        self.text.extend_from_slice(format!("],\"_count\":{}", self.count).as_bytes());
        if !self.cut.is_empty() {
            self.text.extend_from_slice(format!(",\"_cut\":{:?}", self.cut).as_bytes());
        }
        self.text.push(b'}');
        Reply { count: Some(self.count), held: self.held, ..Reply::json(200, self.text) }
    }
}

/// Returns a page of a feed of resources, ordered by id. The continuation token holds the last id,
/// so that resources created or deleted between two pages do not shift the position.
pub(crate) fn feed_page(
    api: &NoSqlApi,
    request: &Request,
    rid: &str,
    name: &str,
    mut resources: Vec<Document>,
) -> failure::Result<Reply> {
    let about: [&[u8]; 2] = [rid.as_bytes(), name.as_bytes()];
    if let Some(token) = request.headers.continuation().filter(|token| !token.is_empty()) {
        let after = continuation::open_token(&api.secret, &about, token)?;
        resources.retain(|resource| after.as_slice() < resource_id(resource).as_bytes());
    }
    let most = request.headers.page_items()?.unwrap_or(MAX_PAGE_ITEMS);
    let more = most < resources.len();
    resources.truncate(most);
    let last = resources.last().filter(|_| more).map(resource_id);
    let continuation = last.map(|id| continuation::seal_token(&api.secret, &about, id.as_bytes()));
    let mut feed = Feed::new(rid, name, &api.settings.memory);
    for resource in &resources {
        feed.push_entry(|out| json::write(ValueRef::Document(DocRef::Tree(resource)), out))?;
    }
    let reply = feed.into_reply();
    let bytes = reply.body.len();
    Ok(Reply { continuation, ..reply.with_units(Work::PointRead, bytes) })
}

/// Returns the id of a resource.
pub(crate) fn resource_id(resource: &Document) -> &str {
    resource.get("id").and_then(|id| id.as_ref().as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    #[test]
    fn resources_and_feeds() {
        let system = SystemProperties {
            rid: Rid::Database(1),
            owner: String::new(),
            word: "dbs",
            stamp: 5,
            ts: 9,
        };
        let shown = system.complete_body(doc! { "id": "d" }, &[("_colls", "colls/")]);
        let want = concat!(
            r#"{"id":"d","_self":"dbs/AAAAAQ==/","_rid":"AAAAAQ==","#,
            r#""_etag":"\"00000005-0000-0000-0000-000000000000\"","_colls":"colls/","_ts":9}"#
        );
        let text = resource_text(&shown);
        assert_eq!(String::from_utf8(text.clone()).unwrap(), want);
        let account = Account::default();
        let mut feed = Feed::new("r", "Things", &account);
        for entry in [text.as_slice(), b"1"] {
            feed.push_entry(|out| out.extend_from_slice(entry)).unwrap();
        }
        assert_eq!(feed.count(), 2);
        let want = format!(r#"{{"_rid":"r","Things":[{want},1],"_count":2}}"#);
        assert_eq!(String::from_utf8(feed.into_reply().body).unwrap(), want);
        let mut feed = Feed::new("r", "X", &account);
        for (entry, is_cut) in [("0", true), ("1", false), ("2", true)] {
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(entry.as_bytes());
                is_cut
            };
            feed.push_entry_or_start(write).unwrap();
        }
        let want = r#"{"_rid":"r","X":[0,1,2],"_count":3,"_cut":[0, 2]}"#;
        assert_eq!(String::from_utf8(feed.into_reply().body).unwrap(), want);
        let empty = Feed::new("", "X", &account).into_reply();
        assert_eq!(empty.body, br#"{"_rid":"","X":[],"_count":0}"#);
    }

    #[test]
    fn a_feed_takes_what_its_text_takes_until_its_answer_is_dropped() {
        let account = Account::new(1_000_000);
        let mut feed = Feed::new("r", "Things", &account);
        while feed.push_entry(|out| out.extend_from_slice(&[b'1'; 10_000])).is_ok() {
            assert!(feed.text.capacity() <= account.used_bytes().max(20_000), "{}", feed.count());
            assert!(feed.bytes() < 1_000_000);
        }
        let held = account.used_bytes();
        assert!(400_000 < held);
        let reply = feed.into_reply();
        assert_eq!(account.used_bytes(), held);
        drop(reply);
        assert_eq!(account.used_bytes(), 0);
    }
}
