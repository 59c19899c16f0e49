//! A machine whose wall clock is off by what a file says: how steps of the wall clock are tested from
//! outside, on the binary that users run. Nothing but a test sets it.

use std::path::PathBuf;

use clock::{ClockSource, Machine};

/// The machine's clocks with a wall clock that a test moves.
#[derive(Clone, Debug)]
pub(crate) struct TestWall(PathBuf);

impl TestWall {
    /// The wall clock is off by the number of milliseconds in this file; by none while it is not
    /// there or holds something else.
    pub(crate) fn new(file: PathBuf) -> Self {
        Self(file)
    }
}

impl ClockSource for TestWall {
    fn boot_ns(&self) -> i64 {
        Machine.boot_ns()
    }

    /// Reads the file at each call, so that a step takes effect at once.
    fn wall_ms(&self) -> i64 {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        let off: i64 = text.trim().parse().unwrap_or(0);
        Machine.wall_ms().saturating_add(off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_is_off_by_what_the_file_says() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("wall");
        let source = TestWall::new(file.clone());
        for (text, hours) in
            [(None, 0), (Some("3600000\n"), 1), (Some("-7200000"), -2), (Some("x"), 0)]
        {
            if let Some(text) = text {
                std::fs::write(&file, text).unwrap();
            }
            let off = source.wall_ms() - Machine.wall_ms();
            assert!((off - hours * 3_600_000).abs() < 60_000, "{text:?}: {off}");
        }
    }
}
