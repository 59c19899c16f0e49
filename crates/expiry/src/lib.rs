//! When a document expires: expiry classes, deadlines, floors (times up to which documents have
//! permanently expired), date indexes and the liveness predicate.
//! Pure functions of a header, a collection's settings and an instant; this crate reads no clock
//! and no store, and deletes nothing.

mod class;
mod dates;
mod floors;
mod header;
mod settings;

#[cfg(test)]
mod laws;

pub use class::{Class, Lifetime, meaningful_ttl};
pub use dates::{DateRule, FloorPair};
pub use floors::{DateFloor, Floors};
pub use header::{Damaged, Dates, Header, HeaderDraft, body_checksum};
pub use settings::{DefaultTtl, ExpiryRule, Settings};
