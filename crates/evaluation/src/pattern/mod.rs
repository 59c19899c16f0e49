//! Regular expressions in Perl's syntax, matched in linear time: compiled, bounded together by
//! program and by process, and kept for the rows that follow.

mod compiled;
mod leading;
mod looking;
mod program;
mod recent;
mod syntax;

pub use compiled::{MatchFinder, Pattern};
pub use program::{as_program, take_patterns_from};
pub use recent::Patterns;
