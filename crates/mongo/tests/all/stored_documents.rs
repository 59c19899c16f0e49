//! Stored documents: their `_id`, its position, and text that is not UTF-8.

use crate::client::{Client, first_batch, number};
use document::{Document, Value, array, doc};
use tokio::io::AsyncWriteExt;

/// Returns a document with two fields `_id`.
fn two_ids() -> Document {
    let mut document = doc! { "_id": 1, "a": 1 };
    document.push("_id", 2);
    document
}

/// Returns code and message of the only write error.
fn write_error(reply: &Document) -> (i64, String) {
    let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
    let [Value::Document(error)] = errors.as_slice() else { panic!("{reply:?}") };
    let Some(Value::String(text)) = error.get("errmsg") else { panic!("{reply:?}") };
    (number(error, "code"), text.clone())
}

fn update(q: Document, u: impl Into<Value>, upsert: bool) -> Document {
    let statement = doc! { "q": q, "u": u.into(), "upsert": upsert };
    doc! { "update": "c", "updates": array![statement], "$db": "db" }
}

#[tokio::test]
async fn a_document_has_one_id() {
    let mut client = Client::new();
    let wanted = (2, "can't have multiple _id fields in one document".to_owned());
    for (ordered, n) in [(true, 1), (false, 2)] {
        let documents = array![doc! { "_id": 5 + n }, two_ids(), doc! { "_id": 50 + n }];
        let insert =
            doc! { "insert": "c", "documents": documents, "ordered": ordered, "$db": "db" };
        let reply = client.run(insert).await;
        assert_eq!(number(&reply, "n"), n, "{reply:?}");
        assert_eq!(write_error(&reply), wanted);
    }
    let before = client.all("c").await;
    let literal = doc! { "$replaceWith": doc! { "$literal": two_ids() } };
    for (q, u, upsert) in [
        (doc! { "z": 1 }, two_ids().into(), true),
        (doc! { "_id": 1 }, two_ids().into(), true),
        (doc! { "z": 1 }, array![literal], true),
    ] {
        let reply = client.run(update(q, u, upsert)).await;
        assert_eq!(write_error(&reply), wanted, "{reply:?}");
    }
    let replace = doc! { "findAndModify": "c", "query": doc! { "z": 1 }, "update": two_ids(), "upsert": true, "$db": "db" };
    let reply = client.run(replace).await;
    assert_eq!(number(&reply, "code"), 2, "{reply:?}");
    let ops = [
        doc! { "insert": 0, "document": two_ids() },
        doc! { "insert": 0, "document": doc! { "_id": 3 } },
    ];
    let reply = client.bulk(doc! { "ordered": false }, &ops).await;
    assert_eq!((number(&reply, "nErrors"), number(&reply, "nInserted")), (1, 1), "{reply:?}");
    assert_eq!(client.all("c").await, before);
}

#[tokio::test]
async fn what_a_pipeline_made_begins_with_its_id() {
    let merge = |extra: Document| {
        let merged = doc! { "$mergeObjects": array![extra, "$$ROOT"] };
        array![doc! { "$replaceWith": merged }]
    };
    let mut client = Client::new();
    let insert =
        doc! { "insert": "c", "documents": array![doc! { "_id": 1, "a": 1 }], "$db": "db" };
    client.run(insert).await;
    for (pipeline, modified, wanted) in [
        (array![doc! { "$set": doc! { "a": 1 } }], 0, doc! { "_id": 1, "a": 1 }),
        (array![doc! { "$unset": "_id" }], 1, doc! { "_id": 1, "a": 1 }),
        // The stored document is the same, but the pipeline moved its `_id`, which counts as a
        // change.
        (merge(doc! { "a": 1 }), 1, doc! { "_id": 1, "a": 1 }),
        (merge(doc! { "d": 1 }), 1, doc! { "_id": 1, "d": 1, "a": 1 }),
    ] {
        let reply = client.run(update(doc! { "_id": 1 }, pipeline, false)).await;
        assert_eq!(number(&reply, "nModified"), modified, "{reply:?}");
        assert_eq!(client.all("c").await, [wanted]);
    }
    let query = doc! { "findAndModify": "c", "query": doc! { "_id": 1 }, "new": true,
    "update": merge(doc! { "e": 1 }), "$db": "db" };
    let reply = client.run(query).await;
    let wanted = doc! { "_id": 1, "e": 1, "d": 1, "a": 1 };
    assert_eq!(reply.get("value"), Some(&Value::Document(wanted)), "{reply:?}");
}

