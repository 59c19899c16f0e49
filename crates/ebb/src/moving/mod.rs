//! `ebb export` and `ebb import`: command line, progress and output. This file shows a progress
//! bar, and stops the command after a signal. The requests to the server and the file formats are
//! in crate `transfer`.
//!
//! ```text
//! flags       flags of both commands: the server, the collection, the format
//! exporting   ebb export
//! importing   ebb import
//! ```

mod exporting;
mod flags;
mod importing;

pub(crate) use exporting::{export_command, run_export};
pub(crate) use importing::{import_command, run_import};

use std::{sync::Arc, time::Duration};

use server::Interrupt;
use transfer::RunMonitor;

use crate::progress::Progress;

/// Shows progress, and detects an interrupt by the user.
#[derive(Debug)]
struct Watching {
    bar: Progress,
    interrupt: Interrupt,
}

impl Watching {
    /// Shows the bar and watches for signals. An interrupted run keeps its partial result, so that
    /// a later run can resume it.
    fn new(prefix: &'static str, bytes: Option<u64>) -> Result<Arc<Self>, String> {
        let interrupt = Interrupt::watch(|| {}).map_err(|error| error.to_string())?;
        Ok(Arc::new(Self { bar: Progress::new(prefix, bytes), interrupt }))
    }

    fn end(&self) {
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
