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
//! is an [`Evaluated`], borrowed where possible. A server sets the resources of the process, that
//! is, its memory account and how a thread is handed over, once at startup.

mod budget;
pub mod calendar;
mod context;
mod error;
mod evaluated;
mod execution_stats;
mod fit;
mod growth;
mod operation_memory;
mod pattern;
mod size;
mod trim;

pub use budget::{Budget, MAX_WORK, STEP, Watch};
pub use context::{Context, Random, Spill, compare_by};
pub use error::{Error, Kind, numbers};
pub use evaluated::{Evaluated, owned_bytes};
pub use execution_stats::ExecutionStats;
pub use fit::{value_without_spare_room, without_spare_room};
pub use growth::{Growth, MAX_HELD_BYTES, check_held, check_holdable};
pub use operation_memory::OperationMemory;
pub use pattern::{MatchFinder, Pattern, Patterns, as_program};
pub use size::{
    MAX_MADE_BYTES, MAX_RETURNED_BYTES, MAX_VALUE_DEPTH, Size, check_built, check_part, check_text,
    memory_of, readable_bytes, too_large,
};
pub use trim::{TrimEnds, trim_chars, trim_ends};

use std::sync::OnceLock;

use memory::Account;

static PROCESS: OnceLock<(Account, fn())> = OnceLock::new();

/// Sets the process's memory account, from which all compiled patterns are reserved, and
/// `give_way`, which is called every few milliseconds of work that no watch supervises. Only the
/// first call has an effect.
pub fn serve_process(account: &Account, give_way: fn()) {
    let _ = PROCESS.set((account.clone(), give_way));
}

/// Returns the memory account of all operations; `None` if the process is not a server.
pub(crate) fn account() -> Option<&'static Account> {
    PROCESS.get().map(|(account, _)| account)
}

pub(crate) fn give_way() {
    if let Some((_, give_way)) = PROCESS.get() {
        give_way();
    }
}
