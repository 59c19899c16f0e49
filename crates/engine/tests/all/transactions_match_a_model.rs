//! Random histories of concurrent transactions and other writes agree with a model of snapshot
//! isolation: a transaction reads the state at its first statement and its own writes; a write
//! fails if another transaction has written the document or its unique value, or if another write
//! has since the snapshot.

use std::collections::{BTreeMap, BTreeSet};

use document::{Document, doc};
use engine::{Hint, Kind};
use pipeline::Filter;
use test_kit::{Kit, equal, ids_of, plain_index, ready, unique_index};

use crate::transactions::Tx;

/// Number of documents that histories write.
const IDS: i32 = 8;

/// The documents by id: `a`, and the unique value `u`.
type State = BTreeMap<i32, (i32, i32)>;

/// The number of the commit that wrote each document, and each unique value, that is stored.
#[derive(Clone, Default)]
struct Versions {
    ids: BTreeMap<i32, usize>,
    values: BTreeMap<i32, usize>,
    commits: usize,
}

/// A transaction of the model.
struct Open<'k> {
    tx: Tx<'k>,
    /// The state at its first statement, with its own writes; `None` before it.
    state: Option<State>,
    /// The versions at its first statement.
    since: Versions,
    written: BTreeSet<i32>,
    /// Unique values that it has taken.
    taken: BTreeSet<i32>,
}

struct Model<'k> {
    kit: &'k Kit,
    random: fastrand::Rng,
    committed: State,
    versions: Versions,
    open: Vec<Open<'k>>,
    next: i32,
}

fn document(id: i32, (a, u): (i32, i32)) -> Document {
    doc! { "_id": id, "a": a, "u": u }
}

fn documents(state: &State) -> Vec<Document> {
    state.iter().map(|(id, values)| document(*id, *values)).collect()
}

impl<'k> Model<'k> {
    /// Runs a statement of a transaction.
    fn step(&mut self) {
        let at = self.random.usize(0..self.open.len());
        let (a, id) = (self.next, self.random.i32(0..IDS));
        self.next += 1;
        let u = self.random.i32(0..IDS * 2);
        let choice = self.random.u8(0..10);
        let others: (BTreeSet<i32>, BTreeSet<i32>) = {
            let others = self.open.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<_> = others.map(|(_, open)| open).collect();
            (
                others.iter().flat_map(|open| open.written.iter().copied()).collect(),
                others.iter().flat_map(|open| open.taken.iter().copied()).collect(),
            )
        };
        let open = &mut self.open[at];
        if open.state.is_none() {
            open.since = self.versions.clone();
        }
        let state = open.state.get_or_insert_with(|| self.committed.clone());
        let (before, now) = (&open.since, &self.versions);
        let conflicts = !open.written.contains(&id)
            && (others.0.contains(&id) || before.ids.get(&id) != now.ids.get(&id));
        let failed = match choice {
            0..=2 => {
                let found = open.tx.find(Filter::always(), Hint::None).unwrap();
                assert_eq!(found, documents(state));
                let mut by_a: Vec<_> =
                    state.iter().map(|(id, (a, _))| (*a, i64::from(*id))).collect();
                by_a.sort_unstable();
                let found = open.tx.find(Filter::always(), Hint::Index("a_1".to_owned())).unwrap();
                assert_eq!(ids_of(&found), by_a.iter().map(|(_, id)| *id).collect::<Vec<_>>());
                false
            }
            3..=6 => {
                let is_taken = state.iter().any(|(other, (_, held))| *other != id && *held == u);
                let is_contended = !open.taken.contains(&u)
                    && (others.1.contains(&u) || before.values.get(&u) != now.values.get(&u));
                match open.tx.replace(document(id, (a, u)), true) {
                    Ok(_) => {
                        assert!(!conflicts && !is_taken && !is_contended, "{id} {u}");
                        state.insert(id, (a, u));
                        open.written.insert(id);
                        open.taken.insert(u);
                        false
                    }
                    Err(error) if is_taken => {
                        let is_duplicate = matches!(error.kind, Kind::DuplicateKey { .. });
                        assert!(is_duplicate || (conflicts && error.kind == Kind::Conflict));
                        true
                    }
                    Err(error) => {
                        assert_eq!(error.kind, Kind::Conflict);
                        assert!(conflicts || is_contended, "{id} {u}");
                        true
                    }
                }
            }
            _ => match open.tx.remove(equal("_id", id)) {
                Ok(removed) => {
                    let is_there = state.remove(&id).is_some();
                    assert_eq!(removed.count, usize::from(is_there));
                    assert!(!is_there || !conflicts, "{id}");
                    if is_there {
                        open.written.insert(id);
                    }
                    false
                }
                Err(error) => {
                    assert_eq!(error.kind, Kind::Conflict);
                    assert!(conflicts && state.contains_key(&id));
                    true
                }
            },
        };
        if failed {
            self.open.swap_remove(at);
        }
    }

