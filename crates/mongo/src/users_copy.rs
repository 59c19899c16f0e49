//! Another shard's copy of the users and roles that the first shard stores: kept in memory and
//! requested again whenever it may be stale. It has no credentials, since the first shard handles
//! logins.
//!
//! ```text
//! answer   {token: <version>}                                                unchanged
//!          {token, records: [{path: [..], body: {..}, stamp: ..}, ..]}        all records
//! ```
//!
//! A copy is as recent as the moment its request was sent. Long-polling requests deliver changes at
//! once. If the first shard cannot be reached the copy stays valid for a while, so that a failover
//! of the first shard goes unnoticed.

use std::{sync::Arc, time::Duration};

use document::{ArrayRef, DocRef, Document, Value, ValueRef, doc, validate};
use engine::Resource;
use parking_lot::Mutex;

use crate::{
    errors::{Error, Result, ShutdownInProgress},
    first_shard::FirstShard,
    limits::{USERS_AGAIN, USERS_GOOD},
    pause::sleep,
};

/// The current state of the copy.
#[derive(Debug, Default)]
struct CachedUsers {
    /// Token of the first shard that identifies the version of the copy.
    token: Vec<u8>,
    /// The records of users and roles, sorted by path.
    records: Vec<Arc<Resource>>,
    /// Number of times that the copy has changed.
    changes: u64,
    /// Time of sending the last request that succeeded; `None` before the first one.
    heard: Option<Duration>,
    /// Time at which the copy was last known to be complete. It may lack changes that the first
    /// shard made just before it lost its owner.
    as_of: Option<Duration>,
    /// Number of accepted answers. An answer is dropped if another one was accepted after its
    /// request was sent.
    answers: u64,
}

/// A copy of the users and roles.
#[derive(Debug)]
pub(crate) struct UsersCopy {
    first: FirstShard,
    held: Mutex<Arc<CachedUsers>>,
    /// Lock that a task holds while it requests the current state from the first shard.
    asking: tokio::sync::Mutex<()>,
}

