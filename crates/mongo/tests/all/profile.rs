//! The profiler: its settings, and the entries of `system.profile`.

use document::{Document, Value, array, doc, shell};

use crate::client::{Client, first_batch, number};
use crate::replies::{code, run};

async fn entries(client: &mut Client) -> Vec<Document> {
    first_batch(&run(client, doc! { "find": "system.profile", "batchSize": 1000 }).await)
}

fn text<'a>(entry: &'a Document, name: &str) -> &'a str {
    entry.get(name).and_then(|value| value.as_ref().as_str()).unwrap_or_else(|| panic!("{entry:?}"))
}

#[tokio::test]
async fn the_settings_are_those_before_the_change() {
    let mut client = Client::new();
    let asked = run(&mut client, doc! { "profile": -1 }).await;
    assert_eq!((number(&asked, "was"), number(&asked, "slowms")), (0, 100));
    assert_eq!(asked.get("sampleRate"), Some(&Value::Double(1.0)));
    let filter = doc! { "op": "insert" };
    let change = doc! { "profile": 1, "slowms": 5, "sampleRate": 0.5, "filter": filter.clone() };
    assert_eq!(number(&run(&mut client, change).await, "was"), 0);
    let asked = run(&mut client, doc! { "profile": -1 }).await;
    assert_eq!((number(&asked, "was"), number(&asked, "slowms")), (1, 5));
    assert_eq!(asked.get("filter"), Some(&Value::Document(filter)));
    // Levels are set by database, the rest for all.
    let other = run(&mut client, doc! { "profile": -1, "$db": "other" }).await;
    assert_eq!((number(&other, "was"), number(&other, "slowms")), (0, 5));
    assert_eq!(number(&run(&mut client, doc! { "profile": 0, "filter": "unset" }).await, "was"), 1);
    let asked = run(&mut client, doc! { "profile": 7 }).await;
    assert_eq!((number(&asked, "was"), asked.get("filter")), (0, None));
    for (command, want) in [
        (doc! { "profile": "x" }, 14),
        (doc! { "profile": 2, "sampleRate": 1.5 }, 2),
        (doc! { "profile": 2, "sampleRate": "x" }, 14),
        (doc! { "profile": 2, "filter": 5 }, 2),
        (doc! { "profile": 2, "filter": doc! { "a": doc! { "$x": 1 } } }, 2),
        (doc! { "profile": 2, "filter": doc! { "a": "x".repeat(16 * 1024) } }, 2),
        (doc! { "profile": 2, "x": 1 }, 40415),
    ] {
        assert_eq!(code(&mut client, command.clone()).await, want, "{command:?}");
        assert_eq!(number(&run(&mut client, doc! { "profile": -1 }).await, "was"), 0);
    }
}

#[tokio::test]
async fn commands_are_recorded() {
    let mut client = Client::new();
    run(&mut client, doc! { "profile": 2 }).await;
    let documents = array![doc! { "_id": 1 }, doc! { "_id": 2 }];
    run(&mut client, doc! { "insert": "c", "documents": documents }).await;
    let find = doc! { "find": "c", "filter": doc! { "_id": doc! { "$gt": 1 } }, "comment": "mine" };
    run(&mut client, find).await;
    run(&mut client, doc! { "find": "c", "filter": doc! { "x": 1 } }).await;
    let change = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "a": 1 } } };
    run(&mut client, doc! { "update": "c", "updates": array![change] }).await;
    let gone = doc! { "q": doc! { "_id": 1 }, "limit": 1 };
    run(&mut client, doc! { "delete": "c", "deletes": array![gone] }).await;
    run(&mut client, doc! { "find": "c", "filter": doc! { "$x": 1 } }).await;
    let entries = entries(&mut client).await;
    let ops: Vec<&str> = entries.iter().map(|entry| text(entry, "op")).collect();
    // The command `profile` is the first; reads of `system.profile` are not recorded.
    assert_eq!(ops, ["command", "insert", "query", "query", "update", "remove", "query"]);
    assert_eq!(number(&entries[1], "ninserted"), 2);
    assert_eq!(text(&entries[1], "ns"), "db.c");
    let Some(Value::Document(command)) = entries[2].get("command") else { panic!() };
    assert_eq!(command.get("comment"), Some(&Value::from("mine")));
    assert_eq!((number(&entries[2], "nreturned"), number(&entries[2], "docsExamined")), (1, 1));
    assert_eq!(text(&entries[3], "planSummary"), "COLLSCAN");
    assert_eq!((number(&entries[3], "keysExamined"), number(&entries[3], "nreturned")), (0, 0));
    assert_eq!((number(&entries[4], "nMatched"), number(&entries[4], "nModified")), (1, 1));
    assert_eq!(number(&entries[5], "ndeleted"), 1);
    assert_eq!(number(&entries[6], "errCode"), 2);
    for entry in &entries {
        assert!(0 <= number(entry, "millis"));
        assert!(matches!(entry.get("ts"), Some(Value::DateTime(_))));
        assert_eq!(text(entry, "client"), "test");
    }
    // The collection is capped, and can be dropped when nothing is recorded any more.
    let list = doc! { "listCollections": 1, "filter": doc! { "name": "system.profile" } };
    let shown = first_batch(&run(&mut client, list).await);
    let capped = doc! { "capped": true, "size": 1 << 20 };
    assert_eq!(shown[0].get("options"), Some(&Value::Document(capped)));
    assert_eq!(code(&mut client, doc! { "drop": "system.profile" }).await, 20);
    run(&mut client, doc! { "profile": 0 }).await;
    assert_eq!(code(&mut client, doc! { "drop": "system.profile" }).await, 0);
    run(&mut client, doc! { "find": "c" }).await;
    assert_eq!(self::entries(&mut client).await, Vec::<Document>::new());
}

