//! Login throttling: after some wrong passwords the next attempt is delayed, and an attempt that
//! would be delayed for too long is refused. The module handles neither passwords nor users, only
//! the sender and the name of an attempt. Attempts with keys of 128 bits and more are limited by
//! `guesses` instead.
//!
//! ```text
//! wrong passwords    1 ... BURST       the next attempt is not delayed
//!                    BURST + 1 ...     the next attempt waits: one is permitted every STEP
//! right passwords    cost nothing, so that a pool may open any number of connections at once
//! ```
//!
//! A sender is counted for each name that it tries, so that an attacker on one user's password does
//! not lock out others behind the same address, and once for all names together, with a higher
//! limit.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    time::Duration,
};

use parking_lot::Mutex;

use crate::guesses::{MAX_SENDERS, sender_prefix};

/// Number of wrong passwords for one user that one sender may give without a delay.
const BACKOFF_BURST: u32 = 10;
/// Delay that each wrong password adds; in the long run one wrong password is permitted per this
/// interval.
const BACKOFF_STEP: Duration = Duration::from_secs(3);
/// Maximum delay of an attempt because of wrong passwords.
const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Factor by which a sender's limit for all users together exceeds its limit for one user.
const SPRAY_FACTOR: u32 = 10;
/// Number of counters for the attempts that have no counter of their own because the table is full.
const OTHERS: u64 = 4096;

/// The key under which wrong passwords are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Attempter {
    /// Wrong passwords from one network for one user name, of which only a hash is kept.
    Name(Option<IpAddr>, u64),
    /// Wrong passwords from one network for any user names.
    Sender(Option<IpAddr>),
    /// A counter shared by all keys with the same hash, used when the table is full.
    Others(u64),
}

/// The delays caused by recent wrong passwords.
#[derive(Debug, Default)]
pub struct Backoff {
    debts: Mutex<DelayTable>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct DelayTable {
    /// For each key, the time of the monotonic clock at which the delays of all its wrong
    /// passwords, added up, have passed.
    paid: HashMap<Attempter, Duration>,
    /// Monotonic time at which entries that no longer cause a delay were last evicted.
    swept: Duration,
}

impl Backoff {
    /// Returns the delay before the password of an attempt on this name may be checked; `now` is
    /// the monotonic clock.
    pub fn time_to_wait(&self, peer: Option<IpAddr>, name: &str, now: Duration) -> Duration {
        let debts = self.debts.lock();
        let waits = self.attempters(peer, name).map(|attempter| {
            let counted = self.counted_as(&debts.paid, attempter);
            let paid = debts.paid.get(&counted);
            let debt = paid.map_or(Duration::ZERO, |paid| paid.saturating_sub(now));
            debt.saturating_sub(allowance(counted))
        });
        waits.into_iter().max().unwrap_or_default()
    }

    /// Records a wrong password, which delays further attempts of this peer and user.
    pub fn record_wrong_password(&self, peer: Option<IpAddr>, name: &str, now: Duration) {
        let mut debts = self.debts.lock();
        for attempter in self.attempters(peer, name) {
            debts.make_room(attempter, now);
            let counted = self.counted_as(&debts.paid, attempter);
            let debt = debts.paid.entry(counted).or_insert(now);
            let most = now + allowance(counted) + BACKOFF_MAX;
            *debt = ((*debt).max(now) + step(counted)).min(most);
        }
    }

    /// Returns the keys under which an attempt is counted.
    fn attempters(&self, peer: Option<IpAddr>, name: &str) -> [Attempter; 2] {
        let sender = sender_prefix(peer);
        [Attempter::Name(sender, self.hasher.hash_one(name)), Attempter::Sender(sender)]
    }

