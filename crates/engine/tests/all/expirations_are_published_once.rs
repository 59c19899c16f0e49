//! The feed of all versions and expirations contains every write and every expiration once, in
//! order, with the previous image, also with reaping, restarts and setting changes in between.

use std::{collections::BTreeMap, time::Duration};

use document::{Document, ValueRef, doc};
use engine::{
    ContainerDefinition, DefaultTtl, Event, EventKind, EventQuery, ItemAction, ItemRange,
};
use store::{Space, Store as _};
use test_kit::{START_MS, ready};

use crate::items::{Shelf, body, definition, write};

fn with_feed(default: DefaultTtl) -> ContainerDefinition {
    ContainerDefinition { retention_s: Some(600), indexes: Vec::new(), ..definition(default) }
}

fn page(held: &Shelf, after: u64, items: usize) -> engine::EventPage {
    let wanted = EventQuery { after, range: ItemRange::all(), items, bytes: usize::MAX };
    let (container, context) = (held.container(), test_kit::context());
    ready(held.engine().feed_events(&container, &wanted, &context)).unwrap().unwrap()
}

fn text(event: &Event) -> String {
    let item = event.before.as_ref().or(event.after.as_ref()).unwrap();
    let id = item.document().get("id").and_then(ValueRef::as_str).unwrap().to_owned();
    let n = |item: &Option<engine::Item>| {
        let n = item.as_ref().and_then(|item| item.document().get("n").map(|n| n.to_value()));
        n.map_or("-".to_owned(), |n| document::shell(n.as_ref()).to_string())
    };
    let at = (event.at.ms - START_MS) / 1000;
    format!("{:?} {id} {}>{} at {at}", event.kind, n(&event.before), n(&event.after))
}

fn all(held: &Shelf) -> Vec<String> {
    let (mut after, mut out) = (0, Vec::new());
    loop {
        let page = page(held, after, 3);
        out.extend(page.events.iter().map(text));
        after = page.next;
        if !page.more {
            return out;
        }
    }
}

fn set_default(held: &Shelf, default: DefaultTtl) {
    let container = held.container();
    ready(held.engine().replace_container(&container, &with_feed(default), None)).unwrap();
}

#[test]
fn writes_and_expirations_are_events() {
    let held = Shelf::with(&with_feed(DefaultTtl::Seconds(10)));
    held.upsert("a", "1", doc! { "n": 1 });
    held.upsert("a", "1", doc! { "n": 2 });
    held.upsert("a", "2", doc! { "n": 3, "ttl": 4 });
    held.upsert("a", "3", doc! { "n": 4, "ttl": -1 });
    held.one(ItemAction::Delete, "a", "3").unwrap();
    held.kit.move_to(20_000);
    held.upsert("a", "1", doc! { "n": 5 });
    let want = [
        "Create 1 ->1 at 0",
        "Replace 1 1>2 at 0",
        "Create 2 ->3 at 0",
        "Create 3 ->4 at 0",
        "Delete 3 4>- at 0",
        "Expire 2 3>- at 4",
        "Expire 1 2>- at 10",
        "Create 1 ->5 at 20",
    ];
    assert_eq!(all(&held), want);
    held.check();
}

#[test]
fn a_batch_is_one_commit_of_several_events() {
    let held = Shelf::with(&with_feed(DefaultTtl::Off));
    let creates: Vec<_> = ["1", "2", "3", "4"]
        .map(|id| write(ItemAction::Create(body("a", id, doc! {})), "a", id))
        .into();
    held.write(&creates).unwrap();
    assert_eq!(page(&held, 0, 1).events.len(), 4);
    assert!(page(&held, page(&held, 0, 1).next, 1).events.is_empty());
}

#[test]
fn a_change_of_the_default_expires_items_at_its_own_instant_and_publishes_first_what_was_due() {
    let held = Shelf::with(&with_feed(DefaultTtl::Seconds(5)));
    held.upsert("a", "1", doc! { "n": 1 });
    held.kit.move_to(3_000);
    held.upsert("a", "2", doc! { "n": 2 });
    held.kit.move_to(6_000);
    set_default(&held, DefaultTtl::Infinite);
    held.kit.move_to(9_000);
    held.upsert("a", "3", doc! { "n": 3 });
    set_default(&held, DefaultTtl::Seconds(4));
    held.kit.move_to(12_999);
    assert_eq!(all(&held)[3..], ["Create 3 ->3 at 9", "Expire 2 2>- at 9"]);
    held.kit.move_to(13_000);
    set_default(&held, DefaultTtl::Off);
    let want = ["Create 1 ->1 at 0", "Create 2 ->2 at 3", "Expire 1 1>- at 5"];
    assert_eq!(all(&held)[..3], want);
    assert_eq!(all(&held)[3..], ["Create 3 ->3 at 9", "Expire 2 2>- at 9", "Expire 3 3>- at 13"]);
}

