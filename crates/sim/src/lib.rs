//! Seeded random histories of the engine against a naive model that knows no floors, no views and
//! no order: it asks the matrix of TTL rules at every instant that could matter and remembers what
//! has expired.
//!
//! ```text
//!  seed ──▶ history ──▶ world ──┬──▶ engine (memory store, manual clock, polled by hand)
//!                               └──▶ model  (a map of documents)
//!                      after each step: what is seen on every path is what the model says
//! ```
//!
//! One seed is one history, step by step the same: a failure is repeated by its number. Operations
//! are polled by hand, so that they are held between stamp and publication, or stopped in the
//! middle of their reads, at chosen places (`world.rs`). Names of collections have a history of
//! their own (`names.rs`).

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
