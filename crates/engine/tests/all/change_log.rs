//! The change log reports every change and every expiration once, in the order of cluster times. A
//! copy to which it is applied equals the collection at every position.

use std::collections::BTreeMap;

use document::{Document, Value, doc};
use engine::{
    Change, ChangeKind, ChangeLogPage, ChangeLogQuery, ChangePosition, ChangeScope, ClusterTime,
    Kind, Namespace,
};
use pipeline::Filter;
use test_kit::{Kit, START_MS, context, date_index, ready};

const RETENTION_S: i64 = 1_000_000;

fn kept() -> Kit {
    let kit = Kit::default();
    ready(kit.engine.keep_changes(RETENTION_S)).unwrap();
    kit
}

fn start(kit: &Kit) -> ChangePosition {
    ChangePosition::at(kit.engine.cluster_time().next())
}

fn page(kit: &Kit, from: &ChangePosition, changes: usize) -> ChangeLogPage {
    let (from, scope) = (from.clone(), ChangeScope::Collection(kit.namespace()));
    let query = ChangeLogQuery { from, scope, changes, bytes: usize::MAX };
    ready(async { kit.engine.read_changes(&query, &context()).await }).unwrap()
}

fn rest(kit: &Kit, from: &ChangePosition) -> Vec<Change> {
    let (mut from, mut all) = (from.clone(), Vec::new());
    loop {
        let page = page(kit, &from, 3);
        all.extend(page.changes);
        from = page.next;
        if !page.more {
            return all;
        }
    }
}

/// Returns the kind of a change, its id and its time in milliseconds since the start of the test.
fn text(change: &Change) -> String {
    let id = change.id.as_ref().map(|id| document::shell(id.as_ref()).to_string());
    let at = change.time.at_ms() - START_MS;
    format!("{:?} {} at {at}", change.kind, id.unwrap_or_default())
}

fn texts(changes: &[Change]) -> Vec<String> {
    changes.iter().map(text).collect()
}

#[test]
fn writes_and_expirations_are_told_in_order() {
    let kit = kept();
    kit.set_default(Some(-1));
    let from = start(&kit);
    kit.insert(doc! { "_id": 1, "ttl": 2 }).unwrap();
    kit.insert(doc! { "_id": 2, "ttl": 2 }).unwrap();
    kit.move_to(1_000);
    kit.replace(doc! { "_id": 2, "n": 1, "ttl": 5 }, false).unwrap();
    kit.insert(doc! { "_id": 3 }).unwrap();
    kit.remove_by_id(3);
    kit.move_to(2_500);
    kit.insert(doc! { "_id": 4, "ttl": 9 }).unwrap();
    kit.move_to(10_000);
    let want = [
        "Insert 1 at 0",
        "Insert 2 at 0",
        "Replace 2 at 1000",
        "Insert 3 at 1000",
        "Delete 3 at 1000",
        "Expire 1 at 2000",
        "Insert 4 at 2500",
        "Expire 2 at 6000",
    ];
    assert_eq!(texts(&rest(&kit, &from)), want);
    // Reading again tells nothing twice, also from the middle.
    let all = rest(&kit, &from);
    for (at, change) in all.iter().enumerate() {
        assert_eq!(rest(&kit, &change.position().after()), all[at + 1..]);
        assert!(ready(kit.engine.has_change(&change.position())).unwrap());
    }
    assert!(all.is_sorted_by(|a, b| a.position() < b.position()));
}

#[test]
fn an_id_is_free_again_at_the_instant_and_the_expiration_comes_first() {
    let kit = kept();
    kit.create_index(date_index("d", 1)).unwrap();
    let from = start(&kit);
    let date = |ms: i64| Value::DateTime(START_MS + ms);
    kit.insert(doc! { "_id": 1, "d": date(1_250) }).unwrap();
    kit.move_to(2_250);
    kit.insert(doc! { "_id": 1, "d": date(3_000) }).unwrap();
    // A document whose date has passed has both records.
    kit.insert(doc! { "_id": 2, "d": date(500) }).unwrap();
    kit.move_to(4_000);
    let changes = rest(&kit, &from);
    let want = [
        "Insert 1 at 0",
        "Expire 1 at 2250",
        "Insert 1 at 2250",
        "Insert 2 at 2250",
        "Expire 1 at 4000",
        "Expire 2 at 4000",
    ];
    assert_eq!(texts(&changes), want);
    assert_eq!(changes[1].time, ClusterTime::of_expiration(START_MS + 2_250));
}

