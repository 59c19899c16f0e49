//! Items as they cross the door: checked and stripped on the way in, completed on the way out.

mod incoming;
mod render;
mod ttl;

pub(crate) use incoming::{Incoming, check_id};
pub(crate) use render::{Frame, write};
pub(crate) use ttl::{Lifetimes, lifetime};

/// Properties that the server sets.
pub(crate) const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];
