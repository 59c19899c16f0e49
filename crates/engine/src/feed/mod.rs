//! The feed of all versions and expirations: each write records an event in its own commit;
//! expirations are published later. Only containers that request it have a feed.
//!
//! ```text
//!  write ──▶ event in the same commit ─────────────────────┐
//!  expiry ─▶ (not a write)   … publish ──▶ event + floors ─┴──▶ read, in the order of commits
//! ```

mod event;
mod publish;
mod read;

pub(crate) use event::put_event;
pub use event::{Event, EventKind};
pub use read::{EventPage, EventQuery};
