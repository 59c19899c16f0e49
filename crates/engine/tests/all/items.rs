//! Items: conditions, batches, unique keys within a partition, the order of changes, and expiry.

use std::sync::Arc;

use clock::Instant;
use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::{
    ChangeQuery, Collection, ContainerDefinition, CreationOrder, DefaultTtl, Engine, Error,
    ErrorSubject, Flow, IndexSpec, Item, ItemAction, ItemDone, ItemFailure, ItemKey, ItemRange,
    ItemSink, ItemWrite, ItemWriter, Kind, Lifetime, Model, Namespace, Partition, Policy,
    PolicyRule, Scan, ScanOrder, VersionMatch,
};
use test_kit::{Kit, ready};

/// A container under test: partition key `/pk`, unique `/u`, everything indexed.
pub(crate) struct Shelf {
    pub(crate) kit: Kit,
}

pub(crate) struct Honour;

impl ItemWriter for Honour {
    fn lifetime_of(&self, _: DefaultTtl, document: DocRef<'_>) -> Result<Lifetime, Error> {
        Ok(Lifetime::from_ttl(document.get("ttl")))
    }
}

/// A sink that collects all items, and whether they come in the requested order.
#[derive(Default)]
pub(crate) struct All(pub(crate) Vec<Item>, pub(crate) bool);

impl ItemSink for All {
    fn begin(&mut self, comes: ScanOrder, _: Instant) -> Result<(), Error> {
        self.0.clear();
        self.1 = comes == ScanOrder::AsRequested;
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<Flow, Error> {
        self.0.push(item.clone());
        Ok(Flow::More)
    }
}

pub(crate) fn everything() -> Policy {
    Policy(vec![PolicyRule { steps: Vec::new(), below: true, included: true }])
}

pub(crate) fn definition(default: DefaultTtl) -> ContainerDefinition {
    ContainerDefinition {
        default,
        partition: Partition { hash_bytes: 1, values: 1 },
        indexes: vec![
            IndexSpec::over_tuple("unique", &[(vec!["u".to_owned()], false)], true),
            IndexSpec::over_policy("paths", everything()),
        ],
        retention_s: None,
        options: Document::new(),
    }
}

pub(crate) fn hash(pk: &str) -> [u8; 1] {
    [pk.bytes().fold(7, |hash, byte| hash ^ byte)]
}

pub(crate) fn key(pk: &str, id: &str) -> ItemKey {
    ItemKey::new(&hash(pk), &[ValueRef::String(pk)], id)
}

pub(crate) fn write(action: ItemAction, pk: &str, id: &str) -> ItemWrite {
    ItemWrite { key: key(pk, id), action, if_match: VersionMatch::Any }
}

pub(crate) fn body(pk: &str, id: &str, more: Document) -> DocBuf {
    let mut document = doc! { "id": id, "pk": pk };
    for (name, value) in more.fields() {
        document.push(name.clone(), value.clone());
    }
    if document.get("u").is_none() {
        document.push("u", format!("of {id}"));
    }
    document.to_buf()
}

pub(crate) type Done = Result<(Vec<ItemDone>, u64), ItemFailure>;

impl Shelf {
    pub(crate) fn new(default: DefaultTtl) -> Self {
        Self::with(&definition(default))
    }

    pub(crate) fn with(definition: &ContainerDefinition) -> Self {
        let kit = Kit::default();
        let name = Namespace::new("db", "box");
        ready(kit.engine.create_container(&name, definition)).unwrap();
        Self { kit }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.kit.engine
    }

    pub(crate) fn container(&self) -> Arc<Collection> {
        self.engine().expect_collection(Model::Items, &Namespace::new("db", "box")).unwrap()
    }

    pub(crate) fn write(&self, writes: &[ItemWrite]) -> Done {
        ready(self.engine().write_items(&self.container(), writes, &Honour))
    }

