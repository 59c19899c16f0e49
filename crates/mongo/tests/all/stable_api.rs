//! What a client may use with a strict version 1 of the Stable API.

use document::{Document, Value, array, doc};
use mongo::{Peer, Settings};

use crate::{
    client::{Client, number},
    x509::{ANN, authenticate, with_user},
};

fn strictly(mut command: Document) -> Document {
    command.push("apiVersion", "1");
    command.push("apiStrict", true);
    command
}

async fn code(client: &mut Client, command: Document) -> i64 {
    let reply = client.run(command).await;
    reply.get("code").map_or(0, |_| number(&reply, "code"))
}

/// Returns a command on `db` with one more argument.
fn with(mut command: Document, argument: &str, value: impl Into<Value>) -> Document {
    command.push(argument, value);
    if command.get("$db").is_none() {
        command.push("$db", "db");
    }
    command
}

fn of_name(name: &str) -> Document {
    let mut command = Document::new();
    command.push(name, 1);
    command.push("$db", "admin");
    command
}

/// The commands of MongoDB's version 1 with their aliases, and those of EbbDB.
const COMMANDS: &[&str] = &[
    "hello",
    "ping",
    "listDatabases",
    "listCollections",
    "listIndexes",
    "create",
    "drop",
    "dropDatabase",
    "collMod",
    "createIndexes",
    "dropIndexes",
    "deleteIndexes",
    "insert",
    "update",
    "delete",
    "bulkWrite",
    "find",
    "getMore",
    "killCursors",
    "findAndModify",
    "findandmodify",
    "aggregate",
    "count",
    "explain",
    "endSessions",
    "refreshSessions",
    "saslStart",
    "saslContinue",
    "authenticate",
    "commitTransaction",
    "abortTransaction",
    "ebbClock",
    "ebbExpiry",
];

#[tokio::test]
async fn exactly_the_commands_of_the_version_are_allowed() {
    let mut client = Client::new();
    let there = mongo::table().iter().map(|row| row.name);
    for name in there.chain(mongo::NOT_YET.iter().map(|row| row.name)) {
        let reply = client.run(strictly(of_name(name))).await;
        let refused = reply.get("code") == Some(&323.into());
        assert_eq!(refused, !COMMANDS.contains(&name), "{name}: {reply:?}");
        let text =
            format!("Provided apiStrict:true, but the command {name} is not in API Version 1.");
        assert!(!refused || reply.get("errmsg") == Some(&text.as_str().into()), "{reply:?}");
        if refused {
            assert_eq!(reply.get("codeName"), Some(&"APIStrictError".into()));
            let mut loosely = of_name(name);
            loosely.push("apiVersion", "1");
            assert_ne!(code(&mut client, loosely).await, 323, "{name}");
        }
    }
    assert_eq!(code(&mut client, strictly(of_name("nonsense"))).await, 59);
}

#[tokio::test]
async fn commands_are_listed_with_the_versions_that_they_are_in() {
    let reply = Client::new().run(of_name("listCommands")).await;
    let Some(Value::Document(commands)) = reply.get("commands") else { panic!("{reply:?}") };
    for (name, about) in commands.fields() {
        let Value::Document(about) = about else { panic!("{about:?}") };
        let versions = if COMMANDS.contains(&name.as_str()) { array!["1"] } else { array![] };
        assert_eq!(about.get("apiVersions"), Some(&versions), "{name}");
    }
}

#[tokio::test]
async fn arguments_outside_of_the_version_are_refused_and_change_nothing() {
    let mut client = Client::new();
    let documents = [doc! { "_id": 1, "a": 1 }];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &documents)]).await;
    let index = |option: &str, value: Value| {
        let mut spec = doc! { "key": doc! { "a": 1 }, "name": "a_1" };
        spec.push(option, value);
        with(doc! { "createIndexes": "c" }, "indexes", array![spec])
    };
    let kind = |kind: &str| {
        let spec = doc! { "key": doc! { "a": kind }, "name": "a" };
        with(doc! { "createIndexes": "c" }, "indexes", array![spec])
    };
    let modify = |option: &str| {
        let mut index = doc! { "name": "none" };
        index.push(option, true);
        with(doc! { "collMod": "c" }, "index", index)
    };
    let find = |option: &str, value: Value| with(doc! { "find": "c" }, option, value);
    let create = |option: &str, value: Value| with(doc! { "create": "new" }, option, value);
    let aggregate = || doc! { "aggregate": "c", "pipeline": array![], "cursor": doc! {} };
    for (command, want) in [
        (create("autoIndexId", true.into()), 323),
        (create("storageEngine", doc! {}.into()), 323),
        (create("temp", false.into()), 323),
        (create("capped", true.into()), 72),
        (with(doc! { "create": "new", "capped": true }, "size", 1000), 323),
        (modify("prepareUnique"), 323),
        (modify("hidden"), 27),
        (with(doc! { "collMod": "c" }, "dryRun", true), 323),
        (index("sparse", false.into()), 323),
        (index("background", true.into()), 323),
        (kind("text"), 323),
        (kind("geoHaystack"), 115),
        (find("tailable", false.into()), 323),
        (find("min", doc! { "a": 1 }.into()), 323),
        (find("collectionUUID", 1.into()), 323),
        (find("allowDiskUse", true.into()), 0),
        (with(doc! { "count": "c" }, "fields", doc! {}), 323),
        (with(doc! { "count": "c" }, "skip", 1), 0),
        (with(doc! { "listIndexes": "c" }, "includeBuildUUIDs", true), 323),
        (with(aggregate(), "explain", true), 323),
        (with(aggregate(), "isMapReduceCommand", false), 323),
        (with(aggregate(), "allowDiskUse", true), 0),
        (doc! { "explain": doc! { "find": "c", "returnKey": true }, "$db": "db" }, 323),
        (doc! { "explain": doc! { "find": "c" }, "$db": "db" }, 0),
    ] {
        let reply = client.run(strictly(command.clone())).await;
        let got = reply.get("code").map_or(0, |_| number(&reply, "code"));
        assert_eq!(got, want, "{command:?}: {reply:?}");
    }
    assert_eq!(client.all("c").await, documents);
    let names = client.run(doc! { "listCollections": 1, "$db": "db" }).await;
    assert_eq!(crate::client::first_batch(&names).len(), 1, "{names:?}");
    assert_eq!(code(&mut client, strictly(index("unique", true.into()))).await, 0);
}

