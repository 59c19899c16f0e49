//! Updates of the same document that wait for each other are committed together: in order of
//! arrival, each exactly once, and answered only when the commit is durable.

use std::{collections::BTreeSet, sync::Arc};

use document::{DocRef, Document, Value, doc};
use engine::{
    ChangeLogQuery, ChangePosition, ChangeScope, Edited, Effect, Error, Find, Hint, Kind,
    ReceiptPut, Receipts, Rules, Update, Updated,
};
use evaluation::Context;
use fastrand::Rng;
use pipeline::{
    Filter,
    edit::{Edit, EditPath, Operator, Operators, PathOperator},
};
use test_kit::{
    Kit, START_MS, Setup, Task, TtlField, context, date_index, equal, ready, unique_index,
};

use crate::transactions::Tx;

pub(crate) type Updating = Task<Result<Edited, Error>>;

pub(crate) fn kit(rules: Rules) -> Kit {
    let kit = Kit::new(Setup { rules, ..Setup::default() });
    kit.insert(doc! { "_id": 1, "n": 0, "v": 0 }).unwrap();
    // The collection of receipts is created with the first one.
    ready(kit.engine.put_receipts(&Once(-1))).unwrap();
    kit
}

fn operator(path: &str, operator: Operator) -> Edit {
    let leaf = PathOperator { path: EditPath::parse(path).unwrap(), operator };
    Edit::Operators(Operators::new(vec![leaf], Vec::new()).unwrap())
}

/// Adds to the document's number by an update that does not wait for a turn.
pub(crate) fn add_without_turn(kit: &Kit) -> Result<Updated, Error> {
    let edit = increment();
    let update = Update {
        find: Find::new(equal("v", 0)),
        edit: &edit,
        many: true,
        upsert: false,
        context: context(),
        writer: &TtlField,
    };
    ready(kit.engine.update(&kit.collection(), &update))
}

pub(crate) fn set(path: &str, value: impl Into<Value>) -> Edit {
    operator(path, Operator::Set(value.into()))
}

pub(crate) fn increment() -> Edit {
    operator("n", Operator::Add(1.into()))
}

/// A receipt with this id, which no write may have stored before.
struct Once(i32);

impl Receipts for Once {
    fn receipts_for(&self, _: Effect<'_>) -> Result<Vec<ReceiptPut>, Error> {
        let body = Some(doc! { "_id": self.0 }.to_buf());
        Ok(vec![ReceiptPut { id: self.0.into(), expected_stamp: None, body }])
    }

    fn record_commit(&self, _: u64) {}
}

/// An update of the first document that matches, not started yet.
pub(crate) fn updating(kit: &Kit, filter: Filter, edit: Edit, receipt: Option<i32>) -> Updating {
    updating_in(context(), kit, filter, edit, receipt)
}

/// An update with a context of its own, not started yet.
pub(crate) fn updating_in(
    context: Arc<Context>,
    kit: &Kit,
    filter: Filter,
    edit: Edit,
    receipt: Option<i32>,
) -> Updating {
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    Task::new(async move {
        let receipts = receipt.map(Once);
        let receipts = receipts.as_ref().map(|it| -> &dyn Receipts { it });
        let update = Update {
            find: Find::new(filter),
            edit: &edit,
            many: false,
            upsert: false,
            context,
            writer: &TtlField,
        };
        engine.find_and_update_with(&collection, &update, receipts, None).await
    })
}

pub(crate) fn one() -> Filter {
    equal("_id", 1)
}

/// A commit that is held at the store's gate, and updates that wait for it.
pub(crate) fn held(
    kit: &Kit,
    edits: Vec<(Filter, Edit, Option<i32>)>,
) -> (Updating, Vec<Updating>) {
    kit.store.gate().shut();
    let mut first = updating(kit, one(), increment(), None);
    assert!(first.poll().is_none());
    let mut waiting: Vec<_> = edits
        .into_iter()
        .map(|(filter, edit, receipt)| updating(kit, filter, edit, receipt))
        .collect();
    waiting.iter_mut().for_each(|it| assert!(it.poll().is_none()));
    (first, waiting)
}

