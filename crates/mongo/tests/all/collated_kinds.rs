//! Collations together with other kinds of indexes and collections: hashed, wildcard and text
//! indexes, bounds of keys, views, `$out` and `$merge`, capped and clustered collections.

use document::{Document, Value, array, doc};

use crate::{
    client::{Client, first_batch, number},
    collations::{by, client, code_of, filled, found, good, index, loose, run, used},
};

fn collated() -> Document {
    doc! { "collation": loose() }
}

fn simple() -> Document {
    doc! { "collation": doc! { "locale": "simple" } }
}

fn joined(parts: impl IntoIterator<Item = Document>) -> Document {
    parts.into_iter().flatten().collect()
}

fn insert(collection: &str, document: Document) -> Document {
    doc! { "insert": collection, "documents": array![document] }
}

async fn code(client: &mut Client, command: Document) -> i64 {
    code_of(&run(client, command).await)
}

#[tokio::test]
async fn hashed_and_wildcard_indexes_serve_texts_of_their_collation() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    let strict = || doc! { "collation": doc! { "locale": "en", "strength": 1 } };
    good(c, index(doc! { "name": "hashed" }, "hashed", collated())).await;
    let equal = || doc! { "name": "ALice" };
    assert_eq!(used(c, equal(), collated()).await, "hashed");
    assert_eq!(used(c, equal(), doc! {}).await, "");
    assert_eq!(used(c, equal(), strict()).await, "");
    assert_eq!(by(c, equal()).await, [1, 2]);
    assert_eq!(by(c, doc! { "name": doc! { "$in": array!["BOB", "ÇELIK"] } }).await, [0, 3, 4]);
    let hint = || joined([collated(), doc! { "hint": "hashed" }]);
    assert_eq!(found(c, doc! { "name": "bOB" }, hint()).await, [0, 3]);

    good(c, index(doc! { "in.$**": 1 }, "below", collated())).await;
    let equal = || doc! { "in.n": "ALice" };
    assert_eq!(used(c, equal(), collated()).await, "below");
    assert_eq!(used(c, equal(), doc! {}).await, "");
    assert_eq!(used(c, doc! { "in.n": 7 }, strict()).await, "below");
    assert_eq!(by(c, equal()).await, [1, 2]);
    let between = || doc! { "in.n": doc! { "$gte": "BOB", "$lt": "ÇA" } };
    assert_eq!(used(c, between(), collated()).await, "below");
    assert_eq!(by(c, between()).await, [0, 3]);
    assert_eq!(found(c, equal(), doc! {}).await, Vec::<i64>::new());
    // An update moves the entries.
    let statement =
        doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "name": "x", "in.n": "X" } } };
    good(c, doc! { "update": "c", "updates": array![statement] }).await;
    assert_eq!(by(c, equal()).await, [2]);
    assert_eq!(found(c, doc! { "name": "ALICE" }, hint()).await, [2]);
}

#[tokio::test]
async fn documents_expire_through_hashed_and_wildcard_indexes_to_the_second() {
    let mut client = client().await;
    let c = &mut client;
    good(c, doc! { "create": "c", "collation": loose() }).await;
    good(c, index(doc! { "name": "hashed" }, "hashed", doc! {})).await;
    good(c, index(doc! { "in.$**": 1 }, "below", doc! {})).await;
    good(c, index(doc! { "_ts": 1 }, "_ts_1", doc! { "expireAfterSeconds": 10 })).await;
    good(c, insert("c", doc! { "_id": "A", "name": "Ann", "in": doc! { "n": "Ann" } })).await;
    let advance = |seconds: i64| doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    for (seconds, live) in [(9, 1), (1, 0)] {
        good(c, advance(seconds)).await;
        for (filter, name) in [
            (doc! { "name": "ANN" }, "hashed"),
            (doc! { "in.n": "ANN" }, "below"),
            (doc! { "_id": "a" }, "_id_"),
        ] {
            assert_eq!(used(c, filter.clone(), doc! {}).await, name);
            let find = doc! { "find": "c", "filter": filter.clone() };
            assert_eq!(first_batch(&good(c, find).await).len(), live, "{filter:?}");
            let count = doc! { "count": "c", "query": filter };
            assert_eq!(number(&good(c, count).await, "n"), live as i64);
        }
    }
    good(c, insert("c", doc! { "_id": "a" })).await;
}

