//! An engine inside a test: on a memory store that can be held and paused and a clock that moves on
//! request, polled step by step. Never shipped.
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
