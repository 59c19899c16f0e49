//! What compiled patterns take: about how much each does, how much those of one program may take
//! together, and the account that all of the process are taken from.
//!
//! The engine does not say how large a compiled pattern is. So a pattern is built with growing
//! limits until it fits, and counts as much as the limit that it fitted.

use std::cell::Cell;

use memory::{Account, Share};
use regex::{Regex, RegexBuilder};

use crate::{
    error::{Error, Kind},
    limits::MAX_PATTERNS_BYTES,
    numbers::LIMIT_EXCEEDED,
    process,
};

/// Sizes that a compiled pattern is tried with, bytes: the first that it fits says what it takes.
const SIZES: [usize; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Least and most that matching with one pattern may keep for the next time, bytes.
const CACHES: (usize, usize) = (64 << 10, 2 << 20);

/// Bytes of compiled patterns after which others should run. They take a few milliseconds to
/// compile, and a program may have sixty times as many.
const REST_BYTES: usize = 1 << 20;

thread_local! {
    /// What the patterns of the program that is being parsed on this thread take; `None` outside.
    static PROGRAM: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Parses a program: its patterns may take only so much together. A program inside another one is a
/// part of that. Parsing neither waits nor leaves its thread.
pub fn as_program<T>(parse: impl FnOnce() -> T) -> T {
    /// Ends the program however parsing ends.
    struct End(Option<usize>);
    impl Drop for End {
        /// The program around this one spends again.
        fn drop(&mut self) {
            PROGRAM.set(self.0);
        }
    }
    // A program inside another one spends with it, so only the outermost begins and ends a count.
    let before = PROGRAM.get();
    let _end = before.is_none().then(|| {
        PROGRAM.set(Some(0));
        End(None)
    });
    parse()
}

/// Builds a pattern and takes the memory that it holds.
pub(super) fn build_regex(
    builder: &mut RegexBuilder,
) -> Result<Result<(Regex, Share), regex::Error>, Error> {
    let mut built = Err(regex::Error::CompiledTooBig(0));
    // Most patterns fit the first size; only large ones are built again.
    for size in SIZES {
        let caches = size.saturating_mul(16).clamp(CACHES.0, CACHES.1);
        built = builder.size_limit(size).dfa_size_limit(caches).build();
        if let Ok(regex) = built {
            // Two directions of matching and their tables, and a part of the caches.
            let bytes = size.saturating_mul(3).saturating_add(caches / 4);
            return Ok(Ok((regex, take_bytes(bytes)?)));
        }
        if !matches!(built, Err(regex::Error::CompiledTooBig(_))) {
            break;
        }
    }
    Ok(built.map(|regex| (regex, Share::default())))
}

/// Takes `bytes` for a compiled pattern, of the program that is being parsed and of the process.
pub(super) fn take_bytes(bytes: usize) -> Result<Share, Error> {
    if let Some(before) = PROGRAM.get() {
        let spent = before.saturating_add(bytes);
        if MAX_PATTERNS_BYTES < spent {
            let text = "the regular expressions of an operation take more memory than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        PROGRAM.set(Some(spent));
        if before / REST_BYTES < spent / REST_BYTES {
            process::give_way();
        }
    }
    // They live in plans, cursors and caches of all operations alike.
    let mut share = process::account().map(Account::share).unwrap_or_default();
    share.grow(bytes)?;
    Ok(share)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::pattern::Pattern;

    /// One that takes much for its length.
    const LARGE: &str = "(a{1,100}b{1,100}){1,4}";

    #[test]
    fn the_patterns_of_a_program_are_bounded_together() {
        let many = || (0..1000).find_map(|at| Pattern::new(&format!("{LARGE}{at}"), "").err());
        assert_eq!(as_program(many).unwrap().number, 146);
        // A part of a program spends with it; two programs do not.
        let nested = || {
            (0..1000).find_map(|at| as_program(|| Pattern::new(&format!("{LARGE}{at}"), "").err()))
        };
        assert_eq!(as_program(nested).unwrap().number, 146);
        // Others run meanwhile.
        static OTHERS: AtomicUsize = AtomicUsize::new(0);
        process::serve_process(&Account::default(), || _ = OTHERS.fetch_add(1, Ordering::Relaxed));
        for _ in 0..3 {
            let some = || (0..20).find_map(|at| Pattern::new(&format!("{LARGE}{at}"), "").err());
            assert_eq!(as_program(some), None);
        }
        assert!(3 <= OTHERS.load(Ordering::Relaxed), "each program lets others run");
        let simple = || (0..2000).find_map(|at| Pattern::new(&format!("^name{at}"), "").err());
        assert_eq!(as_program(simple), None);
    }
}