impl UsersCopy {
    pub(crate) fn new(first: FirstShard) -> Self {
        Self { first, held: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    fn held(&self) -> Arc<CachedUsers> {
        Arc::clone(&self.held.lock())
    }

    /// Returns the number of times that the copy has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.held().changes
    }

    /// Returns the record at a path.
    pub(crate) fn record_at(&self, path: &[&str]) -> Option<Arc<Resource>> {
        let held = self.held();
        let found = held.records.binary_search_by(|record| {
            record.path.iter().map(String::as_str).cmp(path.iter().copied())
        });
        found.ok().and_then(|at| held.records.get(at).cloned())
    }

    /// Returns the records below a path, in the order of their paths.
    pub(crate) fn records_below(&self, path: &[&str]) -> Vec<Arc<Resource>> {
        let is_below = |record: &&Arc<Resource>| {
            path.len() < record.path.len()
                && record.path.iter().zip(path).all(|(it, part)| it == part)
        };
        self.held().records.iter().filter(is_below).cloned().collect()
    }

    /// Updates the copy to the state at the time of this call or later. Returns false if the first
    /// shard could not be reached.
    pub(crate) async fn catch_up(&self) -> bool {
        let now = clock::monotonic_time();
        let _one = self.asking.lock().await;
        // Another task may have requested the state since this function was called.
        self.held().heard.is_some_and(|heard| now <= heard) || self.ask(false).await
    }

    /// Checks that the copy is recent enough, and requests it again if it is stale.
    ///
    /// Fails with 91 if the first shard could not be reached for `USERS_GOOD`.
    pub(crate) async fn check_good(&self) -> Result<()> {
        if !self.is_current() {
            self.catch_up().await;
        }
        if self.is_current() { Ok(()) } else { Err(unreached()) }
    }

    fn is_current(&self) -> bool {
        let age = |as_of| clock::monotonic_time().saturating_sub(as_of);
        self.held().as_of.is_some_and(|as_of| age(as_of) < USERS_GOOD)
    }

    /// Replicates changes for as long as the future is polled.
    pub(crate) async fn follow(&self) -> std::convert::Infallible {
        loop {
            if !self.ask(true).await {
                sleep(USERS_AGAIN).await;
            }
        }
    }

    /// Requests the state of users and roles, and stores the answer. Returns whether the first
    /// shard answered.
    async fn ask(&self, waits: bool) -> bool {
        let asked = clock::monotonic_time();
        let before = self.held();
        match self.first.ask(before.token.clone(), waits).await {
            Ok(Some(answer)) => match read_answer(&answer) {
                Some((token, records)) => {
                    self.take((asked, before.answers), Some(token), records);
                    true
                }
                None => {
                    tracing::error!("invalid reply about users from the first shard");
                    false
                }
            },
            Ok(None) => {
                self.take((asked, before.answers), None, None);
                false
            }
            Err(error) => {
                tracing::debug!(%error, "cannot read the users from the first shard");
                false
            }
        }
    }

    /// Stores the answer to a request that was sent at time `asked`. `answers` is the number of
    /// answers accepted before that. If another answer has been accepted since then, this one is
    /// ignored, unless it has the version of the copy.
    fn take(
        &self,
        (asked, answers): (Duration, u64),
        token: Option<Vec<u8>>,
        records: Option<Vec<Arc<Resource>>>,
    ) {
        let mut held = self.held.lock();
        // A previous owner may have answered with an older state than its successor.
        let is_late = answers < held.answers;
        let is_same = token.as_ref().is_none_or(|token| *token == held.token);
        if !is_same && (is_late || records.is_none()) {
            return;
        }
        let changed = !is_same;
        let heard = if token.is_some() { held.heard.max(Some(asked)) } else { held.heard };
        // Without a first answer it is unknown whether users exist.
        let as_of = heard.and(held.as_of.max(Some(asked)));
        *held = Arc::new(CachedUsers {
            heard,
            as_of,
            token: token.unwrap_or_else(|| held.token.clone()),
            records: match records {
                Some(records) if changed => records,
                _ => held.records.clone(),
            },
            changes: held.changes + u64::from(changed),
            answers: held.answers + u64::from(changed),
        });
    }
}

/// Returns the error for a copy that is too old to rely on.
pub(crate) fn unreached() -> Error {
    let text = "cannot reach the first shard of the cluster, which keeps the users: try again";
    Error::new(ShutdownInProgress, text)
}

/// Encodes the first shard's answer to a request; it has no records if they are unchanged.
pub(crate) fn make_answer(token: &[u8], records: Option<&[Arc<Resource>]>) -> Vec<u8> {
    let mut answer = doc! { "token": Value::Binary { subtype: 0, bytes: token.to_vec() } };
    if let Some(records) = records {
        let told = |record: &Arc<Resource>| {
            let path = record.path.iter().map(|part| Value::from(part.as_str())).collect();
            let stamp = i64::try_from(record.stamp).unwrap_or(i64::MAX);
            doc! { "path": Value::Array(path), "body": record.body.clone(), "stamp": stamp }
        };
        let records = records.iter().map(told).map(Value::Document).collect();
        answer.push("records", Value::Array(records));
    }
    answer.to_buf().into_bytes().into()
}

type Answer = (Vec<u8>, Option<Vec<Arc<Resource>>>);

fn read_answer(bytes: &[u8]) -> Option<Answer> {
    validate(bytes).ok()?;
    let answer = DocRef::Raw(bytes);
    let Some(ValueRef::Binary { bytes: token, .. }) = answer.get("token") else { return None };
    let records = match answer.get("records") {
        None => None,
        Some(records) => Some(read_records(records.as_array()?)?),
    };
    Some((token.to_vec(), records))
}

fn read_records(records: ArrayRef<'_>) -> Option<Vec<Arc<Resource>>> {
    let mut read = Vec::new();
    for record in records.iter() {
        let record = record.as_document()?;
        let path = record.get("path")?.as_array()?;
        let path: Option<Vec<String>> =
            path.iter().map(|part| part.as_str().map(str::to_owned)).collect();
        let body: Document = record.get("body")?.as_document()?.to_tree();
        let Some(ValueRef::Int64(stamp)) = record.get("stamp") else { return None };
        let stamp = u64::try_from(stamp).ok()?;
        read.push(Arc::new(Resource { path: path?, body, stamp, creation_stamp: stamp, ts: 0 }));
    }
    read.sort_by(|one, other| one.path.cmp(&other.path));
    Some(read)
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, io};

