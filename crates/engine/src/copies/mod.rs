//! Copies of a store that another node owns. No engine is open on them, and they serve no reads.
//!
//! ```text
//!  reaper     the data that compactions of copies drop
//!  compare    checks that two copies agree
//! ```

mod compare;
mod reaper;

pub use compare::{CopyComparison, compare_copies};
pub use reaper::CopyReaper;
