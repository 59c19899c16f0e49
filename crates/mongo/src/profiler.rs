//! Which commands of a database are recorded in its `system.profile`. The settings are kept in
//! memory only; at startup nothing is recorded.
//!
//! ```text
//! level 0   nothing
//! level 1   commands that take at least `slowms`, of these the share `sampleRate`
//! level 2   every command
//! ```
//!
//! A filter replaces the conditions of both levels.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use document::Document;
use parking_lot::Mutex;
use pipeline::Filter;

use crate::limits::MAX_PROFILED_DATABASES;

/// Selects the commands of a database that are recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProfileLevel {
    /// The level, which is 0, 1 or 2.
    pub(crate) level: i32,
    /// The filter on entries, as given and parsed.
    pub(crate) filter: Option<Arc<(Document, Filter)>>,
}

/// The settings that all databases share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowSettings {
    /// Time from which a command is slow, in milliseconds.
    pub(crate) slow_ms: i64,
    /// The share of slow commands that are recorded, 0 to 1.
    pub(crate) sample_rate: f64,
}

/// The settings of the profiler.
#[derive(Debug)]
pub(crate) struct Profiler {
    /// Whether any database has a level above 0. If none has, commands lock nothing.
    is_on: AtomicBool,
    state: Mutex<(SlowSettings, HashMap<String, ProfileLevel>)>,
}

impl Default for Profiler {
    fn default() -> Self {
        let slow = SlowSettings { slow_ms: 100, sample_rate: 1.0 };
        Self { is_on: AtomicBool::new(false), state: Mutex::new((slow, HashMap::new())) }
    }
}

impl Profiler {
    /// Returns the settings of a database, and the shared ones.
    pub(crate) fn settings_of(&self, database: &str) -> (ProfileLevel, SlowSettings) {
        let (slow, levels) = &*self.state.lock();
        (levels.get(database).cloned().unwrap_or_default(), *slow)
    }

    /// Changes the settings in one step; returns the previous ones. Returns `None` and changes
    /// nothing if too many databases have settings already.
    pub(crate) fn change(
        &self,
        database: &str,
        change: impl FnOnce(&mut ProfileLevel, &mut SlowSettings),
    ) -> Option<(ProfileLevel, SlowSettings)> {
        let (slow, levels) = &mut *self.state.lock();
        let before = (levels.get(database).cloned().unwrap_or_default(), *slow);
        let (mut level, mut shared) = before.clone();
        change(&mut level, &mut shared);
        // Only databases with settings of their own are kept. A database need not exist.
        if level.level == 0 && level.filter.is_none() {
            levels.remove(database);
        } else if MAX_PROFILED_DATABASES <= levels.len() && !levels.contains_key(database) {
            return None;
        } else {
            levels.insert(database.to_owned(), level);
        }
        *slow = shared;
        self.is_on.store(levels.values().any(|level| 0 < level.level), Relaxed);
        Some(before)
    }

    /// Returns the settings of a database if a command that took this long may have to be recorded.
    /// Whether a filter admits it can be decided only with its entry.
    pub(crate) fn records(&self, database: &str, took: Duration) -> Option<ProfileLevel> {
        if !self.is_on.load(Relaxed) {
            return None;
        }
        let (level, slow) = self.settings_of(database);
        let is_slow = || {
            i64::try_from(took.as_millis()).map_or(true, |took| slow.slow_ms <= took)
                && fastrand::f64() < slow.sample_rate
        };
        let records = match (level.level, &level.filter) {
            (0, _) => false,
            (_, Some(_)) | (2, None) => true,
            (_, None) => is_slow(),
        };
        records.then_some(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_decide_what_is_recorded() {
        let profiler = Profiler::default();
        let (quick, slow) = (Duration::from_millis(99), Duration::from_millis(100));
        let records = |took| profiler.records("db", took).is_some();
        assert!(!records(slow));
        profiler.change("db", |level, _| level.level = 1);
        assert_eq!((records(quick), records(slow)), (false, true));
        assert!(profiler.records("other", slow).is_none());
        profiler.change("db", |_, slow| slow.sample_rate = 0.0);
        assert!(!records(slow));
        profiler.change("db", |level, _| level.level = 2);
        assert!(records(quick));
        profiler.change("db", |level, _| level.level = 0);
        assert!(!records(slow));
        assert!(profiler.state.lock().1.is_empty(), "nothing is kept of a database at level 0");
    }

    #[test]
    fn the_number_of_databases_is_limited() {
        let profiler = Profiler::default();
        let set = |name: &str| {
            profiler.change(name, |level, slow| {
                level.level = 1;
                slow.slow_ms += 1;
            })
        };
        for number in 0..MAX_PROFILED_DATABASES {
            assert!(set(&format!("db{number}")).is_some());
        }
        let slow_ms = profiler.settings_of("db0").1.slow_ms;
        assert!(set("another").is_none());
        assert_eq!(profiler.settings_of("db0").1.slow_ms, slow_ms, "nothing has changed");
        assert!(set("db0").is_some());
        profiler.change("db0", |level, _| level.level = 0);
        assert!(set("another").is_some());
    }
}
