//! Random histories of the engine from seeds, compared with a naive model. The model has no views
//! and no commit order: it evaluates the TTL rules at every relevant instant, and remembers which
//! documents have expired.
//!
//! ```text
//!  seed ──▶ history ──▶ world ──┬──▶ engine (memory store, manual clock, polled by hand)
//!                               └──▶ model  (a map of documents)
//!                      after each step: every path returns what the model says
//! ```
//!
//! A seed determines a history completely, so that a failure can be reproduced by the number of its
//! seed. Operations are polled by hand, so that they can be held between stamp and publication, or
//! stopped during their reads, at chosen points (`world.rs`). Names of collections have separate
//! histories (`names.rs`).

mod cursor;
mod dialect;
mod history;
mod model;
mod names;
mod op;
mod path;
mod shape;
mod world;

pub use dialect::ParsedDialect;
pub use history::{run_caught, run_history};
pub use names::run_names;
