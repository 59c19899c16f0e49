//! Indexes of paths are added when a scan examines many items for lack of them, and dropped when
//! unused. Scans find the same items throughout.

use document::{Value, ValueRef, doc};
use engine::{
    DefaultTtl, IndexReason, IndexSpec, ItemAction, ItemRange, PathProgress, Policy, PolicyRule,
    Scan,
};
use select::sarg::{PathStep, Sarg, ValueTest};
use test_kit::{Task, ready};

use crate::items::{Shelf, definition, everything, hash, ids};

/// More items than a scan examines before it requests a path, and several pages of a build.
const ITEMS: i32 = 1_200;
const DAY_MS: i64 = 86_400_000;

fn path(name: &str) -> Vec<PathStep> {
    vec![PathStep::Property(name.to_owned())]
}

fn rule(name: &str, below: bool, included: bool) -> PolicyRule {
    PolicyRule { steps: path(name), below, included }
}

fn on_demand(policy: Policy) -> engine::ContainerDefinition {
    let mut wanted = definition(DefaultTtl::Infinite);
    wanted.indexes.retain(|index| index.unique);
    wanted.indexes.push(IndexSpec::on_demand("paths", policy));
    wanted
}

fn filled(policy: Policy) -> Shelf {
    let held = Shelf::with(&on_demand(policy));
    for n in 0..ITEMS {
        held.upsert("p", &n.to_string(), doc! { "n": n, "g": n % 3 });
    }
    held
}

fn of_n(n: i32) -> Scan {
    let sarg = Sarg::Test(path("n"), ValueTest::Equal(Value::Int32(n)));
    Scan { sarg, ..Scan::of(ItemRange::all()) }
}

/// Returns the indexed paths and whether each is complete.
fn kept(held: &Shelf) -> Vec<(String, bool)> {
    let statuses = held.engine().path_statuses(&held.container());
    let kept = statuses.into_iter().filter(|status| status.why != "unique");
    kept.map(|mut status| (status.paths.remove(0), status.progress == PathProgress::Ready))
        .collect()
}

fn keep_wanted(held: &Shelf) {
    ready(held.engine().keep_wanted_paths(&held.container())).unwrap();
}

/// The path of `n`, complete or not.
fn only_n(ready: bool) -> [(String, bool); 1] {
    [("/n/?".to_owned(), ready)]
}

#[test]
fn a_walk_over_few_items_asks_for_nothing() {
    let held = Shelf::with(&on_demand(everything()));
    for n in 0..1_000 {
        held.upsert("p", &n.to_string(), doc! { "n": n });
    }
    held.scan(&of_n(7));
    assert!(!held.engine().wants_paths(&held.container()));
    held.upsert("p", "one", doc! {});
    held.upsert("p", "two", doc! {});
    held.scan(&Scan::of(ItemRange::all()));
    assert!(!held.engine().wants_paths(&held.container()), "no index would help");
    held.scan(&of_n(7));
    assert!(held.engine().wants_paths(&held.container()));
}

#[test]
fn a_walk_over_many_entries_of_a_wider_path_asks_for_the_narrower_one() {
    let held = filled(everything());
    held.upsert("q", "one", doc! { "n": 5, "g": 1 });
    held.engine().want_paths(&held.container(), vec![path("n")]);
    keep_wanted(&held);
    let range = ItemRange::partition(&hash("q"), &[ValueRef::String("q")]);
    let wide = ValueTest::Range { lower: Some((Value::Int32(0), true)), upper: None };
    let parts =
        vec![Sarg::Test(path("n"), wide), Sarg::Test(path("g"), ValueTest::Equal(Value::Int32(1)))];
    let scan = Scan { sarg: Sarg::And(parts), ..Scan::of(range) };
    let found = held.scan(&scan);
    keep_wanted(&held);
    assert_eq!(kept(&held).last(), Some(&("/g/?".to_owned(), true)), "{found:?}");
    assert_eq!(ids(&held.scan(&scan)), ids(&found));
}

#[test]
fn a_build_that_a_walk_began_survives_the_end_of_the_process_at_each_step() {
    for stop in 1.. {
        let mut held = filled(everything());
        assert_eq!(ids(&held.scan(&of_n(7))), ["7"]);
        held.kit.store.turnstile().stop_nth(stop);
        let (engine, container) = (held.engine().clone(), held.container());
        let mut task = Task::new(async move { engine.keep_wanted_paths(&container).await });
        let done = task.poll();
        if done.is_none() {
            assert_eq!(kept(&held), only_n(false), "stopped at read {stop}");
            assert!(held.container().index_progress() < 100);
        }
        drop(task);
        held.kit.store.turnstile().open();
        held.kit.store.turnstile().disarm();
        held.kit.restart();
        assert_eq!(kept(&held), only_n(true), "stopped at read {stop}");
        assert_eq!(held.container().index_progress(), 100);
        held.check();
        assert_eq!(ids(&held.scan(&of_n(7))), ["7"]);
        if done.is_some() {
            assert!(3 < stop, "the build had no steps");
            return;
        }
    }
}

