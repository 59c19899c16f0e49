//! Text indexes and searches: their results, order and refusals, and that documents
//! expire in them at their instant.

use crate::client::{Client, first_batch, number};
use crate::replies::{good, refused};
use document::{Document, Value, array, doc};

fn creation(key: Document, more: Document) -> Document {
    let mut index = doc! { "key": key, "name": "x" };
    more.into_iter().for_each(|(name, value)| index.push(name, value));
    doc! { "createIndexes": "c", "indexes": array![index] }
}

async fn insert(client: &mut Client, documents: Vec<Document>) {
    let documents = documents.into_iter().map(Value::Document).collect();
    good(client, doc! { "insert": "c", "documents": Value::Array(documents) }).await;
}

async fn listed(client: &mut Client) -> Document {
    first_batch(&good(client, doc! { "listIndexes": "c" }).await).remove(1)
}

fn search(words: &str) -> Document {
    doc! { "$text": doc! { "$search": words } }
}

fn score() -> Document {
    doc! { "$meta": "textScore" }
}

/// Returns the ids that a filter finds, in ascending order.
async fn ids(client: &mut Client, filter: Document) -> Vec<i64> {
    let reply = good(client, doc! { "find": "c", "filter": filter }).await;
    let mut found: Vec<i64> = first_batch(&reply).iter().map(|it| number(it, "_id")).collect();
    found.sort_unstable();
    found
}

/// Returns a client of a collection with five documents and a text index.
async fn client() -> Client {
    let mut client = Client::new();
    insert(
        &mut client,
        vec![
            doc! { "_id": 1, "title": "Coffee shop", "body": "We roast coffee." },
            doc! { "_id": 2, "title": "Tea", "body": "A dark roast is coffee." },
            doc! { "_id": 3, "title": "Cafés and shops", "body": array!["dark", "roast"] },
            doc! { "_id": 4, "title": 5, "other": "coffee" },
            doc! { "_id": 5, "title": "The running man", "body": "runs" },
        ],
    )
    .await;
    let key = doc! { "title": "text", "body": "text" };
    good(&mut client, creation(key, doc! { "weights": doc! { "title": 10 } })).await;
    client
}

#[tokio::test]
async fn a_text_index_is_listed_as_mongodb_lists_it() {
    let mut client = client().await;
    let want = doc! {
        "v": 2,
        "key": doc! { "_fts": "text", "_ftsx": 1 },
        "name": "x",
        "weights": doc! { "body": 1, "title": 10 },
        "default_language": "english",
        "language_override": "language",
        "textIndexVersion": 3,
    };
    let shown = listed(&mut client).await;
    assert_eq!(shown, want);
    // The listed specification can be sent back, and is the same index.
    let again = doc! { "createIndexes": "c", "indexes": array![shown.clone()] };
    let reply = good(&mut client, again).await;
    assert_eq!(number(&reply, "numIndexesAfter"), 2);
    let other = doc! { "createIndexes": "d", "indexes": array![shown] };
    good(&mut client, other).await;
    let message = refused(
        &mut client,
        doc! { "createIndexes": "c", "indexes": array![doc! { "key": doc! { "z": "text" }, "name": "y" }] },
        67,
    )
    .await;
    assert!(message.contains("only one text index per collection allowed"), "{message}");
    good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    let key = doc! { "a": -1, "$**": "text", "b": 1 };
    let more = doc! { "default_language": "german", "language_override": "idioma" };
    good(&mut client, creation(key, more)).await;
    let want = doc! {
        "v": 2,
        "key": doc! { "a": -1, "_fts": "text", "_ftsx": 1, "b": 1 },
        "name": "x",
        "weights": doc! { "$**": 1 },
        "default_language": "german",
        "language_override": "idioma",
        "textIndexVersion": 3,
    };
    assert_eq!(listed(&mut client).await, want);
}

