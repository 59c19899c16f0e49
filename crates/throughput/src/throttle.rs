//! Optional throughput limits: a token bucket of request units for each offer, refilled every
//! second of the monotonic clock and charged with the cost of responses. The caller finds the
//! offers and builds the responses.
//!
//! A response is charged after it was made, so a bucket may become negative; requests are then
//! throttled until the refills have made up the deficit. With 400 units per second:
//!
//! ```text
//! second 5   response costs 300: 100 left  next costs 100: 0 left      then 429
//! second 6   refilled to 400               response costs 1,001: -601  then 429
//! second 7   -201                          429
//! second 8   199 left
//! ```

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;

/// Number of containers with throughput meters above which the meters of idle containers are
/// removed. Without this limit clients could exhaust memory, since they choose the names of
/// containers.
const METERS: usize = 4096;

/// Throughput that a container may use, and the offer to which its use is charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Resource id of the container or database to which the offer belongs.
    pub about: String,
    /// Throughput in request units per second.
    pub units: i64,
}

/// The throughput limit of a container, looked up in `second` and used until that second ends. It
/// is cached because a lookup searches all offers, which would cost more than many requests.
#[derive(Debug)]
struct CachedAllowance {
    second: u64,
    allowance: Option<Allowance>,
}

/// The remaining request units of an offer, as of one second.
#[derive(Debug)]
struct Bucket {
    second: u64,
    /// Remaining hundredths of request units. Negative if a response cost more than was left.
    left: i64,
}

#[derive(Debug, Default)]
struct Meters {
    /// Cached throughput limits, by resource id of the container.
    known: HashMap<String, CachedAllowance>,
    /// Buckets by resource id of the container or database whose offer they belong to.
    buckets: HashMap<String, Bucket>,
    /// The second in which idle containers were last searched for. The search takes time in
    /// proportion to the number of containers, so it runs at most once per second and not for each
    /// request.
    searched: Option<u64>,
}

/// The throughput limits of all containers.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<Meters>);

impl Throttle {
    /// Checks whether a request about items of a container may run; `now` is monotonic time.
    /// Returns the resource id of the bucket to charge, or `None` if the container has no limit.
    /// The error is the number of milliseconds after which the request may be retried. `find` looks
    /// up the container's limit; it is called at most once per second and container.
    pub fn admit_request(
        &self,
        now: Duration,
        container: &str,
        find: impl FnOnce() -> Option<Allowance>,
    ) -> Result<Option<String>, u64> {
        let second = now.as_secs();
        let mut meters = self.0.lock();
        let known = meters.known.get(container).filter(|known| known.second == second);
        let allowance = match known {
            Some(known) => known.allowance.clone(),
            None => {
                let allowance = find();
                meters.forget_unused(second);
                let known = CachedAllowance { second, allowance: allowance.clone() };
                meters.known.insert(container.to_owned(), known);
                allowance
            }
        };
        let Some(Allowance { about, units }) = allowance else { return Ok(None) };
        let rate = units.saturating_mul(100).max(1);
        let bucket = meters.buckets.entry(about.clone());
        let bucket = bucket.or_insert(Bucket { second, left: rate });
        bucket.refill(second, rate);
        if 0 < bucket.left { Ok(Some(about)) } else { Err(bucket.wait_ms(now, rate)) }
    }

    /// Returns how many of several successive operations with these estimated costs may run on a
    /// container, and the number of milliseconds after which the others may be retried. An
    /// operation may run if the costs of those before it leave anything. Nothing is charged; the
    /// parameters are those of [`Self::admit_request`].
    pub fn admit_costs(
        &self,
        now: Duration,
        container: &str,
        find: impl FnOnce() -> Option<Allowance>,
        costs: impl Iterator<Item = u64>,
    ) -> (usize, u64) {
        let about = match self.admit_request(now, container, find) {
            Ok(Some(about)) => about,
            Ok(None) => return (usize::MAX, 0),
            Err(retry_ms) => return (0, retry_ms),
        };
        let mut left = self.0.lock().buckets.get(&about).map_or(0, |bucket| bucket.left);
        let admitted = costs.take_while(|cost| {
            let is_admitted = 0 < left;
            left = left.saturating_sub_unsigned(*cost);
            is_admitted
        });
        let admitted = admitted.count();
        (admitted, 1000 - u64::from(now.subsec_millis()))
    }

    /// Charges an admitted operation on a container, in hundredths of request units.
    pub fn charge_container(&self, container: &str, charge: u64) {
        let allowance = {
            let meters = self.0.lock();
            meters.known.get(container).and_then(|known| known.allowance.clone())
        };
        if let Some(Allowance { about, .. }) = allowance {
            self.spend_units(&about, charge);
        }
    }

    /// Charges a response, in hundredths of request units, to the bucket of the container or
    /// database whose resource id is `about`.
    pub fn spend_units(&self, about: &str, charge: u64) {
        if let Some(bucket) = self.0.lock().buckets.get_mut(about) {
            bucket.left = bucket.left.saturating_sub_unsigned(charge);
        }
    }
}