    pub(crate) fn one(&self, action: ItemAction, pk: &str, id: &str) -> Result<ItemDone, Kind> {
        let done = self.write(&[write(action, pk, id)]);
        done.map(|(mut done, _)| done.remove(0)).map_err(|failure| failure.error.kind)
    }

    pub(crate) fn upsert(&self, pk: &str, id: &str, more: Document) -> ItemDone {
        self.one(ItemAction::Upsert(body(pk, id, more)), pk, id).unwrap()
    }

    fn get(&self, pk: &str, id: &str) -> Option<Item> {
        ready(self.engine().read_item(&self.container(), &key(pk, id))).unwrap().0
    }

    pub(crate) fn scan(&self, scan: &Scan) -> Vec<Item> {
        self.scan_all(scan).0
    }

    pub(crate) fn scan_all(&self, scan: &Scan) -> All {
        let mut all = All::default();
        let context = test_kit::context();
        ready(self.engine().scan_items(&self.container(), scan, &context, &mut all)).unwrap();
        all
    }

    pub(crate) fn ids(&self, range: ItemRange) -> Vec<String> {
        ids(&self.scan(&Scan::of(range)))
    }

    pub(crate) fn changes(&self, after: u64, items: usize) -> engine::ChangePage {
        let wanted =
            ChangeQuery { after, since_s: 0, range: ItemRange::all(), items, bytes: usize::MAX };
        ready(self.engine().item_changes(&self.container(), &wanted, &test_kit::context())).unwrap()
    }