#[tokio::test]
async fn searches_find_words_and_phrases() {
    let mut client = client().await;
    let more = |words: &str, name: &str| {
        let mut text = doc! { "$search": words };
        text.push(name, true);
        doc! { "$text": text }
    };
    for (filter, want) in [
        (search("coffee"), vec![1, 2]),
        (search("COFFEES tea"), vec![1, 2]),
        (search("shop"), vec![1, 3]),
        (search("run"), vec![5]),
        (search("the a we"), vec![]),
        (search(""), vec![]),
        (search("coffee -shop"), vec![2]),
        (search("-coffee"), vec![]),
        (search("\"dark roast\""), vec![2]),
        (search("roast -\"dark roast\""), vec![1, 3]),
        (search("cafe"), vec![3]),
        (more("cafe", "$diacriticSensitive"), vec![]),
        (more("cafés", "$diacriticSensitive"), vec![3]),
        (more("coffee", "$caseSensitive"), vec![1, 2]),
        (more("Tea", "$caseSensitive"), vec![2]),
        (more("tea", "$caseSensitive"), vec![]),
        (doc! { "$text": doc! { "$search": "running", "$language": "none" } }, vec![]),
        (doc! { "$text": doc! { "$search": "coffee" }, "_id": doc! { "$gt": 1 } }, vec![2]),
        (doc! { "$and": array![search("roast"), doc! { "title": "Tea" }] }, vec![2]),
    ] {
        assert_eq!(ids(&mut client, filter.clone()).await, want, "{filter:?}");
        let count = good(&mut client, doc! { "count": "c", "query": filter.clone() }).await;
        assert_eq!(number(&count, "n"), want.len() as i64, "{filter:?}");
        let pipeline = array![doc! { "$match": filter.clone() }, doc! { "$count": "n" }];
        let command = doc! { "aggregate": "c", "pipeline": pipeline, "cursor": doc! {} };
        let counted = first_batch(&good(&mut client, command).await);
        let n = counted.first().map_or(0, |row| number(row, "n"));
        assert_eq!(n, want.len() as i64, "{filter:?}");
    }
    // Searches select the documents of writes.
    let set = doc! { "$set": doc! { "body": "espresso" } };
    let update = doc! { "q": search("tea"), "u": set };
    good(&mut client, doc! { "update": "c", "updates": array![update] }).await;
    assert_eq!(ids(&mut client, search("espresso")).await, [2]);
    assert_eq!(ids(&mut client, search("coffee")).await, [1]);
    let delete = doc! { "q": search("espresso shop"), "limit": 0 };
    good(&mut client, doc! { "delete": "c", "deletes": array![delete] }).await;
    assert_eq!(ids(&mut client, doc! {}).await, [4, 5]);
}