impl Meters {
    /// Evicts the limits and buckets of idle containers if there are many. A bucket with a deficit
    /// is kept, since evicting it would cancel the deficit.
    fn forget_unused(&mut self, second: u64) {
        let many = METERS <= self.known.len().max(self.buckets.len());
        if !many || self.searched.replace(second) == Some(second) {
            return;
        }
        if METERS <= self.known.len() {
            self.known.retain(|_, known| known.second == second);
        }
        if METERS <= self.buckets.len() {
            self.buckets.retain(|_, bucket| bucket.second == second || bucket.left < 0);
        }
    }
}

impl Bucket {
    /// Adds the units of the seconds since the last refill. The bucket never exceeds one second's
    /// units, so that clients cannot save up units for a burst.
    fn refill(&mut self, second: u64, rate: i64) {
        let seconds = i64::try_from(second.saturating_sub(self.second)).unwrap_or(i64::MAX);
        self.left = self.left.saturating_add(rate.saturating_mul(seconds)).min(rate);
        self.second = second;
    }

    /// Returns the milliseconds until the second in which the bucket becomes positive.
    fn wait_ms(&self, now: Duration, rate: i64) -> u64 {
        let seconds = self.left.unsigned_abs() / rate.unsigned_abs() + 1;
        seconds.saturating_mul(1000).saturating_sub(u64::from(now.subsec_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(about: &str, units: i64) -> Option<Allowance> {
        Some(Allowance { about: about.to_owned(), units })
    }

    /// Checks a request on container `c` at this time and charges `charge` if it may run.
    fn ask(throttle: &Throttle, ms: u64, units: i64, charge: u64) -> Result<(), u64> {
        let admitted = throttle.admit_request(Duration::from_millis(ms), "c", || of("c", units))?;
        throttle.spend_units(&admitted.unwrap(), charge * 100);
        Ok(())
    }

    #[test]
    fn what_a_second_brings_is_spent_once() {
        let throttle = Throttle::default();
        for (ms, charge, want) in [
            (5_000, 300, Ok(())),
            (5_100, 100, Ok(())),
            (5_200, 1, Err(800)),
            (5_999, 1, Err(1)),
            // Unused units do not accumulate.
            (9_000, 399, Ok(())),
            (9_500, 1_001, Ok(())),
            // The deficit is 1,000 units: two seconds pay 800, the third the rest.
            (9_600, 1, Err(2_400)),
            (10_600, 1, Err(1_400)),
            (11_000, 1, Err(1_000)),
            (12_000, 1, Ok(())),
        ] {
            assert_eq!(ask(&throttle, ms, 400, charge), want, "{ms}");
        }
    }

    #[test]
    fn containers_share_what_their_database_has_and_nothing_else() {
        let throttle = Throttle::default();
        let now = Duration::from_secs(1);
        let admit = |container: &str, about: &str| {
            throttle.admit_request(now, container, || of(about, 400)).map(|about| about.unwrap())
        };
        throttle.spend_units(&admit("a", "db").unwrap(), 40_000);
        assert_eq!(admit("b", "db"), Err(1_000));
        assert_eq!(admit("c", "c"), Ok("c".to_owned()));
        assert_eq!(throttle.admit_request(now, "free", || None), Ok(None));
    }

    #[test]
    fn operations_are_admitted_as_far_as_the_units_reach() {
        let throttle = Throttle::default();
        let admit = |ms: u64, count: usize| {
            let costs = std::iter::repeat_n(500, count);
            throttle.admit_costs(Duration::from_millis(ms), "c", || of("c", 400), costs)
        };
        assert_eq!(admit(1_300, 3), (3, 700));
        assert_eq!(admit(1_300, 100), (80, 700));
        // Nothing was charged so far.
        throttle.charge_container("c", 39_500);
        assert_eq!(admit(1_400, 100), (1, 600));
        throttle.charge_container("c", 40_500);
        assert_eq!(admit(1_500, 100), (0, 1_500));
        let free = throttle.admit_costs(Duration::ZERO, "free", || None, std::iter::empty());
        assert_eq!(free.0, usize::MAX);
        throttle.charge_container("free", 1);
        throttle.charge_container("unknown", 1);
    }

    #[test]
    fn a_changed_offer_counts_from_the_next_second_on() {
        let throttle = Throttle::default();
        assert_eq!(ask(&throttle, 1_000, 400, 500), Ok(()));
        assert_eq!(ask(&throttle, 1_500, 10_000, 1), Err(500));
        assert_eq!(ask(&throttle, 2_000, 10_000, 9_900), Ok(()));
        assert_eq!(ask(&throttle, 2_500, 10_000, 1), Err(500));
    }

    #[test]
    fn what_is_not_asked_for_is_forgotten() {
        let throttle = Throttle::default();
        for at in 0..3 * METERS as u64 {
            let name = at.to_string();
            let now = Duration::from_secs(at);
            throttle.admit_request(now, &name, || of(&name, 400)).unwrap();
        }
        let meters = throttle.0.lock();
        assert!(meters.known.len() <= METERS && meters.buckets.len() <= METERS);
    }
}
