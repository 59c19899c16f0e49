//! Items: validation and removal of properties when they are written, completion when they are
//! returned.
//!
//! Items are stored without the properties that the server sets, which are derived from the row:
//! `_rid` from the commit that created it, `_etag` from its last change, and `_ts` from the second
//! of that change. So these properties can never differ from the row's metadata.

mod cut;
mod item_ttl;
mod new_item;
mod render;

pub(crate) use cut::ItemCutter;
pub(crate) use item_ttl::{TtlRules, item_lifetime};
pub(crate) use new_item::{NewItem, check_id};
pub(crate) use render::{ItemRenderer, write_item, write_item_without_links};

/// Properties that the server sets. Values sent by clients are dropped, because SDKs send back the
/// items that they have read.
pub(crate) const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];
