//! Wrong and missing arguments of each command, and the codes of their errors.

use crate::client::{Client, cursor_id, first_batch, number};
use document::{Document, Value, array, doc};

async fn check(rows: Vec<(Document, i64)>) {
    let mut client = Client::new();
    let documents = [doc! { "_id": 1, "a": 1 }];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &documents)]).await;
    for (mut command, code) in rows {
        if command.get("$db").is_none() {
            command.push("$db", "db");
        }
        let reply = client.run(command.clone()).await;
        let got = reply.get("code").map_or(0, |_| number(&reply, "code"));
        assert_eq!(got, code, "{command:?}: {reply:?}");
        let names = client.run(doc! { "listCollections": 1, "$db": "db" }).await;
        assert_eq!(first_batch(&names).len(), 1, "{command:?} made a collection");
    }
    assert_eq!(client.all("c").await, documents);
}

#[tokio::test]
async fn of_administration() {
    let admin = |name: &str, more: Document| {
        let mut command = Document::new();
        command.push(name, 1);
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command.push("$db", "admin");
        command
    };
    let create = |more: Document| {
        let mut command = doc! { "create": "made" };
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command
    };
    let compatibility =
        |value: Value| doc! { "setFeatureCompatibilityVersion": value, "$db": "admin" };
    let rename =
        doc! { "renameCollection": "db.c", "to": "db.d", "dropTarget": "x", "$db": "admin" };
    let mut rows = vec![
        (compatibility("8.0".into()), 0),
        (compatibility(8.into()), 14),
        (admin("listDatabases", doc! { "authorizedDatabases": "x" }), 14),
        (doc! { "find": "c", "apiStrict": true }, 4_886_600),
        (doc! { "find": "c", "apiVersion": "1", "apiStrict": 1 }, 14),
        (doc! { "find": "c", "apiVersion": "1", "apiStrict": true }, 0),
        (doc! { "find": "c", "apiVersion": "1", "apiStrict": true, "tailable": false }, 323),
        (doc! { "distinct": "c", "key": "a", "apiVersion": "1", "apiStrict": true }, 323),
        (doc! { "hello": 1, "x": 1 }, 0),
        (doc! { "startSession": 1, "x": 1 }, 0),
        (doc! { "hello": 1, "maxAwaitTimeMS": 1 }, 31368),
        (doc! { "hello": 1, "topologyVersion": doc! {} }, 31368),
        (doc! { "hello": 1, "maxAwaitTimeMS": 1, "topologyVersion": doc! {} }, 40414),
        (
            doc! { "aggregate": 1, "pipeline": array![doc! { "$changeStream": doc! { "x": 1 } }], "cursor": doc! {} },
            40415,
        ),
        (admin("killOp", doc! {}), 4),
        (admin("killOp", doc! { "op": "x" }), 14),
        (admin("killOp", doc! { "op": 1 }), 0),
        (rename, 14),
        (doc! { "listCollections": 1, "cursor": 1 }, 14),
        (doc! { "listCollections": 1, "cursor": doc! { "x": 1 } }, 40415),
        (doc! { "listIndexes": "c", "cursor": doc! { "batchSize": "x" } }, 14),
        (doc! { "listIndexes": "c", "cursor": doc! { "batchSize": -1 } }, 51024),
        (doc! { "collMod": "none", "index": doc! { "x": 1 } }, 40415),
        (doc! { "collMod": "none", "index": doc! { "hidden": true } }, 72),
        (doc! { "collMod": "none", "index": doc! { "name": "a", "hidden": true } }, 26),
        (create(doc! { "size": "x" }), 14),
        (create(doc! { "size": 1 }), 72),
        (create(doc! { "max": "x" }), 14),
        (create(doc! { "validationLevel": 1 }), 14),
        (create(doc! { "validationLevel": "x" }), 2),
        (create(doc! { "validationAction": "x" }), 2),
        (create(doc! { "idIndex": 1 }), 14),
        (create(doc! { "idIndex": doc! { "key": doc! { "a": 1 }, "name": "a" } }), 2),
        (create(doc! { "autoIndexId": "x" }), 14),
        (create(doc! { "validator": 1 }), 14),
        (create(doc! { "validator": doc! { "$x": 1 } }), 2),
        (create(doc! { "validator": doc! { "$jsonSchema": doc! { "x": 1 } } }), 9),
        (create(doc! { "validator": doc! { "$where": "x" } }), 2),
        (create(doc! { "validator": doc! { "a": doc! { "$near": array![0, 0] } } }), 5_626_500),
        (create(doc! { "storageEngine": doc! { "x": doc! {} } }), 72),
        (create(doc! { "indexOptionDefaults": doc! { "x": 1 } }), 40415),
        (create(doc! { "changeStreamPreAndPostImages": doc! {} }), 40414),
        (create(doc! { "changeStreamPreAndPostImages": doc! { "enabled": 1 } }), 14),
        (create(doc! { "recordPreImages": true }), 115),
        (create(doc! { "clusteredIndex": true }), 5_979_703),
        (doc! { "collMod": "c", "validator": 1 }, 14),
        (doc! { "collMod": "c", "validator": doc! { "$text": doc! {} } }, 2),
        (doc! { "collMod": "none", "validator": doc! { "a": 1 } }, 26),
        (doc! { "collMod": "none", "validator": doc! {} }, 26),
        (doc! { "collMod": "c", "validationLevel": "x" }, 2),
        (doc! { "collMod": "c", "viewOn": "x" }, 72),
        (doc! { "collMod": "c", "cappedSize": 5 }, 72),
        (doc! { "collMod": "c", "dryRun": true }, 72),
        (doc! { "collMod": "c", "validator": doc! {}, "validationLevel": "off" }, 0),
        (doc! { "collMod": "c", "changeStreamPreAndPostImages": doc! { "enabled": false } }, 0),
        (doc! { "collMod": "c", "recordPreImages": false, "dryRun": false }, 0),
        (admin("killOp", doc! { "op": 1_i64 << 40 }), 26823),
        (doc! { "killCursors": "c", "cursors": array![5] }, 14),
        (doc! { "killCursors": "c", "cursors": array![5_i64] }, 0),
        (doc! { "delete": "c", "deletes": array![], "bypassDocumentValidation": true }, 16),
    ];
    let id = || Value::Binary { subtype: 4, bytes: vec![1; 16] };
    let digest = || Value::Binary { subtype: 0, bytes: vec![1; 32] };
    let session = || doc! { "id": id() };
    let whole = || doc! { "id": id(), "uid": digest() };
    for (name, value, code) in [
        ("endSessions", doc! {}, 40414),
        ("endSessions", session(), 0),
        ("endSessions", doc! { "id": id(), "x": 1 }, 40415),
        ("killSessions", doc! {}, 40414),
        ("killSessions", doc! { "id": 5 }, 14),
        ("killSessions", doc! { "id": Value::Binary { subtype: 4, bytes: vec![1] } }, 207),
        (
            "killSessions",
            doc! { "id": id(), "uid": Value::Binary { subtype: 0, bytes: vec![1] } },
            12,
        ),
        ("killSessions", whole(), 0),
        ("killAllSessions", doc! {}, 40414),
        ("killAllSessions", doc! { "user": "nobody", "db": "db" }, 11),
        ("killAllSessions", session(), 40415),
        ("killAllSessionsByPattern", doc! {}, 0),
        ("killAllSessionsByPattern", doc! { "lsid": session() }, 40414),
        ("killAllSessionsByPattern", doc! { "lsid": whole() }, 0),
        ("killAllSessionsByPattern", doc! { "uid": digest() }, 0),
        ("killAllSessionsByPattern", doc! { "users": array![doc! { "user": "a" }] }, 40414),
        ("killAllSessionsByPattern", doc! { "roles": array![] }, 0),
        ("killAllSessionsByPattern", doc! { "x": 1 }, 40415),
    ] {
        let mut command = Document::new();
        command.push(name, array![value]);
        rows.push((command.clone(), code));
        command.push("writeConcern", doc! { "w": 1 });
        rows.push((command, 72));
    }
    for name in ["endSessions", "refreshSessions", "killSessions", "killAllSessions"] {
        for (value, code) in [(Value::Int32(1), 14), (array![1], 14), (array![], 0)] {
            let mut command = Document::new();
            command.push(name, value);
            rows.push((command, code));
        }
    }
    check(rows).await;
}

