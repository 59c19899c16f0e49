//! Shows the progress of an export or import in a bar, and ends it after a signal.

use std::{sync::Arc, time::Duration};

use server::Interrupt;
use transfer::RunMonitor;

use crate::progress::Progress;

/// Shows progress, and detects an interrupt by the user.
#[derive(Debug)]
pub(super) struct Watching {
    bar: Progress,
    interrupt: Interrupt,
}

impl Watching {
    /// Shows the bar and watches for signals. An interrupted run keeps its partial result, so that
    /// a later run can resume it.
    pub(super) fn new(prefix: &'static str, bytes: Option<u64>) -> Result<Arc<Self>, String> {
        let interrupt = Interrupt::watch(|| {}).map_err(|error| error.to_string())?;
        Ok(Arc::new(Self { bar: Progress::new(prefix, bytes), interrupt }))
    }

    pub(super) fn end(&self) {
        self.bar.end();
    }
}

impl RunMonitor for Watching {
    fn should_continue(&self) -> bool {
        !self.interrupt.is_set()
    }

    fn report_progress(&self, bytes: u64) {
        self.bar.set(bytes);
    }

    #[expect(clippy::disallowed_methods, reason = "a server that is busy says how long to wait")]
    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
