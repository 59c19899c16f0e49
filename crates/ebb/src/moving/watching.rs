//! What a run is told from outside: signals; and what it tells: the bar.

use std::{sync::Arc, time::Duration};

use server::Interrupt;
use transfer::Watch;

use crate::progress::Progress;

/// A bar and the signals.
#[derive(Debug)]
pub(super) struct Watching {
    bar: Progress,
    interrupt: Interrupt,
}

impl Watching {
    /// Watches from now on. What has been begun stays where it is when the command is ended: a later run goes
    /// on with it.
    pub(super) fn new(prefix: &'static str, bytes: Option<u64>) -> Result<Arc<Self>, String> {
        let interrupt = Interrupt::watch(|| {}).map_err(|error| error.to_string())?;
        Ok(Arc::new(Self { bar: Progress::new(prefix, bytes), interrupt }))
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        self.bar.end();
    }
}

impl Watch for Watching {
    fn goes_on(&self) -> bool {
        !self.interrupt.is_set()
    }

    fn so_far(&self, bytes: u64) {
        self.bar.set(bytes);
    }

    #[expect(clippy::disallowed_methods, reason = "a server that is busy says how long to wait")]
    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
