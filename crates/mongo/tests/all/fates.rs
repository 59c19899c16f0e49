//! `ebbExpiry` with ids: when each document expires and why, for every class (`inherit`, `explicit`
//! or `never`, by the document's `ttl`), every default time to live and kind of date index; expired
//! documents are not listed.

use document::{Document, Value, array, doc};
use test_kit::START_MS;

use crate::client::{Client, number};

fn at(seconds: i64) -> Value {
    Value::DateTime(START_MS + seconds * 1_000)
}

async fn ask(client: &mut Client, ids: Value) -> Document {
    client.run(doc! { "ebbExpiry": "c", "ids": ids, "$db": "db" }).await
}

async fn good(client: &mut Client, command: Document) {
    let reply = client.run(command.clone()).await;
    assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
}

async fn insert(client: &mut Client, documents: &[Document]) {
    let reply = client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", documents)]).await;
    assert_eq!(number(&reply, "n"), documents.len() as i64, "{reply:?}");
}

async fn index(client: &mut Client, key: &str, more: Document) {
    let mut pattern = Document::new();
    pattern.push(key, 1);
    let mut index = doc! { "key": pattern, "name": format!("by {key}") };
    more.into_iter().for_each(|(name, value)| index.push(name, value));
    let indexes = Value::Array(vec![Value::Document(index)]);
    good(client, doc! { "createIndexes": "c", "indexes": indexes, "$db": "db" }).await;
}

/// Returns ids, classes, expiry times and reasons.
fn fates(reply: &Document) -> Vec<(Value, Value, Value, Value)> {
    let Some(Value::Array(documents)) = reply.get("documents") else { panic!("{reply:?}") };
    let fate = |value: &Value| {
        let of = value.as_ref().as_document().unwrap().to_tree();
        let names: Vec<_> = of.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["_id", "written", "class", "diesAt", "by"]);
        assert_eq!(of.get("written"), Some(&at(0)));
        let get = |name| of.get(name).unwrap().clone();
        (get("_id"), get("class"), get("diesAt"), get("by"))
    };
    documents.iter().map(fate).collect()
}

#[tokio::test]
async fn every_class_under_every_default() {
    let nothing = (Value::Null, Value::Null);
    for (default, shown, inherit, explicit) in [
        (None, Value::Null, nothing.clone(), nothing.clone()),
        (Some(-1), Value::Int32(-1), nothing.clone(), (at(20), "ttl".into())),
        (Some(10), Value::Int64(10), (at(10), "default".into()), (at(20), "ttl".into())),
    ] {
        let mut client = Client::new();
        if let Some(seconds) = default {
            let key = doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": seconds };
            let indexes = array![key];
            good(&mut client, doc! { "createIndexes": "c", "indexes": indexes, "$db": "db" }).await;
        }
        let documents =
            [doc! { "_id": 1 }, doc! { "_id": 2, "ttl": 20 }, doc! { "_id": 3, "ttl": -1 }];
        insert(&mut client, &documents).await;
        let reply = ask(&mut client, array![3, 2, 7, 1]).await;
        assert_eq!(reply.get("default"), Some(&shown), "{default:?}");
        let want = [
            (Value::Int32(3), "never".into(), Value::Null, Value::Null),
            (Value::Int32(2), "explicit".into(), explicit.0, explicit.1),
            (Value::Int32(1), "inherit".into(), inherit.0, inherit.1),
        ];
        assert_eq!(fates(&reply), want, "{default:?}");
    }
}

