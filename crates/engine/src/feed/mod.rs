//! The feed of all versions and deaths: an event for every write, made in its own commit, and one
//! for every death, made by the teller. Only containers that ask for it have one.

mod event;
mod read;
mod tell;

pub(crate) use event::put_event;
pub use event::{Event, EventKind};
pub use read::{EventPage, Events};