    use super::*;
    use crate::first_shard::{FirstShardTransport, UsersReply};

    type Answers = VecDeque<io::Result<Option<Vec<u8>>>>;

    /// Transport that returns these answers in order, and errors after the last one.
    #[derive(Clone, Default)]
    struct Script(Arc<Mutex<(Answers, Vec<Vec<u8>>)>>);

    impl FirstShardTransport for Script {
        fn ask(&self, seen: Vec<u8>, _: bool) -> UsersReply<'_> {
            let mut script = self.0.lock();
            script.1.push(seen);
            let answer = script.0.pop_front();
            let gone = || Err(io::ErrorKind::NotConnected.into());
            Box::pin(async move { answer.unwrap_or_else(gone) })
        }
    }

    fn record(path: &[&str], value: i32) -> Arc<Resource> {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        Arc::new(Resource {
            path,
            body: doc! { "value": value },
            stamp: 7,
            creation_stamp: 7,
            ts: 0,
        })
    }

    #[tokio::test]
    async fn a_copy_is_what_was_answered_last_and_says_when_it_became_another() {
        let script = Script::default();
        let copy = UsersCopy::new(FirstShard::new(script.clone()));
        // No state is known before the first answer, even if the first shard has no owner.
        script.0.lock().0.extend([Ok(None), Ok(None)]);
        assert!(!copy.catch_up().await);
        assert_eq!(copy.check_good().await.unwrap_err().code, ShutdownInProgress);
        let all = [record(&["a", "user", "x", "bob"], 2), record(&["a", "role", "x", "r"], 1)];
        script.0.lock().0.extend([
            Ok(Some(make_answer(b"one", Some(&all)))),
            Ok(Some(make_answer(b"one", None))),
            Ok(None),
            Ok(Some(make_answer(b"two", Some(&all[..1])))),
            Ok(Some(b"noise".to_vec())),
        ]);
        for (changes, roles, heard) in
            [(1, 1, true), (1, 1, true), (1, 1, false), (2, 0, true), (2, 0, false), (2, 0, false)]
        {
            assert_eq!(copy.catch_up().await, heard);
            copy.check_good().await.unwrap();
            assert_eq!(copy.changes(), changes);
            assert_eq!(copy.records_below(&["a", "role"]).len(), roles);
            assert_eq!(copy.record_at(&["a", "user", "x", "bob"]).unwrap().body, all[0].body);
            assert!(copy.record_at(&["a", "user", "x"]).is_none());
            assert_eq!(copy.records_below(&["a", "user", "x", "bob"]).len(), 0);
        }
        let asked: Vec<_> = script.0.lock().1.iter().map(Vec::len).collect();
        assert_eq!(asked, [0, 0, 0, 3, 3, 3, 3, 3]);
    }

    #[tokio::test]
    async fn an_answer_that_comes_late_is_not_taken_over_a_newer_one() {
        let copy = UsersCopy::new(FirstShard::new(Script::default()));
        let (old, new) =
            (record(&["a", "user", "x", "old"], 1), record(&["a", "user", "x", "new"], 1));
        let now = clock::monotonic_time();
        copy.take((now, 0), Some(b"new".to_vec()), Some(vec![new]));
        copy.take((now, 0), Some(b"old".to_vec()), Some(vec![old]));
        assert!(copy.record_at(&["a", "user", "x", "old"]).is_none());
        assert!(copy.record_at(&["a", "user", "x", "new"]).is_some());
    }
}