#[tokio::test]
async fn options_of_collections_that_ask_for_nothing_are_accepted() {
    let mut client = Client::new();
    for options in [
        doc! { "validator": doc! {}, "validationLevel": "strict", "validationAction": "error" },
        doc! { "storageEngine": doc! { "wiredTiger": doc! {} } },
        doc! { "indexOptionDefaults": doc! { "storageEngine": doc! { "ebb": doc! {} } } },
        doc! { "changeStreamPreAndPostImages": doc! { "enabled": false } },
        doc! { "recordPreImages": false, "clusteredIndex": false, "capped": false },
    ] {
        let mut create = doc! { "create": "new", "$db": "db" };
        options.clone().into_iter().for_each(|(name, value)| create.push(name, value));
        let reply = client.run(create).await;
        assert_eq!(number(&reply, "ok"), 1, "{options:?}: {reply:?}");
        client.run(doc! { "drop": "new", "$db": "db" }).await;
    }
}

#[tokio::test]
async fn a_collection_that_exists_with_the_same_options_may_be_created_again() {
    let mut client = Client::new();
    let engine = |text: &str| doc! { "wiredTiger": doc! { "configString": text } };
    let none = doc! {};
    let stored = doc! { "storageEngine": engine("a") };
    let defaults = doc! { "indexOptionDefaults": doc! { "storageEngine": engine("a") } };
    let others =
        [none.clone(), stored.clone(), defaults.clone(), doc! { "storageEngine": engine("b") }];
    for (options, same) in [
        (none, doc! { "capped": false, "validator": doc! {}, "storageEngine": doc! {} }),
        (stored, doc! { "storageEngine": engine("a"), "autoIndexId": true }),
        (defaults.clone(), defaults),
    ] {
        let create = |options: &Document| {
            let mut create = doc! { "create": "made", "$db": "db" };
            options.clone().into_iter().for_each(|(name, value)| create.push(name, value));
            create
        };
        assert_eq!(number(&client.run(create(&options)).await, "ok"), 1);
        client
            .send(doc! { "insert": "made", "$db": "db" }, &[("documents", &[doc! { "_id": 1 }])])
            .await;
        for again in [&options, &same] {
            let reply = client.run(create(again)).await;
            assert_eq!(number(&reply, "ok"), 1, "{options:?} {again:?}: {reply:?}");
        }
        for other in others.iter().filter(|other| **other != options) {
            let reply = client.run(create(other)).await;
            assert_eq!(number(&reply, "code"), 48, "{options:?} {other:?}: {reply:?}");
        }
        assert_eq!(client.all("made").await, [doc! { "_id": 1 }]);
        let list = doc! { "listCollections": 1, "filter": doc! { "name": "made" }, "$db": "db" };
        let shown = client.run(list).await;
        let Some(Value::Document(cursor)) = shown.get("cursor") else { panic!("{shown:?}") };
        let Some(Value::Array(entries)) = cursor.get("firstBatch") else { panic!("{cursor:?}") };
        let [Value::Document(entry)] = entries.as_slice() else { panic!("{entries:?}") };
        assert_eq!(entry.get("options"), Some(&Value::Document(options)));
        client.run(doc! { "drop": "made", "$db": "db" }).await;
    }
    // A collection created by an insert has no options.
    client
        .send(doc! { "insert": "made", "$db": "db" }, &[("documents", &[doc! { "_id": 1 }])])
        .await;
    assert_eq!(number(&client.run(doc! { "create": "made", "$db": "db" }).await, "ok"), 1);
}