    pub(crate) fn check(&self) {
        let checked = ready(self.engine().check_collection(&self.container())).unwrap();
        assert_eq!(checked.differences.listed, Vec::<String>::new());
    }
}

pub(crate) fn ids(items: &[Item]) -> Vec<String> {
    let id = |item: &Item| item.document().get("id").and_then(ValueRef::as_str).unwrap().to_owned();
    items.iter().map(id).collect()
}

#[test]
fn every_action_says_whether_there_was_an_item() {
    let held = Shelf::new(DefaultTtl::Off);
    let document = || body("a", "1", doc! {});
    let missing = Err(Kind::NotFound(ErrorSubject::Document));
    for action in [ItemAction::Replace(document()), ItemAction::Delete, ItemAction::Read] {
        assert_eq!(held.one(action, "a", "1"), missing);
    }
    let made = held.one(ItemAction::Create(document()), "a", "1").unwrap();
    let first = made.item.unwrap();
    assert!(made.created && first.stamp == first.creation_stamp >> 7);
    let taken = held.one(ItemAction::Create(document()), "a", "1");
    assert_eq!(taken, Err(Kind::Exists(ErrorSubject::Document)));
    let again = held.one(ItemAction::Upsert(document()), "a", "1").unwrap();
    let second = again.item.unwrap();
    assert!(
        !again.created
            && first.stamp < second.stamp
            && second.creation_stamp == first.creation_stamp
    );
    assert_eq!(held.get("a", "1").unwrap(), second);
    assert_eq!(held.one(ItemAction::Delete, "a", "1").unwrap().item, None);
    assert_eq!(held.get("a", "1"), None);
    let third = held.upsert("a", "1", doc! {});
    assert!(third.created && second.stamp < third.item.unwrap().creation_stamp);
    held.check();
}

#[test]
fn a_version_that_is_no_more_is_refused() {
    let held = Shelf::new(DefaultTtl::Off);
    let stamp = held.upsert("a", "1", doc! {}).item.unwrap().stamp;
    for (if_match, passes) in [
        (VersionMatch::Stamp(stamp + 1), false),
        (VersionMatch::Nothing, false),
        (VersionMatch::Any, true),
        (VersionMatch::Stamp(stamp), false),
    ] {
        let replaced = ItemAction::Replace(body("a", "1", doc! {}));
        let done = held.write(&[ItemWrite { if_match, ..write(replaced, "a", "1") }]);
        assert_eq!(done.is_ok(), passes, "{if_match:?}");
        if let Err(failure) = done {
            assert_eq!(failure.error.kind, Kind::Precondition);
        }
    }
    // Without an existing item, an upsert creates it.
    let upsert = write(ItemAction::Upsert(body("a", "2", doc! {})), "a", "2");
    assert!(
        held.write(&[ItemWrite { if_match: VersionMatch::Stamp(1), ..upsert }]).unwrap().0[0]
            .created
    );
}

#[test]
fn a_batch_sees_itself_and_is_all_or_nothing() {
    let held = Shelf::new(DefaultTtl::Off);
    held.upsert("a", "old", doc! { "u": 1 });
    let batch = [
        write(ItemAction::Create(body("a", "1", doc! { "u": 2 })), "a", "1"),
        write(ItemAction::Read, "a", "1"),
        write(ItemAction::Replace(body("a", "old", doc! { "u": 3 })), "a", "old"),
        // A value released by another action of the batch is free.
        write(ItemAction::Create(body("a", "2", doc! { "u": 1 })), "a", "2"),
        write(ItemAction::Delete, "a", "1"),
        write(ItemAction::Create(body("a", "1", doc! { "u": 4 })), "a", "1"),
    ];
    let mut refused = batch.to_vec();
    refused.push(write(ItemAction::Create(body("a", "3", doc! { "u": 4 })), "a", "3"));
    let failure = held.write(&refused).unwrap_err();
    assert!(matches!(failure.error.kind, Kind::DuplicateKey { .. }) && failure.at == 6);
    assert_eq!(held.ids(ItemRange::all()), ["old"]);
    let (done, stamp) = held.write(&batch).unwrap();
    assert_eq!(done[1].item.as_ref().unwrap().stamp, stamp);
    assert_eq!(held.ids(ItemRange::all()), ["1", "2", "old"]);
    let creation_order = ["1", "2"].map(|id| held.get("a", id).unwrap().creation_stamp);
    assert_eq!(creation_order.map(|creation_stamp| creation_stamp >> 7), [stamp, stamp]);
    assert_ne!(creation_order[0], creation_order[1]);
    assert_eq!(done[5].item.as_ref().unwrap().creation_stamp, creation_order[0]);
    held.check();
    // The items as the batch left them have the unique values 1, 3 and 4; the value 2 is free
    // again.
    for (u, free) in [(1, false), (2, true), (3, false), (4, false)] {
        let made = held.one(ItemAction::Create(body("a", "new", doc! { "u": u })), "a", "new");
        assert_eq!(made.is_ok(), free, "{u}");
        let _ = held.one(ItemAction::Delete, "a", "new");
    }
}

#[test]
fn a_unique_value_counts_within_its_partition_and_while_its_item_lives() {
    let held = Shelf::new(DefaultTtl::Infinite);
    held.upsert("a", "1", doc! { "u": 1, "ttl": 10 });
    held.upsert("b", "1", doc! { "u": 1 });
    // A missing value counts as null.
    held.upsert("b", "2", doc! { "u": Value::Null });
    let bare = doc! { "id": "3", "pk": "b" }.to_buf();
    assert!(held.one(ItemAction::Create(bare), "b", "3").is_err());
    let refused = |pk: &str, u: i32| {
        held.one(ItemAction::Create(body(pk, "3", doc! { "u": u })), pk, "3").is_err()
    };
    assert!(refused("a", 1));
    held.kit.move_to(9_999);
    assert!(refused("a", 1));
    held.kit.move_to(10_000);
    assert!(!refused("a", 1));
    held.check();
}

#[test]
fn what_has_expired_is_nowhere_and_what_takes_its_place_is_new() {
    for reap in [false, true] {
        let mut held = Shelf::new(DefaultTtl::Seconds(10));
        let first = held.upsert("a", "1", doc! {}).item.unwrap();
        held.upsert("a", "2", doc! { "ttl": -1 });
        held.kit.move_to(10_000);
        if reap {
            held.kit.reap_all();
            ready(held.engine().reap_now(&held.container())).unwrap();
        }
        held.kit.restart();
        assert_eq!(held.ids(ItemRange::all()), ["2"]);
        assert_eq!(ids(&held.changes(0, 10).items), ["2"]);
        assert_eq!(held.get("a", "1"), None);
        let stale = ItemWrite {
            if_match: VersionMatch::Stamp(first.stamp),
            ..write(ItemAction::Delete, "a", "1")
        };
        let failure = held.write(&[stale]).unwrap_err();
        assert_eq!(failure.error.kind, Kind::NotFound(ErrorSubject::Document));
        let made = held.upsert("a", "1", doc! {});
        assert!(made.created && first.stamp < made.item.unwrap().creation_stamp);
        assert_eq!(ids(&held.changes(0, 10).items), ["2", "1"]);
        held.check();
    }
}

#[test]
fn changes_come_in_the_order_of_commits_each_item_once() {
    let held = Shelf::new(DefaultTtl::Off);
    for id in ["1", "2", "3"] {
        held.upsert("a", id, doc! {});
    }
    held.upsert("a", "1", doc! { "n": 1 });
    let _ = held.one(ItemAction::Delete, "a", "2");
    let batch: Vec<ItemWrite> = ["4", "5"]
        .map(|id| write(ItemAction::Create(body("a", id, doc! {"u": id})), "a", id))
        .into();
    held.write(&batch).unwrap();
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let page = held.changes(after, 1);
        seen.push(ids(&page.items).join(" "));
        after = page.next;
        if !page.more {
            break;
        }
    }
    assert_eq!(seen, ["3", "1", "4 5"]);
    assert_eq!(held.changes(after, 1).items, []);
    held.upsert("b", "6", doc! {});
    assert_eq!(ids(&held.changes(after, 1).items), ["6"]);
}

