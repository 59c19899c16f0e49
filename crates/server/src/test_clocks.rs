//! Simulated machine clocks controlled by files, to test wall-clock steps and slow or stopped boot
//! clocks from outside, on the shipped binary. Only tests enable them.

use std::{fs, path::PathBuf};

use clock::{ClockSource, Machine};
use parking_lot::Mutex;
use server_base::config::Config;

/// Returns the machine's clocks, or simulated ones if configured.
pub fn clock_source(config: &Config) -> Box<dyn ClockSource> {
    if config.test_wall.is_none() && config.test_boot.is_none() {
        return Box::new(Machine);
    }
    Box::new(TestClocks {
        wall: config.test_wall.clone(),
        boot: config.test_boot.clone(),
        line: Mutex::new(BootLine::new(Machine.boot_ns())),
    })
}

/// The machine's clocks with deviations.
#[derive(Debug)]
struct TestClocks {
    /// File with the wall clock's offset in milliseconds; a missing or invalid file means 0.
    wall: Option<PathBuf>,
    /// File with the speed of the boot clock (`0` stops it) and its offset in milliseconds, such as
    /// `0.6 -3600000`. A missing or invalid file means no deviation.
    boot: Option<PathBuf>,
    line: Mutex<BootLine>,
}

/// The simulated boot clock since its speed last changed.
#[derive(Debug)]
struct BootLine {
    /// Content of the boot clock's file at the last reading.
    text: String,
    /// Reading of the machine's boot clock when `text` last changed; `shown_ns` is the reading of
    /// the simulated clock at that time.
    real_ns: i64,
    shown_ns: i64,
    pace: f64,
    off_ms: i64,
}

impl BootLine {
    fn new(real_ns: i64) -> Self {
        Self { text: String::new(), real_ns, shown_ns: real_ns, pace: 1.0, off_ms: 0 }
    }

    /// Returns the simulated boot clock for a reading of the machine's boot clock. A changed speed
    /// applies from the present value on; a changed offset is a step.
    fn at(&mut self, real_ns: i64, text: String) -> i64 {
        let passed = real_ns.saturating_sub(self.real_ns) as f64 * self.pace;
        let shown_ns = self.shown_ns.saturating_add(passed as i64);
        if text == self.text {
            return shown_ns;
        }
        let mut words = text.split_whitespace();
        let pace = words.next().and_then(|word| word.parse().ok()).unwrap_or(1.0);
        let off_ms: i64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let step_ns = off_ms.saturating_sub(self.off_ms).saturating_mul(1_000_000);
        let shown_ns = shown_ns.saturating_add(step_ns);
        *self = Self { text, real_ns, shown_ns, pace, off_ms };
        shown_ns
    }
}

impl ClockSource for TestClocks {
    /// Reads the file at each call, as the wall clock does, so that a change takes effect
    /// immediately.
    fn boot_ns(&self) -> i64 {
        let Some(file) = &self.boot else { return Machine.boot_ns() };
        let mut line = self.line.lock();
        let text = fs::read_to_string(file).unwrap_or_default();
        line.at(Machine.boot_ns(), text)
    }

    fn wall_ms(&self) -> i64 {
        let Some(file) = &self.wall else { return Machine.wall_ms() };
        let text = fs::read_to_string(file).unwrap_or_default();
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
        let source = clock_source(&Config { test_wall: Some(file.clone()), ..Config::for_tests() });
        for (text, hours) in
            [(None, 0), (Some("3600000\n"), 1), (Some("-7200000"), -2), (Some("x"), 0)]
        {
            if let Some(text) = text {
                fs::write(&file, text).unwrap();
            }
            let off = source.wall_ms() - Machine.wall_ms();
            assert!((off - hours * 3_600_000).abs() < 60_000, "{text:?}: {off}");
        }
        assert!((source.boot_ns() - Machine.boot_ns()).abs() < 60_000_000_000);
    }

    #[test]
    fn the_boot_clock_runs_as_the_file_says() {
        let mut line = BootLine::new(1_000);
        for (real, text, want) in [
            (1_500, "", 1_500),
            (2_000, "0.5", 2_000),
            (3_000, "0.5", 2_500),
            (4_000, "0", 3_000),
            (9_000, "0", 3_000),
            (9_000, "1 2", 2_003_000),
            (9_500, "1 2", 2_003_500),
            (9_500, "1", 3_500),
            (9_600, "nonsense", 3_600),
            (9_700, "nonsense", 3_700),
        ] {
            assert_eq!(line.at(real, text.to_owned()), want, "{real} {text}");
        }
    }
}
