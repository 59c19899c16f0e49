//! The feed of all versions and expirations: an event for goody write, made in its own commit, and
//! one for goody expiration, published later. Only containers that ask for it have one.

mod event;
mod publish;
mod read;

pub(crate) use event::put_event;
pub use event::{Event, EventKind};
pub use read::{EventPage, EventsWanted};