#[test]
fn writes_during_a_build_are_in_the_index() {
    let held = filled(everything());
    held.scan(&of_n(7));
    held.kit.store.turnstile().stop_nth(2);
    let (engine, container) = (held.engine().clone(), held.container());
    let mut task = Task::new(async move { engine.keep_wanted_paths(&container).await });
    assert!(task.poll().is_none(), "the build is stopped");
    held.upsert("p", "new", doc! { "n": 7 });
    held.upsert("p", "7", doc! { "n": 8 });
    held.upsert("p", "8", doc! { "n": 7, "ttl": 5 });
    held.one(ItemAction::Delete, "p", "9").unwrap();
    assert_eq!(ids(&held.scan(&of_n(7))), ["8", "new"]);
    held.kit.store.turnstile().open();
    task.finish().unwrap();
    assert_eq!(kept(&held), only_n(true));
    held.check();
    assert_eq!(ids(&held.scan(&of_n(7))), ["8", "new"]);
    assert_eq!(ids(&held.scan(&of_n(8))), ["7"]);
    assert_eq!(held.scan(&of_n(9)).len(), 0);
    // Entries expire with their items.
    held.kit.move_to(5_000);
    assert_eq!(ids(&held.scan(&of_n(7))), ["new"]);
}

#[test]
fn a_path_that_is_not_used_ends_and_its_entries_go() {
    let mut held = filled(everything());
    held.scan(&of_n(7));
    keep_wanted(&held);
    held.kit.reap_all();
    let tend = |held: &Shelf, days| ready(held.engine().maintain_paths(days)).unwrap();
    for day in 1..4 {
        held.kit.move_to(day * DAY_MS);
        held.scan(&of_n(7));
        tend(&held, Some(2));
        // Recorded uses survive a restart.
        held.kit.restart();
        assert_eq!(kept(&held), only_n(true), "day {day}");
    }
    held.kit.move_to(9 * DAY_MS);
    tend(&held, None);
    assert_eq!(kept(&held), only_n(true));
    tend(&held, Some(2));
    assert_eq!(kept(&held), []);
    held.check();
    assert_eq!(ids(&held.scan(&of_n(7))), ["7"]);
    keep_wanted(&held);
    assert_eq!(kept(&held), only_n(true), "it is asked for again");
    held.check();
}

#[test]
fn named_paths_are_kept_at_once_and_a_change_of_the_policy_keeps_what_it_allows() {
    let named = Policy([everything().0, vec![rule("g", false, true)]].concat());
    let held = filled(named);
    assert_eq!(kept(&held), [("/g/?".to_owned(), true)]);
    held.scan(&of_n(7));
    keep_wanted(&held);
    let entries = |held: &Shelf| {
        let state = held.container().state();
        let of = |index: &IndexSpec| index.indexed_path().map(|kept| (index.id, kept.why));
        state.record.indexes.iter().filter_map(of).collect::<Vec<_>>()
    };
    let before = entries(&held);
    assert_eq!(
        before.iter().map(|(_, why)| *why).collect::<Vec<_>>(),
        [IndexReason::Name, IndexReason::Query]
    );
    let replace = |held: &Shelf, policy| {
        let wanted = on_demand(policy);
        ready(held.engine().replace_container(&held.container(), &wanted, None)).unwrap();
        held.check();
    };
    // Both keep their ids, so nothing is rebuilt.
    replace(&held, Policy(vec![rule("n", false, true), rule("g", true, true)]));
    let other = [(before[0].0, IndexReason::Query), (before[1].0, IndexReason::Name)];
    assert_eq!(entries(&held), other);
    assert_eq!(held.container().index_progress(), 100);
    replace(&held, Policy(vec![rule("n", true, true)]));
    assert_eq!(entries(&held), [(before[1].0, IndexReason::Query)]);
    assert_eq!(held.container().state().record.dropped, [before[0].0]);
    replace(&held, Policy(Vec::new()));
    assert_eq!(entries(&held), []);
    assert_eq!(held.scan(&of_n(7)).len(), 1_200, "nothing may be known of a condition");
}

#[test]
fn queries_cannot_bring_more_paths_than_there_is_room_for() {
    let held = filled(everything());
    let paths = (0..200).map(|at| path(&format!("p{at}"))).collect();
    held.engine().want_paths(&held.container(), paths);
    keep_wanted(&held);
    assert_eq!(kept(&held).len(), engine::limits::MAX_INDEXED_PATHS);
    held.scan(&of_n(7));
    keep_wanted(&held);
    assert_eq!(kept(&held).len(), engine::limits::MAX_INDEXED_PATHS);
}

#[test]
fn an_index_of_all_paths_of_earlier_versions_stays_complete() {
    let held = Shelf::new(DefaultTtl::Off);
    held.upsert("p", "1", doc! { "n": 1 });
    let wanted = on_demand(everything());
    let index = |held: &Shelf| held.container().state().record.index_named("paths").unwrap().id;
    let before = index(&held);
    ready(held.engine().replace_container(&held.container(), &wanted, None)).unwrap();
    assert_eq!((index(&held), kept(&held)), (before, vec![("/*".to_owned(), true)]));
    held.check();
}
