//! Shared parts of the evaluators of both query languages: the context of an operation, its budget
//! of work, the memory it holds, the sizes and limits of values, regular expressions and the
//! calendar.
//!
//! It contains neither language: `pipeline` has the semantics of one API, `select` those of the
//! other, and neither imports the other. The crate is not async and cannot see a store.
//!
//! An operation has one [`Context`], which all of its rows share. During evaluation, work is
//! counted in the [`Budget`], which also decides when to yield and when to stop; memory is reserved
//! through [`OperationMemory`], in the steps that a [`Growth`] counts. The result of an expression
//! is an [`Evaluated`], borrowed where possible.

mod budget;
pub mod calendar;
mod context;
mod error;
mod evaluated;
mod execution_stats;
mod fit;
mod growth;
pub mod limits;
pub mod numbers;
mod operation_memory;
mod pattern;
mod process;
mod size;
mod spill;
mod trim;

pub use budget::{Budget, Watch};
pub use context::{Context, Random};
pub use error::{Error, Kind};
pub use evaluated::{Evaluated, owned_bytes};
pub use execution_stats::ExecutionStats;
pub use fit::{value_without_spare_room, without_spare_room};
pub use growth::{Growth, check_held, check_holdable};
pub use operation_memory::OperationMemory;
pub use pattern::{MatchFinder, Pattern, Patterns, as_program};
pub use process::serve_process;
pub use size::{Size, check_built, check_part, check_text, memory_of, readable_bytes, too_large};
pub use spill::Spill;
pub use trim::{TrimEnds, trim_chars, trim_ends};
