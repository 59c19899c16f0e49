//! Copies of a store that another node owns: no engine is open on them, and nobody reads them.
//!
//! ```text
//!  reaper     what their compactions drop
//!  compare    whether one has what another has
//! ```

mod compare;
mod reaper;

pub use compare::{CopyComparison, compare_copies};
pub use reaper::CopyReaper;