#[tokio::test]
async fn documents_are_scored() {
    let mut client = client().await;
    let find = doc! {
        "find": "c", "filter": search("coffee shop"),
        "projection": doc! { "title": 1, "score": score() }, "sort": doc! { "score": score() },
    };
    let rows = first_batch(&good(&mut client, find).await);
    let shown = |row: &Document| {
        let names: Vec<&str> = row.fields().iter().map(|(name, _)| name.as_str()).collect();
        let Some(Value::Double(score)) = row.get("score") else { panic!("{row:?}") };
        (number(row, "_id"), names.join(" "), *score)
    };
    let names = || "_id title score".to_owned();
    let want = [
        // 10 * 0.75 for each word of the title, 0.75 for a word of two in the body.
        (1, names(), 15.75),
        (3, names(), 7.5),
        (2, names(), 0.5 / 3.0 + 0.5),
    ];
    for (row, (id, names, score)) in rows.iter().zip(&want) {
        let found = shown(row);
        assert_eq!((found.0, &found.1), (*id, names));
        assert!((found.2 - score).abs() < 1e-9, "{row:?}");
    }
    assert_eq!(rows.len(), 3);
    // A projection of the score alone returns all fields.
    let find = doc! {
        "find": "c", "filter": search("tea"), "projection": doc! { "s": score() },
    };
    let rows = first_batch(&good(&mut client, find).await);
    let want = doc! { "_id": 2, "title": "Tea", "body": "A dark roast is coffee.", "s": 11.0 };
    assert_eq!(rows, [want]);
    let find = doc! {
        "find": "c", "filter": search("tea"), "projection": doc! { "s": score(), "body": 0 },
    };
    let rows = first_batch(&good(&mut client, find).await);
    assert_eq!(rows, [doc! { "_id": 2, "title": "Tea", "s": 11.0 }]);
    // A sort needs no projection, and leaves nothing in the documents.
    let find = doc! {
        "find": "c", "filter": search("run tea"), "sort": doc! { "x": score(), "_id": 1 },
    };
    let rows = first_batch(&good(&mut client, find).await);
    let names: Vec<_> = rows.iter().map(|row| (number(row, "_id"), row.len())).collect();
    assert_eq!(names, [(2, 3), (5, 3)]);
    for (stages, want) in [
        (
            array![
                doc! { "$sort": doc! { "score": score() } },
                doc! { "$limit": 1 },
                doc! { "$project": doc! { "title": 1 } }
            ],
            vec![doc! { "_id": 2, "title": "Tea" }],
        ),
        (
            array![
                doc! { "$project": doc! { "_id": 1, "s": score() } },
                doc! { "$match": doc! { "s": doc! { "$gt": 5 } } }
            ],
            vec![doc! { "_id": 2, "s": 11.0 }],
        ),
        (
            array![
                doc! { "$group": doc! { "_id": Value::Null, "best": doc! { "$max": score() } } }
            ],
            vec![doc! { "_id": Value::Null, "best": 11.0 }],
        ),
    ] {
        let mut pipeline = vec![Value::Document(doc! { "$match": search("tea") })];
        let Value::Array(stages) = stages else { panic!() };
        pipeline.extend(stages);
        let command =
            doc! { "aggregate": "c", "pipeline": Value::Array(pipeline), "cursor": doc! {} };
        assert_eq!(first_batch(&good(&mut client, command).await), want);
    }
}