#[tokio::test]
async fn the_earliest_rule_is_named() {
    let mut client = Client::new();
    index(&mut client, "d", doc! { "expireAfterSeconds": 5 }).await;
    let partial = doc! { "kind": "a" };
    let more = doc! { "expireAfterSeconds": 1, "partialFilterExpression": partial };
    index(&mut client, "p", more).await;
    index(&mut client, "h", doc! { "expireAfterSeconds": 0, "hidden": true }).await;
    index(&mut client, "_ts", doc! { "expireAfterSeconds": 30 }).await;
    index(&mut client, "plain", doc! {}).await;
    for (id, more, want) in [
        (1, doc! {}, (at(30), "default")),
        (2, doc! { "d": at(7) }, (at(12), "by d")),
        (3, doc! { "d": at(7), "ttl": 3 }, (at(3), "ttl")),
        (4, doc! { "d": at(7), "ttl": -1 }, (at(12), "by d")),
        // The earliest date of an array counts.
        (5, doc! { "d": array![at(40), at(9), "x", at(12)] }, (at(14), "by d")),
        (6, doc! { "p": at(2), "kind": "a" }, (at(3), "by p")),
        // An index whose filter excludes the document does not expire it.
        (7, doc! { "p": at(2), "kind": "b" }, (at(30), "default")),
        (8, doc! { "h": at(2), "d": at(1) }, (at(2), "by h")),
        (9, doc! { "d": at(25) }, (at(30), "default")),
        (10, doc! { "plain": at(1) }, (at(30), "default")),
        (11, doc! { "d": "tomorrow", "ttl": 31 }, (at(31), "ttl")),
        (12, doc! { "d": Value::DateTime(START_MS + 1) }, {
            (Value::DateTime(START_MS + 5_001), "by d")
        }),
    ] {
        let mut document = doc! { "_id": id };
        more.into_iter().for_each(|(name, value)| document.push(name, value));
        insert(&mut client, &[document.clone()]).await;
        let fates = fates(&ask(&mut client, array![id]).await);
        let got: Vec<_> = fates.into_iter().map(|(_, _, at, by)| (at, by)).collect();
        assert_eq!(got, [(want.0, Value::from(want.1))], "{document:?}");
    }
    good(&mut client, doc! { "dropIndexes": "c", "index": "by d", "$db": "db" }).await;
    let fates = fates(&ask(&mut client, array![2]).await);
    assert_eq!((&fates[0].2, &fates[0].3), (&at(30), &"default".into()));
}

#[tokio::test]
async fn the_dead_are_left_out_at_their_instant() {
    let mut client = Client::new();
    index(&mut client, "_ts", doc! { "expireAfterSeconds": 10 }).await;
    insert(&mut client, &[doc! { "_id": 1 }, doc! { "_id": 2, "ttl": 12 }]).await;
    for (seconds, left) in [(9.999, 2), (0.001, 1), (1.999, 1), (0.001, 0)] {
        let forward = doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
        good(&mut client, forward).await;
        assert_eq!(fates(&ask(&mut client, array![1, 2, 1]).await).len(), {
            if left == 2 { 3 } else { left }
        });
    }
}