#[tokio::test]
async fn of_reads() {
    let aggregate = |of: Value, pipeline: Value| {
        doc! { "aggregate": of, "pipeline": pipeline, "cursor": doc! {} }
    };
    let documents = || array![doc! { "$documents": array![doc! { "a": 1 }] }];
    let positional =
        |filter: Document| doc! { "find": "c", "filter": filter, "projection": doc! { "b.$": 1 } };
    let linearizable = |pipeline: Value| {
        let mut command = aggregate("c".into(), pipeline);
        command.push("readConcern", doc! { "level": "linearizable" });
        command
    };
    let mut rows = vec![
        (doc! { "aggregate": "c", "pipeline": array![], "cursor": doc! { "x": 1 } }, 40415),
        (aggregate(1.into(), array![]), 73),
        (aggregate(1.into(), array![doc! { "$match": doc! {} }]), 73),
        (aggregate(1.into(), documents()), 0),
        (aggregate("c".into(), documents()), 73),
        (aggregate(2.into(), documents()), 9),
        (doc! { "getMore": 5, "collection": "c" }, 14),
        (doc! { "getMore": Value::Int64(5), "collection": "c" }, 43),
        (doc! { "find": "c", "writeConcern": doc! { "w": 1 } }, 72),
        (doc! { "find": "c", "readConcern": doc! { "level": "linearizable" } }, 123),
        (linearizable(array![]), 123),
        (linearizable(array![doc! { "$out": "d" }]), 72),
        (linearizable(array![doc! { "$merge": "d" }]), 72),
        (doc! { "find": "c", "readConcern": doc! { "level": "majority" } }, 0),
        (
            doc! { "find": "c", "readConcern": doc! { "level": "local", "provenance": Value::Null } },
            0,
        ),
        (aggregate("c".into(), array![doc! { "$indexStats": doc! {}, "$match": doc! {} }]), 40323),
        (aggregate("c".into(), array![doc! { "$collStats": doc! {}, "x": 1 }]), 40323),
        (
            aggregate(
                "c".into(),
                array![doc! { "$collStats": doc! { "storageStats": doc! { "scale": 0 } } }],
            ),
            51024,
        ),
        (
            aggregate(
                "c".into(),
                array![doc! { "$collStats": doc! { "latencyStats": doc! { "x": 1 } } }],
            ),
            40415,
        ),
        (aggregate("none".into(), array![doc! { "$collStats": doc! { "count": doc! {} } }]), 26),
        (
            aggregate(
                "none".into(),
                array![doc! { "$collStats": doc! { "latencyStats": doc! {} } }],
            ),
            0,
        ),
        (positional(doc! { "b": 1 }), 0),
        (positional(doc! { "b": 1, "$expr": doc! { "$eq": array!["$a", 1] } }), 224),
        (positional(doc! { "$or": array![doc! { "$expr": "$a" }, doc! { "b": 1 }] }), 224),
        (doc! { "collStats": "c", "zzz": 1 }, 0),
        (doc! { "dbStats": 1, "zzz": 1 }, 0),
        (doc! { "validate": "c", "zzz": 1 }, 0),
        (doc! { "buildInfo": 1, "zzz": 1 }, 0),
        (doc! { "ping": 1, "zzz": 1 }, 40415),
    ];
    for (key, code) in [
        ("a", 0),
        ("a.$id", 0),
        ("", 40352),
        ("$a", 16410),
        ("a.", 40353),
        ("a..b", 15998),
        ("a\0b", 31032),
    ] {
        rows.push((doc! { "distinct": "c", "key": key }, code));
    }
    check(rows).await;
}

