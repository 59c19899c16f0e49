//! Storage of the slow operations in the folder `figures`, without their query texts: those contain
//! values, which may have expired. The file is written each minute; if the process is killed, the
//! operations of the last minute are lost.

use std::{path::Path, sync::Arc};

use parking_lot::Mutex;
use traces::{MOST_SLOW, SlowOperations};

use super::file::LineFile;

/// The slow operations of a process, and their file.
pub(super) struct SlowOperationLog {
    all: Arc<SlowOperations>,
    file: LineFile,
    /// Total number of slow operations when the file was last written.
    written: Mutex<u64>,
}

impl SlowOperationLog {
    /// Opens the file, and loads the operations of an earlier process, so that the first request
    /// returns them.
    pub(super) fn open(folder: &Path, all: &Arc<SlowOperations>) -> Self {
        let file = LineFile::new(folder, "slow-");
        all.put_before(file.read(MOST_SLOW));
        Self { all: Arc::clone(all), file, written: Mutex::new(0) }
    }

    /// Appends the slow operations added since the last call. Blocks on the disk.
    pub(super) fn write(&self) {
        let mut written = self.written.lock();
        let (new, added) = self.all.after(*written);
        *written = added;
        for slow in new {
            // A full disk, which other components report, must not affect the list in memory.
            if let Err(error) = self.file.append(slow.as_ref(), MOST_SLOW) {
                tracing::debug!(%error, "cannot write to the slow operation log");
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use traces::Operation;

    use super::*;

    fn keep(all: &SlowOperations, at_ms: i64) {
        let of = Operation {
            system: "mongodb",
            protocol: "",
            name: "find",
            database: "app",
            collection: "log",
            took: Duration::from_millis(120),
            code: 0,
            failed: false,
            examined: 9,
            returned: 3,
            plan: "scan",
            charge: None,
            client: "checkout",
            request: "7",
            relayed: false,
            parent: None,
        };
        all.keep("mongo", &of, at_ms, Some("{ secret: \"planted\" }".to_owned()));
    }

    #[test]
    fn they_outlive_restarts_each_once_and_without_what_they_asked() {
        let folder = tempfile::tempdir().unwrap();
        let mut last = None;
        for run in 0..4 {
            let all = Arc::new(SlowOperations::new(100));
            let kept = SlowOperationLog::open(folder.path(), &all);
            keep(&all, 10 * run);
            kept.write();
            keep(&all, 10 * run + 1);
            kept.write();
            kept.write();
            let told =
                all.list(40).iter().map(|it| (it.at_ms, it.query.is_some())).collect::<Vec<_>>();
            let now = [(10 * run + 1, true), (10 * run, true)];
            let before = (0..run).rev().flat_map(|it| [(10 * it + 1, false), (10 * it, false)]);
            assert_eq!(told, now.into_iter().chain(before).collect::<Vec<_>>());
            last = all.list(40).first().cloned();
        }
        let all = Arc::new(SlowOperations::new(100));
        SlowOperationLog::open(folder.path(), &all);
        let read = all.list(40);
        assert_eq!(
            (read[0].plan.as_str(), read[0].api.as_ref(), read[0].took_ms),
            ("scan", "mongo", 120)
        );
        assert_eq!(last.map(|it| it.client.clone()).as_deref(), Some("checkout"));
        let written = fs::read_to_string(folder.path().join("figures/slow-newer")).unwrap();
        assert!(written.contains("checkout") && !written.contains("planted"), "{written}");
    }

    #[test]
    fn however_many_there_are_the_files_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let all = Arc::new(SlowOperations::new(100));
        let kept = SlowOperationLog::open(folder.path(), &all);
        for at in 0..5_000 {
            keep(&all, at);
            if at % 70 == 0 {
                kept.write();
            }
        }
        kept.write();
        let lines = |name: &str| {
            fs::read_to_string(folder.path().join("figures").join(name)).unwrap().lines().count()
        };
        assert!(lines("slow-newer") <= MOST_SLOW && lines("slow-older") <= MOST_SLOW);
        let again = Arc::new(SlowOperations::new(100));
        SlowOperationLog::open(folder.path(), &again);
        let told = again.list(5_000);
        assert_eq!((told.len(), told[0].at_ms, told[199].at_ms), (MOST_SLOW, 4_999, 4_800));
    }
}
