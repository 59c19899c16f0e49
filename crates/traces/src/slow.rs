//! The slow operations of the last day. Unlike log lines they contain the texts of queries with
//! values, so only users who may read the documents may see them. The texts are kept in memory
//! only, and for an hour instead of a day. Uses no clock and no files: the server saves and
//! restores everything but the texts over a restart (`after`, `put_before`).

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::Operation;

/// Maximum number of operations kept.
pub const MOST_SLOW: usize = 200;
/// Time for which an operation is kept, in milliseconds; the text of its query is kept for an hour
/// only.
const TOLD_MS: i64 = 24 * 60 * 60 * 1000;
const QUERY_TOLD_MS: i64 = 60 * 60 * 1000;
/// Maximum length of a query's text, in bytes; longer ones are not kept.
pub const MAX_QUERY_BYTES: usize = 2_000;

/// A slow operation that has finished. Its serialized form has no query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowOperation {
    /// Time at which the operation finished, in milliseconds since 1970 by the machine's clock.
    pub at_ms: i64,
    /// The API as in paths of the admin address: `mongo` or `nosql`.
    pub api: Cow<'static, str>,
    /// The operation's name in the API's documentation.
    pub operation: String,
    /// Name of the database; empty if the operation has none.
    pub database: String,
    /// Name of the collection; empty if the operation has none.
    pub collection: String,
    /// The duration of the operation in milliseconds.
    pub took_ms: u64,
    /// Number of documents and keys examined.
    pub examined: u64,
    /// The number of documents returned.
    pub returned: u64,
    /// The access path; empty if it was not recorded.
    pub plan: String,
    /// Whether the operation returned an error.
    pub failed: bool,
    /// Name of the client program, as sent by the client.
    pub client: String,
    /// The number or id of the request, as in the log.
    pub request: String,
    /// Whether the operation came through the admin address, like the portal's requests.
    pub relayed: bool,
    /// The query with values: a command in shell syntax, or the body of a request.
    #[serde(skip)]
    pub query: Option<String>,
}

/// The threshold of slow operations, and the most recent ones.
#[derive(Debug)]
pub struct SlowOperations {
    /// Minimum duration of a slow operation, in milliseconds.
    limit_ms: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    all: VecDeque<Arc<SlowOperation>>,
    /// Number of operations ever added by this process.
    added: u64,
}

impl SlowOperations {
    /// Creates an empty list with a minimum duration in milliseconds.
    pub fn new(limit_ms: u64) -> Self {
        Self { limit_ms, kept: Mutex::default() }
    }

    /// Returns the minimum duration of a slow operation, in milliseconds.
    pub fn limit_ms(&self) -> u64 {
        self.limit_ms
    }

    /// Returns whether an operation with this duration is slow.
    pub fn is_slow(&self, took: Duration) -> bool {
        u128::from(self.limit_ms) <= took.as_millis()
    }

    /// Adds an operation, replacing the oldest one if the list is full. A query longer than
    /// [`MAX_QUERY_BYTES`] is not kept.
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

    /// Returns the operations added after the first `seen`, as far as they are kept, the oldest
    /// first, and the number added so far.
    pub fn after(&self, seen: u64) -> (Vec<Arc<SlowOperation>>, u64) {
        let kept = self.lock();
        let new = usize::try_from(kept.added.saturating_sub(seen)).unwrap_or(usize::MAX);
        let known = kept.all.len().saturating_sub(new);
        (kept.all.iter().skip(known).cloned().collect(), kept.added)
    }

    /// Puts operations of an earlier process, the oldest first, before those of this process.
    pub fn put_before(&self, older: Vec<SlowOperation>) {
        let mut kept = self.lock();
        let room = MOST_SLOW.saturating_sub(kept.all.len());
        older.into_iter().rev().take(room).for_each(|slow| kept.all.push_front(Arc::new(slow)));
    }

    /// Returns the operations of the last day, the newest first. Drops older ones, and texts that
    /// are an hour old.
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
            protocol: "",
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
