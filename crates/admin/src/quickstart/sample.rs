//! The sessions of the sample data, always the same except for their start times. Their times to
//! live are spread over a minute, so that one session expires every second or two.

use clock::Instant;

pub(super) const SESSIONS: usize = 40;
/// Number of sessions that never expire (`ttl` -1).
const STAY: usize = 2;
/// Number of sessions without `ttl`, to which the default TTL applies.
const PLAIN: usize = 4;
/// Smallest and largest `ttl`, in seconds.
const SPREAD: (usize, usize) = (5, 55);

const USERS: [&str; 10] =
    ["ada", "bob", "chen", "dora", "emil", "fatma", "goran", "hana", "ivan", "joy"];
const DEVICES: [&str; 4] = ["phone", "laptop", "tablet", "desktop"];
const CITIES: [&str; 7] = ["Lagos", "Oslo", "Lima", "Pune", "Turin", "Quito", "Osaka"];
const PAGES: [&str; 6] = ["/", "/cart", "/search", "/account", "/orders", "/help"];

/// One session, independent of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) user: &'static str,
    pub(super) device: &'static str,
    pub(super) city: &'static str,
    pub(super) page: &'static str,
    pub(super) started: Instant,
    /// Property `ttl` in seconds, -1 for never; `None` leaves it out.
    pub(super) ttl: Option<i64>,
}

/// Returns all sessions, which started within the half hour before `now`.
pub(super) fn sample_sessions(now: Instant) -> Vec<Session> {
    let one = |at: usize| Session {
        id: format!("session-{:02}", at + 1),
        // Different strides, so that the columns do not repeat together.
        user: pick_one(&USERS, at),
        device: pick_one(&DEVICES, at / 3),
        city: pick_one(&CITIES, at * 3),
        page: pick_one(&PAGES, at * 5 + at / 6),
        started: now.plus_ms(-i64::try_from(at * 97_000 % 1_800_000).unwrap_or(0)),
        ttl: ttl_of(at),
    };
    (0..SESSIONS).map(one).collect()
}

/// Returns the `ttl` of the session at an index: increasing values first, then sessions without
/// one, then sessions that never expire.
fn ttl_of(at: usize) -> Option<i64> {
    let own = SESSIONS - STAY - PLAIN;
    if own + PLAIN <= at {
        Some(-1)
    } else if own <= at {
        None
    } else {
        let (first, last) = SPREAD;
        i64::try_from(first + at * (last - first) / (own - 1)).ok()
    }
}

/// Returns an element by index, wrapping around.
fn pick_one(of: &[&'static str], at: usize) -> &'static str {
    of.get(at % of.len().max(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_die_one_after_another_and_some_stay() {
        let ttls: Vec<_> =
            sample_sessions(Instant::from_ms(0)).into_iter().map(|it| it.ttl).collect();
        let own: Vec<i64> = ttls.iter().copied().flatten().filter(|ttl| 0 < *ttl).collect();
        assert_eq!((own.first(), own.last()), (Some(&5), Some(&55)));
        assert!(own.windows(2).all(|pair| (1..=2).contains(&(pair[1] - pair[0]))), "{own:?}");
        assert_eq!(ttls.iter().filter(|ttl| ttl.is_none()).count(), PLAIN);
        assert_eq!(ttls.iter().filter(|ttl| **ttl == Some(-1)).count(), STAY);
        assert_eq!(ttls.len(), SESSIONS);
    }
}