/// Publishes the held commit and stops the next one: the updates have become one batch whose commit
/// is held if the last of them was polled.
pub(crate) fn draft(kit: &Kit, first: Updating, waiting: &mut [Updating]) {
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    kit.store.gate().shut();
    waiting.iter_mut().for_each(|it| assert!(it.poll().is_none()));
}

/// Polls updates in turn until all have ended.
fn finish_all(mut waiting: Vec<Updating>) -> Vec<Result<Edited, Error>> {
    let mut done: Vec<_> = waiting.iter().map(|_| None).collect();
    for _ in 0..100 {
        for (update, done) in waiting.iter_mut().zip(&mut done) {
            if done.is_none() {
                *done = update.poll();
            }
        }
    }
    done.into_iter().map(|it| it.expect("the update ends")).collect()
}

pub(crate) fn stored(kit: &Kit) -> Document {
    kit.find_documents(one(), Hint::None).unwrap().pop().expect("the document")
}

pub(crate) fn number(document: &Document, path: &str) -> i64 {
    let number = document::Number::of(document.get(path).unwrap().as_ref()).unwrap();
    number.to_i64_exact().unwrap()
}

pub(crate) fn n_of(bytes: Option<&bytes::Bytes>) -> i64 {
    number(&DocRef::Raw(bytes.expect("a document")).to_tree(), "n")
}

#[test]
fn updates_that_wait_for_a_commit_are_committed_as_one() {
    let kit = kit(Rules::default());
    ready(kit.engine.keep_changes(1_000_000)).unwrap();
    let from = ChangePosition::at(kit.engine.cluster_time().next());
    let before = kit.engine.store().published();
    let edits = (0..9).map(|at| (one(), increment(), Some(at))).collect();
    let (first, mut waiting) = held(&kit, edits);
    assert_eq!(number(&stored(&kit), "n"), 0, "only published versions are seen");
    draft(&kit, first, &mut waiting);
    assert_eq!(number(&stored(&kit), "n"), 1, "only published versions are seen");
    kit.store.gate().open();
    let done: Vec<_> = waiting.into_iter().map(|it| it.finish().unwrap()).collect();
    for (at, edited) in (1..).zip(&done) {
        let images = (n_of(edited.before.as_ref()), n_of(edited.after.as_ref()));
        assert_eq!(images, (at, at + 1), "in order of arrival");
    }
    assert_eq!(number(&stored(&kit), "n"), 10);
    assert_eq!(kit.engine.store().published() - before, 2, "commits");
    for at in 0..9 {
        assert!(ready(kit.engine.receipt(document::ValueRef::Int32(at))).unwrap().is_some());
    }
    // Each update has its own event.
    let scope = ChangeScope::Collection(kit.namespace());
    let query = ChangeLogQuery { from, scope, changes: 100, bytes: usize::MAX };
    let changes = ready(async { kit.engine.read_changes(&query, &context()).await }).unwrap();
    assert_eq!(changes.changes.len(), 10);
    assert!(changes.changes.is_sorted_by(|a, b| a.position() < b.position()));
    let told: Vec<i64> = changes
        .changes
        .iter()
        .map(|change| {
            let description = change.description.as_ref().unwrap().as_ref().to_tree();
            let Some(Value::Document(fields)) = description.get("updatedFields") else { panic!() };
            number(fields, "n")
        })
        .collect();
    assert_eq!(told, (1..=10).collect::<Vec<_>>());
}

#[test]
fn updates_of_a_document_that_expires_are_committed_as_one() {
    let kit = kit(Rules::default());
    kit.create_index(date_index("d", 10)).unwrap();
    kit.set_default(Some(100));
    let edits = (1..4).map(|at| (one(), set("d", Value::DateTime(START_MS + at)), None)).collect();
    let before = kit.engine.store().published();
    let (first, mut waiting) = held(&kit, edits);
    draft(&kit, first, &mut waiting);
    kit.store.gate().open();
    assert!(waiting.into_iter().all(|it| it.finish().unwrap().changed));
    assert_eq!(kit.engine.store().published() - before, 2, "commits");
    kit.move_to(10_002);
    assert_eq!(kit.all_ids(), [1]);
    kit.move_to(10_003);
    assert!(kit.all_ids().is_empty());
}

