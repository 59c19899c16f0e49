//! Expired documents do not reappear under any later settings.

use document::{Value, doc};
use test_kit::{Kit, START_MS, date_index, plain_index, system_index, unique_index};

/// Three documents, one per expiry class; the default expires the first at 10 s, its own `ttl` the
/// second.
fn kit() -> Kit {
    let kit = Kit::default();
    kit.set_default(Some(10));
    kit.create_index(plain_index("a")).expect("an index");
    for document in [
        doc! { "_id": 1, "a": 1 },
        doc! { "_id": 2, "a": 2, "ttl": 10 },
        doc! { "_id": 3, "a": 3, "ttl": -1 },
    ] {
        kit.insert(document).expect("inserted");
    }
    kit
}

#[track_caller]
fn check(kit: &Kit, want: &[i64]) {
    assert_eq!(kit.all_ids(), want);
    assert_eq!(kit.ids_by("a_1"), want);
    assert_eq!(kit.live_amount().documents, want.len() as i64);
}

#[test]
fn a_document_is_there_until_its_deadline_and_not_at_it() {
    let kit = kit();
    kit.move_to(9_999);
    check(&kit, &[1, 2, 3]);
    kit.move_to(10_000);
    check(&kit, &[3]);
}

#[test]
fn no_default_that_follows_brings_them_back() {
    let then: [&[Option<i64>]; 6] = [
        &[Some(1_000_000)],
        &[Some(-1)],
        &[None],
        &[None, Some(1_000_000)],
        &[Some(-1), None, Some(5), Some(1_000_000)],
        &[None, Some(-1)],
    ];
    for defaults in then {
        for reaped in [false, true] {
            let mut kit = kit();
            kit.move_to(10_000);
            for default in defaults {
                if reaped {
                    kit.reap_all();
                }
                kit.set_default(*default);
                check(&kit, &[3]);
                kit.restart();
                check(&kit, &[3]);
            }
        }
    }
}

#[test]
fn a_change_of_the_default_applies_at_once_to_what_is_there() {
    let kit = kit();
    kit.move_to(5_000);
    kit.set_default(Some(5));
    check(&kit, &[2, 3]);
    kit.set_default(Some(100));
    check(&kit, &[2, 3]);
    kit.move_to(10_000);
    kit.set_default(None);
    check(&kit, &[3]);
}

#[test]
fn while_ttl_is_off_nothing_expires_and_what_outlived_it_lives() {
    let kit = kit();
    kit.move_to(9_999);
    kit.set_default(None);
    kit.move_to(20_000);
    check(&kit, &[1, 2, 3]);
    kit.set_default(Some(-1));
    check(&kit, &[1, 3]);
    kit.set_default(Some(21));
    check(&kit, &[1, 3]);
    kit.move_to(21_000);
    check(&kit, &[3]);
}

#[test]
fn the_index_on_ts_is_the_default() {
    let kit = kit();
    kit.set_default(None);
    kit.create_index(system_index(10)).unwrap();
    kit.move_to(10_000);
    check(&kit, &[3]);
    kit.drop_index("_ts_1");
    check(&kit, &[3]);
    kit.create_index(system_index(1_000)).unwrap();
    kit.change_index("_ts_1", 10_000);
    check(&kit, &[3]);
    kit.insert(doc! { "_id": 1, "a": 0 }).unwrap();
    assert_eq!(kit.ids_by("a_1"), [1, 3]);
}

fn at(ms: i64) -> Value {
    Value::DateTime(START_MS + ms)
}

#[test]
fn what_a_dropped_date_index_made_expire_stays_expired() {
    for reaped in [false, true] {
        let mut kit = Kit::default();
        kit.create_index(plain_index("a")).unwrap();
        kit.create_index(date_index("d", 10)).unwrap();
        kit.insert(doc! { "_id": 1, "a": 1, "d": at(0) }).unwrap();
        kit.insert(doc! { "_id": 2, "a": 2, "d": at(1) }).unwrap();
        kit.move_to(10_000);
        check(&kit, &[2]);
        if reaped {
            kit.reap_all();
        }
        kit.drop_index("d_1");
        check(&kit, &[2]);
        kit.move_to(20_000);
        check(&kit, &[2]);
        kit.create_index(date_index("d", 1_000)).unwrap();
        kit.restart();
        check(&kit, &[2]);
        kit.change_index("d_1", 20);
        check(&kit, &[2]);
        kit.move_to(20_001);
        check(&kit, &[]);
    }
}

#[test]
fn a_new_document_with_an_old_date_lives_under_the_longer_rule() {
    let kit = Kit::default();
    kit.create_index(plain_index("a")).unwrap();
    kit.create_index(date_index("d", 10)).unwrap();
    kit.insert(doc! { "_id": 1, "a": 1, "d": at(0) }).unwrap();
    kit.move_to(10_000);
    kit.change_index("d_1", 100);
    check(&kit, &[]);
    kit.insert(doc! { "_id": 1, "a": 1, "d": at(0) }).unwrap();
    kit.insert(doc! { "_id": 2, "a": 2, "d": at(-80_000) }).unwrap();
    check(&kit, &[1, 2]);
    kit.move_to(20_000);
    check(&kit, &[1]);
}

