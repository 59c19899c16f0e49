//! Of two document databases whose names differ only in case, only one can be created, even
//! concurrently; two that already exist stay usable.

use document::Document;
use engine::{ErrorSubject, Kind, Model, Namespace};
use test_kit::{Kit, Task, ready};

fn refused(wanted: &str, existing: &str) -> Kind {
    Kind::Exists(ErrorSubject::DatabaseOfOtherCase {
        existing: existing.into(),
        wanted: wanted.into(),
    })
}

#[test]
fn the_second_of_two_that_come_at_once_is_refused() {
    let kit = Kit::default();
    let create = |name: &str| {
        let (engine, namespace) = (kit.engine.clone(), Namespace::new(name, "c"));
        Task::new(async move {
            engine.create_collection(Model::Documents, &namespace, Document::new()).await
        })
    };
    kit.store.gate().shut();
    let (mut first, mut second) = (create("r"), create("R"));
    assert!(first.poll().is_none(), "its commit is held");
    assert!(second.poll().is_none(), "nobody knows yet whether the first comes");
    kit.store.gate().open();
    first.finish().expect("the first is made");
    assert_eq!(second.finish().unwrap_err().kind, refused("R", "r"));
}

#[test]
fn a_name_is_free_again_when_its_database_is_gone_or_was_not_made() {
    let kit = Kit::default();
    let [small, large] = ["r", "R"].map(|name| Namespace::new(name, "c"));
    let model = Model::Documents;
    kit.store.lose_nth_commit(1);
    assert!(ready(kit.engine.ensure_collection(model, &small)).is_err());
    ready(kit.engine.ensure_collection(model, &large)).expect("the other name is free");
    assert_eq!(
        ready(kit.engine.ensure_collection(model, &small)).unwrap_err().kind,
        refused("r", "R")
    );
    let other = Namespace::new("db", "other");
    ready(kit.engine.ensure_collection(model, &other)).expect("made");
    let renamed = ready(kit.engine.rename_collection(model, &other, &small, false));
    assert_eq!(renamed.unwrap_err().kind, refused("r", "R"));
    assert!(ready(kit.engine.drop_collection(model, &large)).expect("dropped"));
    ready(kit.engine.ensure_collection(model, &small)).expect("the name is free");
    // Names of item databases are case-sensitive.
    for namespace in [&small, &large] {
        ready(kit.engine.ensure_collection(Model::Items, namespace)).expect("made");
    }
}