#[tokio::test]
async fn a_count_without_a_filter_is_explained_as_what_it_is() {
    let mut client = Client::new();
    let documents = [doc! { "a": 1 }, doc! { "a": 2 }, doc! {}];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &documents)]).await;
    for (command, stage, examined) in [
        (doc! { "count": "c" }, "RECORD_STORE_FAST_COUNT", 0),
        (doc! { "count": "c", "query": doc! { "a": 1 } }, "COUNT", 3),
        (doc! { "count": "none" }, "EOF", 0),
    ] {
        let reply = client.run(doc! { "explain": command.clone(), "$db": "db" }).await;
        let Some(Value::Document(stats)) = reply.get("executionStats") else { panic!("{reply:?}") };
        let Some(Value::Document(run)) = stats.get("executionStages") else { panic!("{stats:?}") };
        assert_eq!(run.get("stage"), Some(&stage.into()), "{command:?}");
        assert_eq!(number(stats, "totalDocsExamined"), examined, "{command:?}");
    }
}

#[tokio::test]
async fn a_compressor_is_agreed_on_once() {
    let asked = Value::Array(vec!["zlib".into(); 1_000]);
    let reply = Client::new().run(doc! { "hello": 1, "compression": asked, "$db": "admin" }).await;
    assert_eq!(reply.get("compression"), Some(&array!["zlib"]));
}