#[tokio::test]
async fn searches_that_cannot_be_made_are_refused() {
    let mut client = client().await;
    let text = |value: Value| doc! { "$text": value };
    let find = |filter: Document| doc! { "find": "c", "filter": filter };
    let aggregate = |stages: Value| {
        doc! { "aggregate": "c", "pipeline": stages, "cursor": doc! {} }
    };
    for (command, code) in [
        (find(text(5.into())), 2),
        (find(text(doc! {}.into())), 4),
        (find(text(doc! { "$search": 5 }.into())), 14),
        (find(text(doc! { "$search": "a", "$language": "klingon" }.into())), 2),
        (find(text(doc! { "$search": "a", "$language": 1 }.into())), 14),
        (find(text(doc! { "$search": "a", "$caseSensitive": 1 }.into())), 14),
        (find(text(doc! { "$search": "a", "x": 1 }.into())), 2),
        (find(doc! { "$and": array![search("a"), search("b")] }), 2),
        (find(doc! { "$or": array![search("a"), doc! { "unindexed": 1 }] }), 291),
        (find(doc! { "$or": array![search("a"), doc! { "_id": 1 }, doc! {}] }), 291),
        (find(doc! { "$or": array![search("a"), search("b")] }), 2),
        (find(doc! { "$nor": array![search("a")] }), 2),
        (find(doc! { "$nor": array![doc! { "$or": array![search("a"), doc! { "_id": 1 }] }] }), 2),
        (find(doc! { "a": doc! { "$elemMatch": search("a") } }), 2),
        (doc! { "find": "c", "filter": search("a"), "hint": "x" }, 2),
        (doc! { "find": "c", "filter": search("a"), "returnKey": true }, 2),
        (doc! { "find": "c", "filter": search("a"), "sort": doc! { "$natural": 1 } }, 2),
        (doc! { "find": "c", "hint": "x" }, 2),
        (doc! { "find": "none", "filter": search("a"), "sort": doc! { "s": 2 } }, 15975),
        (doc! { "find": "c", "sort": doc! { "s": score() } }, 40218),
        (doc! { "find": "c", "projection": doc! { "s": score() } }, 40218),
        (
            doc! { "find": "c", "filter": search("a"), "projection": doc! { "s": doc! { "$meta": "x" } } },
            { 17308 },
        ),
        (aggregate(array![doc! { "$project": doc! { "s": score() } }]), 40218),
        (doc! { "findAndModify": "c", "remove": true, "fields": doc! { "s": score() } }, 40218),
        (doc! { "findAndModify": "c", "remove": true, "sort": doc! { "s": score() } }, 40218),
        (
            doc! { "update": "c", "updates": array![doc! {
                "q": doc! { "_id": 1 }, "u": array![doc! { "$set": doc! { "s": score() } }],
            }] },
            40218,
        ),
        (
            doc! { "create": "v", "viewOn": "c", "pipeline": array![doc! { "$sort": doc! { "s": score() } }] },
            40218,
        ),
        (find(doc! { "$expr": doc! { "$gt": array![score(), 1] } }), 40218),
        (aggregate(array![doc! { "$match": doc! {} }, doc! { "$match": search("a") }]), 17313),
        (
            aggregate(array![
                doc! { "$match": search("a") },
                doc! { "$group": doc! { "_id": 1 } },
                doc! { "$sort": doc! { "s": score() } }
            ]),
            238,
        ),
        (
            aggregate(array![
                doc! { "$match": search("a") },
                doc! { "$addFields": doc! { "s": score(), "all": "$$ROOT" } }
            ]),
            238,
        ),
        (
            doc! { "insert": "c", "documents": array![doc! { "_id": 9, "language": "klingon" }] },
            17262,
        ),
        (doc! { "insert": "c", "documents": array![doc! { "_id": 9, "language": 1 }] }, 17261),
    ] {
        refused(&mut client, command, code).await;
    }
    good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    let message = refused(&mut client, find(search("a")), 27).await;
    assert_eq!(message, "text index required for $text query");
    good(&mut client, creation(doc! { "title": "text" }, doc! { "hidden": true })).await;
    refused(&mut client, find(search("a")), 27).await;
}

#[tokio::test]
async fn text_indexes_that_cannot_be_made_are_refused() {
    let a = || doc! { "a": "text" };
    let many: Document = (0..1001).map(|at| (format!("f{at}"), Value::Int32(1))).collect();
    let mut client = Client::new();
    for (key, more, code) in [
        (doc! { "a": "text", "b": 1, "c": "text" }, doc! {}, 67),
        (doc! { "a": "text", "b": "hashed" }, doc! {}, 67),
        (a(), doc! { "unique": true }, 67),
        (a(), doc! { "expireAfterSeconds": 5 }, 67),
        (a(), doc! { "weights": 5 }, 67),
        (a(), doc! { "weights": doc! { "a": 0 } }, 67),
        (a(), doc! { "weights": doc! { "a": 1_000_000_000 } }, 67),
        (a(), doc! { "weights": doc! { "a": "x" } }, 67),
        (a(), doc! { "weights": doc! { "a.": 1 } }, 67),
        (a(), doc! { "weights": many }, 67),
        (a(), doc! { "default_language": "klingon" }, 67),
        (a(), doc! { "default_language": 5 }, 67),
        (a(), doc! { "language_override": "" }, 67),
        (a(), doc! { "language_override": "a.b" }, 67),
        (a(), doc! { "textIndexVersion": 4 }, 67),
        (doc! { "_fts": "text", "_ftsx": 1 }, doc! {}, 67),
        (doc! { "a": 1 }, doc! { "weights": doc! { "a": 1 } }, 115),
    ] {
        refused(&mut client, creation(key, more), code).await;
        let reply = good(&mut client, doc! { "listIndexes": "c" }).await;
        assert_eq!(first_batch(&reply).len(), 1);
    }
}