#[test]
fn a_failed_commit_fails_all_its_updates_and_writes_nothing() {
    let kit = kit(Rules::default());
    let edits = (0..5).map(|at| (one(), increment(), Some(at))).collect();
    let (first, mut waiting) = held(&kit, edits);
    let last = waiting.pop().unwrap();
    draft(&kit, first, &mut waiting);
    kit.store.lose_nth_commit(1);
    kit.store.gate().open();
    assert!(last.finish().is_err());
    assert!(waiting.into_iter().all(|it| it.finish().is_err()));
    assert_eq!(number(&stored(&kit), "n"), 1);
    assert!(ready(kit.engine.receipt(document::ValueRef::Int32(0))).unwrap().is_none());
    // The next operation gets the turn.
    assert!(updating(&kit, one(), increment(), None).finish().unwrap().changed);
    assert_eq!(number(&stored(&kit), "n"), 2);
}

#[test]
fn a_refused_batch_is_drafted_again() {
    let kit = kit(Rules::default());
    let edits = (0..4).map(|at| (one(), increment(), Some(at))).collect();
    let (first, mut waiting) = held(&kit, edits);
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    // All but the last are in the batch when another writer commits.
    let mut last = waiting.pop().unwrap();
    waiting.iter_mut().for_each(|it| assert!(it.poll().is_none()));
    let (many, collection) = (operator("n", Operator::Add(100.into())), kit.collection());
    let update = Update {
        find: Find::new(equal("v", 0)),
        edit: &many,
        many: true,
        upsert: false,
        context: context(),
        writer: &TtlField,
    };
    assert_eq!(ready(kit.engine.update(&collection, &update)).unwrap().modified, 1);
    let mut done = Vec::new();
    match last.poll() {
        Some(edited) => done.push(edited.unwrap()),
        None => waiting.insert(0, last),
    }
    for _ in 0..10 {
        waiting.retain_mut(|it| match it.poll() {
            Some(edited) => {
                done.push(edited.unwrap());
                false
            }
            None => true,
        });
    }
    let mut seen: Vec<_> = done.iter().map(|it| n_of(it.before.as_ref())).collect();
    seen.sort_unstable();
    assert_eq!(seen, [101, 102, 103, 104]);
    assert_eq!(number(&stored(&kit), "n"), 105);
}

#[test]
fn an_update_that_fails_on_an_unpublished_version_fails_alone() {
    let kit = kit(Rules::default());
    let edits = vec![
        (one(), set("n", "text"), None),
        (one(), increment(), None),
        (one(), set("n", 7), None),
        (one(), set("n", 7), None),
    ];
    let (first, mut waiting) = held(&kit, edits);
    draft(&kit, first, &mut waiting);
    kit.store.gate().open();
    let done = finish_all(waiting);
    assert!(done[0].as_ref().unwrap().changed && done[2].as_ref().unwrap().changed);
    assert!(done[1].is_err());
    assert!(!done[3].as_ref().unwrap().changed);
    assert_eq!(number(&stored(&kit), "n"), 7);
}

#[test]
fn a_cancelled_operation_neither_stops_the_queue_nor_loses_an_update() {
    for cancelled in 0..5 {
        for when in 0..2 {
            let kit = kit(Rules::default());
            let edits = (0..5).map(|_| (one(), increment(), None)).collect();
            let (first, mut waiting) = held(&kit, edits);
            if when == 0 {
                drop(waiting.remove(cancelled));
                draft(&kit, first, &mut waiting);
            } else {
                draft(&kit, first, &mut waiting);
                // Including the operation that has sent the commit.
                drop(waiting.remove(cancelled));
            }
            kit.store.gate().open();
            let done: Vec<_> = waiting.into_iter().map(|it| it.finish().unwrap()).collect();
            assert_eq!(done.len(), 4);
            let n = number(&stored(&kit), "n");
            assert_eq!(n, 5 + when, "{cancelled} {when}");
            assert!(updating(&kit, one(), increment(), None).finish().unwrap().changed);
            assert_eq!(number(&stored(&kit), "n"), n + 1);
        }
    }
}