    /// Returns the key under which the attempt is counted: the key itself if it has an entry or the
    /// table has space for one, otherwise the key of a shared counter. An attacker with very many
    /// addresses therefore delays few other senders.
    fn counted_as(&self, paid: &HashMap<Attempter, Duration>, attempter: Attempter) -> Attempter {
        match paid.len() < MAX_SENDERS || paid.contains_key(&attempter) {
            true => attempter,
            false => Attempter::Others(self.hasher.hash_one(attempter) % OTHERS),
        }
    }
}

impl DelayTable {
    /// Evicts the entries that no longer cause a delay if the table has no space for this key. Runs
    /// at most once a second, since it scans all entries.
    fn make_room(&mut self, attempter: Attempter, now: Duration) {
        let is_full = MAX_SENDERS <= self.paid.len() && !self.paid.contains_key(&attempter);
        if is_full && self.swept + Duration::from_secs(1) <= now {
            self.paid.retain(|_, paid| now < *paid);
            self.swept = now;
        }
    }
}

/// Returns the delay that one wrong password adds for this key.
fn step(attempter: Attempter) -> Duration {
    match attempter {
        Attempter::Name(..) => BACKOFF_STEP,
        Attempter::Sender(_) | Attempter::Others(_) => BACKOFF_STEP / SPRAY_FACTOR,
    }
}

/// Returns the accumulated delay up to which attempts are not delayed: that of a burst of wrong
/// passwords for one name, or of a larger burst for all names together.
fn allowance(attempter: Attempter) -> Duration {
    match attempter {
        Attempter::Name(..) => BACKOFF_STEP * BACKOFF_BURST,
        Attempter::Sender(_) | Attempter::Others(_) => {
            step(attempter) * BACKOFF_BURST * SPRAY_FACTOR
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn wrong_passwords_make_the_next_attempts_wait() {
        let backoff = Backoff::default();
        let (own, other) = (peer("192.0.2.1"), peer("192.0.2.2"));
        let now = Duration::from_secs(100);
        let wait = |peer, name, now| backoff.time_to_wait(peer, name, now);
        for _ in 0..BACKOFF_BURST {
            assert_eq!(wait(own, "ann", now), Duration::ZERO);
            backoff.record_wrong_password(own, "ann", now);
        }
        backoff.record_wrong_password(own, "ann", now);
        assert_eq!(wait(own, "ann", now), BACKOFF_STEP);
        assert_eq!(wait(peer("::ffff:192.0.2.1"), "ann", now), BACKOFF_STEP);
        assert_eq!(wait(own, "bob", now), Duration::ZERO, "another name");
        assert_eq!(wait(other, "ann", now), Duration::ZERO, "another sender");
        assert_eq!(wait(own, "ann", now + BACKOFF_STEP), Duration::ZERO, "a place came free");
        (0..1_000).for_each(|_| backoff.record_wrong_password(own, "ann", now));
        assert_eq!(wait(own, "ann", now), BACKOFF_MAX, "it is bounded");
    }

    #[test]
    fn whoever_tries_many_names_waits_too() {
        let backoff = Backoff::default();
        let (own, now) = (peer("192.0.2.1"), Duration::ZERO);
        let free = BACKOFF_BURST * SPRAY_FACTOR;
        (0..free).for_each(|name| backoff.record_wrong_password(own, &name.to_string(), now));
        assert_eq!(backoff.time_to_wait(own, "new", now), Duration::ZERO);
        (0..SPRAY_FACTOR).for_each(|_| backoff.record_wrong_password(own, "new", now));
        assert_eq!(backoff.time_to_wait(own, "newer", now), BACKOFF_STEP);
    }

    #[test]
    fn senders_are_bounded_and_few_share_a_place_when_there_are_too_many() {
        let backoff = Backoff::default();
        let now = Duration::from_secs(10);
        let sender = |number: u32| Some(IpAddr::from(number.to_be_bytes()));
        let places = u32::try_from(MAX_SENDERS).unwrap();
        (0..places).for_each(|number| backoff.record_wrong_password(sender(number), "ann", now));
        let new = sender(u32::MAX);
        (0..1_000).for_each(|_| backoff.record_wrong_password(new, "ann", now));
        assert_eq!(backoff.time_to_wait(new, "ann", now), BACKOFF_MAX);
        // A few of the senders below may share the entry of `new`.
        let waits = |number: u32| backoff.time_to_wait(sender(number), "ann", now);
        let others = (u32::MAX - 200..u32::MAX).filter(|number| !waits(*number).is_zero());
        assert!(others.count() < 10);
        // The number of entries is bounded, however many senders there are.
        (0..50_000)
            .for_each(|number| backoff.record_wrong_password(sender(1 << 24 | number), "bob", now));
        let places = MAX_SENDERS + usize::try_from(OTHERS).unwrap();
        assert!(backoff.debts.lock().paid.len() <= places);
        backoff.record_wrong_password(new, "ann", Duration::from_secs(3600));
        assert!(backoff.debts.lock().paid.len() < 10, "what is paid for makes room");
    }
}
