//! Regular expressions in Perl's syntax, matched in linear time where possible. Their memory is
//! limited per program and per process, and the most recent ones are cached.
//!
//! With a backtracking engine, a pattern can take exponential time on a text. So patterns are
//! rewritten (`syntax`) for an automaton. Look-ahead at the start of an anchored pattern becomes
//! separate patterns (`leading`), elsewhere it is evaluated by a backward scan (`lookahead`). Only
//! patterns that no automaton matches, such as those with look-behind or back-references, are
//! matched by backtracking with a limit (`backtracking`). A pattern with a feature that no engine
//! supports is rejected with an error that names the feature.

mod backtracking;
mod class;
mod compiled;
mod escape;
mod groups;
mod leading;
mod lookahead;
mod mark;
mod program;
mod syntax;
#[cfg(test)]
mod tests;
mod text;

pub use compiled::{MatchFinder, Pattern};
pub use program::as_program;

use std::sync::Arc;

use parking_lot::Mutex;

use crate::{budget::Budget, error::Error};

/// Maximum number of cached patterns.
const KEPT: usize = 8;
/// Units of work charged for compiling a pattern, in addition to one per byte of its source.
const COMPILE: usize = 1 << 16;

/// Compiled patterns, the most recently used first.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Arc<Mutex<Vec<Arc<Pattern>>>>);

impl Patterns {
    /// Returns the compiled form of a pattern with options out of `imsxu`, from the cache or newly
    /// compiled. Compiling counts as work.
    pub fn get_or_compile(
        &self,
        source: &str,
        options: &str,
        budget: &Budget,
    ) -> Result<Arc<Pattern>, Error> {
        // Sorted, since the order of options is irrelevant.
        let mut wanted: Vec<char> = options.chars().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut kept = self.0.lock();
        let known = kept.iter().position(|pattern| {
            pattern.source() == source && pattern.options().chars().eq(wanted.iter().copied())
        });
        let pattern = match known {
            Some(at) => kept.remove(at),
            None => {
                budget.spend_bounded(COMPILE.saturating_add(source.len()))?;
                Arc::new(Pattern::new(source, options)?)
            }
        };
        kept.insert(0, Arc::clone(&pattern));
        kept.truncate(KEPT);
        Ok(pattern)
    }
}
