//! Random histories of commits, snapshots and crashes, compared with a plain map.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Bench, commits::put};
use crate::{
    commit::{Commit, Condition, Mutation, Outcome},
    contract::{Direction, KeyRange, Limit, Store},
    space::Space,
};

const ROWS: Space = Space::Rows(1);

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

fn random_commit(rng: &mut fastrand::Rng, view: u64, held: &Map) -> (Commit, Map, bool) {
    let mut next = held.clone();
    let mut mutations = Vec::new();
    for _ in 0..rng.usize(1..4) {
        let key = vec![rng.u8(0..12)];
        if rng.u8(0..3) == 0 {
            next.remove(&key);
            mutations.push(Mutation::Delete { space: ROWS, key: Bytes::from(key) });
        } else {
            let value = vec![rng.u8(..); rng.usize(0..40)];
            mutations.push(put(&key, &value));
            next.insert(key, value);
        }
    }
    let refused = rng.u8(0..4) == 0;
    let condition = if refused {
        Condition::Before(i64::MIN)
    } else {
        Condition::NotNewer { space: ROWS, key: vec![rng.u8(0..12)].into(), seq: view }
    };
    (Commit::new(vec![condition], move |_| mutations), next, refused)
}

pub(super) async fn random_histories_agree_with_a_map(bench: &mut impl Bench, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut store = bench.open().await;
    store.create_space(ROWS).expect("a space");
    let mut map = Map::new();
    let mut views = Vec::new();
    for step in 0..60 {
        let context = format!("seed {seed} step {step}");
        match rng.u8(0..12) {
            0 => {
                views.clear();
                store = bench.crash(store).await;
            }
            1 | 2 => views.push((store.snapshot(), map.clone())),
            _ => {
                let (commit, next, refused) = random_commit(&mut rng, store.published(), &map);
                let outcomes = store.commit(vec![commit]).await.expect("a commit");
                match outcomes.first() {
                    Some(Outcome::Committed(_)) => {
                        assert!(!refused, "{context}");
                        map = next;
                    }
                    other => assert!(refused, "{context} {other:?}"),
                }
            }
        }
        views.push((store.snapshot(), map.clone()));
        for (snapshot, want) in &views {
            let limit = Limit { rows: 100, bytes: 1 << 20 };
            let page = snapshot.scan(ROWS, &KeyRange::all(), Direction::Forward, limit).await;
            let rows = page.expect("a page").rows;
            let got: Map = rows.iter().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
            assert_eq!(&got, want, "{context}");
        }
        views.truncate(4);
    }
}