#[test]
fn a_range_is_walked_in_the_order_of_keys() {
    let held = Shelf::new(DefaultTtl::Off);
    for (pk, id) in [("a", "2"), ("b", "1"), ("a", "10"), ("a", "1")] {
        held.upsert(pk, id, doc! { "u": id });
    }
    let partition = ItemRange::partition(&hash("a"), &[ValueRef::String("a")]);
    assert_eq!(held.ids(partition.clone()), ["1", "10", "2"]);
    let after = key("a", "1").bytes().to_vec();
    let scan = Scan { after: Some(after), ..Scan::of(partition) };
    assert_eq!(ids(&held.scan(&scan)), ["10", "2"]);
    assert_eq!(
        held.ids(ItemRange::hashes(&hash("b"), None)).len(),
        4 - 3 * usize::from(hash("a") < hash("b"))
    );
}

#[test]
fn a_definition_is_replaced_as_one_commit() {
    let mut held = Shelf::new(DefaultTtl::Off);
    held.upsert("a", "1", doc! { "ttl": 5, "n": 1 });
    let version = held.container().state().record.items.unwrap().changed;
    let mut wanted = definition(DefaultTtl::Seconds(10));
    wanted.indexes = vec![IndexSpec::over_tuple(
        "n",
        &[(vec!["n".to_owned()], true), (vec!["pk".to_owned()], false)],
        false,
    )];
    let replace = |held: &Shelf, version| {
        ready(held.engine().replace_container(&held.container(), &wanted, version))
    };
    assert_eq!(replace(&held, Some(version + 1)).unwrap_err().kind, Kind::Precondition);
    replace(&held, Some(version)).unwrap();
    let names = |held: &Shelf| {
        let record = &held.container().state().record;
        record.indexes.iter().map(|index| (index.name.clone(), index.ready)).collect::<Vec<_>>()
    };
    assert_eq!(names(&held), [("unique".to_owned(), true), ("n".to_owned(), false)]);
    assert!(held.container().index_progress() < 100);
    held.kit.restart();
    ready(held.engine().transform_indexes(&held.container())).unwrap();
    assert_eq!(names(&held), [("unique".to_owned(), true), ("n".to_owned(), true)]);
    assert_eq!(held.container().index_progress(), 100);
    held.check();
    held.kit.move_to(5_000);
    assert_eq!(held.ids(ItemRange::all()), Vec::<String>::new());
}