#[tokio::test]
async fn of_every_command() {
    let read = |concern: Value| doc! { "find": "c", "readConcern": concern };
    let write = |concern: Value| doc! { "insert": "c", "documents": array![doc! {}], "writeConcern": concern };
    let constant = |name: &str| {
        let mut bound = Document::new();
        bound.push(name, 1);
        doc! { "find": "c", "let": bound }
    };
    let aggregate = |name: &str, value: Value| {
        let mut command = doc! { "aggregate": "c", "pipeline": array![], "cursor": doc! {} };
        command.push(name, value);
        command
    };
    let time = || Value::Timestamp(1 << 32 | 1);
    let mut rows = vec![
        (read(doc! {}.into()), 0),
        (read(doc! { "level": "majority", "provenance": "clientSupplied" }.into()), 0),
        (read(doc! { "afterClusterTime": time() }.into()), 20),
        (read(doc! { "afterClusterTime": 5 }.into()), 14),
        (read(doc! { "atClusterTime": time() }.into()), 72),
        (read(doc! { "level": "nope" }.into()), 9),
        (read(doc! { "level": Value::Null }.into()), 14),
        (read(doc! { "provenance": "nope" }.into()), 2),
        (read(doc! { "nope": 1 }.into()), 72),
        (read(Value::Null), 9),
        (read(doc! { "afterClusterTime": Value::Timestamp(0) }.into()), 72),
        (read(doc! { "afterOpTime": 1 }.into()), 14),
        (read(doc! { "afterOpTime": doc! {} }.into()), 123),
        (read(doc! { "level": "snapshot" }.into()), 123),
        (doc! { "count": "c", "readConcern": doc! { "level": "snapshot" } }, 72),
        (
            doc! { "getMore": 5_i64, "collection": "c", "readConcern": doc! { "level": "majority" } },
            43,
        ),
        (doc! { "aggregate": "c", "pipeline": array![], "cursor": doc! {}, "readConcern": 1 }, 14),
        (doc! { "find": "c", "writeConcern": Value::Null }, 72),
        (doc! { "ping": 1, "readConcern": doc! { "level": "majority" } }, 72),
        (doc! { "ping": 1, "readConcern": doc! { "level": "local" } }, 0),
        (doc! { "dbStats": 1, "writeConcern": doc! {} }, 72),
        (constant("x"), 0),
        (constant("X"), 9),
        (constant("a b"), 9),
        (constant(""), 9),
        (constant("NOW"), 4_738_901),
        (
            doc! { "update": "c", "updates": array![doc! { "q": doc! {}, "u": doc! {} }], "let": 1 },
            14,
        ),
        (
            doc! { "delete": "c", "deletes": array![doc! { "q": doc! {}, "limit": 1 }], "let": 1 },
            14,
        ),
        (doc! { "find": "c", "singleBatch": 1 }, 14),
        (doc! { "find": "c", "singleBatch": Value::Null }, 14),
        (doc! { "find": "c", "allowDiskUse": 1 }, 14),
        (doc! { "find": "c", "allowPartialResults": Value::Null }, 14),
        (doc! { "find": "c", "tailable": Value::Null }, 14),
        (doc! { "find": "c", "tailable": true }, 2),
        (doc! { "find": "c", "tailable": true, "awaitData": true }, 2),
        (doc! { "find": "none", "tailable": true, "awaitData": true }, 0),
        (doc! { "find": "c", "awaitData": true }, 9),
        (doc! { "explain": doc! { "find": "c", "tailable": true } }, 2),
        (aggregate("explain", Value::Null), 14),
        (aggregate("allowDiskUse", 1.into()), 14),
        (aggregate("bypassDocumentValidation", "x".into()), 14),
        (aggregate("bypassDocumentValidation", 1.into()), 0),
        (aggregate("maxTimeMS", "x".into()), 14),
        (aggregate("maxTimeMS", (-1).into()), 51024),
        (aggregate("maxTimeMS", Value::Null), 2),
        (doc! { "insert": "c", "documents": array![doc! {}], "bypassDocumentValidation": "x" }, 14),
        (doc! { "find": "c", "maxTimeMS": Value::Null }, 2),
        (doc! { "find": "c", "maxTimeMS": "x" }, 2),
        (doc! { "find": "c", "maxTimeMS": 1.5 }, 2),
        (doc! { "find": "c", "let": doc! { "x": "$a" } }, 4_890_500),
        (
            doc! { "find": "c", "let": doc! { "x": doc! { "$cond": array![false, "$$ROOT", 1] } } },
            4_890_500,
        ),
        (doc! { "find": "c", "let": doc! { "x": doc! { "$getField": "a" } } }, 4_890_500),
        (
            aggregate(
                "let",
                doc! { "x": array![doc! { "$add": array![1, "$$CURRENT.a"] }] }.into(),
            ),
            4_890_500,
        ),
        (
            aggregate(
                "let",
                doc! { "x": "$$NOW", "y": "$$x", "z": doc! { "$literal": "$a" } }.into(),
            ),
            0,
        ),
        (doc! { "listCollections": 1, "nameOnly": 1 }, 14),
    ];
    for (concern, code) in [
        (Value::Null, 14),
        (doc! { "w": Value::Null }.into(), 2),
        (doc! { "w": "nope" }.into(), 2),
        (doc! { "w": doc! {} }.into(), 9),
        (doc! { "w": doc! { "a": "x" } }.into(), 9),
        (doc! { "w": 51 }.into(), 9),
        (doc! { "w": 2 }.into(), 2),
        (doc! { "w": true }.into(), 9),
        (doc! { "j": true, "fsync": true }.into(), 9),
        (doc! { "wtimeout": 1_i64 << 40 }.into(), 9),
        (doc! { "wtimeout": -(1_i64 << 40) }.into(), 0),
        (doc! { "wtimeout": f64::NEG_INFINITY }.into(), 0),
        (doc! { "wtimeout": "x" }.into(), 0),
        (doc! { "w": document::Decimal128::parse("-0.51").unwrap() }.into(), 9),
        (doc! { "w": document::Decimal128::parse("0.51").unwrap() }.into(), 0),
        (doc! { "provenance": Value::Null }.into(), 0),
        (doc! { "wtimeoutMS": 1 }.into(), 40415),
        (doc! { "provenance": "x" }.into(), 2),
    ] {
        // An accepted write concern has no effect.
        let removes = array![doc! { "q": doc! { "_id": 99 }, "limit": 0 }];
        rows.push(match code {
            0 => (doc! { "delete": "c", "deletes": removes, "writeConcern": concern }, 0),
            code => (write(concern), code),
        });
    }
    check(rows).await;
}

