//! Conformance tests of commits, conditions, fences, sums and stamps.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::Bench;
use crate::{
    commit::{Commit, Condition, Fence, Mutation, Outcome, Refusal, Stamp},
    contract::Store,
    sequencer::decode_count,
    space::Space,
};

const ROWS: Space = Space::Rows(1);

pub(super) fn put(key: &[u8], value: &[u8]) -> Mutation {
    Mutation::Put {
        space: ROWS,
        key: Bytes::copy_from_slice(key),
        value: Bytes::copy_from_slice(value),
    }
}

fn not_newer(key: &[u8], seq: u64) -> Condition {
    Condition::NotNewer { space: ROWS, key: Bytes::copy_from_slice(key), seq }
}

pub(super) async fn commit_one(store: &dyn Store, commit: Commit) -> Outcome {
    let outcomes = store.commit(vec![commit]).await;
    *outcomes.as_ref().ok().and_then(|outcomes| outcomes.first()).expect("one outcome")
}

pub(super) async fn get(store: &dyn Store, key: &[u8]) -> Option<Bytes> {
    store.snapshot().get(ROWS, key).await.expect("a read")
}

pub(super) async fn commits_are_all_or_nothing(bench: &mut impl Bench) {
    let store = bench.open().await;
    store.create_space(ROWS).expect("a space");
    let both = |_: Stamp| vec![put(b"a", b"1"), put(b"b", b"1")];
    assert!(matches!(commit_one(&*store, Commit::new(vec![], both)).await, Outcome::Committed(_)));
    let late = Commit::new(vec![Condition::Before(i64::MIN)], |_| vec![put(b"a", b"2")]);
    assert_eq!(commit_one(&*store, late).await, Outcome::Refused(Refusal::Late));
    assert_eq!(get(&*store, b"a").await.as_deref(), Some(&b"1"[..]));
    let store = bench.crash(store).await;
    assert_eq!(get(&*store, b"a").await.as_deref(), Some(&b"1"[..]));
    assert_eq!(get(&*store, b"b").await.as_deref(), Some(&b"1"[..]));
}

pub(super) async fn conditions_see_every_commit_before(bench: &mut impl Bench) {
    let store = bench.open().await;
    store.create_space(ROWS).expect("a space");
    let view = store.published();
    // The second commit of the same key must see the first, which is not visible yet.
    let commits = vec![
        Commit::new(vec![not_newer(b"k", view)], |_| vec![put(b"k", b"1")]),
        Commit::new(vec![not_newer(b"k", view)], |_| vec![put(b"k", b"2")]),
        Commit::new(vec![not_newer(b"other", view)], |_| vec![put(b"other", b"3")]),
    ];
    let outcomes = store.commit(commits).await.expect("a commit");
    assert!(matches!(outcomes[0], Outcome::Committed(_)));
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::Newer));
    assert!(matches!(outcomes[2], Outcome::Committed(_)));
    assert_eq!(get(&*store, b"k").await.as_deref(), Some(&b"1"[..]));
    let view = store.published();
    let again = Commit::new(vec![not_newer(b"k", view)], |_| vec![put(b"k", b"2")]);
    assert!(matches!(commit_one(&*store, again).await, Outcome::Committed(_)));
    let chained = |key: &'static [u8], seq| {
        let conditions = vec![not_newer(key, seq), Condition::AfterPrevious];
        Commit::new(conditions, move |_| vec![put(key, b"4")])
    };
    let seq = store.published();
    let commits = vec![chained(b"c", seq), chained(b"k", 0), chained(b"d", seq)];
    let outcomes = store.commit(commits).await.expect("a commit");
    assert!(matches!(outcomes[0], Outcome::Committed(_)));
    assert_eq!(outcomes[1..], [Outcome::Refused(Refusal::Newer); 2]);
    bench.time().set(1000);
    let before = |instant| Commit::new(vec![Condition::Before(instant)], |_| vec![]);
    assert_eq!(commit_one(&*store, before(1000)).await, Outcome::Refused(Refusal::Late));
    assert!(matches!(commit_one(&*store, before(1001)).await, Outcome::Committed(_)));
}

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    fn note(&self, text: String) {
        self.0.lock().push(text);
    }
}