#[tokio::test]
async fn fields_before_the_texts_need_equality() {
    let mut client = Client::new();
    good(&mut client, creation(doc! { "kind": 1, "t": "text", "z": 1 }, doc! {})).await;
    let row = |id: i32, kind: i32| doc! { "_id": id, "kind": kind, "t": "dark roast", "z": id };
    insert(&mut client, vec![row(1, 1), row(2, 2), row(3, 1), doc! { "_id": 4, "t": "dark" }])
        .await;
    let with = |kind: Value| doc! { "kind": kind, "$text": doc! { "$search": "dark roast" } };
    assert_eq!(ids(&mut client, with(1.into())).await, [1, 3]);
    assert_eq!(ids(&mut client, with(Value::Null)).await, [4]);
    assert_eq!(ids(&mut client, with(doc! { "$in": array![1, 2] }.into())).await, [1, 2, 3]);
    for filter in [search("dark"), with(doc! { "$gt": 1 }.into())] {
        refused(&mut client, doc! { "find": "c", "filter": filter }, 291).await;
    }
    let list = array![doc! { "_id": 5, "kind": array![1], "t": "x" }];
    refused(&mut client, doc! { "insert": "c", "documents": list }, 16675).await;
}

#[tokio::test]
async fn languages_are_those_of_the_documents() {
    let mut client = Client::new();
    good(&mut client, creation(doc! { "$**": "text" }, doc! {})).await;
    insert(
        &mut client,
        vec![
            doc! { "_id": 1, "t": "the houses" },
            doc! { "_id": 2, "language": "german", "t": "Die Häuser" },
            doc! { "_id": 3, "in": array![doc! { "language": "none", "t": "houses the" }] },
        ],
    )
    .await;
    let in_language = |words: &str, language: &str| {
        doc! { "$text": doc! { "$search": words, "$language": language } }
    };
    assert_eq!(ids(&mut client, search("house")).await, [1]);
    assert_eq!(ids(&mut client, in_language("Haus", "de")).await, [2]);
    assert_eq!(ids(&mut client, in_language("the", "none")).await, [3]);
}