#[test]
fn a_plain_index_that_becomes_a_date_index_expires_what_is_due_when_it_is_built() {
    let kit = Kit::default();
    kit.create_index(plain_index("a")).unwrap();
    kit.create_index(plain_index("d")).unwrap();
    kit.insert(doc! { "_id": 1, "a": 1, "d": at(0) }).unwrap();
    kit.insert(doc! { "_id": 2, "a": 2, "d": document::array![at(90_000), at(-1), 7] }).unwrap();
    kit.insert(doc! { "_id": 3, "a": 3, "d": document::array![document::array![at(0)]] }).unwrap();
    kit.move_to(5_000);
    kit.change_index("d_1", 5);
    check(&kit, &[3]);
    kit.change_index("d_1", 50);
    check(&kit, &[3]);
}

#[test]
fn a_unique_key_is_free_at_exactly_the_deadline() {
    let kit = kit();
    kit.create_index(unique_index("u")).unwrap();
    kit.insert(doc! { "_id": 4, "a": 4, "u": 1 }).unwrap();
    kit.move_to(9_999);
    kit.insert(doc! { "_id": 5, "a": 5, "u": 1 }).unwrap_err();
    kit.insert(doc! { "_id": 4, "a": 4 }).unwrap_err();
    kit.move_to(10_000);
    kit.insert(doc! { "_id": 5, "a": 5, "u": 1 }).unwrap();
    kit.insert(doc! { "_id": 4, "a": 4 }).unwrap();
    check(&kit, &[3, 4, 5]);
    assert_eq!(kit.ids_by("u_1"), [5]);
}

#[test]
fn every_index_entry_is_put_again_when_a_document_is_renewed() {
    let kit = kit();
    kit.create_index(unique_index("u")).unwrap();
    kit.create_index(plain_index("tags")).unwrap();
    let document =
        |b: i32| doc! { "_id": 4, "a": 4, "b": b, "u": 1, "tags": document::array![1, 2] };
    kit.insert(document(1)).unwrap();
    kit.move_to(9_000);
    kit.replace(document(2), false).unwrap();
    kit.move_to(18_999);
    check(&kit, &[3, 4]);
    for index in ["u_1", "tags_1"] {
        assert!(kit.ids_by(index).contains(&4), "{index}");
    }
    kit.insert(doc! { "_id": 5, "u": 1 }).unwrap_err();
    kit.move_to(19_000);
    check(&kit, &[3]);
}

#[test]
fn a_write_that_changes_nothing_does_not_renew() {
    let kit = kit();
    kit.move_to(5_000);
    let updated = kit.replace(doc! { "_id": 1, "a": 1 }, false).unwrap();
    assert_eq!((updated.matched, updated.modified), (1, 0));
    kit.move_to(10_000);
    check(&kit, &[3]);
    let updated = kit.replace(doc! { "_id": 1, "a": 7 }, false).unwrap();
    assert_eq!((updated.matched, updated.modified), (0, 0));
    assert_eq!(kit.remove_by_id(1), 0);
    assert!(kit.find_and_replace(doc! { "_id": 1, "a": 7 }).unwrap().before.is_none());
    let updated = kit.replace(doc! { "_id": 1, "a": 7 }, true).unwrap();
    assert_eq!(updated.upserted, Some(Value::Int32(1)));
    check_unordered(&kit, &[1, 3]);
}

#[track_caller]
fn check_unordered(kit: &Kit, want: &[i64]) {
    assert_eq!(kit.all_ids(), want);
    let mut by_index = kit.ids_by("a_1");
    by_index.sort_unstable();
    assert_eq!(by_index, want);
    assert_eq!(kit.live_amount().documents, want.len() as i64);
}

#[test]
fn a_document_expired_on_arrival_is_acknowledged_and_absent() {
    let kit = Kit::default();
    kit.create_index(plain_index("a")).unwrap();
    kit.create_index(date_index("d", 10)).unwrap();
    kit.insert(doc! { "_id": 1, "a": 1, "d": at(-10_000) }).unwrap();
    check(&kit, &[]);
    kit.insert(doc! { "_id": 1, "a": 1, "d": at(0) }).unwrap();
    check(&kit, &[1]);
}

#[test]
fn a_collection_of_the_same_name_starts_anew() {
    let mut kit = kit();
    kit.move_to(10_000);
    let model = engine::Model::Documents;
    assert!(test_kit::ready(kit.engine.drop_collection(model, &kit.namespace())).unwrap());
    kit.restart();
    assert!(kit.engine.collection(model, &kit.namespace()).is_none());
    test_kit::ready(kit.engine.ensure_collection(model, &kit.namespace())).unwrap();
    assert_eq!(kit.all_ids(), [0_i64; 0]);
    assert_eq!(kit.live_amount().documents, 0);
    kit.insert(doc! { "_id": 1 }).unwrap();
    assert_eq!(kit.all_ids(), [1]);
}

#[test]
fn seconds_at_the_ends_of_calendars_do_not_wrap() {
    for second in [2_147_483_647_i64, 4_294_967_295] {
        let kit = Kit::default();
        kit.set_default(Some(2_147_483_647));
        kit.create_index(plain_index("a")).unwrap();
        kit.move_to(second * 1000 - START_MS);
        kit.insert(doc! { "_id": 1, "a": 1 }).unwrap();
        kit.insert(doc! { "_id": 2, "a": 2, "ttl": 2_147_483_647 }).unwrap();
        let deadline = (second + 2_147_483_647) * 1000 - START_MS;
        kit.move_to(deadline - 1);
        check(&kit, &[1, 2]);
        kit.move_to(deadline);
        check(&kit, &[]);
    }
}
