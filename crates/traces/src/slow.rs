//! The slow operations of the last day, in memory alone, for whoever may read the documents too. Unlike the
//! log's lines they have the texts of queries, with values, which are told for an hour. Knows no clock.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::Operation;

/// How many are kept.
const MOST: usize = 200;
/// How long one is told, and the text of its query.
const TOLD_MS: i64 = 24 * 60 * 60 * 1000;
const QUERY_TOLD_MS: i64 = 60 * 60 * 1000;
/// Bytes of the longest query that is kept; of a longer one there is no text.
pub const MAX_QUERY_BYTES: usize = 2_000;

/// A slow operation that has been answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowOperation {
    /// When it had been answered, milliseconds since 1970 by the machine's clock.
    pub at_ms: i64,
    /// The API, as paths of the admin address call it: `mongo` or `nosql`.
    pub api: &'static str,
    /// What was asked for, as the API's documentation calls it.
    pub operation: String,
    /// The database; empty: none.
    pub database: String,
    /// The collection; empty: none.
    pub collection: String,
    /// How long it took.
    pub took_ms: u64,
    /// Documents and keys that were examined.
    pub examined: u64,
    /// Documents that were returned.
    pub returned: u64,
    /// How they were found; empty: that was not noted.
    pub plan: String,
    /// Whether it failed.
    pub failed: bool,
    /// The client's program, as it calls itself.
    pub client: String,
    /// The number or id of the request, as the log has it.
    pub request: String,
    /// What was asked: a command as the shell writes it, or the body of a request, with values.
    pub query: Option<String>,
}

/// Which operations are slow, and those that were.
#[derive(Debug)]
pub struct SlowOperations {
    /// Milliseconds that an operation takes at least.
    limit_ms: u64,
    /// The oldest first.
    kept: Mutex<VecDeque<Arc<SlowOperation>>>,
}

impl SlowOperations {
    /// None so far. `limit_ms` is how many milliseconds an operation takes at least.
    pub fn new(limit_ms: u64) -> Self {
        Self { limit_ms, kept: Mutex::default() }
    }

    /// How many milliseconds an operation takes at least.
    pub fn limit_ms(&self) -> u64 {
        self.limit_ms
    }

    /// Whether an operation that took so long is one.
    pub fn is_slow(&self, took: Duration) -> bool {
        u128::from(self.limit_ms) <= took.as_millis()
    }

    /// Keeps an operation of an API, in the place of the oldest one where there are many. A query that is
    /// longer than [`MAX_QUERY_BYTES`] is not kept.
    pub fn keep(&self, api: &'static str, of: &Operation<'_>, at_ms: i64, query: Option<String>) {
        let slow = SlowOperation {
            at_ms,
            api,
            operation: of.name.to_owned(),
            database: of.database.to_owned(),
            collection: of.collection.to_owned(),
            took_ms: u64::try_from(of.took.as_millis()).unwrap_or(u64::MAX),
            examined: of.examined,
            returned: of.returned,
            plan: of.plan.to_owned(),
            failed: of.failed,
            client: of.client.to_owned(),
            request: of.request.to_owned(),
            query: query.filter(|text| text.len() <= MAX_QUERY_BYTES),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if MOST <= kept.len() {
            kept.pop_front();
        }
        kept.push_back(Arc::new(slow));
    }

    /// Those of the last day, the newest first. Forgets the others, and texts that are an hour old.
    pub fn list(&self, now_ms: i64) -> Vec<Arc<SlowOperation>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let age = |slow: &SlowOperation| now_ms.saturating_sub(slow.at_ms);
        kept.retain(|slow| age(slow) < TOLD_MS);
        for slow in kept.iter_mut() {
            if slow.query.is_some() && QUERY_TOLD_MS <= age(slow) {
                Arc::make_mut(slow).query = None;
            }
        }
        kept.iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(name: &str) -> Operation<'_> {
        Operation {
            system: "mongodb",
            name,
            database: "app",
            collection: "log",
            took: Duration::from_millis(120),
            code: 0,
            failed: false,
            examined: 4_540,
            returned: 3,
            plan: "scan",
            charge: None,
            client: "",
            request: "7",
            parent: None,
        }
    }

    #[test]
    fn the_newest_are_kept_for_a_day_and_their_texts_for_an_hour() {
        let all = SlowOperations::new(100);
        for at in 0..250 {
            all.keep("mongo", &operation("find"), at, Some(format!("{{ n: {at} }}")));
        }
        all.keep("mongo", &operation("count"), 250, Some("x".repeat(MAX_QUERY_BYTES + 1)));
        let told = all.list(250);
        assert_eq!(told.len(), MOST);
        assert_eq!((told[0].operation.as_str(), &told[0].query), ("count", &None));
        assert_eq!((told[1].at_ms, told[1].query.as_deref()), (249, Some("{ n: 249 }")));
        let later = all.list(QUERY_TOLD_MS + 200);
        assert_eq!(later.iter().filter(|slow| slow.query.is_some()).count(), 49);
        assert_eq!(all.list(TOLD_MS + 200).len(), 50);
        assert!(all.list(i64::MAX).is_empty() && all.list(250).is_empty());
    }

    #[test]
    fn the_limit_is_slow() {
        let ms = Duration::from_millis;
        let all = SlowOperations::new(100);
        assert!(
            !all.is_slow(ms(99)) && all.is_slow(ms(100)) && SlowOperations::new(0).is_slow(ms(0))
        );
    }
}
