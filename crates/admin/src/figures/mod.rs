//! Statistics of the last day: a sample each minute of operations, latencies, connections, bytes,
//! expiry, disk and memory; and the slow operations of the day. Both are bounded in number and
//! size, survive a restart if there is a data directory, and contain no user data on disk. For
//! longer periods and finer steps use `/metrics`, which reads the same counters.

mod file;
mod gathered;
mod ring;
mod sample;
mod slow;

use std::{path::Path, sync::Arc, time::Duration};

use clock::{monotonic_time, wall_ms};
use parking_lot::Mutex;
use server_base::sleep::has_waited;
use tokio::sync::watch;
use traces::SlowOperations;

pub use self::gathered::CounterReadings;
pub(crate) use self::gathered::Source;
use self::{file::LineFile, ring::Ring, sample::Sample, slow::SlowOperationLog};

pub(crate) const EVERY: Duration = Duration::from_secs(60);
/// Number of samples that are kept: those of one day.
const KEPT: usize = 24 * 60;

/// The samples of a process.
pub struct Figures {
    held: Mutex<Held>,
    /// File of samples; `None` without a data directory.
    file: Option<LineFile>,
    /// Storage of slow operations; `None` without a data directory or if the slow log is off.
    slow: Option<SlowOperationLog>,
}

struct Held {
    ring: Ring,
    /// Counters at the end of the last sample, with the monotonic time of that end; `None` before
    /// the first sample.
    last: Option<(CounterReadings, Duration)>,
    /// Whether this process has added a sample since its start.
    has_begun: bool,
}

impl std::fmt::Debug for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Figures").finish_non_exhaustive()
    }
}

impl Figures {
    /// Creates the statistics of a new process; [`keep`] loads those of an earlier one.
    pub fn new(folder: Option<&Path>, slow: Option<&Arc<SlowOperations>>) -> Self {
        let held = Held { ring: Ring::new(KEPT), last: None, has_begun: false };
        Self {
            held: Mutex::new(held),
            file: folder.map(|folder| LineFile::new(folder, "")),
            slow: folder.zip(slow).map(|(folder, slow)| SlowOperationLog::open(folder, slow)),
        }
    }

    /// Returns the samples, oldest first, followed by one for the time since the last sample ended.
    pub(crate) fn samples(&self, gathered: &CounterReadings) -> Vec<Sample> {
        let (held, now) = (self.held.lock(), monotonic_time());
        let current = held.since_last(gathered, now);
        held.ring.samples().cloned().chain(current).collect()
    }

    /// Loads the samples of an earlier process, skipping damaged ones.
    fn load(&self) {
        let Some(file) = &self.file else { return };
        let read = file.read(KEPT);
        self.held.lock().ring.put_before(read);
    }

    /// Ends a sample and starts the next. Blocks on writing but does not sync: the last minutes are
    /// not worth a sync each minute.
    fn note(&self, gathered: CounterReadings) {
        if let Some(slow) = &self.slow {
            slow.write();
        }
        let mut held = self.held.lock();
        let now = monotonic_time();
        let ended = held.since_last(&gathered, now);
        held.last = Some((gathered, now));
        let Some(sample) = ended else { return };
        held.has_begun = true;
        held.ring.push(sample.clone());
        drop(held);
        // On a full disk, which other components report, samples are kept in memory only.
        if let Some(file) = &self.file
            && let Err(error) = file.append(&sample, KEPT)
        {
            tracing::debug!(%error, "cannot write a sample of the server's metrics");
        }
    }
}

impl Held {
    fn since_last(&self, gathered: &CounterReadings, now: Duration) -> Option<Sample> {
        let (before, then) = self.last.as_ref()?;
        let span = now.saturating_sub(*then);
        Some(Sample::between(before, gathered, wall_ms(), span, !self.has_begun))
    }
}

/// Takes samples periodically until `stop`, and a last one at the stop.
pub async fn keep(
    figures: Arc<Figures>,
    gather: impl Fn() -> CounterReadings + Clone + Send + 'static,
    mut stop: watch::Receiver<bool>,
) {
    let apart = |first: bool| {
        let (figures, gather) = (Arc::clone(&figures), gather.clone());
        // On a blocking thread, because files are read and written.
        tokio::task::spawn_blocking(move || {
            figures.note(gather());
            if first {
                figures.load();
            }
        })
    };
    let mut first = true;
    loop {
        if apart(first).await.is_err() {
            // The runtime is shutting down, or the task panicked.
            return;
        }
        first = false;
        if !has_waited(EVERY, &mut stop).await {
            let _ = apart(false).await;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_outlive_a_restart_and_the_running_minute_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let counted = |bytes| CounterReadings { bytes_in: bytes, ..CounterReadings::default() };
        let one = Figures::new(Some(folder.path()), None);
        assert_eq!(one.samples(&counted(5)), []);
        one.note(counted(5));
        one.note(counted(7));
        one.note(counted(8));
        let shown = one.samples(&counted(12));
        let bytes = |samples: &[Sample]| samples.iter().map(|it| it.bytes_in).collect::<Vec<_>>();
        assert_eq!(bytes(&shown), [2, 1, 4]);
        assert_eq!(shown.iter().map(|it| it.first).collect::<Vec<_>>(), [true, false, false]);

        let other = Figures::new(Some(folder.path()), None);
        other.note(counted(0));
        other.load();
        assert_eq!(bytes(&other.samples(&counted(9))), [2, 1, 9]);
        assert!(other.samples(&counted(9))[2].first);
    }

    #[test]
    fn without_a_folder_they_are_in_memory() {
        let figures = Figures::new(None, None);
        figures.load();
        for _ in 0..KEPT + 10 {
            figures.note(CounterReadings::default());
        }
        assert_eq!(figures.samples(&CounterReadings::default()).len(), KEPT + 1);
    }
}