#[tokio::test]
async fn a_filter_decides_and_other_databases_are_not_recorded() {
    let mut client = Client::new();
    let filter = doc! { "op": "query", "command.comment": "mine" };
    run(&mut client, doc! { "profile": 1, "slowms": 0, "filter": filter }).await;
    for (database, comment) in [("db", "mine"), ("db", "other"), ("other", "mine")] {
        run(&mut client, doc! { "find": "c", "comment": comment, "$db": database }).await;
    }
    assert_eq!(entries(&mut client).await.len(), 1);
    run(&mut client, doc! { "profile": 1, "slowms": 100_000, "filter": "unset" }).await;
    run(&mut client, doc! { "find": "c" }).await;
    assert_eq!(entries(&mut client).await.len(), 1, "no command is slow");
    run(&mut client, doc! { "profile": 1, "slowms": 0 }).await;
    run(&mut client, doc! { "find": "c" }).await;
    assert_eq!(entries(&mut client).await.len(), 3);
}

#[tokio::test]
async fn the_oldest_entries_make_room() {
    let mut client = Client::new();
    run(&mut client, doc! { "profile": 2 }).await;
    let comment = "x".repeat(900);
    for _ in 0..2_000 {
        run(&mut client, doc! { "find": "c", "comment": comment.as_str() }).await;
    }
    let stats = run(&mut client, doc! { "collStats": "system.profile" }).await;
    assert!(number(&stats, "size") <= 1 << 20, "{stats:?}");
    assert!(500 < number(&stats, "count"), "{stats:?}");
}

#[tokio::test]
async fn clients_read_the_entries_and_write_none() {
    let mut client = Client::new();
    run(&mut client, doc! { "profile": 2 }).await;
    run(&mut client, doc! { "insert": "c", "documents": array![doc! { "_id": 1 }] }).await;
    run(&mut client, doc! { "profile": 0 }).await;
    let before = entries(&mut client).await;
    let set = doc! { "$set": doc! { "x": 1 } };
    let update = doc! { "q": doc! {}, "u": set.clone(), "multi": true, "upsert": false };
    for command in [
        doc! { "insert": "system.profile", "documents": array![doc! { "_id": 1 }] },
        doc! { "update": "system.profile", "updates": array![update] },
        doc! { "findAndModify": "system.profile", "update": set },
        doc! { "findAndModify": "system.profile", "remove": true },
        doc! { "create": "system.profile", "viewOn": "c", "pipeline": array![] },
    ] {
        assert_eq!(code(&mut client, command.clone()).await, 73, "{command:?}");
    }
    let delete = doc! { "q": doc! {}, "limit": 0 };
    let delete = doc! { "delete": "system.profile", "deletes": array![delete] };
    let reply = run(&mut client, delete).await;
    let errors = reply.get("writeErrors").map(|errors| shell(errors.as_ref()).to_string());
    assert!(errors.is_some_and(|errors| errors.contains("12050")), "{reply:?}");
    let bulk = doc! {
        "bulkWrite": 1,
        "nsInfo": array![doc! { "ns": "db.system.profile" }],
        "ops": array![doc! { "insert": 0, "document": doc! { "_id": 1 } },
            doc! { "delete": 0, "filter": doc! {}, "multi": true }],
        "ordered": false,
        "$db": "admin",
    };
    assert_eq!(number(&run(&mut client, bulk).await, "nErrors"), 2);
    assert_eq!(entries(&mut client).await, before);
    // A client may drop it and create it with another size.
    assert_eq!(code(&mut client, doc! { "drop": "system.profile" }).await, 0);
    let create = doc! { "create": "system.profile", "capped": true, "size": 1 << 16 };
    assert_eq!(code(&mut client, create).await, 0);
    run(&mut client, doc! { "profile": 2 }).await;
    run(&mut client, doc! { "find": "c" }).await;
    assert!(!entries(&mut client).await.is_empty());
    let list = doc! { "listCollections": 1, "filter": doc! { "name": "system.profile" } };
    let shown = first_batch(&run(&mut client, list).await);
    let capped = doc! { "capped": true, "size": 1 << 16 };
    assert_eq!(shown[0].get("options"), Some(&Value::Document(capped)));
}