#[tokio::test]
async fn a_text_index_has_no_collation() {
    let mut client = filled(collated()).await;
    let c = &mut client;
    let text = |more: Document| index(doc! { "name": "text" }, "texts", more);
    let refused = run(c, text(doc! {})).await;
    assert_eq!(code_of(&refused), 67, "{refused:?}");
    let message = refused.get("errmsg").and_then(|it| it.as_ref().as_str().map(str::to_owned));
    assert!(
        message.unwrap_or_default().starts_with("Index type 'text' does not support collation: "),
        "{refused:?}"
    );
    assert_eq!(code(c, text(collated())).await, 67);
    let custom = doc! { "key": doc! { "name": "text" }, "name": "texts" };
    let id = doc! { "key": doc! { "_id": 1 }, "name": "_id_" };
    let replaced = doc! { "customAction": "UpdateCollection", "collection": "c", "indexes": array![id, custom] };
    assert_eq!(code(c, replaced).await, 67);
    good(c, text(simple())).await;
    for collation in [doc! {}, collated(), simple()] {
        let search = doc! { "$text": doc! { "$search": "bob" } };
        assert_eq!(found(c, search, collation).await, [0, 3]);
    }
    // A condition beside the search compares by the collation.
    let search = || doc! { "$text": doc! { "$search": "bob" }, "in.n": "BOB" };
    assert_eq!(found(c, search(), doc! {}).await, [0, 3]);
    assert_eq!(found(c, search(), simple()).await, Vec::<i64>::new());
}

#[tokio::test]
async fn bounds_of_keys_compare_by_the_collation_of_the_index() {
    let mut client = filled(collated()).await;
    let c = &mut client;
    good(c, index(doc! { "name": 1 }, "names", doc! {})).await;
    let between = |field: &str, min: Value, max: Value, hint: &str| {
        let bound = |value| -> Document { [(field.to_owned(), value)].into_iter().collect() };
        doc! { "hint": hint, "min": bound(min), "max": bound(max) }
    };
    let names = || between("name", "ALICE".into(), "celik".into(), "names");
    assert_eq!(found(c, doc! {}, names()).await, [0, 1, 2, 3]);
    // Texts of another collation have no place among the keys; numbers have.
    let find = joined([doc! { "find": "c" }, names(), simple()]);
    assert_eq!(code(c, find).await, 51174);
    let numbers = between("name", 1.into(), 2.into(), "names");
    assert_eq!(found(c, doc! {}, joined([numbers, simple()])).await, Vec::<i64>::new());
    for id in ["b", "A", "C"] {
        good(c, insert("c", doc! { "_id": id })).await;
    }
    let ids = between("_id", "a".into(), "c".into(), "_id_");
    let find = joined([doc! { "find": "c" }, ids, doc! { "sort": doc! { "_id": 1 } }]);
    let reply = good(c, find).await;
    let found: Vec<_> = first_batch(&reply).iter().map(|it| it.get("_id").cloned()).collect();
    assert_eq!(found, [Some("A".into()), Some("b".into())]);
}

#[tokio::test]
async fn a_view_without_a_collation_refuses_one() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    let view = |name: &str| doc! { "create": name, "viewOn": "c", "pipeline": array![] };
    good(c, joined([view("v"), simple()])).await;
    let named = |collation: Document| {
        joined([doc! { "find": "v", "filter": doc! { "name": "bob" } }, collation])
    };
    assert_eq!(first_batch(&good(c, named(doc! {})).await).len(), 1);
    assert_eq!(first_batch(&good(c, named(simple())).await).len(), 1);
    assert_eq!(code(c, named(collated())).await, 167);
    assert_eq!(code(c, joined([doc! { "count": "v" }, collated()])).await, 167);
    let distinct = doc! { "distinct": "v", "key": "name" };
    assert_eq!(code(c, joined([distinct, collated()])).await, 167);
    let lookup = doc! { "from": "v", "localField": "name", "foreignField": "name", "as": "l" };
    let joins = doc! { "aggregate": "c", "pipeline": array![doc! { "$lookup": lookup }], "cursor": doc! {} };
    assert_eq!(code(c, joined([joins.clone(), collated()])).await, 167);
    good(c, joins).await;
    // The default of the collection below is not that of the view.
    good(c, doc! { "create": "d", "collation": loose() }).await;
    good(c, insert("d", doc! { "_id": 1, "name": "Bob" })).await;
    good(c, doc! { "create": "w", "viewOn": "d" }).await;
    let find = doc! { "find": "w", "filter": doc! { "name": "bob" } };
    assert!(first_batch(&good(c, find).await).is_empty());
}

