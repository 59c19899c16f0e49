//! Validators of collections: which writes they refuse, what the refusal shows, and that a refused
//! document changes nothing.

use std::sync::Arc;

use crate::client::{Client, first_batch, number};
use crate::replies::{good, run};
use document::{Document, Value, array, doc};
use engine::{Model, Namespace};
use mongo::{MongoApi, MongoDialect, Settings};
use test_kit::{Kit, Setup};

fn kit() -> Kit {
    Kit::new(Setup { dialect: Arc::new(MongoDialect), ..Setup::default() })
}

fn client_of(kit: &Kit) -> Client {
    Client::of(MongoApi::new(kit.engine.clone(), Settings::default()))
}

/// Returns a client whose collection `c` has a validator and a document that meets it.
async fn client(validator: Document) -> Client {
    let mut client = client_of(&kit());
    good(&mut client, doc! { "insert": "c", "documents": array![doc! { "_id": 1, "a": 5 }] }).await;
    good(&mut client, doc! { "collMod": "c", "validator": validator }).await;
    client
}

fn positive() -> Document {
    doc! { "a": doc! { "$gt": 0 } }
}

/// Returns the code of the first failed statement or of the command; 0 for success.
fn code_of(reply: &Document) -> i64 {
    let of_entry = |name: &str| match reply.get(name) {
        Some(Value::Array(errors)) => {
            errors.first().and_then(|error| error.as_ref().as_document()).map(|it| it.to_tree())
        }
        _ => None,
    };
    let failed = of_entry("writeErrors").or_else(|| {
        let entries = reply.get("cursor").map(|_| first_batch(reply)).unwrap_or_default();
        entries.into_iter().find(|entry| entry.get("code").is_some())
    });
    let failed = failed.as_ref().unwrap_or(reply);
    failed.get("code").map_or(0, |_| number(failed, "code"))
}

/// The writes that give document 1, or a new document 2, the value -1.
fn bad_writes() -> Vec<Document> {
    let set = || doc! { "$set": doc! { "a": -1 } };
    let update = |change: Value| doc! { "q": doc! { "_id": 1 }, "u": change };
    let upsert = |change: Value| doc! { "q": doc! { "_id": 2 }, "u": change, "upsert": true };
    let of = |statement: Document| doc! { "update": "c", "updates": array![statement] };
    let bulk = |operation: Document| {
        doc! {
            "bulkWrite": 1, "ops": array![operation], "nsInfo": array![doc! { "ns": "db.c" }],
            "$db": "admin",
        }
    };
    vec![
        doc! { "insert": "c", "documents": array![doc! { "_id": 2, "a": -1 }] },
        of(update(set().into())),
        of(update(doc! { "a": -1 }.into())),
        of(update(array![set()])),
        of(upsert(set().into())),
        of(upsert(doc! { "a": -1 }.into())),
        of(doc! { "q": doc! {}, "u": set(), "multi": true }),
        doc! { "findAndModify": "c", "query": doc! { "_id": 1 }, "update": set() },
        doc! { "findAndModify": "c", "query": doc! { "_id": 1 }, "update": array![set()] },
        doc! { "findAndModify": "c", "query": doc! { "_id": 2 }, "update": set(), "upsert": true },
        bulk(doc! { "insert": 0, "document": doc! { "_id": 2, "a": -1 } }),
        bulk(doc! { "update": 0, "filter": doc! { "_id": 1 }, "updateMods": set() }),
    ]
}

#[tokio::test]
async fn each_write_of_a_document_that_fails_is_refused_and_changes_nothing() {
    let mut client = client(positive()).await;
    let before = client.all("c").await;
    for command in bad_writes() {
        let reply = run(&mut client, command.clone()).await;
        assert_eq!(code_of(&reply), 121, "{command:?}: {reply:?}");
        assert_eq!(client.all("c").await, before, "{command:?}");
    }
    good(&mut client, doc! { "delete": "c", "deletes": array![doc! { "q": doc! {}, "limit": 0 }] })
        .await;
    assert_eq!(client.all("c").await, []);
}

#[tokio::test]
async fn each_write_may_bypass_validation() {
    for mut command in bad_writes() {
        let mut client = client(positive()).await;
        command.push("bypassDocumentValidation", true);
        let reply = run(&mut client, command.clone()).await;
        assert_eq!(code_of(&reply), 0, "{command:?}: {reply:?}");
        let all = client.all("c").await;
        assert!(all.iter().any(|it| number(it, "a") == -1), "{command:?}: {all:?}");
    }
}

