//! An engine in the test's own process: on a memory store that can be held and paused, on a clock
//! that moves when told, driven by hand one poll at a time. Never shipped.
//!
//! ```text
//!  let kit = Kit::default();
//!  kit.insert(doc! { "_id": 1, "ttl": 5 })?;
//!  kit.move_to(4_999);   // live
//!  kit.move_to(5_000);   // expired
//! ```

mod build;
mod kit;
mod pausing;
mod task;

pub use build::{
    EqualityDialect, TtlField, compare, date_index, equal, plain_index, sort_by, system_index,
    unique_index,
};
pub use kit::{
    Kit, START_MS, Setup, context, default_ttl, find_all, first_failure, ids_of, insert_one,
    replace_one, start_clock,
};
pub use pausing::{PausingSnapshot, PausingStore, Turnstile};
pub use task::{Task, ready};

pub use store::Direction;