#[test]
fn a_partition_is_removed_whole() {
    let held = Shelf::new(DefaultTtl::Off);
    for at in 0..300 {
        held.upsert(if at % 3 == 0 { "a" } else { "b" }, &at.to_string(), doc! { "u": at });
    }
    let partition = ItemRange::partition(&hash("b"), &[ValueRef::String("b")]);
    let (container, context) = (held.container(), test_kit::context());
    let removed = held.engine().remove_range(&container, &partition, &context);
    assert_eq!(ready(removed).unwrap(), 200);
    assert_eq!(held.ids(ItemRange::all()).len(), 100);
    held.check();
}

#[test]
fn a_feed_shows_what_its_snapshot_holds_beyond_what_is_certain() {
    let shelf = Shelf::new(DefaultTtl::Off);
    shelf.upsert("p", "a", doc! {});
    let first = shelf.changes(0, 9);
    assert_eq!(ids(&first.items), ["a"]);
    shelf.upsert("p", "a", doc! {});
    shelf.kit.store.fall_behind(1);
    let second = shelf.changes(0, 9);
    assert_eq!(ids(&second.items), ["a"]);
    assert!(first.next < second.next && shelf.changes(second.next, 9).items.is_empty());
}

#[test]
fn an_item_may_get_another_key() {
    let held = Shelf::new(DefaultTtl::Seconds(10));
    let first = held.upsert("a", "1", doc! { "u": 1 }).item.unwrap();
    held.upsert("a", "2", doc! {});
    let to = |from: &str, id: &str| {
        let action = ItemAction::Move(key("a", id), body("a", id, doc! { "u": 1 }));
        held.one(action, "a", from)
    };
    assert_eq!(to("1", "2"), Err(Kind::Exists(ErrorSubject::Document)));
    assert_eq!(to("none", "3"), Err(Kind::NotFound(ErrorSubject::Document)));
    held.kit.move_to(5_000);
    let done = to("1", "3").unwrap();
    let moved = done.item.unwrap();
    assert!(!done.created);
    assert_eq!((moved.creation_stamp, moved.ts - first.ts), (first.creation_stamp, 5));
    assert_eq!(held.ids(ItemRange::all()), ["2", "3"]);
    assert_eq!(ids(&held.changes(0, 10).items), ["2", "3"]);
    held.check();
    // The move is a write, so its lifetime restarts; the key of an expired item is free.
    held.kit.move_to(10_000);
    assert_eq!(held.ids(ItemRange::all()), ["3"]);
    to("3", "2").unwrap();
    assert_eq!(held.ids(ItemRange::all()), ["2"]);
    held.check();
    held.kit.move_to(20_000);
    assert_eq!(to("2", "1"), Err(Kind::NotFound(ErrorSubject::Document)));
}

