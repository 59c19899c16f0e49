//! What a server did during the last day: a sample each minute, of operations and how long they took,
//! connections, bytes, expiry, disk and memory; and the slow operations of that day. Both are bounded in number
//! and size, outlive a restart where there is a data directory, and hold no data of users there. For longer times and finer
//! steps there is `/metrics`, which these are gathered from the same counters as.

mod file;
mod gathered;
mod ring;
mod sample;
mod slow;

use std::{path::Path, sync::Arc, time::Duration};

use clock::{monotonic_time, wall_ms};
use parking_lot::Mutex;
use tokio::sync::watch;
use traces::SlowOperations;

pub(crate) use self::gathered::{Gathered, Source};
use self::{file::LineFile, ring::Ring, sample::Sample, slow::KeptSlow};
use crate::background::has_waited;

/// The time that a sample is about.
pub(crate) const EVERY: Duration = Duration::from_secs(60);
/// How many samples are kept: those of a day.
const KEPT: usize = 24 * 60;

/// The samples of a process.
pub(crate) struct Figures {
    held: Mutex<Held>,
    /// Where they are written too; `None` without a data directory.
    file: Option<LineFile>,
    /// The slow operations are written too; `None` without a data directory, or where none is slow.
    slow: Option<KeptSlow>,
}

struct Held {
    ring: Ring,
    /// What had been counted when the last sample ended, and when that was on the monotonic clock;
    /// `None` before the first look.
    last: Option<(Gathered, Duration)>,
    /// Whether a sample of this run was added.
    has_begun: bool,
}

impl Figures {
    /// Samples of a process that begins; those that an earlier one left in the folder are read by [`keep`].
    pub(crate) fn new(folder: Option<&Path>, slow: Option<&Arc<SlowOperations>>) -> Self {
        let held = Held { ring: Ring::new(KEPT), last: None, has_begun: false };
        Self {
            held: Mutex::new(held),
            file: folder.map(|folder| LineFile::new(folder, "")),
            slow: folder.zip(slow).map(|(folder, slow)| KeptSlow::open(folder, slow)),
        }
    }

    /// The samples so far, oldest first, and one of the time since the last of them ended.
    pub(crate) fn samples(&self, gathered: &Gathered) -> Vec<Sample> {
        let (held, now) = (self.held.lock(), monotonic_time());
        let current = held.since_last(gathered, now);
        held.ring.samples().cloned().chain(current).collect()
    }

    /// Reads what an earlier process left. What is damaged or cannot be read is left out.
    fn load(&self) {
        let Some(file) = &self.file else { return };
        let read = file.read(KEPT);
        self.held.lock().ring.put_before(read);
    }

    /// Ends a sample and begins the next one. Waits for the disk, but not for its sync: what a loss of power
    /// takes of the last minutes is not worth a sync each minute.
    fn note(&self, gathered: Gathered) {
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
        // A full disk must not end the samples in memory, and other parts say that it is full.
        if let Some(file) = &self.file
            && let Err(error) = file.append(&sample, KEPT)
        {
            tracing::debug!(%error, "a sample of the server's figures was not written");
        }
    }
}

impl Held {
    fn since_last(&self, gathered: &Gathered, now: Duration) -> Option<Sample> {
        let (before, then) = self.last.as_ref()?;
        let span = now.saturating_sub(*then);
        Some(Sample::between(before, gathered, wall_ms(), span, !self.has_begun))
    }
}

/// Takes samples until `stop`, the last one then. What `gather` reads is added up while it is asked.
pub(crate) async fn keep(
    figures: Arc<Figures>,
    gather: impl Fn() -> Gathered + Clone + Send + 'static,
    mut stop: watch::Receiver<bool>,
) {
    let apart = |first: bool| {
        let (figures, gather) = (Arc::clone(&figures), gather.clone());
        // It reads and writes files.
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
            // The runtime ends, or it panicked, which a supervisor has told.
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
        let counted = |bytes| Gathered { bytes_in: bytes, ..Gathered::default() };
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
            figures.note(Gathered::default());
        }
        assert_eq!(figures.samples(&Gathered::default()).len(), KEPT + 1);
    }
}
