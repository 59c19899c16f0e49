//! Regular expressions in Perl's syntax, matched in linear time: compiled, bounded together by
//! program and by process, and kept for the rows that follow.
//!
//! An engine that goes back would let one pattern take forever on one text. Here patterns are
//! rewritten (`syntax`) for an automaton, and what only a backtracking engine can do is refused by
//! name. Look-ahead is the exception, since a known form of it is common: at the start of an
//! anchored pattern it becomes patterns of its own (`leading`), elsewhere a walk backward answers
//! it (`looking`).

mod class;
mod compiled;
mod escape;
mod groups;
mod leading;
mod looking;
mod program;
mod recent;
mod syntax;
#[cfg(test)]
mod tests;
mod text;

pub use compiled::{MatchFinder, Pattern};
pub use program::as_program;
pub use recent::Patterns;