/// Compares batches of moves and other actions with a map from ids to creation stamps and values.
#[test]
fn batches_with_moves_leave_what_their_actions_say() {
    let mut state = 7_u64;
    let mut dice = |sides: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    };
    let held = Shelf::new(DefaultTtl::Off);
    // An item is identified by its initial value, which moves preserve.
    let mut model: std::collections::BTreeMap<String, i64> = Default::default();
    let mut creation_order: std::collections::HashMap<i64, u64> = Default::default();
    let mut made = 0_i64;
    let mut done = 0;
    for round in 0..400 {
        let mut next = model.clone();
        let mut writes = Vec::new();
        let mut sound = true;
        for _ in 0..=dice(5) {
            let (from, to) = (dice(4).to_string(), dice(4).to_string());
            let with = |id: &str, made: i64| body("a", id, doc! { "u": made, "m": made });
            let held = next.get(&from).copied();
            let action = match (dice(4), held) {
                (0, None) | (1, None) => {
                    made += 1;
                    next.insert(from.clone(), made);
                    ItemAction::Create(with(&from, made))
                }
                (0 | 1, Some(_)) => {
                    next.remove(&from);
                    ItemAction::Delete
                }
                (_, Some(value)) if from != to => {
                    sound &= !next.contains_key(&to);
                    next.remove(&from);
                    next.insert(to.clone(), value);
                    ItemAction::Move(key("a", &to), with(&to, value))
                }
                (_, Some(value)) => ItemAction::Replace(with(&from, value)),
                (_, None) => {
                    sound = false;
                    ItemAction::Read
                }
            };
            writes.push(write(action, "a", &from));
            if !sound {
                break;
            }
        }
        let result = held.write(&writes);
        assert_eq!(result.is_ok(), sound, "{round}: {writes:?}");
        if sound {
            model = next;
            done += 1;
        }
        let found: Vec<(String, i64)> = held
            .scan(&Scan::of(ItemRange::all()))
            .iter()
            .map(|item| {
                let Some(ValueRef::Int64(value)) = item.document().get("m") else { panic!() };
                assert_eq!(
                    *creation_order.entry(value).or_insert(item.creation_stamp),
                    item.creation_stamp,
                    "{round}"
                );
                (ids(std::slice::from_ref(item)).remove(0), value)
            })
            .collect();
        assert_eq!(found, model.clone().into_iter().collect::<Vec<_>>(), "{round}: {writes:?}");
        held.check();
    }
    assert!(100 < done, "{done}");
}

#[test]
fn a_walk_by_creation_goes_on_whatever_is_made_meanwhile() {
    let held = Shelf::new(DefaultTtl::Off);
    let make = |from: usize, to: usize| {
        for at in from..to {
            held.upsert(
                if at % 3 == 0 { "b" } else { "a" },
                &at.to_string(),
                doc! { "u": at as i64 },
            );
        }
    };
    make(0, 1_990);
    struct Some(usize, Vec<Item>, ScanOrder);
    impl ItemSink for Some {
        fn begin(&mut self, comes: ScanOrder, _: Instant) -> Result<(), Error> {
            self.2 = comes;
            Ok(())
        }
        fn item(&mut self, item: &Item) -> Result<Flow, Error> {
            self.1.push(item.clone());
            Ok(if self.1.len() < self.0 { Flow::More } else { Flow::Enough })
        }
    }
    let page = |creation_order, after: Option<&Item>, most| {
        let after = after.map(|item| item.creation_stamp.to_be_bytes().to_vec());
        let scan = Scan { creation_order, after, ..Scan::of(ItemRange::all()) };
        let mut page = Some(most, Vec::new(), ScanOrder::ByKey);
        let context = test_kit::context();
        ready(held.engine().scan_items(&held.container(), &scan, &context, &mut page)).unwrap();
        (page.1, page.2)
    };
    let (mut items, comes) = page(CreationOrder::WhereFew, None, 500);
    assert_eq!(comes, ScanOrder::ByCreation);
    // There are now too many items to start a scan in creation order, but a running scan continues.
    make(1_990, 4_500);
    assert_eq!(page(CreationOrder::WhereFew, None, 1).1, ScanOrder::ByKey);
    let (rest, _) = page(CreationOrder::Always, items.last(), usize::MAX);
    items.extend(rest);
    let want: Vec<String> = (0..4_500).map(|at: usize| at.to_string()).collect();
    assert_eq!(ids(&items), want);
}