#[tokio::test]
async fn found_documents_expire_at_their_instant() {
    let mut client = Client::new();
    good(&mut client, creation(doc! { "t": "text" }, doc! {})).await;
    let system = array![doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": -1 }];
    good(&mut client, doc! { "createIndexes": "c", "indexes": system }).await;
    let row = |id: i32| doc! { "_id": id, "t": "coffee" };
    let mut early = row(1);
    early.push("ttl", 10);
    insert(&mut client, vec![early, row(2), row(3)]).await;
    let sorted = || {
        let sort = doc! { "s": score(), "_id": 1 };
        doc! { "find": "c", "filter": search("coffee"), "sort": sort, "batchSize": 1, "$db": "db" }
    };
    let advance = |seconds: f64| {
        doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" }
    };
    // A sorted batch that was read before the instant does not contain the document after it.
    let mut waiting = sorted();
    waiting.insert("sort", doc! { "_id": -1 });
    let reply = client.run(waiting).await;
    assert_eq!(number(&first_batch(&reply)[0], "_id"), 3);
    let cursor = crate::client::cursor_id(&reply);
    assert_eq!(number(&client.run(advance(9.999)).await, "ok"), 1);
    assert_eq!(ids(&mut client, search("coffee")).await, [1, 2, 3]);
    assert_eq!(number(&client.run(advance(0.001)).await, "ok"), 1);
    assert_eq!(ids(&mut client, search("coffee")).await, [2, 3]);
    let reply = client.run(sorted()).await;
    assert_eq!(number(&first_batch(&reply)[0], "_id"), 2);
    let more = good(&mut client, doc! { "getMore": cursor, "collection": "c" }).await;
    let Some(Value::Array(rest)) = crate::client::cursor(&more).get("nextBatch").cloned() else {
        panic!("{more:?}")
    };
    assert_eq!(rest.len(), 1);
}

#[tokio::test]
async fn a_search_may_be_an_alternative_if_the_others_have_indexes() {
    let mut client = client().await;
    let or = |other: Document| doc! { "$or": array![search("tea"), other] };
    assert_eq!(ids(&mut client, or(doc! { "_id": 4 })).await, [2, 4]);
    assert_eq!(ids(&mut client, or(doc! { "_id": 2 })).await, [2]);
    good(&mut client, creation_named("other", doc! { "other": 1 })).await;
    assert_eq!(ids(&mut client, or(doc! { "other": "coffee" })).await, [2, 4]);
    // Other conditions may bound an alternative, and nested ones may contain the search.
    let both =
        doc! { "$or": array![search("coffee"), doc! { "body": "runs" }], "_id": doc! { "$gt": 1 } };
    assert_eq!(ids(&mut client, both).await, [2, 5]);
    let inner =
        doc! { "$or": array![search("tea"), doc! { "_id": 3 }], "title": doc! { "$ne": 5 } };
    let nested = doc! { "$or": array![doc! { "$and": array![inner] }, doc! { "other": "coffee" }] };
    assert_eq!(ids(&mut client, nested).await, [2, 3, 4]);
    let three = array![doc! { "_id": 5 }, doc! { "$or": array![search("tea"), doc! { "_id": 1 }] }];
    assert_eq!(ids(&mut client, doc! { "$or": three }).await, [1, 2, 5]);
    // What only another alternative matches has no score.
    let find = doc! {
        "find": "c", "filter": or(doc! { "_id": doc! { "$in": array![4, 5] } }),
        "projection": doc! { "_id": 1, "s": score() }, "sort": doc! { "s": score(), "_id": -1 },
    };
    let rows = first_batch(&good(&mut client, find).await);
    let want = [(2, 11.0), (5, 0.0), (4, 0.0)].map(|(id, score)| doc! { "_id": id, "s": score });
    assert_eq!(rows, want);
    let stages = array![
        doc! { "$match": or(doc! { "_id": 4 }) },
        doc! { "$group": doc! { "_id": Value::Null, "best": doc! { "$max": score() } } }
    ];
    let command = doc! { "aggregate": "c", "pipeline": stages, "cursor": doc! {} };
    let want = doc! { "_id": Value::Null, "best": 11.0 };
    assert_eq!(first_batch(&good(&mut client, command).await), [want]);
    let hinted = doc! { "find": "c", "filter": or(doc! { "_id": 4 }), "hint": "other" };
    refused(&mut client, hinted, 2).await;
    // Documents expire at their instant through each alternative.
    let system = array![doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": -1 }];
    good(&mut client, doc! { "createIndexes": "c", "indexes": system }).await;
    insert(
        &mut client,
        vec![
            doc! { "_id": 6, "title": "tea", "ttl": 10 },
            doc! { "_id": 7, "other": "x", "ttl": 20 },
        ],
    )
    .await;
    let filter = || or(doc! { "other": "x" });
    for (seconds, want) in
        [(9.999, vec![2, 6, 7]), (0.001, vec![2, 7]), (9.999, vec![2, 7]), (0.001, vec![2])]
    {
        let advance = doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
        assert_eq!(number(&client.run(advance).await, "ok"), 1);
        assert_eq!(ids(&mut client, filter()).await, want);
    }
}

/// Returns the command that creates an index of this name.
fn creation_named(name: &str, key: Document) -> Document {
    doc! { "createIndexes": "c", "indexes": array![doc! { "key": key, "name": name }] }
}