/// Sends a message with this body, in which every text `??` is replaced by bytes that are not
/// UTF-8.
async fn ask_odd(client: &mut Client, body: Document) -> Document {
    let mut bytes = body.to_buf().bytes().to_vec();
    while let Some(at) = bytes.windows(2).position(|part| part == b"??") {
        bytes[at..at + 2].copy_from_slice(&[0xff, 0xe9]);
    }
    let mut message = vec![0; 21];
    message.extend_from_slice(&bytes);
    let len = i32::try_from(message.len()).unwrap();
    for (at, number) in [(0, len), (4, 1), (8, 0), (12, 2013)] {
        message[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    client.stream.write_all(&message).await.unwrap();
    client.reply().await
}

#[tokio::test]
async fn text_that_is_not_utf8_fails_its_document_alone() {
    let mut client = Client::new();
    for (odd, field) in [
        (doc! { "_id": 7, "s": "caf??" }, "s"),
        (doc! { "_id": 7, "n??": 1 }, "n??"),
        (doc! { "_id": 7, "a": doc! { "b": array!["??"] } }, "a"),
        (doc! { "_id": 7, "r": Value::Regex { pattern: "??".into(), options: "i".into() } }, "r"),
    ] {
        for (ordered, n) in [(true, 1), (false, 2)] {
            client.run(doc! { "drop": "c", "$db": "db" }).await;
            let documents = array![doc! { "_id": 1 }, odd.clone(), doc! { "_id": 2 }];
            let body =
                doc! { "insert": "c", "documents": documents, "ordered": ordered, "$db": "db" };
            let reply = ask_odd(&mut client, body).await;
            assert_eq!(number(&reply, "n"), n, "{reply:?}");
            let (code, text) = write_error(&reply);
            assert_eq!(code, 22);
            assert!(text.contains("_id 7") && text.contains(&format!("'{field}'")), "{text}");
            assert_eq!(client.all("c").await.len() as i64, n);
        }
    }
    let set = |id: i32, text: &str| {
        doc! { "q": doc! { "_id": id }, "u": doc! { "$set": doc! { "s": text } }, "upsert": true }
    };
    let updates = array![set(1, "x"), set(7, "??"), set(3, "x")];
    let body = doc! { "update": "c", "updates": updates, "ordered": false, "$db": "db" };
    let reply = ask_odd(&mut client, body).await;
    assert_eq!((number(&reply, "n"), write_error(&reply).0), (2, 22), "{reply:?}");
    let deletes = array![
        doc! { "q": doc! { "s": "??" }, "limit": 0 },
        doc! { "q": doc! { "_id": 3 }, "limit": 0 },
    ];
    let body = doc! { "delete": "c", "deletes": deletes, "ordered": false, "$db": "db" };
    let reply = ask_odd(&mut client, body).await;
    assert_eq!((number(&reply, "n"), write_error(&reply).0), (1, 22), "{reply:?}");
    let ops = array![
        doc! { "insert": 0, "document": doc! { "_id": 7, "s": "??" } },
        doc! { "insert": 0, "document": doc! { "_id": 8 } },
    ];
    let infos = array![doc! { "ns": "db.c" }];
    let body =
        doc! { "bulkWrite": 1, "ops": ops, "nsInfo": infos, "ordered": false, "$db": "admin" };
    let reply = ask_odd(&mut client, body).await;
    assert_eq!((number(&reply, "nErrors"), number(&reply, "nInserted")), (1, 1), "{reply:?}");
    assert_eq!(first_batch(&reply).len(), 2);
}

#[tokio::test]
async fn text_of_a_command_that_is_not_utf8_fails_the_command() {
    let mut client = Client::new();
    for body in [
        doc! { "find": "c", "filter": doc! { "s": "??" }, "$db": "db" },
        doc! { "find": "c??", "$db": "db" },
        doc! { "??": 1, "$db": "db" },
        doc! { "insert": "c", "documents": array![doc! { "_id": 1 }], "comment": "??", "$db": "db" },
        doc! { "findAndModify": "c", "query": doc! {}, "update": doc! { "s": "??" }, "upsert": true, "$db": "db" },
    ] {
        let reply = ask_odd(&mut client, body).await;
        assert_eq!(number(&reply, "code"), 22, "{reply:?}");
    }
    assert_eq!(client.all("c").await, []);
}
