//! When a document expires: class, deadline, floors, date indexes and the one question "is it
//! live". Pure functions of a header, a collection's settings and an instant. Nothing here reads a
//! clock or a store, and nothing here deletes.

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
