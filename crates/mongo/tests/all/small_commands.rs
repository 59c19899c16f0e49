//! Commands that administration tools send and that do little on this server.

use crate::client::{Client, number};
use crate::replies::run;
use document::{Document, Value, array, doc};

async fn client() -> Client {
    let mut client = Client::new();
    let rows: Vec<Document> = (0..3).map(|id| doc! { "_id": id, "text": "x".repeat(10) }).collect();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    client
}

#[tokio::test]
async fn the_size_of_a_collection_is_that_of_its_documents() {
    let mut client = client().await;
    let stats = run(&mut client, doc! { "collStats": "c" }).await;
    for (command, estimate) in [
        (doc! { "dataSize": "db.c" }, false),
        (doc! { "dataSize": "db.c", "estimate": true, "$db": "admin" }, true),
        (doc! { "dataSize": "db.c", "min": doc! {}, "max": doc! {}, "zzz": 1 }, false),
        (doc! { "dataSize": "db.c", "keyPattern": doc! { "a": 1 }, "maxObjects": 0 }, false),
    ] {
        let reply = run(&mut client, command.clone()).await;
        assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
        assert_eq!(reply.get("size"), stats.get("size"), "{command:?}");
        assert_eq!(number(&reply, "numObjects"), 3);
        assert_eq!(reply.get("estimate"), Some(&Value::Bool(estimate)));
        assert!(matches!(reply.get("millis"), Some(Value::Int32(_))), "{reply:?}");
    }
    let reply = run(&mut client, doc! { "dataSize": "db.none", "estimate": true }).await;
    assert_eq!((number(&reply, "size"), number(&reply, "numObjects")), (0, 0));
    assert_eq!(reply.get("estimate"), None);
    let of = |more: Document| {
        let mut command = doc! { "dataSize": "db.c" };
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command
    };
    for (command, code) in [
        (doc! { "dataSize": 1 }, 14),
        (doc! { "dataSize": "" }, 73),
        (doc! { "dataSize": "db" }, 73),
        (of(doc! { "min": doc! { "a": 1 } }), 2),
        (of(doc! { "max": doc! { "a": 1 } }), 2),
        (of(doc! { "min": 1, "max": doc! {} }), 2),
        (of(doc! { "min": doc! { "a": 1 }, "max": doc! { "a": 2 } }), 115),
        (of(doc! { "maxSize": 10 }), 115),
        (of(doc! { "maxObjects": 1 }), 115),
        (of(doc! { "writeConcern": doc! {} }), 72),
    ] {
        let reply = run(&mut client, command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
    }
}

#[tokio::test]
async fn there_is_no_plan_cache_to_clear_and_no_index_filter() {
    let mut client = client().await;
    for name in ["planCacheClear", "planCacheClearFilters"] {
        let of = |collection: Value, more: Document| {
            let mut command = Document::new();
            command.push(name, collection);
            more.into_iter().for_each(|(name, value)| command.push(name, value));
            command
        };
        let shape =
            doc! { "query": doc! { "a": 1 }, "sort": doc! { "a": 1 }, "projection": doc! {} };
        for (command, code) in [
            (of("c".into(), doc! {}), 0),
            (of("none".into(), doc! {}), 0),
            (of("c".into(), shape), 0),
            (of(1.into(), doc! {}), 73),
            (of("c".into(), doc! { "sort": doc! { "a": 1 } }), 2),
            (of("c".into(), doc! { "projection": doc! { "a": 1 } }), 2),
            (of("c".into(), doc! { "collation": doc! { "locale": "simple" } }), 2),
            (of("c".into(), doc! { "query": 1 }), 14),
            (of("c".into(), doc! { "query": doc! { "$x": 1 } }), 2),
            (of("c".into(), doc! { "query": doc! {}, "sort": doc! { "a": 5 } }), 15975),
            (of("c".into(), doc! { "zzz": 1 }), 40415),
        ] {
            let reply = run(&mut client, command.clone()).await;
            assert_eq!(
                reply.get("code").map_or(0, |_| number(&reply, "code")),
                code,
                "{command:?}"
            );
        }
    }
    for collection in ["c", "none"] {
        let reply = run(&mut client, doc! { "planCacheListFilters": collection }).await;
        assert_eq!(reply.get("filters"), Some(&array![]), "{reply:?}");
    }
}

#[tokio::test]
async fn no_collection_is_outside_of_the_stable_api() {
    let mut client = client().await;
    let of = |more: Document| {
        let mut command = doc! { "validateDBMetadata": 1 };
        more.into_iter().for_each(|(name, value)| command.push(name, value));
        command
    };
    let version = || doc! { "version": "1", "strict": true, "deprecationErrors": true };
    for command in [
        of(doc! { "apiParameters": version() }),
        of(doc! { "apiParameters": version(), "db": "db", "collection": "c" }),
    ] {
        let reply = run(&mut client, command.clone()).await;
        assert_eq!(reply.get("apiVersionErrors"), Some(&array![]), "{command:?}: {reply:?}");
    }
    for (command, code) in [
        (of(doc! {}), 40414),
        (of(doc! { "apiParameters": 1 }), 14),
        (of(doc! { "apiParameters": doc! {} }), 40414),
        (of(doc! { "apiParameters": doc! { "version": 1 } }), 14),
        (of(doc! { "apiParameters": doc! { "version": "1", "x": 1 } }), 40415),
        (of(doc! { "apiParameters": version(), "db": 1 }), 14),
    ] {
        let reply = run(&mut client, command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{command:?}: {reply:?}");
    }
}

#[tokio::test]
async fn what_is_not_supported_is_refused_by_name() {
    let mut client = client().await;
    for name in ["fsyncUnlock", "logRotate", "dropConnections", "planCacheSetFilter"] {
        let mut command = Document::new();
        command.push(name, 1);
        command.push("$db", "admin");
        let reply = client.run(command).await;
        assert_eq!(number(&reply, "code"), 115, "{reply:?}");
        let Some(Value::String(text)) = reply.get("errmsg") else { panic!("{reply:?}") };
        assert!(text.contains(name), "{text}");
    }
}

#[tokio::test]
async fn the_last_lines_of_the_log_are_listed() {
    let recent_log = || mongo::RecentLog { total: 1_500, lines: vec!["one".into(), "two".into()] };
    let mut client = Client::with(mongo::Settings { recent_log, ..mongo::Settings::default() });
    let reply = client.run(doc! { "getLog": "global", "$db": "admin" }).await;
    assert_eq!(reply.get("log"), Some(&array!["one", "two"]));
    assert_eq!(reply.get("totalLinesWritten"), Some(&Value::Int32(1_500)));
    let reply = client.run(doc! { "getLog": "startupWarnings", "$db": "admin" }).await;
    assert_eq!(reply.get("log"), Some(&array![]));
}
