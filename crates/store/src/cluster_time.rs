//! Cluster time: the order of commits and expirations as pairs of a second and an increment, which
//! clients of a replica set compare.
//!
//! The increment contains the millisecond within the second and a number within the millisecond:
//!
//! ```text
//!  bits 30..20  millisecond, 0..999      bits 19..0  0: expirations of this millisecond
//!                                                    1 + seq mod (2^20 - 1): a commit
//! ```
//!
//! The time of a commit therefore follows from its stamp alone and survives restarts without being
//! stored. It never goes back because [`Sequencer`](crate::Sequencer) does not let the number start
//! over within a millisecond.

use crate::commit::Stamp;

/// Number of bits of the number within a millisecond.
const NUMBER_BITS: u32 = 20;

/// Number of successive commits whose numbers within a millisecond differ.
pub(crate) const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;

/// A point in the order of commits and expirations: a second since 1970, and an increment below
/// 2^31. Times end in the year 2106, when the second no longer fits into 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterTime {
    seconds: u32,
    increment: u32,
}

impl ClusterTime {
    /// The time before every commit and expiration.
    pub const MIN: Self = Self { seconds: 0, increment: 0 };
    /// The largest time that can be represented.
    pub const MAX: Self = Self { seconds: u32::MAX, increment: u32::MAX };

    /// Creates a time from its second and increment.
    pub fn new(seconds: u32, increment: u32) -> Self {
        Self { seconds, increment }
    }

    /// Returns the time of the commit with this stamp.
    pub fn of_commit(stamp: Stamp) -> Self {
        let number = stamp.seq % NUMBERS + 1;
        Self::within(stamp.at_ms, u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Returns the time of expirations at this instant, in milliseconds: before every commit of the
    /// same millisecond and after every earlier one.
    pub fn of_expiration(at_ms: i64) -> Self {
        Self::within(at_ms, 0)
    }

    /// Returns the time of this millisecond with this number; instants before 1970 count as 1970.
    fn within(at_ms: i64, number: u32) -> Self {
        let at_ms = u64::try_from(at_ms).unwrap_or(0);
        let Ok(seconds) = u32::try_from(at_ms / 1000) else { return Self::MAX };
        let milliseconds = u32::try_from(at_ms % 1000).unwrap_or(0);
        Self { seconds, increment: milliseconds << NUMBER_BITS | number }
    }

    /// Creates a time from a BSON timestamp, which holds the second in its upper half.
    pub fn from_timestamp(timestamp: u64) -> Self {
        let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        Self { seconds: half(timestamp >> 32), increment: half(timestamp) }
    }

    /// Returns the time as a BSON timestamp.
    pub fn timestamp(self) -> u64 {
        u64::from(self.seconds) << 32 | u64::from(self.increment)
    }

    /// Returns the second since 1970.
    pub fn seconds(self) -> u32 {
        self.seconds
    }

    /// Returns the increment within the second.
    pub fn increment(self) -> u32 {
        self.increment
    }

    /// Returns the instant of the time in milliseconds. An increment that no commit can have counts
    /// as the last millisecond of its second.
    pub fn at_ms(self) -> i64 {
        i64::from(self.seconds) * 1000 + i64::from((self.increment >> NUMBER_BITS).min(999))
    }

    /// Returns the smallest time after this one.
    pub fn next(self) -> Self {
        Self::from_timestamp(self.timestamp().saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_time_are_second_millisecond_and_number() {
        let time = ClusterTime::of_commit(Stamp { seq: 5, at_ms: 1_700_000_000_123 });
        assert_eq!((time.seconds(), time.increment()), (1_700_000_000, 123 << 20 | 6));
        assert_eq!(time.at_ms(), 1_700_000_000_123);
        assert_eq!(ClusterTime::from_timestamp(time.timestamp()), time);
        assert!(time.increment() < 1 << 31);
        assert_eq!(ClusterTime::from_timestamp(u64::MAX), ClusterTime::MAX);
    }

    #[test]
    fn expirations_come_between_the_commits_of_two_milliseconds() {
        let before = ClusterTime::of_commit(Stamp { seq: NUMBERS - 1, at_ms: 1_999 });
        let expiration = ClusterTime::of_expiration(2_000);
        let after = ClusterTime::of_commit(Stamp { seq: NUMBERS, at_ms: 2_000 });
        assert!(before < expiration && expiration < after);
        assert_eq!(expiration.next(), after);
    }

    #[test]
    fn instants_outside_of_the_range_become_its_ends() {
        assert_eq!(ClusterTime::of_expiration(-5), ClusterTime::MIN);
        assert_eq!(ClusterTime::of_expiration(i64::MAX), ClusterTime::MAX);
        assert_eq!(ClusterTime::MAX.next(), ClusterTime::MAX);
    }
}