#[test]
fn updates_wait_for_an_open_transaction_without_their_queue() {
    let kit = kit(Rules::default());
    let tx = Tx::begin(&kit);
    tx.replace(doc! { "_id": 1, "n": 50, "v": 0 }, false).unwrap();
    let mut waiting: Vec<_> = (0..4).map(|_| updating(&kit, one(), increment(), None)).collect();
    waiting.iter_mut().for_each(|it| assert!(it.poll().is_none()));
    assert!(tx.commit().unwrap());
    let mut seen: Vec<_> =
        waiting.into_iter().map(|it| n_of(it.finish().unwrap().before.as_ref())).collect();
    seen.sort_unstable();
    assert_eq!(seen, [50, 51, 52, 53]);
}

/// An update makes a version that has expired when it is written, and another one follows it.
fn batch_lives(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.create_index(date_index("d", 0)).unwrap();
    kit.move_to(5_000);
    let past = Value::DateTime(START_MS);
    let (first, mut waiting) =
        held(&kit, vec![(one(), set("d", past), None), (one(), increment(), None)]);
    draft(&kit, first, &mut waiting);
    kit.store.gate().open();
    let done: Vec<_> = waiting.into_iter().map(|it| it.finish().unwrap()).collect();
    assert!(done[0].changed);
    done[1].before.is_none() && kit.all_ids().is_empty()
}

/// A batch is drafted before a date on which its updates rely, and ordered on it.
fn batch_lives_at_stamp(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.create_index(date_index("d", 0)).unwrap();
    let soon = Value::DateTime(START_MS + 50);
    let (first, mut waiting) =
        held(&kit, vec![(one(), set("d", soon), None), (one(), set("d", 0), None)]);
    let mut last = waiting.pop().unwrap();
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    assert!(waiting[0].poll().is_none());
    kit.move_to(50);
    let (mut found, mut done) = (last.poll(), None);
    for _ in 0..10 {
        done = done.or_else(|| waiting[0].poll());
        if found.is_none() {
            found = last.poll();
        }
        if done.is_some() && found.is_some() {
            break;
        }
    }
    assert!(done.unwrap().unwrap().changed);
    found.unwrap().unwrap().before.is_none() && kit.all_ids().is_empty()
}

/// A retry arrives while the first attempt waits.
fn batch_receipts(rules: Rules) -> bool {
    let kit = kit(rules);
    let (first, mut waiting) =
        held(&kit, vec![(one(), increment(), Some(9)), (one(), increment(), Some(9))]);
    draft(&kit, first, &mut waiting);
    kit.store.gate().open();
    let done: Vec<_> = waiting.into_iter().map(Task::finish).collect();
    let again = matches!(&done[1], Err(error) if error.kind == Kind::Precondition);
    done[0].is_ok() && again && number(&stored(&kit), "n") == 2
}

/// An update does not match a version whose commit then fails.
fn batch_answers(rules: Rules) -> bool {
    let kit = kit(rules);
    let unseen = Filter::all(vec![one(), equal("v", 0)]);
    let (first, mut waiting) =
        held(&kit, vec![(one(), set("v", 1), None), (unseen, set("v", 2), None)]);
    let last = waiting.pop().unwrap();
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    assert!(waiting[0].poll().is_none());
    kit.store.lose_nth_commit(1);
    let told = last.finish();
    // "Not found" tells that the first update has happened.
    told.is_err() && number(&stored(&kit), "v") == 0
}

/// A unique value that the first version of a batch has taken is taken by another document before
/// the commit, although the last version does not have it.
fn batch_unique(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.create_index(unique_index("u")).unwrap();
    let (first, mut waiting) =
        held(&kit, vec![(one(), set("u", 5), None), (one(), set("u", 6), None)]);
    let mut last = waiting.pop().unwrap();
    let mut taking = waiting.pop().unwrap();
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    assert!(taking.poll().is_none());
    kit.insert(doc! { "_id": 2, "u": 5 }).unwrap();
    // A reader finds the value in the other document now, and not in the first one.
    assert!(stored(&kit).get("u").is_none());
    let (mut taken, mut done) = (None, last.poll());
    for _ in 0..10 {
        taken = taken.or_else(|| taking.poll());
        if done.is_none() {
            done = last.poll();
        }
        if taken.is_some() && done.is_some() {
            break;
        }
    }
    assert!(done.unwrap().unwrap().changed);
    matches!(taken.unwrap(), Err(Error { kind: Kind::DuplicateKey { .. }, .. }))
}