#[tokio::test]
async fn a_constant_that_is_wrong_is_wrong_with_each_statement() {
    let mut client = Client::new();
    let constants = || doc! { "x": "$a" };
    let update = || doc! { "q": doc! {}, "u": doc! { "$set": doc! { "a": 1 } } };
    let delete = || doc! { "q": doc! {}, "limit": 1 };
    for (command, errors) in [
        (doc! { "update": "c", "updates": array![update(), update()] }, 1),
        (doc! { "update": "c", "updates": array![update(), update()], "ordered": false }, 2),
        (doc! { "delete": "c", "deletes": array![delete(), delete()] }, 1),
        (doc! { "delete": "c", "deletes": array![delete(), delete()], "ordered": false }, 2),
    ] {
        let mut command = command;
        command.push("let", constants());
        command.push("$db", "db");
        let reply = client.run(command).await;
        assert_eq!((number(&reply, "ok"), number(&reply, "n")), (1, 0));
        let Some(Value::Array(wrong)) = reply.get("writeErrors") else { panic!("{reply:?}") };
        let codes: Vec<i64> = wrong
            .iter()
            .map(|it| number(&it.as_ref().as_document().unwrap().to_tree(), "code"))
            .collect();
        assert_eq!(codes, vec![4_890_500; errors], "{reply:?}");
    }
}