#[tokio::test]
async fn the_error_describes_the_failure() {
    let mut client = client(positive()).await;
    let details = || {
        doc! {
            "operatorName": "$gt",
            "specifiedAs": doc! { "a": doc! { "$gt": 0 } },
            "reason": "comparison failed",
            "consideredValue": -1,
        }
    };
    let info = |id: i32| doc! { "failingDocumentId": id, "details": details() };
    let insert = doc! { "insert": "c", "documents": array![doc! { "_id": 2, "a": -1 }] };
    let entry = doc! {
        "index": 0,
        "code": 121,
        "errInfo": info(2),
        "errmsg": "Document failed validation",
    };
    let reply = run(&mut client, insert).await;
    assert_eq!(reply.get("writeErrors"), Some(&array![entry]));
    assert_eq!(number(&reply, "n"), 0);
    let change = doc! { "$set": doc! { "a": -1 } };
    let modify = doc! { "findAndModify": "c", "query": doc! { "_id": 1 }, "update": change };
    let reply = run(&mut client, modify).await;
    assert_eq!(reply.get("errInfo"), Some(&info(1).into()), "{reply:?}");
    assert_eq!(reply.get("codeName"), Some(&"DocumentValidationFailure".into()));
    assert_eq!(reply.get("errmsg"), Some(&"Document failed validation".into()));
    let schema =
        doc! { "required": array!["b"], "properties": doc! { "a": doc! { "bsonType": "int" } } };
    good(&mut client, doc! { "collMod": "c", "validator": doc! { "$jsonSchema": schema } }).await;
    let reply = run(&mut client, doc! { "insert": "c", "documents": array![doc! { "_id": 3 }] });
    let rule = doc! {
        "operatorName": "required",
        "specifiedAs": doc! { "required": array!["b"] },
        "missingProperties": array!["b"],
    };
    let details = doc! { "operatorName": "$jsonSchema", "schemaRulesNotSatisfied": array![rule] };
    let entry = doc! {
        "index": 0,
        "code": 121,
        "errInfo": doc! { "failingDocumentId": 3, "details": details },
        "errmsg": "Document failed validation",
    };
    assert_eq!(reply.await.get("writeErrors"), Some(&array![entry]));
}

#[tokio::test]
async fn statements_of_one_command_are_checked_one_by_one() {
    let mut client = client(positive()).await;
    let documents =
        || array![doc! { "_id": 2, "a": 1 }, doc! { "_id": 3, "a": -1 }, doc! { "_id": 4, "a": 1 }];
    for (ordered, ids) in [(true, vec![1, 2]), (false, vec![1, 2, 4])] {
        let insert = doc! { "insert": "c", "documents": documents(), "ordered": ordered };
        let reply = run(&mut client, insert).await;
        assert_eq!(code_of(&reply), if ordered { 121 } else { 11000 }, "{reply:?}");
        let found: Vec<i64> = client.all("c").await.iter().map(|it| number(it, "_id")).collect();
        assert_eq!(found, ids);
    }
    // A later update of the same document is checked on the version that the earlier one made.
    let inc = |by: i32| doc! { "q": doc! { "_id": 2 }, "u": doc! { "$inc": doc! { "a": by } } };
    let updates = array![inc(1), inc(-3), inc(-1), inc(5)];
    let reply =
        run(&mut client, doc! { "update": "c", "updates": updates, "ordered": false }).await;
    assert_eq!((code_of(&reply), number(&reply, "nModified")), (121, 3), "{reply:?}");
    assert_eq!(number(&client.all("c").await[1], "a"), 6);
}

#[tokio::test]
async fn level_and_action_select_what_is_refused() {
    let mut client = client_of(&kit());
    let rows = array![doc! { "_id": 1, "a": -5 }, doc! { "_id": 2, "a": 5 }];
    good(&mut client, doc! { "insert": "c", "documents": rows }).await;
    let set = |id: i32, a: i32| {
        let update = doc! { "q": doc! { "_id": id }, "u": doc! { "$set": doc! { "a": a } } };
        doc! { "update": "c", "updates": array![update] }
    };
    let insert = |id: i32| doc! { "insert": "c", "documents": array![doc! { "_id": id, "a": -1 }] };
    for (at, (level, action, codes)) in (0..).zip([
        ("strict", "error", [121, 121, 121]),
        ("strict", "errorAndLog", [121, 121, 121]),
        ("moderate", "error", [0, 121, 121]),
        ("moderate", "warn", [0, 0, 0]),
        ("strict", "warn", [0, 0, 0]),
        ("off", "error", [0, 0, 0]),
    ]) {
        let change = doc! {
            "collMod": "c", "validator": positive(), "validationLevel": level,
            "validationAction": action,
        };
        good(&mut client, change).await;
        let writes = [set(1, -6 - at), set(2, -6 - at), insert(10 + at)];
        for (command, code) in writes.into_iter().zip(codes) {
            let reply = run(&mut client, command.clone()).await;
            assert_eq!(code_of(&reply), code, "{level} {action} {command:?}: {reply:?}");
        }
        let mut reset = set(2, 5);
        reset.push("bypassDocumentValidation", true);
        good(&mut client, reset).await;
    }
}

