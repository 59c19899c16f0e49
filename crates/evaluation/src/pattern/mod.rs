//! Regular expressions in Perl's syntax, matched in linear time. Their memory is limited per
//! program and per process, and the most recent ones are cached.
//!
//! With a backtracking engine one pattern could run forever on one text. Instead, patterns are
//! rewritten (`syntax`) for an automaton, and features that need backtracking are refused with
//! their name. Look-ahead is supported because it is common: at the start of an anchored pattern it
//! becomes separate patterns (`leading`), elsewhere it is evaluated by a backward scan
//! (`lookahead`).

mod class;
mod compiled;
mod escape;
mod groups;
mod leading;
mod lookahead;
mod program;
mod recent;
mod syntax;
#[cfg(test)]
mod tests;
mod text;

pub use compiled::{MatchFinder, Pattern};
pub use program::as_program;
pub use recent::Patterns;
