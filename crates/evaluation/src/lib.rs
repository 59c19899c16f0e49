//! What the evaluators of both query languages share: the context of an operation, its budget of
//! work, the memory it holds, the sizes and limits of values, regular expressions and the calendar.
//!
//! It knows neither language: `pipeline` has the semantics of one protocol, `select` those of the
//! other, and neither imports the other. It is not async and cannot see a store.
//!
//! An operation has one [`Context`], which all of its rows share. While a row is evaluated, work is
//! counted in the [`Budget`], which also says when to let others run and when to stop; memory is
//! taken through [`Holding`], value by value as a [`Growth`] says. A value that an expression came
//! to is an [`Evaluated`]: borrowed where it can be.

mod budget;
pub mod calendar;
mod context;
mod error;
mod evaluated;
mod fit;
mod growth;
mod holding;
pub mod limits;
mod looked;
pub mod numbers;
mod pattern;
mod process;
mod size;
mod spill;
mod trim;

pub use budget::{Budget, Watch};
pub use context::{Context, Random};
pub use error::{Error, Kind};
pub use evaluated::{Evaluated, owned_bytes};
pub use fit::{value_without_spare_room, without_spare_room};
pub use growth::{Growth, check_held, check_holdable};
pub use holding::Holding;
pub use looked::Looked;
pub use pattern::{MatchFinder, Pattern, Patterns, as_program};
pub use process::serve_process;
pub use size::{Size, check_built, check_part, check_text, memory_of, readable_bytes, too_large};
pub use spill::Spill;
pub use trim::{Ends, trim_chars, trim_ends};
