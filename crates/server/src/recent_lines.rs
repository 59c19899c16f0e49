//! The last lines of the log, kept in memory for `getLog`: as many as mongod keeps, at most 1 MiB.

use std::{collections::VecDeque, io};

use mongo::RecentLog;
use parking_lot::Mutex;

/// Maximum number of kept lines.
const MAX_LINES: usize = 1024;
/// Maximum length of a kept line in bytes; longer ones are truncated.
const MAX_LINE_BYTES: usize = 1024;

/// The kept lines of the process's log.
static LINES: Mutex<Ring> = Mutex::new(Ring::new());

/// Returns a snapshot of the kept lines.
pub(crate) fn recent_log() -> RecentLog {
    LINES.lock().snapshot()
}

/// A writer that keeps each line that is written. The logger writes a line with one call.
pub(crate) struct RecentLines;

impl io::Write for RecentLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        LINES.lock().push(&String::from_utf8_lossy(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last lines, the oldest first, and the number of lines written since the start.
struct Ring {
    total: u64,
    lines: VecDeque<String>,
}

impl Ring {
    const fn new() -> Self {
        Self { total: 0, lines: VecDeque::new() }
    }

    /// Adds a line, truncated at a character, and drops the oldest one if there are too many.
    fn push(&mut self, line: &str) {
        let line = line.trim_end();
        let end = line.floor_char_boundary(MAX_LINE_BYTES);
        self.total += 1;
        if self.lines.len() == MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line.get(..end).unwrap_or_default().to_owned());
    }

    fn snapshot(&self) -> RecentLog {
        RecentLog { total: self.total, lines: self.lines.iter().cloned().collect() }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::{fmt, layer::SubscriberExt, registry};

    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_long_ones_are_cut() {
        let mut ring = Ring::new();
        for number in 0..MAX_LINES + 5 {
            ring.push(&format!("line {number}\n"));
        }
        let kept = ring.snapshot();
        assert_eq!((kept.total, kept.lines.len()), (MAX_LINES as u64 + 5, MAX_LINES));
        assert_eq!(
            (kept.lines[0].as_str(), kept.lines[MAX_LINES - 1].as_str()),
            ("line 5", "line 1028")
        );
        ring.push(&"\u{20ac}".repeat(MAX_LINE_BYTES));
        let last = ring.snapshot().lines.pop().unwrap();
        assert_eq!(last, "\u{20ac}".repeat(MAX_LINE_BYTES / 3));
    }

    #[test]
    fn each_event_of_the_logger_is_one_line() {
        let kept = fmt::layer().with_writer(|| RecentLines).with_ansi(false);
        let before = recent_log().total;
        tracing::subscriber::with_default(registry().with(kept), || {
            tracing::info!(number = 7, "an event of this test");
        });
        let log = recent_log();
        assert!(before < log.total);
        let line = log.lines.iter().find(|line| line.contains("an event of this test")).unwrap();
        assert!(line.contains("INFO") && line.contains("number=7"), "{line}");
    }
}