#[test]
fn a_change_of_settings_tells_what_it_expires_after_itself() {
    let kit = kept();
    let from = start(&kit);
    for id in 1..=2_i64 {
        kit.insert(doc! { "_id": id }).unwrap();
        kit.move_to(id * 10_000);
    }
    kit.set_default(Some(15));
    assert_eq!(kit.all_ids(), [2]);
    kit.set_default(Some(100));
    kit.move_to(200_000);
    let changes = rest(&kit, &from);
    let want = ["Insert 1 at 0", "Insert 2 at 10000", "Expire 1 at 20000", "Expire 2 at 110000"];
    assert_eq!(texts(&changes), want);
    assert_ne!(changes[2].time.increment() & 0xf_ffff, 0, "at the time of the commit");
}

#[test]
fn collections_are_told_from_creation_to_drop() {
    let kit = kept();
    let from = start(&kit);
    kit.insert(doc! { "_id": 1, "ttl": 1 }).unwrap();
    kit.create_index(date_index("d", 1)).unwrap();
    kit.drop_index("d_1");
    kit.set_default(Some(-1));
    kit.move_to(1_000);
    let (model, to) = (engine::Model::Documents, Namespace::new("db", "other"));
    ready(kit.engine.rename_collection(model, &kit.namespace(), &to, false)).unwrap();
    ready(kit.engine.drop_collection(model, &to)).unwrap();
    ready(kit.engine.record_dropped_database("db")).unwrap();
    let scope = ChangeScope::Database("db".into());
    let query = ChangeLogQuery { from, scope, changes: 100, bytes: usize::MAX };
    let changes = ready(async { kit.engine.read_changes(&query, &context()).await }).unwrap();
    let kinds: Vec<ChangeKind> = changes.changes.iter().map(|change| change.kind).collect();
    let want = [
        ChangeKind::Insert,
        ChangeKind::CreateIndexes,
        ChangeKind::DropIndexes,
        ChangeKind::Expire,
        ChangeKind::Rename,
        ChangeKind::Drop,
        ChangeKind::DropDatabase,
    ];
    assert_eq!(kinds, want);
    let other = ChangeScope::Collection(to);
    let query = ChangeLogQuery { scope: other, ..query };
    let changes = ready(async { kit.engine.read_changes(&query, &context()).await }).unwrap();
    assert_eq!(changes.changes.len(), 2, "the renaming onto the name, and the drop");
}

#[test]
fn positions_before_the_log_and_beyond_its_retention_are_lost() {
    let mut kit = Kit::default();
    let early = start(&kit);
    let query = |from: ChangePosition| {
        let scope = ChangeScope::All;
        ChangeLogQuery { from, scope, changes: 10, bytes: usize::MAX }
    };
    let read = |kit: &Kit, from: &ChangePosition| {
        let query = query(from.clone());
        ready(async { kit.engine.read_changes(&query, &context()).await })
    };
    assert_eq!(read(&kit, &early).unwrap_err().kind, Kind::Unsupported);
    kit.insert(doc! { "_id": 0 }).unwrap();
    ready(kit.engine.keep_changes(100)).unwrap();
    assert_eq!(read(&kit, &early).unwrap_err().kind, Kind::PositionLost);
    let from = start(&kit);
    kit.move_to(1_000_000);
    // Nothing was written, so nothing was lost.
    assert_eq!(read(&kit, &from).unwrap().changes, []);
    kit.insert(doc! { "_id": 1 }).unwrap();
    assert_eq!(read(&kit, &from).unwrap_err().kind, Kind::PositionLost);
    let from = ChangePosition::at(kit.engine.cluster_time());
    kit.restart();
    assert_eq!(read(&kit, &from).unwrap().changes.len(), 1);
    kit.move_to(1_099_999);
    assert_eq!(read(&kit, &from).unwrap().changes.len(), 1);
    kit.move_to(1_100_000);
    assert_eq!(read(&kit, &from).unwrap_err().kind, Kind::PositionLost);
}

