//! The memory of compiled patterns: an estimate for each, the limit for all patterns of one program
//! (a filter, an edit or a pipeline, parsed at once), and the account of the process from which all
//! are reserved.
//!
//! The regex library does not report the size of a compiled pattern. So a pattern is built with
//! increasing size limits until it fits, and the limit that it fits is taken as its size.

use std::cell::Cell;

use memory::{Account, Share};
use regex::{Regex, RegexBuilder};

use crate::error::{Error, Kind, numbers::LIMIT_EXCEEDED};

/// Maximum memory of all compiled regular expressions of one program, in bytes.
const MAX_PATTERNS_BYTES: usize = 64 * 1024 * 1024;
/// Size limits to build a pattern with, in bytes. The first that it fits is taken as its size.
const SIZES: [usize; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Minimum and maximum size of the matching cache of one pattern, in bytes.
const CACHES: (usize, usize) = (64 << 10, 2 << 20);

/// Bytes of compiled patterns after which other tasks should run. Compiling them takes a few
/// milliseconds, and a program may contain sixty times as many.
const REST_BYTES: usize = 1 << 20;

thread_local! {
    /// Memory of the patterns compiled so far for the program that this thread is parsing; `None`
    /// outside of parsing.
    static PROGRAM: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Parses a program, whose patterns together have a memory limit. A nested program counts towards
/// the outer one. Parsing must not wait or change its thread.
pub fn as_program<T>(parse: impl FnOnce() -> T) -> T {
    /// Guard that ends the program on drop, even if parsing panics.
    struct End(Option<usize>);
    impl Drop for End {
        fn drop(&mut self) {
            PROGRAM.set(self.0);
        }
    }
    // A nested program shares the count of the outermost one, which starts and ends it.
    let before = PROGRAM.get();
    let _end = before.is_none().then(|| {
        PROGRAM.set(Some(0));
        End(None)
    });
    parse()
}

/// Builds a pattern and reserves its memory.
pub(super) fn build_regex(
    builder: &mut RegexBuilder,
) -> Result<Result<(Regex, Share), regex::Error>, Error> {
    let mut built = Err(regex::Error::CompiledTooBig(0));
    // Most patterns fit the first size; only large ones are built again.
    for size in SIZES {
        let caches = size.saturating_mul(16).clamp(CACHES.0, CACHES.1);
        built = builder.size_limit(size).dfa_size_limit(caches).build();
        if let Ok(regex) = built {
            // Two automata (forward and reverse) with their tables, and a part of the caches.
            let bytes = size.saturating_mul(3).saturating_add(caches / 4);
            return Ok(Ok((regex, take_bytes(bytes)?)));
        }
        if !matches!(built, Err(regex::Error::CompiledTooBig(_))) {
            break;
        }
    }
    Ok(built.map(|regex| (regex, Share::default())))
}

/// Reserves `bytes` for a compiled pattern in the memory account of the process, and counts them
/// towards the limit for all patterns of the query or pipeline that is being parsed.
pub(super) fn take_bytes(bytes: usize) -> Result<Share, Error> {
    if let Some(before) = PROGRAM.get() {
        let spent = before.saturating_add(bytes);
        if MAX_PATTERNS_BYTES < spent {
            let text = "the regular expressions of an operation take more memory than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        PROGRAM.set(Some(spent));
        if before / REST_BYTES < spent / REST_BYTES {
            crate::give_way();
        }
    }
    // Patterns are kept in plans, cursors and caches of all operations, so their memory is reserved
    // from the process and not from an operation.
    let mut share = crate::account().map(Account::share).unwrap_or_default();
    share.grow(bytes)?;
    Ok(share)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::pattern::Pattern;

    /// A pattern that takes much memory for its length.
    const LARGE: &str = "(a{1,100}b{1,100}){1,4}";

    #[test]
    fn the_patterns_of_a_program_are_bounded_together() {
        let many = || (0..1000).find_map(|at| Pattern::new(&format!("{LARGE}{at}"), "").err());
        assert_eq!(as_program(many).unwrap().number, 146);
        // A nested program counts towards the outer one; separate programs do not.
        let nested = || {
            (0..1000).find_map(|at| as_program(|| Pattern::new(&format!("{LARGE}{at}"), "").err()))
        };
        assert_eq!(as_program(nested).unwrap().number, 146);
        // Compilation lets other tasks run.
        static OTHERS: AtomicUsize = AtomicUsize::new(0);
        crate::serve_process(&Account::default(), || _ = OTHERS.fetch_add(1, Ordering::Relaxed));
        for _ in 0..3 {
            let some = || (0..20).find_map(|at| Pattern::new(&format!("{LARGE}{at}"), "").err());
            assert_eq!(as_program(some), None);
        }
        assert!(3 <= OTHERS.load(Ordering::Relaxed), "each program lets others run");
        let simple = || (0..2000).find_map(|at| Pattern::new(&format!("^name{at}"), "").err());
        assert_eq!(as_program(simple), None);
    }
}
