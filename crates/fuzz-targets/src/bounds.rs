//! How long one input may be evaluated: what would take long is ended, as a time limit does it.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use evaluation::{Budget, Context, Error, Kind, Watch};

/// Looks at the time that an evaluation may have; there is one every few milliseconds.
const LOOKS: u32 = 20;

/// Ends what looks at the time too often.
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

/// A context whose evaluations end.
pub(crate) fn context() -> Context {
    let budget = Arc::new(Budget::watched(Ends::default()));
    Context { budget, ..Context::default() }
}