#[test]
fn a_feed_begins_with_what_lives_and_ends_without_a_trace() {
    let held = Shelf::new(DefaultTtl::Seconds(10));
    held.upsert("a", "1", doc! { "n": 1 });
    held.kit.move_to(5_000);
    held.upsert("a", "2", doc! { "n": 2 });
    held.kit.move_to(12_000);
    set_default(&held, DefaultTtl::Seconds(10));
    assert_eq!(all(&held), Vec::<String>::new());
    held.kit.move_to(15_000);
    assert_eq!(all(&held), ["Expire 2 2>- at 15"]);
    let off = ContainerDefinition { retention_s: None, ..with_feed(DefaultTtl::Seconds(10)) };
    ready(held.engine().replace_container(&held.container(), &off, None)).unwrap();
    let wanted = EventQuery { after: 0, range: ItemRange::all(), items: 1, bytes: 1 };
    let (container, context) = (held.container(), test_kit::context());
    assert_eq!(ready(held.engine().feed_events(&container, &wanted, &context)).unwrap(), None);
    held.upsert("a", "3", doc! { "n": 3 });
    set_default(&held, DefaultTtl::Seconds(10));
    assert_eq!(all(&held), Vec::<String>::new());
    held.check();
}

#[test]
fn events_are_kept_for_their_time_and_not_shown_again() {
    let mut held = Shelf::with(&with_feed(DefaultTtl::Off));
    held.upsert("a", "1", doc! { "n": 1 });
    held.kit.move_to(600_000);
    assert_eq!(all(&held).len(), 1);
    held.kit.move_to(601_000);
    assert_eq!(all(&held), Vec::<String>::new());
    let longer = ContainerDefinition { retention_s: Some(6_000), ..with_feed(DefaultTtl::Off) };
    ready(held.engine().replace_container(&held.container(), &longer, None)).unwrap();
    assert_eq!(all(&held), Vec::<String>::new());
    held.kit.restart();
    assert_eq!(all(&held), Vec::<String>::new());
}

#[test]
fn events_beyond_their_time_leave_the_disk_without_expirations_too() {
    for default in [DefaultTtl::Off, DefaultTtl::Seconds(1_000_000)] {
        let held = Shelf::with(&with_feed(default));
        for n in 0..300 {
            held.upsert("a", "1", doc! { "n": n, "text": "x".repeat(500) });
        }
        held.kit.move_to(500_000);
        held.upsert("a", "1", doc! { "n": 300 });
        let bytes = || held.kit.store.space_bytes(Space::Index(held.container().id));
        let full = bytes();
        // Passes are far apart, since the reaper limits its scans to a share of the time.
        let pass = |number: u64| {
            ready(held.engine().reap_once(Duration::from_secs(1_000 * number))).unwrap();
        };
        (1..4).for_each(pass);
        assert_eq!(bytes(), full, "all events are within their time");
        held.kit.move_to(601_000);
        (4..7).for_each(pass);
        assert!(bytes() < full / 10, "{} of {full}", bytes());
        assert_eq!(all(&held), ["Replace 1 299>300 at 500"]);
        held.check();
    }
}

/// A model of the expected events.
#[derive(Default)]
struct Model {
    default: Option<i64>,
    live: BTreeMap<String, (i64, Option<i64>, i64)>,
    events: Vec<(i64, String)>,
    now_s: i64,
}

impl Model {
    fn deadline(&self, id: &str) -> Option<i64> {
        let (ts, ttl, _) = *self.live.get(id)?;
        match (self.default?, ttl) {
            (_, Some(-1)) | (-1, None) => None,
            (_, Some(ttl)) => Some(ts + ttl),
            (default, None) => Some(ts + default),
        }
    }

    /// Removes all items whose deadline has passed and records their expirations, none with an
    /// earlier time than `since_s`.
    fn expire_due(&mut self, since_s: i64) {
        let mut expired: Vec<(i64, String)> = Vec::new();
        for id in self.live.keys() {
            if let Some(deadline) = self.deadline(id).filter(|deadline| *deadline <= self.now_s) {
                expired.push((deadline.max(since_s), id.clone()));
            }
        }
        expired.sort();
        for (at, id) in expired {
            let (_, _, n) = self.live.remove(&id).unwrap();
            self.events.push((at, format!("Expire {id} {n}>- at {at}")));
        }
    }
}

/// Groups events by item. Writes and expirations of one second, and those published late, are only
/// ordered within an item.
fn by_item(events: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        let id = event.split(' ').nth(1).unwrap().to_owned();
        out.entry(id).or_default().push(event.clone());
    }
    out
}

