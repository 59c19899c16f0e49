//! The slow operations of the last day, for whoever may read the documents too. Unlike the log's lines they
//! have the texts of queries, with values, which are told for an hour and are in memory alone. Knows no clock
//! and no files: whoever keeps the others over a restart reads and writes them (`after`, `put_before`).

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::Operation;

/// How many are kept.
pub const MOST_SLOW: usize = 200;
/// How long one is told, and the text of its query.
const TOLD_MS: i64 = 24 * 60 * 60 * 1000;
const QUERY_TOLD_MS: i64 = 60 * 60 * 1000;
/// Bytes of the longest query that is kept; of a longer one there is no text.
pub const MAX_QUERY_BYTES: usize = 2_000;

/// A slow operation that has been answered. Written down it has no query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowOperation {
    /// When it had been answered, milliseconds since 1970 by the machine's clock.
    pub at_ms: i64,
    /// The API, as paths of the admin address call it: `mongo` or `nosql`.
    pub api: Cow<'static, str>,
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
    /// Whether it came through the admin address, as the portal's do.
    pub relayed: bool,
    /// What was asked: a command as the shell writes it, or the body of a request, with values.
    #[serde(skip)]
    pub query: Option<String>,
}

/// Which operations are slow, and those that were.
#[derive(Debug)]
pub struct SlowOperations {
    /// Milliseconds that an operation takes at least.
    limit_ms: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The oldest first.
    all: VecDeque<Arc<SlowOperation>>,
    /// How many were added at the end, ever.
    added: u64,
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
            api: Cow::Borrowed(api),
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
            relayed: of.relayed,
            query: query.filter(|text| text.len() <= MAX_QUERY_BYTES),
        };
        let mut kept = self.lock();
        if MOST_SLOW <= kept.all.len() {
            kept.all.pop_front();
        }
        kept.all.push_back(Arc::new(slow));
        kept.added += 1;
    }

    /// Those that were added since so many had been, the oldest first, as far as they are kept; and how many
    /// have been now.
    pub fn after(&self, seen: u64) -> (Vec<Arc<SlowOperation>>, u64) {
        let kept = self.lock();
        let new = usize::try_from(kept.added.saturating_sub(seen)).unwrap_or(usize::MAX);
        let known = kept.all.len().saturating_sub(new);
        (kept.all.iter().skip(known).cloned().collect(), kept.added)
    }

    /// Puts those of an earlier process, the oldest first, before those that there are.
    pub fn put_before(&self, older: Vec<SlowOperation>) {
        let mut kept = self.lock();
        let room = MOST_SLOW.saturating_sub(kept.all.len());
        older.into_iter().rev().take(room).for_each(|slow| kept.all.push_front(Arc::new(slow)));
    }

    /// Those of the last day, the newest first. Forgets the others, and texts that are an hour old.
    pub fn list(&self, now_ms: i64) -> Vec<Arc<SlowOperation>> {
        let all = &mut self.lock().all;
        let age = |slow: &SlowOperation| now_ms.saturating_sub(slow.at_ms);
        all.retain(|slow| age(slow) < TOLD_MS);
        for slow in all.iter_mut() {
            if slow.query.is_some() && QUERY_TOLD_MS <= age(slow) {
                Arc::make_mut(slow).query = None;
            }
        }
        all.iter().rev().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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
            relayed: false,
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
        assert_eq!(told.len(), MOST_SLOW);
        assert_eq!((told[0].operation.as_str(), &told[0].query), ("count", &None));
        assert_eq!((told[1].at_ms, told[1].query.as_deref()), (249, Some("{ n: 249 }")));
        let later = all.list(QUERY_TOLD_MS + 200);
        assert_eq!(later.iter().filter(|slow| slow.query.is_some()).count(), 49);
        assert_eq!(all.list(TOLD_MS + 200).len(), 50);
        assert!(all.list(i64::MAX).is_empty() && all.list(250).is_empty());
    }

    #[test]
    fn those_of_an_earlier_process_stand_before_and_are_not_new() {
        let all = SlowOperations::new(100);
        let at = |told: &[Arc<SlowOperation>]| told.iter().map(|it| it.at_ms).collect::<Vec<_>>();
        all.keep("mongo", &operation("find"), 7, None);
        let (told, seen) = all.after(0);
        assert_eq!((at(&told), seen), (vec![7], 1));
        let earlier = |at_ms| SlowOperation { at_ms, ..SlowOperation::clone(&told[0]) };
        all.put_before((-300..0).map(earlier).collect());
        assert_eq!(all.after(seen), (vec![], 1));
        let list = all.list(8);
        assert_eq!((list.len(), list[0].at_ms, list[1].at_ms), (MOST_SLOW, 7, -1));
        for at in 8..300 {
            all.keep("mongo", &operation("find"), at, None);
        }
        let (told, _) = all.after(seen);
        assert_eq!((told.len(), told[0].at_ms), (MOST_SLOW, 100));
        all.put_before(vec![earlier(0)]);
        assert_eq!(all.list(300).len(), MOST_SLOW);
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