#[tokio::test]
async fn out_keeps_the_collation_and_merge_needs_that_of_the_operation() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    good(c, doc! { "create": "t", "collation": loose() }).await;
    let piped = |stages: Value, more: Document| {
        joined([doc! { "aggregate": "c", "pipeline": stages, "cursor": doc! {} }, more])
    };
    let ids = doc! { "$project": doc! { "_id": "$name" } };
    let out = |limit: i32| array![ids.clone(), doc! { "$limit": limit }, doc! { "$out": "t" }];
    good(c, piped(out(2), doc! {})).await;
    assert_eq!(c.all("t").await.len(), 2);
    assert_eq!(code(c, insert("t", doc! { "_id": "ALICE" })).await, 11000);
    // Ids that are equal by the target's collation are refused, and the target stays.
    assert_eq!(code(c, piped(out(3), doc! {})).await, 11000);
    assert_eq!(c.all("t").await.len(), 2);
    let reply = good(c, doc! { "listIndexes": "t" }).await;
    assert_eq!(first_batch(&reply).len(), 1, "{reply:?}");
    assert!(first_batch(&reply)[0].get("collation").is_some());

    let merge = |on: &str| {
        let stage = doc! { "into": "t", "on": on, "whenNotMatched": "discard" };
        let named = doc! { "$project": doc! { "_id": "$name", "name": 1 } };
        array![doc! { "$limit": 2 }, named, doc! { "$merge": stage }]
    };
    assert_eq!(code(c, piped(merge("_id"), doc! {})).await, 51183);
    good(c, piped(merge("_id"), collated())).await;
    assert_eq!(c.all("t").await.len(), 2);
    let unique = doc! { "key": doc! { "name": 1 }, "name": "u", "unique": true };
    good(c, doc! { "createIndexes": "t", "indexes": array![unique] }).await;
    assert_eq!(code(c, piped(merge("name"), doc! {})).await, 51183);
    good(c, piped(array![doc! { "$match": doc! { "_id": 9 } }, merge_stage()], collated())).await;
}

fn merge_stage() -> Document {
    doc! { "$merge": doc! { "into": "t", "on": "name" } }
}

#[tokio::test]
async fn ids_of_capped_and_clustered_collections_are_unique_by_the_collation() {
    let mut client = client().await;
    let c = &mut client;
    let clustered = doc! { "key": doc! { "_id": 1 }, "unique": true, "name": "key" };
    for (name, options) in [
        ("capped", doc! { "capped": true, "size": 4096, "max": 2 }),
        ("clustered", doc! { "clusteredIndex": clustered }),
        ("plain", doc! {}),
    ] {
        good(c, joined([doc! { "create": name, "collation": loose() }, options])).await;
        good(c, insert(name, doc! { "_id": "b" })).await;
        assert_eq!(code(c, insert(name, doc! { "_id": "B" })).await, 11000, "{name}");
        good(c, insert(name, doc! { "_id": "a" })).await;
        let find = doc! { "find": name, "filter": doc! { "_id": "A" } };
        assert_eq!(first_batch(&good(c, find).await).len(), 1, "{name}");
        // Internal indexes are in no list and no count.
        let listed = good(c, doc! { "listIndexes": name }).await;
        assert_eq!(first_batch(&listed).len(), 1, "{listed:?}");
        assert!(first_batch(&listed)[0].get("collation").is_some(), "{listed:?}");
        let spec = doc! { "key": doc! { "n": 1 }, "name": "n" };
        let made = good(c, doc! { "createIndexes": name, "indexes": array![spec] }).await;
        assert_eq!(number(&made, "numIndexesBefore"), 1, "{name}");
        assert_eq!(number(&good(c, doc! { "collStats": name }).await, "nindexes"), 2, "{name}");
        assert_eq!(number(&good(c, doc! { "validate": name }).await, "nIndexes"), 2, "{name}");
        let dropped = good(c, doc! { "dropIndexes": name, "index": "*" }).await;
        assert_eq!(number(&dropped, "nIndexesWas"), 2, "{name}");
        assert_eq!(code(c, insert(name, doc! { "_id": "A" })).await, 11000, "{name}");
        assert_ne!(code(c, doc! { "dropIndexes": name, "index": "_id_" }).await, 0, "{name}");
    }
    // An evicted id is free.
    good(c, insert("capped", doc! { "_id": "c" })).await;
    good(c, insert("capped", doc! { "_id": "B" })).await;
    let rows: Vec<_> = first_batch(&good(c, doc! { "find": "capped" }).await)
        .iter()
        .map(|it| it.get("_id").cloned())
        .collect();
    assert_eq!(rows, [Some("c".into()), Some("B".into())]);
    // A conversion and a copy keep the collation.
    good(c, doc! { "convertToCapped": "plain", "size": 4096 }).await;
    let copy = doc! { "cloneCollectionAsCapped": "plain", "toCollection": "copy", "size": 4096 };
    good(c, copy).await;
    for name in ["plain", "copy"] {
        assert_eq!(code(c, insert(name, doc! { "_id": "A" })).await, 11000, "{name}");
        assert_eq!(number(&good(c, doc! { "count": name }).await, "n"), 2, "{name}");
    }
}