fn expirations(events: &[String]) -> Vec<String> {
    events.iter().filter(|event| event.starts_with("Expire")).cloned().collect()
}

fn history(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut held = Shelf::with(&with_feed(DefaultTtl::Off));
    let mut model = Model::default();
    let (mut after, mut seen) = (0, Vec::new());
    for step in 0..60_i64 {
        match random.u8(..12) {
            0..=4 => {
                let id = random.u8(..5).to_string();
                let ttl = [None, None, Some(-1), Some(1), Some(3), Some(7)][random.usize(..6)];
                let mut more = doc! { "n": step };
                ttl.into_iter().for_each(|ttl| more.push("ttl", ttl));
                held.upsert("a", &id, more);
                let before = model.live.insert(id.clone(), (model.now_s, ttl, step));
                let (kind, was) = match before {
                    Some((_, _, n)) => ("Replace", n.to_string()),
                    None => ("Create", "-".to_owned()),
                };
                let at = model.now_s;
                model.events.push((at, format!("{kind} {id} {was}>{step} at {at}")));
            }
            5 => {
                let id = random.u8(..5).to_string();
                let gone = model.live.remove(&id);
                assert_eq!(held.one(ItemAction::Delete, "a", &id).is_ok(), gone.is_some());
                let at = model.now_s;
                model
                    .events
                    .extend(gone.map(|(_, _, n)| (at, format!("Delete {id} {n}>- at {at}"))));
            }
            6 | 7 => {
                model.now_s += random.i64(1..6);
                held.kit.move_to(model.now_s * 1000);
                model.expire_due(i64::MIN);
            }
            8 => {
                let default = [None, Some(-1), Some(2), Some(5), Some(20)][random.usize(..5)];
                set_default(&held, test_kit::default_ttl(default));
                let changed = model.default != default;
                model.default = default;
                if changed {
                    model.expire_due(model.now_s);
                }
            }
            9 => held.kit.restart(),
            10 => {
                held.kit.reap_all();
                ready(held.engine().reap_now(&held.container())).unwrap();
            }
            _ => {
                let page = page(&held, after, random.usize(1..4));
                seen.extend(page.events.iter().map(text));
                after = page.next;
            }
        }
    }
    held.check();
    loop {
        let page = page(&held, after, 5);
        seen.extend(page.events.iter().map(text));
        after = page.next;
        if !page.more {
            break;
        }
    }
    let want: Vec<String> = model.events.iter().map(|(_, event)| event.clone()).collect();
    assert_eq!(by_item(&seen), by_item(&want), "seed {seed}");
    assert_eq!(expirations(&seen), expirations(&want), "seed {seed}");
    assert_eq!(all(&held), seen, "seed {seed}");
    let latest = engine::ChangeQuery {
        after: 0,
        since_s: 0,
        range: ItemRange::all(),
        items: usize::MAX,
        bytes: usize::MAX,
    };
    let (container, context) = (held.container(), test_kit::context());
    let latest = ready(held.engine().item_changes(&container, &latest, &context)).unwrap();
    let mut living: Vec<i64> = model.live.values().map(|(_, _, n)| *n).collect();
    living.sort_unstable();
    let n = |item: &engine::Item| item.document().get("n").and_then(number).unwrap();
    assert_eq!(latest.items.iter().map(n).collect::<Vec<_>>(), living, "seed {seed}");
}

fn number(value: ValueRef<'_>) -> Option<i64> {
    document::Number::of(value)?.to_i64_exact()
}

#[test]
fn every_expiration_is_published_exactly_once_in_random_histories() {
    (0..200).for_each(history);
}

#[test]
fn ttl_that_is_turned_on_later_is_published_too() {
    let held = Shelf::with(&with_feed(DefaultTtl::Off));
    held.upsert("a", "1", doc! { "n": 1 });
    held.kit.move_to(5_000);
    set_default(&held, DefaultTtl::Seconds(10));
    held.kit.move_to(10_000);
    assert_eq!(all(&held), ["Create 1 ->1 at 0", "Expire 1 1>- at 10"]);
}

#[test]
fn an_event_is_read_as_it_was_entered() {
    let held = Shelf::with(&with_feed(DefaultTtl::Infinite));
    let made = held.upsert("a", "1", doc! { "ttl": 3, "deep": doc! { "x": Document::new() } });
    held.kit.move_to(5_000);
    let events = page(&held, 0, 9).events;
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].after, made.item);
    assert_eq!((events[1].kind, &events[1].before), (EventKind::Expire, &made.item));
    assert_eq!(events[1].at.ms, START_MS + 3_000);
}
