//! After a store was reopened, the cached catalog equals the catalog that startup loads.

use document::doc;
use engine::{Expected, Model, Namespace};
use test_kit::{Kit, default_ttl, ready};

const MODEL: Model = Model::Documents;

fn name(collection: &str) -> Namespace {
    Namespace::new("db", collection)
}

/// Another engine's changes of the store simulate commits of unknown outcome.
#[test]
fn what_took_place_unknown_is_known_when_writes_are_taken_again() {
    let kit = Kit::default();
    let engine = &kit.engine;
    for (collection, id) in [("kept", 1), ("moved", 2), ("dropped", 3), ("timed", 4)] {
        let (made, _) = ready(engine.ensure_collection(MODEL, &name(collection))).unwrap();
        ready(test_kit::insert_one(engine.clone(), made, doc! { "_id": id })).unwrap();
    }
    let held = |name: &Namespace| engine.collection(MODEL, name);
    let moved = held(&name("moved")).unwrap();
    let dropped = held(&name("dropped")).unwrap();
    let other = kit.other_engine();
    ready(other.rename_collection(MODEL, &name("moved"), &name("away"), false)).unwrap();
    // Another collection takes the old name of the renamed one at once.
    ready(other.ensure_collection(MODEL, &name("moved"))).unwrap();
    assert!(ready(other.drop_collection(MODEL, &name("dropped"))).unwrap());
    let timed = other.expect_collection(MODEL, &name("timed")).unwrap();
    ready(other.set_default_ttl(&timed, default_ttl(Some(7)))).unwrap();
    ready(other.put_resource(&["user"], doc! { "a": 1 }, Expected::Absent)).unwrap();

    assert!(!ready(engine.recover_reopened()).unwrap(), "there is nothing to be done");
    kit.store.open_anew();
    assert!(ready(engine.recover_reopened()).unwrap());
    assert!(!ready(engine.recover_reopened()).unwrap(), "once is enough");

    let away = held(&name("away")).unwrap();
    assert!(std::sync::Arc::ptr_eq(&away, &moved));
    assert_ne!(held(&name("moved")).unwrap().id, moved.id);
    assert!(held(&name("dropped")).is_none() && dropped.is_dropped());
    let timed = held(&name("timed")).unwrap();
    assert_eq!(timed.state().record.settings.default, default_ttl(Some(7)));
    assert!(engine.resource_at(&["user"]).is_some());
    // Ids continue after those assigned.
    let (new, _) = ready(engine.ensure_collection(MODEL, &name("new"))).unwrap();
    let ids: Vec<u32> = engine.collections(MODEL).iter().map(|(_, of)| of.id).collect();
    assert_eq!(ids.iter().filter(|id| **id == new.id).count(), 1);
    let found = ready(test_kit::find_all(
        engine.clone(),
        name("away"),
        engine::Plan::new(pipeline::Filter::always()),
    ));
    assert_eq!(test_kit::ids_of(&found.unwrap()), [2]);
}