macro_rules! needed {
    ($($rule:ident, $correct:ident: $test:ident,)*) => {$(
        #[test]
        fn $test() {
            assert!($correct(Rules::default()), "with all rules");
            assert!(!$correct(Rules { $rule: false, ..Rules::default() }), "without the rule");
        }
    )*};
}

needed! {
    batch_lives, batch_lives: an_update_finds_nothing_after_one_that_made_the_document_expire,
    batch_lives, batch_lives_at_stamp: what_an_update_finds_is_live_when_it_is_written,
    batch_receipts, batch_receipts: an_operation_and_its_retry_are_not_in_one_batch,
    batch_answers, batch_answers: what_is_told_without_a_write_is_durable,
    batch_unique, batch_unique: unique_values_of_all_versions_are_free_at_the_commit,
}

/// The increments of a random history.
#[derive(Default)]
struct Increments {
    running: Vec<Updating>,
    acknowledged: u64,
    /// Number of increments that failed or were cancelled, and may have happened.
    unknown: u64,
    /// The values that acknowledged increments have found.
    found: BTreeSet<i64>,
}

impl Increments {
    /// Polls an increment, and counts it if it has ended.
    fn poll(&mut self, at: usize) {
        let Some(result) = self.running[at].poll() else { return };
        drop(self.running.swap_remove(at));
        match result {
            Ok(edited) => {
                self.acknowledged += 1;
                assert!(self.found.insert(n_of(edited.before.as_ref())), "two of one version");
            }
            Err(_) => self.unknown += 1,
        }
    }

    /// Lets held commits be published, and polls all operations.
    fn settle(&mut self, kit: &Kit) {
        kit.store.gate().open();
        (0..self.running.len()).rev().for_each(|at| self.poll(at));
    }
}

/// Runs random increments, cancellations, failures and other writers of one document. Every
/// acknowledged increment has to happen exactly once, and every other one at most once.
fn count(seed: u64) {
    let (kit, mut rng) = (kit(Rules::default()), Rng::with_seed(seed));
    let mut all = Increments::default();
    for _ in 0..rng.u64(20..80) {
        match rng.u32(0..20) {
            0..8 => all.running.push(updating(&kit, one(), increment(), None)),
            // A commit of the test store is lost if its caller is cancelled, so none is held.
            8 if !all.running.is_empty() => {
                all.settle(&kit);
                if !all.running.is_empty() {
                    drop(all.running.swap_remove(rng.usize(..all.running.len())));
                    all.unknown += 1;
                }
            }
            9 => kit.store.gate().shut(),
            10..12 => kit.store.gate().open(),
            12 => kit.store.lose_nth_commit(1),
            13 => kit.store.lose_nth_answer(1),
            14 => kit.move_to(kit.now_ms() + 1_000),
            15 => {
                all.settle(&kit);
                // It does not wait for a turn, so it comes between the view and the commit of a
                // batch.
                match add_without_turn(&kit) {
                    Ok(updated) => all.acknowledged += updated.modified as u64,
                    Err(_) => all.unknown += 1,
                }
            }
            16 => {
                all.settle(&kit);
                let default = test_kit::default_ttl(Some(rng.i64(1_000_000..2_000_000)));
                let _ = ready(kit.engine.set_default_ttl(&kit.collection(), default));
            }
            _ => {}
        }
        for at in (0..all.running.len()).rev() {
            if rng.bool() {
                all.poll(at);
            }
        }
    }
    for _ in 0..200 {
        all.settle(&kit);
    }
    assert!(all.running.is_empty(), "{seed}: {} updates never end", all.running.len());
    let (n, least) = (number(&stored(&kit), "n"), all.acknowledged);
    let n = u64::try_from(n).unwrap();
    assert!(least <= n && n <= least + all.unknown, "{seed}: {n} of {least} + {}", all.unknown);
}

#[test]
fn acknowledged_updates_happened_once_in_random_histories() {
    for seed in 0..2_000 {
        count(seed);
    }
}