/// A copy to which changes are applied; each must fit the state before it.
#[derive(Default)]
struct Copy {
    documents: BTreeMap<i64, Document>,
    last: Option<ChangePosition>,
}

impl Copy {
    fn apply(&mut self, change: &Change) {
        let position = change.position();
        assert!(self.last.as_ref().is_none_or(|last| *last < position), "{change:?}");
        self.last = Some(position);
        let id = match &change.id {
            Some(Value::Int64(id)) => *id,
            Some(Value::Int32(id)) => i64::from(*id),
            _ => return,
        };
        let after = change.after.as_ref().map(|after| after.as_ref().to_tree());
        let held = match change.kind {
            ChangeKind::Insert => {
                assert!(!self.documents.contains_key(&id), "{change:?}");
                self.documents.extend(after.map(|after| (id, after)));
                return;
            }
            ChangeKind::Replace => self.documents.insert(id, after.unwrap()),
            ChangeKind::Delete | ChangeKind::Expire => self.documents.remove(&id),
            _ => return,
        };
        assert!(held.is_some(), "{change:?}");
    }
}

fn assert_equal(kit: &Kit, copy: &Copy, seed: u64) {
    let found = kit.find_documents(Filter::always(), engine::Hint::None).unwrap();
    let held: Vec<Document> = copy.documents.values().cloned().collect();
    let sorted = |mut documents: Vec<Document>| {
        documents.sort_by_key(|document| test_kit::ids_of(std::slice::from_ref(document)));
        documents
    };
    assert_eq!(sorted(held), sorted(found), "seed {seed} at {}", kit.now_ms());
}

fn change_settings(kit: &Kit, random: &mut fastrand::Rng) {
    match random.u8(..6) {
        0..=2 => kit.set_default([None, Some(-1), Some(2), Some(5), Some(20)][random.usize(..5)]),
        3 => {
            let _ = kit.create_index(date_index("d", random.i64(0..4)));
        }
        4 if kit.collection().state().record.index_named("d_1").is_some() => {
            kit.change_index("d_1", random.i64(0..6));
        }
        _ if kit.collection().state().record.index_named("d_1").is_some() => kit.drop_index("d_1"),
        _ => {}
    }
}

fn history(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut kit = kept();
    let (mut from, mut copy) = (start(&kit), Copy::default());
    for step in 0..80_i64 {
        let id = random.i64(0..6);
        let mut document = doc! { "_id": id, "n": step };
        let ttl = [None, None, Some(-1_i64), Some(1), Some(3), Some(7)][random.usize(..6)];
        ttl.into_iter().for_each(|ttl| document.push("ttl", ttl));
        if random.bool() {
            let date = START_MS + kit.now_ms() + random.i64(-3_000..6_000);
            document.push("d", Value::DateTime(date));
        }
        match random.u8(..14) {
            0..=3 => drop(kit.insert(document)),
            4 | 5 => drop(kit.replace(document, random.bool())),
            6 => drop(kit.remove_by_id(id)),
            7 | 8 => {
                let ms = if random.bool() { 1_000 } else { 333 };
                kit.move_to(kit.now_ms() + random.i64(1..6) * ms);
            }
            9 => change_settings(&kit, &mut random),
            10 => kit.restart(),
            11 => kit.reap_all(),
            _ => {
                let page = page(&kit, &from, random.usize(1..5));
                page.changes.iter().for_each(|change| copy.apply(change));
                from = page.next;
                if !page.more {
                    assert_equal(&kit, &copy, seed);
                }
            }
        }
    }
    let checked = ready(async { kit.engine.check_collection(&kit.collection()).await }).unwrap();
    assert_eq!(checked.differences.count, 0, "seed {seed}: {:?}", checked.differences);
    rest(&kit, &from).iter().for_each(|change| copy.apply(change));
    assert_equal(&kit, &copy, seed);
}

#[test]
fn a_copy_of_random_histories_equals_the_collection() {
    for seed in 0..300 {
        history(seed);
    }
}
