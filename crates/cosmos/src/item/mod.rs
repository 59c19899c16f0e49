//! Items as they cross the door: checked and stripped on the way in, completed on the way out.

mod item_ttl;
mod new_item;
mod render;

pub(crate) use item_ttl::{Lifetimes, item_lifetime};
pub(crate) use new_item::{NewItem, check_id};
pub(crate) use render::{ItemRenderer, write_item};

/// Properties that the server sets.
pub(crate) const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];