#[tokio::test]
async fn ids_are_those_that_are_stored() {
    let mut client = Client::new();
    let ids = [Value::Int64(5), "x".into(), Value::Document(doc! { "a": 1 }), Value::Null];
    for id in &ids {
        insert(&mut client, &[doc! { "_id": id.clone() }]).await;
    }
    let mut asked = ids.to_vec();
    asked[0] = Value::Double(5.0);
    let shown = fates(&ask(&mut client, Value::Array(asked)).await);
    assert_eq!(shown.into_iter().map(|fate| fate.0).collect::<Vec<_>>(), ids);
    assert!(fates(&ask(&mut client, array![]).await).is_empty());
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused() {
    let mut client = Client::new();
    let many = |n| Value::Array((0..n).map(Value::Int32).collect());
    for (more, code) in [
        (doc! { "ids": many(1_000) }, 0),
        (doc! { "ids": many(1_001) }, 2),
        (doc! { "ids": 1 }, 14),
        (doc! { "ids": array![1], "preview": doc! { "default": 1 } }, 2),
        (doc! { "id": 1 }, 40415),
    ] {
        let mut command = doc! { "ebbExpiry": "c", "$db": "db" };
        more.clone().into_iter().for_each(|(name, value)| command.push(name, value));
        let reply = client.run(command).await;
        let got = if code == 0 { 0 } else { number(&reply, "code") };
        assert_eq!((got, number(&reply, "ok")), (code, i64::from(code == 0)), "{more:?}");
    }
    let missing = doc! { "ebbExpiry": "none", "ids": array![1], "$db": "db" };
    assert_eq!(number(&client.run(missing).await, "code"), 26);
}

/// Returns the ids and expiry times of a reply, and its continuation position.
fn listed(reply: &Document) -> (Vec<(Value, Value)>, Value) {
    let listed = fates(reply).into_iter().map(|(id, _, at, _)| (id, at)).collect();
    (listed, reply.get("after").unwrap().clone())
}

#[tokio::test]
async fn documents_are_listed_in_the_order_of_expiry() {
    let mut client = Client::new();
    let key = doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": 500 };
    good(&mut client, doc! { "createIndexes": "c", "indexes": array![key], "$db": "db" }).await;
    // Ids and expiry times are in different orders; five documents share one expiry time.
    let mut documents = vec![doc! { "_id": 0, "ttl": -1 }];
    documents.extend((1..=300).map(|n| doc! { "_id": n, "ttl": 1_000 - 3 * n }));
    documents.extend((301..=305).map(|n| doc! { "_id": n }));
    insert(&mut client, &documents).await;
    let mut want: Vec<_> = (1..=300).map(|n| (1_000 - 3 * n, n)).collect();
    want.extend((301..=305).map(|n| (500, n)));
    want.sort_unstable();
    let want: Vec<_> = want.iter().map(|(s, n)| (Value::Int32(*n), at(i64::from(*s)))).collect();
    for limit in [1, 7, 100, 305, 1_000] {
        let (mut found, mut after) = (Vec::new(), Value::Null);
        loop {
            let ask = doc! { "ebbExpiry": "c", "next": limit, "after": after, "$db": "db" };
            let (some, next) = listed(&client.run(ask).await);
            assert!(some.len() <= limit as usize);
            found.extend(some);
            after = next;
            if after == Value::Null {
                break;
            }
        }
        assert_eq!(found, want, "by {limit}");
    }
}

#[tokio::test]
async fn what_expires_between_two_pages_is_left_out() {
    let mut client = Client::new();
    let key = doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": -1 };
    good(&mut client, doc! { "createIndexes": "c", "indexes": array![key], "$db": "db" }).await;
    let documents: Vec<_> = (1..=6).map(|n| doc! { "_id": n, "ttl": 10 * n }).collect();
    insert(&mut client, &documents).await;
    let ask = |after| doc! { "ebbExpiry": "c", "next": 2, "after": after, "$db": "db" };
    let (first, after) = listed(&client.run(ask(Value::Null)).await);
    assert_eq!(first, [(Value::Int32(1), at(10)), (Value::Int32(2), at(20))]);
    good(&mut client, doc! { "ebbClock": 1, "advanceSeconds": 40, "$db": "admin" }).await;
    let (second, after) = listed(&client.run(ask(after)).await);
    assert_eq!(second, [(Value::Int32(5), at(50)), (Value::Int32(6), at(60))]);
    assert_eq!(after, Value::Null);
}

#[tokio::test]
async fn a_list_in_the_order_of_expiry_refuses_what_it_does_not_understand() {
    let mut client = Client::new();
    insert(&mut client, &[doc! { "_id": 1 }]).await;
    for wrong in [
        doc! { "next": 0 },
        doc! { "next": -1 },
        doc! { "next": 1_001 },
        doc! { "next": "5" },
        doc! { "next": 5, "after": 5 },
        doc! { "next": 5, "after": "" },
        doc! { "next": 5, "after": "5-0" },
        doc! { "next": 5, "after": "x-00" },
        doc! { "next": 5, "after": "5-zz" },
        doc! { "next": 5, "after": format!("5-{}", "00".repeat(20_000)) },
        doc! { "next": 5, "preview": doc! { "default": 5 } },
    ] {
        let mut command = doc! { "ebbExpiry": "c" };
        wrong.clone().into_iter().for_each(|(name, value)| command.push(name, value));
        command.push("$db", "db");
        let reply = client.run(command).await;
        assert_eq!(number(&reply, "code"), 2, "{wrong:?}: {reply:?}");
    }
}
