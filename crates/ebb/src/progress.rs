//! A progress bar, drawn only on a terminal.

use std::{io::Read, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use server::Interrupt;

/// Template of the progress bar if the total size is known.
const KNOWN: &str = "{prefix} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {elapsed}";
/// Template of the progress bar if the total size is unknown.
const UNKNOWN: &str = "{prefix} {spinner} {bytes}, {bytes_per_sec}, {elapsed}";
const TICK_INTERVAL: Duration = Duration::from_millis(200);

/// A progress bar. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar for this number of bytes, or a spinner if the number is unknown.
    pub(crate) fn new(prefix: &'static str, bytes: Option<u64>) -> Self {
        let bar = match bytes {
            Some(bytes) => ProgressBar::new(bytes),
            None => ProgressBar::new_spinner(),
        };
        let line = if bytes.is_some() { KNOWN } else { UNKNOWN };
        if let Ok(style) = ProgressStyle::with_template(line) {
            bar.set_style(style.progress_chars("##-"));
        }
        bar.set_prefix(prefix);
        bar.enable_steady_tick(TICK_INTERVAL);
        Self(bar)
    }

    pub(crate) fn set(&self, bytes: u64) {
        self.0.set_position(bytes);
    }

    /// Returns a reader that advances the bar, and fails once the command is interrupted.
    pub(crate) fn reading<R: Read>(&self, input: R, interrupt: &Interrupt) -> Watched<R> {
        Watched { input, bar: self.0.clone(), interrupt: interrupt.clone() }
    }

    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// A reader that advances a progress bar, and fails once the command is interrupted.
pub(crate) struct Watched<R> {
    input: R,
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        if self.interrupt.is_set() {
            return Err(std::io::Error::other("interrupted"));
        }
        let count = self.input.read(bytes)?;
        self.bar.inc(count as u64);
        Ok(count)
    }
}
