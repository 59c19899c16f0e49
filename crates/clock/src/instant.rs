//! A point of database time. Milliseconds since 1970, in i64; arithmetic saturates.

use std::fmt;

/// A point of database time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant {
    /// Milliseconds since 1970.
    pub ms: i64,
}

impl Instant {
    /// Before everything.
    pub const MIN: Self = Self { ms: i64::MIN };
    /// After everything.
    pub const MAX: Self = Self { ms: i64::MAX };

    /// From milliseconds since 1970.
    pub fn from_ms(ms: i64) -> Self {
        Self { ms }
    }

    /// From whole seconds since 1970.
    pub fn from_seconds(seconds: i64) -> Self {
        Self { ms: seconds.saturating_mul(1000) }
    }

    /// The whole second this instant lies in.
    pub fn seconds(self) -> i64 {
        self.ms.div_euclid(1000)
    }

    /// This much later (or earlier, for a negative number).
    pub fn plus_ms(self, ms: i64) -> Self {
        Self { ms: self.ms.saturating_add(ms) }
    }

    /// Milliseconds from `earlier` to this instant.
    pub fn since_ms(self, earlier: Self) -> i64 {
        self.ms.saturating_sub(earlier.ms)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.ms)
    }
}