    /// Commits or aborts a transaction.
    fn end(&mut self) {
        let at = self.random.usize(0..self.open.len());
        let open = self.open.swap_remove(at);
        if self.random.u8(0..4) == 0 {
            assert!(open.tx.transaction.abort());
            return;
        }
        let Some(state) = open.state else { return };
        assert_eq!(open.tx.commit().unwrap(), !open.written.is_empty());
        let written = open.written.iter().map(|id| (*id, state.get(id).copied())).collect();
        self.commit(written);
    }

    fn commit(&mut self, written: Vec<(i32, Option<(i32, i32)>)>) {
        let Versions { ids, values, commits } = &mut self.versions;
        *commits += 1;
        for (id, _) in &written {
            ids.remove(id);
            if let Some((_, u)) = self.committed.remove(id) {
                values.remove(&u);
            }
        }
        for (id, after) in written {
            if let Some(after) = after {
                ids.insert(id, *commits);
                values.insert(after.1, *commits);
                self.committed.insert(id, after);
            }
        }
    }

    /// Writes outside of transactions a document that no transaction has written.
    fn write_outside(&mut self) {
        let (id, u) = (self.random.i32(0..IDS), self.random.i32(0..IDS * 2));
        let is_taken = self.committed.iter().any(|(other, (_, held))| *other != id && *held == u);
        let is_busy = |open: &Open<'_>| open.written.contains(&id) || open.taken.contains(&u);
        if is_taken || self.open.iter().any(is_busy) {
            return;
        }
        // Unlike any value that a transaction writes, so that no write leaves a document unchanged.
        self.next += 1;
        let values = (-self.next, u);
        self.kit.replace(document(id, values), true).unwrap();
        self.commit(vec![(id, Some(values))]);
    }
}

#[test]
fn random_histories_are_those_of_snapshot_isolation() {
    for seed in 0..150 {
        let kit = Kit::default();
        kit.create_index(plain_index("a")).unwrap();
        kit.create_index(unique_index("u")).unwrap();
        let mut model = Model {
            kit: &kit,
            random: fastrand::Rng::with_seed(seed),
            committed: State::new(),
            versions: Versions::default(),
            open: Vec::new(),
            next: 0,
        };
        for _ in 0..120 {
            match model.random.u8(0..10) {
                0 | 1 if model.open.len() < 4 => model.open.push(Open {
                    tx: Tx::begin(&kit),
                    state: None,
                    since: Versions::default(),
                    written: BTreeSet::new(),
                    taken: BTreeSet::new(),
                }),
                2 if !model.open.is_empty() => model.end(),
                3 => model.write_outside(),
                _ if !model.open.is_empty() => model.step(),
                _ => {}
            }
            let found = kit.find_documents(Filter::always(), Hint::None).unwrap();
            assert_eq!(found, documents(&model.committed), "seed {seed}");
        }
        model.open.clear();
        let report = ready(kit.engine.check_collection(&kit.collection())).unwrap();
        assert_eq!(report.differences.listed, Vec::<String>::new(), "seed {seed}");
        assert_eq!(kit.live_amount().documents, i64::try_from(model.committed.len()).unwrap());
    }
}
