//! Requests of clients with wire version 25: `bulkWrite`, and updates with a sort, over the wire.

use crate::client::{Client, cursor, cursor_id, first_batch, number};
use document::{Document, Value, array, doc};

#[track_caller]
fn check_totals(reply: &Document, want: [i64; 6]) {
    let names = ["nErrors", "nInserted", "nMatched", "nModified", "nUpserted", "nDeleted"];
    assert_eq!(names.map(|name| number(reply, name)), want, "{reply:?}");
}

#[tokio::test]
async fn hello_says_what_is_understood() {
    let reply = Client::new().run(doc! { "hello": 1, "$db": "admin" }).await;
    assert_eq!((number(&reply, "minWireVersion"), number(&reply, "maxWireVersion")), (0, 25));
}

#[tokio::test]
async fn many_writes_of_two_collections_in_one_command() {
    let mut client = Client::new();
    let ops = [
        doc! { "insert": 0, "document": doc! { "_id": 1, "v": 1 } },
        doc! { "insert": 1, "document": doc! { "_id": 1, "v": 5 } },
        doc! { "insert": 0, "document": doc! { "_id": 2, "v": 2 } },
        doc! { "update": 0, "filter": doc! {}, "updateMods": doc! { "$inc": doc! { "v": 10 } },
        "multi": true },
        doc! { "update": 1, "filter": doc! { "_id": 9 }, "updateMods": doc! { "v": 9 },
        "upsert": true, "multi": false },
        doc! { "update": 1, "filter": doc! { "_id": 1 }, "updateMods":
        array![doc! { "$set": doc! { "v": "$$by" } }], "constants": doc! { "by": 7 } },
        doc! { "delete": 0, "filter": doc! { "$expr": doc! { "$eq": array!["$_id", "$$id"] } },
        "multi": false },
    ];
    let reply = client.bulk(doc! { "let": doc! { "id": 1 } }, &ops).await;
    check_totals(&reply, [0, 3, 3, 3, 1, 1]);
    let outcomes = first_batch(&reply);
    assert_eq!(outcomes.len(), 7);
    assert_eq!(outcomes[3], doc! { "ok": 1.0, "idx": 3, "n": 2, "nModified": 2 });
    let upserted = doc! { "_id": 9 };
    let want = doc! { "ok": 1.0, "idx": 4, "n": 1, "nModified": 0, "upserted": upserted };
    assert_eq!(outcomes[4], want);
    assert_eq!(client.all("a").await, [doc! { "_id": 2, "v": 12 }]);
    assert_eq!(client.all("b").await, [doc! { "_id": 1, "v": 7 }, doc! { "_id": 9, "v": 9 }]);
}

#[tokio::test]
async fn a_failure_ends_an_ordered_bulk_and_not_an_unordered_one() {
    for (ordered, errors_only) in [(true, false), (false, false), (false, true)] {
        let mut client = Client::new();
        let insert = |id: i32| doc! { "insert": 0, "document": doc! { "_id": id } };
        let ops = [insert(1), insert(1), insert(2)];
        let options = doc! { "ordered": ordered, "errorsOnly": errors_only };
        let reply = client.bulk(options, &ops).await;
        let inserted = if ordered { 1 } else { 2 };
        check_totals(&reply, [1, inserted, 0, 0, 0, 0]);
        let outcomes = first_batch(&reply);
        let failed: Vec<&Document> =
            outcomes.iter().filter(|outcome| outcome.get("ok") == Some(&0.0.into())).collect();
        assert_eq!((failed.len(), number(failed[0], "idx")), (1, 1));
        assert_eq!((number(failed[0], "code"), number(failed[0], "n")), (11000, 0));
        let Some(Value::String(message)) = failed[0].get("errmsg") else { panic!("{failed:?}") };
        assert!(message.contains("db.a"), "{message}");
        let others = if errors_only { 0 } else { inserted };
        assert_eq!(outcomes.len() as i64, 1 + others);
        assert_eq!(client.all("a").await.len() as i64, inserted);
    }
}