#[tokio::test]
async fn an_update_that_changes_nothing_is_not_checked() {
    let mut client = client_of(&kit());
    good(&mut client, doc! { "insert": "c", "documents": array![doc! { "_id": 1, "a": -5 }] })
        .await;
    good(&mut client, doc! { "collMod": "c", "validator": positive() }).await;
    let update = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "a": -5 } } };
    let reply = good(&mut client, doc! { "update": "c", "updates": array![update] }).await;
    assert_eq!((number(&reply, "n"), number(&reply, "nModified")), (1, 0));
}

/// Returns the options of a collection as `listCollections` shows them.
async fn options(client: &mut Client, name: &str) -> Document {
    let list = doc! { "listCollections": 1, "filter": doc! { "name": name } };
    let shown = first_batch(&good(client, list).await);
    let options = shown.first().and_then(|entry| entry.get("options")).unwrap();
    options.as_ref().as_document().unwrap().to_tree()
}

#[tokio::test]
async fn options_are_shown_as_given_and_survive_a_restart_and_a_rename() {
    let mut kit = kit();
    let mut client = client_of(&kit);
    let given = || doc! { "validator": positive(), "validationLevel": "moderate" };
    let mut create = doc! { "create": "v" };
    given().into_iter().for_each(|(name, value)| create.push(name, value));
    good(&mut client, create.clone()).await;
    assert_eq!(options(&mut client, "v").await, given());
    // The same options again have no effect; others are refused.
    good(&mut client, create).await;
    assert_eq!(code_of(&run(&mut client, doc! { "create": "v" }).await), 48);
    good(&mut client, doc! { "collMod": "v", "validationAction": "warn" }).await;
    let mut with_action = given();
    with_action.push("validationAction", "warn");
    assert_eq!(options(&mut client, "v").await, with_action);
    good(&mut client, doc! { "collMod": "v", "validationAction": "error" }).await;
    let rename = doc! { "renameCollection": "db.v", "to": "db.w", "$db": "admin" };
    good(&mut client, rename).await;
    let insert =
        |id: i32, a: i32| doc! { "insert": "w", "documents": array![doc! { "_id": id, "a": a }] };
    assert_eq!(code_of(&run(&mut client, insert(1, -1)).await), 121);
    drop(client);
    kit.restart();
    let mut client = client_of(&kit);
    assert_eq!(options(&mut client, "w").await.get("validator"), Some(&positive().into()));
    assert_eq!(code_of(&run(&mut client, insert(1, -1)).await), 121);
    good(&mut client, insert(1, 1)).await;
    // An index changes the record, too, and keeps the validator.
    let index = doc! { "key": doc! { "l": 1 }, "name": "l_1" };
    good(&mut client, doc! { "createIndexes": "w", "indexes": array![index] }).await;
    assert_eq!(code_of(&run(&mut client, insert(2, -1)).await), 121);
    good(&mut client, doc! { "collMod": "w", "validator": doc! {} }).await;
    good(&mut client, insert(2, -1)).await;
    let rest = doc! { "validationLevel": "moderate", "validationAction": "error" };
    assert_eq!(options(&mut client, "w").await, rest);
}

#[tokio::test]
async fn validators_that_cannot_be_used_are_refused() {
    let mut client = client_of(&kit());
    let nested = doc! { "$jsonSchema": doc! { "required": array![] } };
    let text = "Parsing of collection validator failed :: caused by :: $jsonSchema keyword \
                'required' cannot be an empty array";
    let reply = run(&mut client, doc! { "create": "v", "validator": nested }).await;
    assert_eq!((code_of(&reply), reply.get("errmsg")), (9, Some(&text.into())));
    for (database, name) in [("admin", "v"), ("config", "v"), ("local", "v")] {
        let create = doc! { "create": name, "validator": positive(), "$db": database };
        assert_eq!(code_of(&run(&mut client, create).await), 72, "{database}.{name}");
    }
    let large = doc! { "a": "x".repeat(1024 * 1024) };
    assert_eq!(code_of(&run(&mut client, doc! { "create": "v", "validator": large }).await), 10334);
    for (change, code) in [
        (doc! { "collMod": "c", "validator": doc! { "$where": "x" } }, 2),
        (doc! { "collMod": "c", "validationAction": "x" }, 2),
        (doc! { "collMod": "none", "validator": positive() }, 26),
        (
            doc! {
                "collMod": "c", "validator": positive(),
                "index": doc! { "name": "none", "hidden": true },
            },
            27,
        ),
    ] {
        assert_eq!(code_of(&run(&mut client, change.clone()).await), code, "{change:?}");
    }
    assert_eq!(options(&mut client, "c").await, doc! {});
}

