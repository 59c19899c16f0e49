//! Seeded random histories of the engine against a naive model that knows no floors, no views and
//! no order: it asks the matrix at every instant that could matter and remembers who expired.

mod cursor;
mod dialect;
mod history;
mod model;
mod names;
mod op;
mod path;
mod world;

pub use dialect::ParsedDialect;
pub use history::{run_caught, run_history};
pub use names::run_names;
