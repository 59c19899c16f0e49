//! Conformance test of snapshot atomicity: each snapshot shows all or nothing of a commit, and
//! every commit acknowledged before the snapshot was taken, also during flushes and compactions.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use bytes::Bytes;

use super::{Bench, commits::commit_one};
use crate::{
    commit::{Commit, Mutation, Outcome},
    contract::{DropFilter, DropPredicate, Snapshot, Store},
    space::Space,
};

/// The spaces to which each commit writes.
const SPACES: [Space; 3] = [Space::Rows(1), Space::Index(1), Space::Counts];
const KEYS: u32 = 3;
const COMMITS: u32 = 600;

/// A predicate by which a reap rewrites all data and removes none.
struct DropNothing;

impl DropPredicate for DropNothing {
    fn filter_for(&self, _: Space) -> DropFilter {
        Box::new(|_, _| false)
    }
}

fn key_of(commit: u32) -> Bytes {
    Bytes::from((commit % KEYS).to_be_bytes().to_vec())
}

/// Returns a commit that writes `number` under a key of that number in every space.
fn numbered(number: u32) -> Commit {
    let value = Bytes::from(number.to_be_bytes().to_vec());
    Commit::new(vec![], move |_| {
        let put = |space| Mutation::Put { space, key: key_of(number), value: value.clone() };
        SPACES.map(put).into()
    })
}

/// Returns the number stored under a key.
async fn number_in(snapshot: &dyn Snapshot, space: Space, key: &[u8]) -> u32 {
    let value = snapshot.get(space, key).await.expect("a read").unwrap_or_default();
    value[..].try_into().map_or(0, u32::from_be_bytes)
}

/// Yields once, so that the other futures can run.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls all futures until each has completed.
async fn all_of(mut parts: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    poll_fn(|cx| {
        parts.retain_mut(|part| part.as_mut().poll(cx).is_pending());
        if parts.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

pub(super) async fn snapshots_are_whole_beside_reaping(bench: &mut impl Bench) {
    let store = bench.open().await;
    for space in SPACES {
        store.create_space(space).expect("a space");
    }
    store.set_drop_predicate(Arc::new(DropNothing));
    let acknowledged = Cell::new(0);
    let goes_on = || acknowledged.get() < COMMITS;
    let write = async {
        for number in 1..=COMMITS {
            let outcome = commit_one(&*store, numbered(number)).await;
            assert!(matches!(outcome, Outcome::Committed(_)), "{number}");
            acknowledged.set(number);
        }
    };
    let reap = |space| {
        let (store, goes_on) = (&store, &goes_on);
        async move {
            while goes_on() {
                store.reap_space(space).await.expect("a reap");
                yield_now().await;
            }
        }
    };
    let read = async {
        while goes_on() {
            let least = acknowledged.get();
            let snapshot = store.snapshot();
            yield_now().await;
            let mut newest = 0;
            for key in (0..KEYS).map(key_of) {
                let [first, second, third] = SPACES;
                let number = number_in(&*snapshot, first, &key).await;
                for other in [second, third] {
                    let other = number_in(&*snapshot, other, &key).await;
                    assert_eq!(
                        number, other,
                        "a snapshot has a part of a commit; {least} was acknowledged"
                    );
                }
                newest = newest.max(number);
            }
            assert!(least <= newest, "{least} was acknowledged, but the newest commit is {newest}");
        }
    };
    all_of(vec![
        Box::pin(write),
        Box::pin(reap(SPACES[0])),
        Box::pin(reap(SPACES[1])),
        Box::pin(read),
    ])
    .await;
}