#[tokio::test]
async fn a_stored_validator_that_cannot_be_parsed_refuses_documents() {
    let kit = kit();
    let options = doc! { "validator": doc! { "$unknown": 1 } };
    let namespace = Namespace::new("db", "v");
    kit.engine.create_collection(Model::Documents, &namespace, options).await.unwrap();
    let mut client = client_of(&kit);
    let insert = doc! { "insert": "v", "documents": array![doc! { "_id": 1 }] };
    let reply = run(&mut client, insert.clone()).await;
    assert_eq!(code_of(&reply), 2, "{reply:?}");
    let text = format!("{reply:?}");
    assert!(text.contains("the validator of db.v cannot be parsed: unknown"), "{text}");
    good(&mut client, doc! { "collMod": "v", "validator": positive() }).await;
    assert_eq!(code_of(&run(&mut client, insert).await), 121);
}

#[tokio::test]
async fn a_command_describes_failures_up_to_a_total_size() {
    let mut client = client(positive()).await;
    let large = "x".repeat(3 * 1024 * 1024);
    let document = |id: i32| Value::from(doc! { "_id": id, "a": large.as_str() });
    let documents = Value::Array((2..6).map(document).collect());
    let insert = doc! { "insert": "c", "documents": documents, "ordered": false };
    let reply = run(&mut client, insert).await;
    let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("no errors") };
    let infos: Vec<Document> = errors
        .iter()
        .map(|error| {
            let info = error.as_ref().as_document().and_then(|error| error.get("errInfo"));
            info.and_then(|info| info.as_document()).unwrap().to_tree()
        })
        .collect();
    assert_eq!(infos.len(), 4);
    assert!(infos[0].get("details").is_some());
    let note = doc! { "failingDocumentId": 5, "note": "detailed error was too large" };
    assert_eq!(infos[3], note);
}

#[tokio::test]
async fn documents_of_a_validated_collection_expire_on_time() {
    let mut client = client_of(&kit());
    let schema = doc! { "properties": doc! { "ttl": doc! { "bsonType": "int", "maximum": 60 } } };
    let create = doc! { "create": "v", "validator": doc! { "$jsonSchema": schema } };
    good(&mut client, create).await;
    let index = doc! { "key": doc! { "_ts": 1 }, "name": "_ts_1", "expireAfterSeconds": -1 };
    good(&mut client, doc! { "createIndexes": "v", "indexes": array![index] }).await;
    let insert = |id: i32, ttl: i32| {
        doc! { "insert": "v", "documents": array![doc! { "_id": id, "ttl": ttl }] }
    };
    good(&mut client, insert(1, 10)).await;
    good(&mut client, insert(2, 30)).await;
    assert_eq!(code_of(&run(&mut client, insert(3, 90)).await), 121);
    // A refused update does not extend the life of its document.
    let later = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "ttl": 90 } } };
    let reply = run(&mut client, doc! { "update": "v", "updates": array![later] }).await;
    assert_eq!(code_of(&reply), 121, "{reply:?}");
    let forward = |seconds: i32| doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    good(&mut client, forward(10)).await;
    let ids = |all: Vec<Document>| all.iter().map(|it| number(it, "_id")).collect::<Vec<i64>>();
    assert_eq!(ids(client.all("v").await), [2]);
    // The id of an expired document is free, for documents that meet the validator.
    assert_eq!(code_of(&run(&mut client, insert(1, 90)).await), 121);
    good(&mut client, insert(1, 60)).await;
    good(&mut client, forward(20)).await;
    assert_eq!(ids(client.all("v").await), [1]);
}

#[tokio::test]
async fn an_expression_that_fails_refuses_the_document_unless_it_is_only_logged() {
    let divides = || doc! { "$expr": doc! { "$divide": array![10, "$a"] } };
    let mut client = client(divides()).await;
    let insert = |id: i32| doc! { "insert": "c", "documents": array![doc! { "_id": id, "a": 0 }] };
    let reply = run(&mut client, insert(2)).await;
    assert_eq!(code_of(&reply), 121, "{reply:?}");
    let text = format!("{reply:?}");
    assert!(text.contains("failed to evaluate aggregation expression"), "{text}");
    assert!(text.contains("BadValue"), "{text}");
    good(&mut client, doc! { "collMod": "c", "validationAction": "warn" }).await;
    good(&mut client, insert(2)).await;
}
