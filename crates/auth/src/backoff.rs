//! How fast somebody may guess passwords: after some wrong ones an attempt has to wait, and one that
//! would wait too long is refused. It knows neither passwords nor users, only by whom and on what an
//! attempt is made. Keys of 128 bits and more need none of this; for them see `guesses`.
//!
//! ```text
//! wrong passwords    1 ... BURST       the next one is tried at once
//!                    BURST + 1 ...     the next one waits: a place comes free every PLACE
//! right passwords    cost nothing, so that a pool may open any number of connections at once
//! ```
//!
//! A sender is counted for each name that it tries, so that those who guess one user's password do not
//! lock out others behind the same address, and once for all names together, with more places.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    time::Duration,
};

use parking_lot::Mutex;

use crate::{
    guesses::sender_prefix,
    limits::{BACKOFF_BURST, BACKOFF_MOST, BACKOFF_PLACE, MAX_SENDERS, SPRAY_FACTOR},
};

/// Who tries: the network of the address, and the name's hash; without it all names of that sender.
type Attempter = (Option<IpAddr>, Option<u64>);

/// What wrong passwords of late cost those who come next.
#[derive(Debug, Default)]
pub struct Backoff {
    /// For each: when all its wrong passwords will be paid for, by the monotonic clock.
    paid: Mutex<HashMap<Attempter, Duration>>,
    hasher: RandomState,
}

impl Backoff {
    /// Returns how long an attempt on this name has to wait before its password is looked at; `now` is
    /// the monotonic clock.
    pub fn time_to_wait(&self, peer: Option<IpAddr>, name: &str, now: Duration) -> Duration {
        let paid = self.paid.lock();
        let wait = |attempter: Attempter| {
            let debt = paid.get(&attempter).map_or(Duration::ZERO, |paid| paid.saturating_sub(now));
            debt.saturating_sub(allowance(attempter))
        };
        let waits = self.attempters(peer, name).map(wait);
        // Without a place of its own a sender shares that of all those.
        let shared = if MAX_SENDERS <= paid.len() { wait((None, None)) } else { Duration::ZERO };
        waits.into_iter().max().unwrap_or_default().max(shared)
    }

    /// Notes a wrong password.
    pub fn note_wrong(&self, peer: Option<IpAddr>, name: &str, now: Duration) {
        let mut paid = self.paid.lock();
        for attempter in self.attempters(peer, name) {
            let attempter =
                if has_place(&mut paid, attempter, now) { attempter } else { (None, None) };
            let debt = paid.entry(attempter).or_insert(now);
            let most = now + allowance(attempter) + BACKOFF_MOST;
            *debt = ((*debt).max(now) + place(attempter)).min(most);
        }
    }

    /// Returns under what an attempt is counted.
    fn attempters(&self, peer: Option<IpAddr>, name: &str) -> [Attempter; 2] {
        let sender = sender_prefix(peer);
        [(sender, Some(self.hasher.hash_one(name))), (sender, None)]
    }
}

/// Whether an attempter is counted by itself. Those who have paid make room for a new one.
fn has_place(paid: &mut HashMap<Attempter, Duration>, attempter: Attempter, now: Duration) -> bool {
    if MAX_SENDERS <= paid.len() && !paid.contains_key(&attempter) {
        paid.retain(|_, paid| now < *paid);
    }
    paid.len() < MAX_SENDERS || paid.contains_key(&attempter)
}

/// What one wrong password costs.
fn place(attempter: Attempter) -> Duration {
    match attempter.1 {
        Some(_) => BACKOFF_PLACE,
        None => BACKOFF_PLACE / SPRAY_FACTOR,
    }
}

/// What may be owed before anybody waits: that many wrong passwords for one name, and more for all
/// together.
fn allowance(attempter: Attempter) -> Duration {
    match attempter.1 {
        Some(_) => BACKOFF_PLACE * BACKOFF_BURST,
        None => place(attempter) * BACKOFF_BURST * SPRAY_FACTOR,
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
            backoff.note_wrong(own, "ann", now);
        }
        backoff.note_wrong(own, "ann", now);
        assert_eq!(wait(own, "ann", now), BACKOFF_PLACE);
        assert_eq!(wait(peer("::ffff:192.0.2.1"), "ann", now), BACKOFF_PLACE);
        assert_eq!(wait(own, "bob", now), Duration::ZERO, "another name");
        assert_eq!(wait(other, "ann", now), Duration::ZERO, "another sender");
        assert_eq!(wait(own, "ann", now + BACKOFF_PLACE), Duration::ZERO, "a place came free");
        (0..1_000).for_each(|_| backoff.note_wrong(own, "ann", now));
        assert_eq!(wait(own, "ann", now), BACKOFF_MOST, "it is bounded");
    }

    #[test]
    fn whoever_tries_many_names_waits_too() {
        let backoff = Backoff::default();
        let (own, now) = (peer("192.0.2.1"), Duration::ZERO);
        let free = BACKOFF_BURST * SPRAY_FACTOR;
        (0..free).for_each(|name| backoff.note_wrong(own, &name.to_string(), now));
        assert_eq!(backoff.time_to_wait(own, "new", now), Duration::ZERO);
        (0..SPRAY_FACTOR).for_each(|_| backoff.note_wrong(own, "new", now));
        assert_eq!(backoff.time_to_wait(own, "newer", now), BACKOFF_PLACE);
    }

    #[test]
    fn senders_are_bounded_and_share_a_place_when_there_are_too_many() {
        let backoff = Backoff::default();
        let now = Duration::ZERO;
        for number in 0..u32::try_from(MAX_SENDERS).unwrap() {
            backoff.note_wrong(Some(IpAddr::from(number.to_be_bytes())), "ann", now);
        }
        assert!(backoff.paid.lock().len() <= MAX_SENDERS + 1);
        let new = peer("255.255.255.255");
        (0..1_000).for_each(|_| backoff.note_wrong(new, "ann", now));
        assert_eq!(backoff.time_to_wait(new, "ann", now), BACKOFF_MOST);
        backoff.note_wrong(new, "ann", Duration::from_secs(3600));
        assert!(backoff.paid.lock().len() < 10, "what is paid for makes room");
    }
}
