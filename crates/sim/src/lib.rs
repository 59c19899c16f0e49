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
//! stopped during their reads, at chosen points (`world.rs`). Names of collections and transactions
//! have separate histories (`names.rs`, `transactions.rs`). Stored filters of partial indexes are in the MongoDB API's language.

mod cursor;
mod history;
mod model;
mod names;
mod op;
mod open_transaction;
mod path;
mod transactions;
mod world;

pub use history::{run_caught, run_history};
pub use names::run_names;
pub use transactions::run_transactions;

use document::DocRef;
use engine::{Dialect, Model};
use pipeline::Filter;

/// Parses stored filters with `mongo_query`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParsedDialect;

impl Dialect for ParsedDialect {
    fn parse_filter(&self, _: Model, filter: DocRef<'_>) -> Result<Filter, String> {
        mongo_query::filter::parse(filter).map_err(|error| error.message)
    }
}