#[tokio::test]
async fn a_collection_is_renamed_by_its_uuid() {
    let mut client = Client::new();
    let documents = [doc! { "_id": 1 }];
    for name in ["c", "d"] {
        let insert = doc! { "insert": name, "$db": "db" };
        client.send(insert, &[("documents", &documents)]).await;
    }
    let listed = first_batch(&client.run(doc! { "listCollections": 1, "$db": "db" }).await);
    let uuid = |name: &str| {
        let entry = listed.iter().find(|entry| entry.get("name") == Some(&name.into())).unwrap();
        let Some(Value::Document(info)) = entry.get("info") else { panic!("{entry:?}") };
        info.get("uuid").unwrap().clone()
    };
    let binary = |subtype: u8| Value::Binary { subtype, bytes: vec![1; 16] };
    let rename = |to: &str, option: &str, value: Value| {
        let mut command = doc! { "renameCollection": "db.c", "to": to };
        command.push(option, value);
        command.push("$db", "admin");
        command
    };
    for (to, option, value, code) in [
        ("db.e", "stayTemp", Value::Int32(1), 14),
        ("db.e", "collectionUUID", Value::Int32(1), 14),
        ("db.e", "collectionUUID", binary(0), 14),
        ("db.e", "collectionUUID", binary(4), 361),
        ("db.d", "dropTarget", Value::Null, 14),
        ("db.d", "dropTarget", binary(3), 207),
        ("db.d", "dropTarget", binary(4), 361),
        ("db.d", "collectionUUID", uuid("c"), 48),
        ("db.d", "dropTarget", uuid("c"), 361),
        ("db.system.x", "stayTemp", Value::Bool(true), 20),
        ("db.$x", "stayTemp", Value::Bool(true), 20),
        ("db.d", "dropTarget", uuid("d"), 0),
    ] {
        let reply = client.run(rename(to, option, value.clone())).await;
        let got = reply.get("code").map_or(0, |_| number(&reply, "code"));
        assert_eq!(got, code, "{to} {option} {value:?}: {reply:?}");
    }
    let reply = client.run(doc! { "renameCollection": 1, "to": "db.e", "$db": "admin" }).await;
    assert_eq!(number(&reply, "code"), 2);
}

#[tokio::test]
async fn arguments_that_mongodb_refuses_are_refused_with_its_codes() {
    let mut client = Client::new();
    let insert = doc! {
        "insert": "c", "documents": array![doc! { "_id": 1 }, doc! { "_id": 2 }], "$db": "db",
    };
    client.run(insert).await;
    let opened = client.run(doc! { "find": "c", "batchSize": 1, "$db": "db" }).await;
    let cursor = cursor_id(&opened);
    let q = doc! { "q": doc! {}, "u": doc! { "$set": doc! { "a": 1 } }, "upsert": true };
    let mut cases = Vec::new();
    for name in ["a$b", "$a", "a$"] {
        cases.extend([
            (doc! { "find": name }, 73),
            (doc! { "count": name }, 73),
            (doc! { "distinct": name, "key": "a" }, 73),
            (doc! { "insert": name, "documents": array![doc! {}] }, 73),
            (doc! { "update": name, "updates": array![q.clone()] }, 73),
            (doc! { "delete": name, "deletes": array![doc! { "q": doc! {}, "limit": 0 }] }, 73),
            (doc! { "findAndModify": name, "query": doc! {}, "remove": true }, 73),
        ]);
    }
    for limit in [Value::from("x"), true.into(), doc! {}.into(), array![]] {
        let get_more = doc! { "getMore": cursor, "collection": "c", "maxTimeMS": limit };
        cases.push((get_more, 14));
    }
    for scale in [Value::from(0), (-1).into(), 0.5.into(), f64::NAN.into()] {
        cases.push((doc! { "collStats": "c", "scale": scale.clone() }, 51024));
        cases.push((doc! { "dbStats": 1, "scale": scale }, 51024));
    }
    for (mut command, code) in cases {
        command.push("$db", "db");
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
    }
    let concerns = doc! { "getDefaultRWConcern": 1, "$db": "admin" };
    assert_eq!(number(&client.run(concerns).await, "code"), 51300);
}