#[tokio::test]
async fn stages_outside_of_the_version_are_refused_wherever_they_stand() {
    let mut client = Client::new();
    let stage = |name: &str, value: Value| {
        let mut stage = Document::new();
        stage.push(name, value);
        stage
    };
    let empty = |name: &str| stage(name, doc! {}.into());
    let statistics = |option: &str| stage("$collStats", stage(option, doc! {}.into()).into());
    let stages = Value::Array;
    let join = |name: &str, inner: Document| {
        let from = if name == "$lookup" { "from" } else { "coll" };
        let mut spec = doc! { "as": "x", "pipeline": array![inner] };
        if name == "$unionWith" {
            spec.remove("as");
        }
        spec.push(from, "c");
        stage(name, spec.into())
    };
    for (pipeline, refused) in [
        (stages(vec![empty("$indexStats").into()]), true),
        (stages(vec![empty("$listLocalSessions").into()]), true),
        (stages(vec![empty("$listSessions").into()]), true),
        (stages(vec![empty("$planCacheStats").into()]), true),
        (stages(vec![empty("$search").into()]), true),
        (stages(vec![empty("$fill").into()]), true),
        (stages(vec![empty("$densify").into()]), false),
        (stages(vec![empty("$setWindowFields").into()]), false),
        (stages(vec![statistics("latencyStats").into()]), true),
        (stages(vec![statistics("storageStats").into()]), true),
        (stages(vec![statistics("count").into()]), false),
        (
            array![doc! { "$facet": doc! { "a": array![], "b": array![empty("$indexStats")] } }],
            true,
        ),
        (array![join("$lookup", empty("$indexStats"))], true),
        (array![join("$unionWith", statistics("latencyStats"))], true),
        (array![join("$lookup", join("$lookup", empty("$currentOp")))], true),
        (array![join("$lookup", doc! { "$match": doc! {} })], false),
    ] {
        let command = || {
            doc! { "aggregate": "c", "pipeline": pipeline.clone(), "cursor": doc! {}, "$db": "db" }
        };
        let got = code(&mut client, strictly(command())).await;
        assert_eq!(got == 323, refused, "{pipeline:?}: {got}");
        let explain = strictly(doc! { "explain": command(), "$db": "db" });
        assert_eq!(code(&mut client, explain).await == 323, refused, "{pipeline:?}");
        assert_ne!(code(&mut client, command()).await, 323, "{pipeline:?}");
    }
}

#[tokio::test]
async fn a_client_that_keeps_to_the_version_strictly_can_log_in() {
    let open = with_user(ANN).await;
    let settings = Settings { asks_for_login: true, ..Settings::default() };
    let api = mongo::MongoApi::new(open.api.engine().clone(), settings);
    let peer = Peer { certificate_subject: Some(ANN.to_owned()), ..Peer::default() };
    let mut client = Client::known_as(api, peer);
    let find = || strictly(doc! { "find": "c", "$db": "db" });
    assert_eq!(code(&mut client, find()).await, 13);
    assert_eq!(code(&mut client, strictly(authenticate(None))).await, 0);
    assert_eq!(code(&mut client, find()).await, 0);
    let payload = Value::Binary { subtype: 0, bytes: b"n,,n=ann,r=nonce".to_vec() };
    let start = doc! {
        "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": payload.clone(), "$db": "admin",
    };
    let go_on = doc! { "saslContinue": 1, "conversationId": 1, "payload": payload, "$db": "admin" };
    for command in [start, go_on] {
        assert_ne!(code(&mut client, strictly(command.clone())).await, 323, "{command:?}");
    }
}

#[tokio::test]
async fn nothing_of_the_version_is_deprecated() {
    let mut client = Client::new();
    let ask = |value: Value| {
        doc! { "ping": 1, "apiVersion": "1", "apiDeprecationErrors": value, "$db": "admin" }
    };
    for (command, want) in [
        (ask(true.into()), 0),
        (ask(false.into()), 0),
        (ask(1.into()), 14),
        (doc! { "ping": 1, "apiDeprecationErrors": true, "$db": "admin" }, 4_886_600),
        (doc! { "ping": 1, "apiVersion": "2", "$db": "admin" }, 322),
    ] {
        assert_eq!(code(&mut client, command.clone()).await, want, "{command:?}");
    }
}