#[tokio::test]
async fn outcomes_that_do_not_fit_the_first_batch_wait_in_a_cursor() {
    let mut client = Client::new();
    let ops: Vec<Document> =
        (0..5).map(|id| doc! { "insert": 0, "document": doc! { "_id": id } }).collect();
    let reply = client.bulk(doc! { "cursor": doc! { "batchSize": 2 } }, &ops).await;
    check_totals(&reply, [0, 5, 0, 0, 0, 0]);
    let mut indexes: Vec<i64> = Vec::new();
    indexes.extend(first_batch(&reply).iter().map(|outcome| number(outcome, "idx")));
    assert_eq!(indexes, [0, 1]);
    assert_eq!(cursor(&reply).get("ns"), Some(&"admin.$cmd.bulkWrite".into()));
    let id = cursor(&reply).get("id").cloned().unwrap();
    let more = doc! { "getMore": id, "collection": "$cmd.bulkWrite", "$db": "admin" };
    let reply = client.run(more).await;
    assert_eq!(first_batch(&reply).len(), 3, "{reply:?}");
    assert_eq!(cursor_id(&reply), 0);
}

#[tokio::test]
async fn what_is_malformed_is_refused_by_name() {
    let mut client = Client::new();
    let filter = || doc! { "_id": 1 };
    for (op, code, word) in [
        (doc! { "upsert": 0, "filter": filter() }, 40415, "upsert"),
        (doc! { "insert": 2, "document": filter() }, 2, "nsInfo"),
        (doc! { "insert": 0 }, 40414, "document"),
        (doc! { "update": 0, "filter": filter() }, 40414, "updateMods"),
        (doc! { "delete": 0, "filter": filter(), "sort": filter() }, 40415, "sort"),
        (
            doc! { "update": 0, "filter": filter(), "updateMods": doc! { "$set": doc! { "a": 1 } },
            "multi": true, "sort": filter() },
            9,
            "sort",
        ),
        (doc! { "update": 0, "filter": filter(), "updateMods": 5 }, 9, "Update"),
        (doc! { "delete": 0, "filter": 5 }, 14, "filter"),
    ] {
        // A valid operation before the malformed one is not executed either.
        let good = doc! { "insert": 0, "document": doc! {} };
        let reply = client.bulk(doc! {}, &[good, op.clone()]).await;
        assert_eq!(number(&reply, "code"), code, "{op:?}: {reply:?}");
        let Some(Value::String(message)) = reply.get("errmsg") else { panic!("{reply:?}") };
        assert!(message.contains(word), "{op:?}: {message}");
        assert_eq!(client.all("a").await, [] as [Document; 0]);
    }
    let op = doc! { "insert": 0, "document": doc! { "_ts": 1 } };
    let reply = client.bulk(doc! {}, &[op]).await;
    check_totals(&reply, [1, 0, 0, 0, 0, 0]);
    assert_eq!(number(&first_batch(&reply).remove(0), "code"), 2);
    let reply = client.bulk(doc! { "other": 1 }, &[doc! { "delete": 0, "filter": filter() }]).await;
    assert_eq!(number(&reply, "code"), 40415);
    assert_eq!(client.all("a").await, [] as [Document; 0]);
}

#[tokio::test]
async fn a_sort_says_which_document_an_update_means() {
    let mut client = Client::new();
    let documents = [(1, 5), (2, 9), (3, 7)].map(|(id, v)| doc! { "_id": id, "v": v });
    let insert = doc! { "insert": "a", "$db": "db" };
    client.send(insert, &[("documents", &documents)]).await;
    let sort = |by: i32| doc! { "v": by };
    let change = |to: &str| doc! { "$set": doc! { "is": to } };
    let update = doc! { "update": "a", "$db": "db", "updates": array![
        doc! { "q": doc! {}, "u": change("largest"), "sort": sort(-1) },
        doc! { "q": doc! { "_id": doc! { "$gt": 1 } }, "u": doc! { "v": 7, "is": "replaced" },
               "sort": sort(1) },
    ] };
    let reply = client.run(update).await;
    assert_eq!((number(&reply, "n"), number(&reply, "nModified")), (2, 2), "{reply:?}");
    let op = doc! { "update": 0, "filter": doc! {}, "updateMods": change("smallest"),
    "sort": sort(1) };
    let reply = client.bulk(doc! {}, &[op]).await;
    check_totals(&reply, [0, 0, 1, 1, 0, 0]);
    let want = [
        doc! { "_id": 1, "v": 5, "is": "smallest" },
        doc! { "_id": 2, "v": 9, "is": "largest" },
        doc! { "_id": 3, "v": 7, "is": "replaced" },
    ];
    assert_eq!(client.all("a").await, want);
}
