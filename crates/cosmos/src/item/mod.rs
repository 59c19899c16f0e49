//! Items as they cross the door: checked and stripped on the way in, completed on the way out.
//!
//! An item is stored without what the server sets. That follows from its row: `_rid` from the
//! commit of its birth, `_etag` from that of its last change, `_ts` from the second of that. So a
//! stored item never disagrees with its row.

mod item_ttl;
mod new_item;
mod render;

pub(crate) use item_ttl::{Lifetimes, item_lifetime};
pub(crate) use new_item::{NewItem, check_id};
pub(crate) use render::{ItemRenderer, write_item, write_item_without_links};

/// Properties that the server sets. What a client sends in them is dropped, because SDKs send back
/// what they have read.
pub(crate) const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];
