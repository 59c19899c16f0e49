//! The feed of all versions and expirations: an event for every write, made in its own commit, and
//! one for every expiration, published later. Only containers that ask for it have one.
//!
//! ```text
//!  write ──▶ event in the same commit ─────────────────────┐
//!  expiry ─▶ (nobody writes) … publish ──▶ event + floors ─┴──▶ read, in the order of commits
//! ```

mod event;
mod publish;
mod read;

pub(crate) use event::put_event;
pub use event::{Event, EventKind};
pub use read::{EventPage, EventsWanted};