impl Fence for Recorder {
    fn raise(&self) {
        self.note("raised".to_owned());
    }

    fn lower(&self, published: Option<Stamp>) {
        self.note(format!("lowered {}", published.is_some()));
    }
}

pub(super) async fn a_fence_closes_before_the_stamp_and_ends_its_batch(bench: &mut impl Bench) {
    let store = bench.open().await;
    let recorder = Arc::new(Recorder::default());
    let (inside, behind) = (Arc::clone(&recorder), Arc::clone(&recorder));
    let fenced = Commit::new(vec![], move |_| {
        inside.note("stamped".to_owned());
        vec![]
    });
    let next = Commit::new(vec![], move |_| {
        behind.note("next".to_owned());
        vec![]
    });
    let refused = Commit::new(vec![Condition::Before(i64::MIN)], |_| vec![]);
    let fence = || Arc::clone(&recorder) as Arc<dyn Fence>;
    let commits = vec![fenced.with_fence(fence()), next, refused.with_fence(fence())];
    store.commit(commits).await.expect("a commit");
    let notes = recorder.0.lock().clone();
    assert_eq!(notes, ["raised", "stamped", "lowered true", "next", "raised", "lowered false"]);
}

async fn sum(store: &dyn Store) -> Option<[i64; 2]> {
    let value = store.snapshot().get(Space::Counts, b"sum").await.expect("a read");
    value.map(|value| decode_count(&value))
}

pub(super) async fn sums_fold_and_vanish_at_zero(bench: &mut impl Bench) {
    let store = bench.open().await;
    let key = Bytes::from_static(b"sum");
    let add = |by: [i64; 2]| {
        let key = key.clone();
        Commit::new(vec![], move |_| vec![Mutation::Add { space: Space::Counts, key, by }])
    };
    store.commit(vec![add([1, 100]), add([2, 50])]).await.expect("a commit");
    assert_eq!(sum(&*store).await, Some([3, 150]));
    let store = bench.crash(store).await;
    store.commit(vec![add([-1, -50])]).await.expect("a commit");
    assert_eq!(sum(&*store).await, Some([2, 100]));
    store.commit(vec![add([-2, -100])]).await.expect("a commit");
    assert_eq!(sum(&*store).await, None);
}

pub(super) async fn stamps_go_on_after_a_crash(bench: &mut impl Bench) {
    bench.time().set(5_000);
    let store = bench.open().await;
    store.create_space(ROWS).expect("a space");
    let write = |key: &'static [u8]| Commit::new(vec![], move |_| vec![put(key, b"x")]);
    let Outcome::Committed(first) = commit_one(&*store, write(b"a")).await else {
        panic!("refused without a condition");
    };
    assert!(5_000 <= first.at_ms);
    assert_eq!(store.published(), first.seq);
    let store = bench.crash(store).await;
    assert_eq!(store.published(), first.seq);
    let Outcome::Committed(second) = commit_one(&*store, write(b"b")).await else {
        panic!("refused without a condition");
    };
    assert_eq!(second.seq, first.seq + 1);
    // After a crash, recent writes are unknown, so conditions on views from before it are refused.
    let stale = Commit::new(vec![not_newer(b"zzz", first.seq - 1)], |_| vec![]);
    assert_eq!(commit_one(&*store, stale).await, Outcome::Refused(Refusal::Newer));
}

pub(super) async fn large_bodies_and_keys_at_the_limit(bench: &mut impl Bench) {
    let store = bench.open().await;
    store.create_space(ROWS).expect("a space");
    let longest = vec![7; store.capabilities().max_key_bytes];
    let body = vec![42; 16 * 1024 * 1024 + 64];
    let (key, value) = (longest.clone(), body.clone());
    let commit = Commit::new(vec![], move |_| vec![put(&key, b"key"), put(b"body", &value)]);
    assert!(matches!(commit_one(&*store, commit).await, Outcome::Committed(_)));
    let store = bench.crash(store).await;
    assert_eq!(get(&*store, &longest).await.as_deref(), Some(&b"key"[..]));
    assert!(get(&*store, b"body").await.is_some_and(|held| held == body));
}
