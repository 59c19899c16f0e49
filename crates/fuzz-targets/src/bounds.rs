//! Bounds the evaluation of one input: a long evaluation is ended, as by a time limit.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use evaluation::{Budget, Context, Error, Kind, Watch};

/// Maximum number of checks in an evaluation. There is one check every few milliseconds.
const LOOKS: u32 = 20;

/// Ends an evaluation after too many checks.
#[derive(Debug, Default)]
struct Ends(AtomicU32);

impl Watch for Ends {
    fn check_end(&self) -> Result<(), Error> {
        if self.0.fetch_add(1, Ordering::Relaxed) < LOOKS {
            return Ok(());
        }
        Err(Error::new(Kind::TooLarge, 50, "it takes too long"))
    }
}

/// Returns a context with bounded evaluations.
pub(crate) fn context() -> Context {
    let budget = Arc::new(Budget::watched(Ends::default()));
    Context { budget, ..Context::default() }
}
