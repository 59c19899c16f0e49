//! A cache of the regular expressions that an operation compiled most recently, so that a pattern
//! is not compiled again for every row.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::{budget::Budget, error::Error, pattern::Pattern};

/// Maximum number of cached patterns.
const KEPT: usize = 8;
/// Units of work charged for compiling a pattern, besides its length.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_used_last_are_kept() {
        let (patterns, budget) = (Patterns::default(), Budget::default());
        let compiled = |source: &str, options: &str| {
            let before = budget.spent();
            patterns.get_or_compile(source, options, &budget).unwrap();
            budget.spent() != before
        };
        assert!(compiled("a+", ""));
        assert!(!compiled("a+", ""));
        assert!(compiled("a+", "im"));
        assert!(!compiled("a+", "mi"));
        for at in 0..KEPT {
            assert!(compiled(&format!("b{at}"), ""));
        }
        assert!(compiled("a+", ""));
        assert!(!compiled("b7", ""));
    }

    #[test]
    fn a_wrong_pattern_is_refused_every_time() {
        let (patterns, budget) = (Patterns::default(), Budget::default());
        for _ in 0..2 {
            let error = patterns.get_or_compile("(", "", &budget).unwrap_err();
            assert_eq!(error.kind, crate::error::Kind::Invalid);
        }
    }
}
