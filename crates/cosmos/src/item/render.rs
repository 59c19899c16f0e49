//! Renders stored items as JSON text, with the properties that the server sets appended. This is
//! the hottest code of the crate: it makes one pass over the stored bytes and allocates only the
//! output.

use std::io::Write;

use document::{DocBuf, DocBuilder, RawElements, ValueRef, json};
use engine::Item;

use crate::{
    etag,
    rid::{Leaf, Rid},
};

/// The data shared by all items of a container for rendering.
#[derive(Clone, Debug)]
pub(crate) struct ItemRenderer {
    database: u32,
    container: u32,
    /// Path of the container's items in resource ids: `dbs/.../colls/.../docs/`.
    prefix: String,
}

impl ItemRenderer {
    pub(crate) fn new(database: u32, container: u32) -> Self {
        let of_database = Rid::Database(database).encode();
        let of_container = Rid::Container { database, container }.encode();
        let prefix = format!("dbs/{of_database}/colls/{of_container}/docs/");
        Self { database, container, prefix }
    }

    /// Returns the resource id of an item. It is derived from the commit that created the item, so
    /// an item that is deleted and created again has another id.
    pub(crate) fn resource_id(&self, item: &Item) -> Rid {
        Rid::in_container(self.database, self.container, item.creation_stamp, Leaf::Item)
    }
}

impl ItemRenderer {
    /// Returns an item with the properties that the server sets. Queries that do not read those
    /// properties avoid this copy.
    pub(crate) fn complete_document(&self, item: &Item) -> DocBuf {
        let rid = self.resource_id(item).encode();
        let link = format!("{}{rid}/", self.prefix);
        let etag = etag::quoted_etag(item.stamp);
        let mut builder = DocBuilder::with_buffer(Vec::with_capacity(item.body.len() + 256));
        for element in RawElements::new(&item.body) {
            builder.append_raw(element.name, element.kind, element.value);
        }
        builder.append("_rid", ValueRef::String(&rid));
        builder.append("_self", ValueRef::String(&link));
        builder.append("_etag", ValueRef::String(&etag));
        builder.append("_attachments", ValueRef::String("attachments/"));
        builder.append("_ts", ValueRef::Int64(item.ts));
        builder.finish()
    }
}

/// Appends an item as JSON, with the properties that the server sets at the end, as in Azure Cosmos
/// DB.
pub(crate) fn write_item(renderer: &ItemRenderer, item: &Item, out: &mut Vec<u8>) {
    write_with_links(renderer, item, true, out);
}

/// Appends an item as JSON without the links `_self` and `_attachments`.
pub(crate) fn write_item_without_links(renderer: &ItemRenderer, item: &Item, out: &mut Vec<u8>) {
    write_with_links(renderer, item, false, out);
}

fn write_with_links(renderer: &ItemRenderer, item: &Item, links: bool, out: &mut Vec<u8>) {
    out.reserve(item.body.len() + 256);
    out.push(b'{');
    for (name, value) in item.document().iter() {
        json::write_string(name, out);
        out.push(b':');
        json::write(value, out);
        out.push(b',');
    }
    let rid = renderer.resource_id(item);
    out.extend_from_slice(b"\"_rid\":\"");
    rid.write_text(out);
    if links {
        out.extend_from_slice(b"\",\"_self\":\"");
        out.extend_from_slice(renderer.prefix.as_bytes());
        rid.write_text(out);
        out.push(b'/');
    }
    out.extend_from_slice(b"\",\"_etag\":\"\\\"");
    out.extend_from_slice(&etag::etag_bytes(item.stamp));
    out.extend_from_slice(match links {
        true => b"\\\"\",\"_attachments\":\"attachments/\",\"_ts\":",
        false => b"\\\"\",\"_ts\":",
    });
    // Writing to memory does not fail.
    let _ = write!(out, "{}", item.ts);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    #[test]
    fn what_the_server_sets_stands_at_the_end() {
        let renderer = ItemRenderer::new(1, 2);
        let item = Item {
            key: "key".into(),
            body: doc! { "id": "a", "n": 1.5 }.to_buf().into_bytes(),
            stamp: 7,
            creation_stamp: 5,
            ts: 9,
        };
        let mut out = Vec::new();
        write_item(&renderer, &item, &mut out);
        let rid = renderer.resource_id(&item).encode();
        let want = format!(
            concat!(
                r#"{{"id":"a","n":1.5,"_rid":"{}","_self":"dbs/AAAAAQ==/colls/AAAAAYAAAAI=/docs/{}/","#,
                r#""_etag":"\"00000007-0000-0000-0000-000000000000\"","#,
                r#""_attachments":"attachments/","_ts":9}}"#
            ),
            rid, rid
        );
        assert_eq!(String::from_utf8(out).unwrap(), want);
        let later = Item { creation_stamp: 6, ..item };
        assert_ne!(renderer.resource_id(&later).encode(), rid);
    }
}
