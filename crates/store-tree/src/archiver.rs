//! The thread that copies the journal into its archive. Failures are retried; until then entries
//! wait in the journal, up to a bound.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering,
    time::Duration,
};

use crate::inner::OpenStore;

/// Interval between attempts to archive new entries.
const PAUSE: Duration = Duration::from_millis(250);

/// Copies entries to the archive until the store is closed.
pub(crate) fn archive_until_closed(inner: &OpenStore) {
    while !inner.ending.load(Ordering::SeqCst) {
        let copied = catch_unwind(AssertUnwindSafe(|| copy_once(inner)));
        if !matches!(copied, Ok(true)) {
            std::thread::park_timeout(PAUSE);
        }
    }
}

/// Copies entries into at most one file; returns whether more entries may have to be copied.
fn copy_once(inner: &OpenStore) -> bool {
    let Some(archive) = &inner.archive else { return false };
    if inner.stop_reason().is_some() {
        return false;
    }
    let Ok(journal) = inner.journal() else { return false };
    let applied = *inner.applied.lock();
    archive.copy(&*journal, (applied.n, applied.stamp)).unwrap_or(false)
}
