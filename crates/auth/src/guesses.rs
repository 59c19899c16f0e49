//! Limits wrong keys and signatures by sender. It handles neither keys nor requests, and is called
//! only after a key was found wrong, so that a sender with the right key is never delayed because
//! of others at the same address.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use parking_lot::Mutex;

/// Number of wrong keys that one sender may send within a window.
const MAX_ATTEMPTS: u32 = 10;
/// The window in which wrong keys are counted.
const ATTEMPTS_WINDOW: Duration = Duration::from_secs(60);
/// Number of senders whose wrong keys are counted separately; further ones share a count. It bounds
/// the memory used by guessing from many addresses.
pub(crate) const MAX_SENDERS: usize = 4096;

/// The wrong keys of one sender in its current window.
#[derive(Clone, Copy, Debug)]
struct FailedGuesses {
    /// Start of the window, on the monotonic clock.
    since: Duration,
    /// Number of wrong keys in the window.
    times: u32,
}

/// Wrong keys by sender. The entry `None` counts all senders without an entry of their own, and
/// those of unknown address.
#[derive(Debug, Default)]
pub struct GuessLimiter(Mutex<HashMap<Option<IpAddr>, FailedGuesses>>);

impl GuessLimiter {
    /// Records a wrong key of this sender; `now` is the monotonic clock. Returns the seconds to
    /// wait if the limit is exceeded, in which case the attempt is not counted: trying again does
    /// not prolong the wait. `None` means that the reply may report the wrong key.
    pub fn record_wrong_key(&self, peer: Option<IpAddr>, now: Duration) -> Option<u64> {
        let wait = self.seconds_to_wait(peer, now);
        if wait.is_none() {
            self.count_guess(peer, now);
        }
        wait
    }

    /// Returns the seconds that this sender has to wait, or `None` below the limit.
    fn seconds_to_wait(&self, peer: Option<IpAddr>, now: Duration) -> Option<u64> {
        let all = self.0.lock();
        let shared = || all.get(&None).filter(|_| MAX_SENDERS <= all.len());
        let wrong = all.get(&sender_prefix(peer)).or_else(shared)?;
        let end = wrong.since + ATTEMPTS_WINDOW;
        let waits = MAX_ATTEMPTS <= wrong.times && now < end;
        waits.then(|| end.saturating_sub(now).as_secs() + 1)
    }

    /// Counts a wrong key. If the table is full, senders whose window has ended are evicted; a new
    /// sender for which there is still no space is added to the shared count.
    fn count_guess(&self, peer: Option<IpAddr>, now: Duration) {
        let mut all = self.0.lock();
        if MAX_SENDERS <= all.len() {
            all.retain(|_, wrong| now < wrong.since + ATTEMPTS_WINDOW);
        }
        let full = MAX_SENDERS <= all.len();
        let sender = sender_prefix(peer);
        let sender = if full && !all.contains_key(&sender) { None } else { sender };
        let wrong = all.entry(sender).or_insert(FailedGuesses { since: now, times: 0 });
        if wrong.since + ATTEMPTS_WINDOW <= now {
            *wrong = FailedGuesses { since: now, times: 0 };
        }
        wrong.times = wrong.times.saturating_add(1);
    }
}

/// Returns the key that a sender is counted by: an IPv4 address, or the first 64 bits of an IPv6
/// address, since a host usually has a whole network of that size.
pub(crate) fn sender_prefix(peer: Option<IpAddr>) -> Option<IpAddr> {
    peer.map(|peer| match peer.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        v4 => v4,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_wrong_keys_a_minute() {
        let guesses = GuessLimiter::default();
        let at = Duration::from_secs;
        let peer = |text: &str| Some(text.parse().unwrap());
        let (own, other) = (peer("::ffff:192.0.2.1"), peer("192.0.2.2"));
        for second in 0..10 {
            assert_eq!(guesses.seconds_to_wait(own, at(second)), None, "{second}");
            guesses.count_guess(own, at(second));
        }
        assert_eq!(guesses.seconds_to_wait(peer("192.0.2.1"), at(10)), Some(51));
        assert_eq!(guesses.seconds_to_wait(other, at(10)), None);
        assert_eq!(guesses.seconds_to_wait(own, at(60)), None);
        guesses.count_guess(own, at(60));
        assert_eq!(guesses.seconds_to_wait(own, at(60)), None, "a window of its own");
        (0..9).for_each(|_| assert_eq!(guesses.record_wrong_key(own, at(60)), None));
        assert_eq!(guesses.record_wrong_key(own, at(61)), Some(60));
        (0..10).for_each(|_| guesses.count_guess(peer("2001:db8::1"), at(0)));
        assert!(guesses.seconds_to_wait(peer("2001:db8::2"), at(1)).is_some());
        assert!(guesses.seconds_to_wait(peer("2001:db8:0:1::2"), at(1)).is_none());
    }

    #[test]
    fn senders_are_bounded() {
        let guesses = GuessLimiter::default();
        for number in 0..u32::try_from(MAX_SENDERS).unwrap() + 100 {
            guesses.count_guess(Some(IpAddr::from(number.to_be_bytes())), Duration::ZERO);
        }
        assert_eq!(guesses.0.lock().len(), MAX_SENDERS + 1);
        assert!(
            guesses.seconds_to_wait(Some(IpAddr::from([255; 4])), Duration::ZERO).is_some(),
            "one count"
        );
        guesses.count_guess(None, ATTEMPTS_WINDOW);
        assert_eq!(guesses.0.lock().len(), 1);
    }
}
