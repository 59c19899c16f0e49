//! Patterns with look-behind, references back, atomic groups and possessive quantifiers, which no
//! automaton can match. They are compiled to a small program, which tries alternatives one after
//! the other and goes back on failure.
//!
//! The time may be exponential in the length of a text, so each step is counted as work while it is
//! done, and a search that takes more than [`MAX_STEPS`] fails with an error that names the
//! pattern. The alternatives that remain to be tried are limited, too, and their memory is reserved
//! from the process.

mod compiler;
mod machine;
mod program;
mod stack;
mod steps;
#[cfg(test)]
mod tests;

use super::{
    groups::Flags,
    lookahead::{Count, Spans},
    syntax::MarkedPattern,
    text::too_large,
};
use crate::error::Error;
use machine::Machine;
use program::Program;
use steps::Steps;

/// Maximum steps of one search of one text: a few tenths of a second.
const MAX_STEPS: u64 = 1 << 25;

/// A compiled pattern that is matched by backtracking.
#[derive(Debug)]
pub(super) struct BacktrackingPattern {
    program: Program,
    /// The pattern as given, for errors.
    source: String,
}

impl BacktrackingPattern {
    /// Compiles a rewritten pattern; `source` is the pattern as given. Returns the memory in bytes,
    /// too. Fails if the program would be too large, and for look-behind of unlimited length.
    pub(super) fn new(
        source: &str,
        marked: &MarkedPattern,
        flags: Flags,
    ) -> Result<(Self, usize), Error> {
        let (program, bytes) = compiler::compile(marked, flags)?;
        Ok((Self { program, source: source.to_owned() }, bytes + source.len()))
    }

    /// Finds the first match at or after a position: the spans of the whole match and of its
    /// groups.
    pub(super) fn find_at(
        &self,
        text: &str,
        from: usize,
        count: Count<'_>,
    ) -> Result<Option<Spans>, Error> {
        if u32::try_from(text.len()).is_err() {
            return Err(too_large());
        }
        let mut machine = Machine::new(&self.program, text, from, Steps::new(count, &self.source));
        let found = machine.search()?;
        machine.finish()?;
        Ok(found)
    }
}
