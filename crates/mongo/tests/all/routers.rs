//! How a server presents itself as a standalone server and as a router.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};
use mongo::{Account, Peer, Settings, Topology};

fn router() -> Settings {
    Settings { topology: Topology::Router, ..Settings::default() }
}

fn node() -> Settings {
    Settings { in_cluster: true, ..router() }
}

fn names(reply: &Document) -> Vec<&str> {
    reply.fields().iter().map(|(name, _)| name.as_str()).collect()
}

/// Returns the command of this name.
fn named(name: &str, value: Value, rest: Document) -> Document {
    let mut command = Document::new();
    command.push(name, value);
    rest.into_iter().for_each(|(name, value)| command.push(name, value));
    command
}

#[tokio::test]
async fn hello_says_which() {
    let shared = [
        "maxBsonObjectSize",
        "maxMessageSizeBytes",
        "maxWriteBatchSize",
        "localTime",
        "logicalSessionTimeoutMinutes",
        "connectionId",
        "minWireVersion",
        "maxWireVersion",
    ];
    for (settings, begins, ends, reported) in [
        (Settings::default(), &[][..], &["readOnly", "topologyVersion"][..], 1),
        (router(), &["msg"][..], &["topologyVersion"][..], 3),
        (node(), &["msg"][..], &[][..], 1),
    ] {
        let mut client = Client::with(settings);
        for (command, primary) in
            [("hello", "isWritablePrimary"), ("isMaster", "ismaster"), ("ismaster", "ismaster")]
        {
            let asked = named(command, 1.into(), doc! { "helloOk": true, "$db": "admin" });
            let reply = client.run(asked).await;
            let times = &["ok", "$clusterTime", "operationTime"][..reported];
            let wanted = [&["helloOk", primary][..], begins, &shared, ends, times];
            assert_eq!(names(&reply), wanted.concat(), "{command}");
            assert_eq!(reply.get(primary), Some(&true.into()));
            assert_eq!(number(&reply, "logicalSessionTimeoutMinutes"), 30);
            if !begins.is_empty() {
                assert_eq!(reply.get("msg"), Some(&"isdbgrid".into()));
            }
        }
    }
}

#[tokio::test]
async fn hello_names_a_set_to_clients_of_the_account() {
    let keys = auth::Keys::well_known().unwrap();
    let account = || Some(Account::new("shop".to_owned(), keys.clone().into()));
    let host = || "0.0.0.0:10255".to_owned();
    let hello = |app: &str| {
        let client = doc! { "application": doc! { "name": app } };
        doc! { "hello": 1, "client": client, "$db": "admin" }
    };
    let reached = |name: Option<&str>| Peer {
        reached_at: Some([127, 0, 0, 1].into()),
        reached_name: name.map(str::to_owned),
        ..Peer::from("127.0.0.1:5".to_owned())
    };
    let standalone = Settings { account: account(), host: host(), ..Settings::default() };
    let routed = Settings { topology: Topology::Router, ..standalone.clone() };
    let [standalone, routed] = [standalone, routed].map(|settings| Client::with(settings).api);
    for (api, app, name, want) in [
        (&standalone, "@shop@", None, Some("127.0.0.1:10255")),
        (&standalone, "@shop@", Some("db.example"), Some("db.example:10255")),
        (&standalone, "shop", None, None),
        (&standalone, "@other@", None, None),
        (&routed, "@shop@", None, Some("127.0.0.1:10255")),
        (&routed, "shop", None, None),
    ] {
        let mut client = Client::known_as(api.clone(), reached(name));
        for again in [false, true] {
            let asked = if again {
                doc! { "hello": 1, "$db": "admin" }
            } else {
                hello(app)
            };
            let reply = client.run(asked).await;
            assert_eq!(reply.get("setName").is_some(), want.is_some(), "{reply:?}");
            assert!(want.is_none() || reply.get("msg").is_none(), "{reply:?}");
            if let Some(address) = want {
                assert_eq!(reply.get("setName"), Some(&"globaldb".into()));
                assert_eq!(reply.get("me"), Some(&address.into()));
                assert_eq!(reply.get("primary"), Some(&address.into()));
                assert_eq!(reply.get("hosts"), Some(&array![address]));
                assert_eq!(reply.get("isWritablePrimary"), Some(&true.into()));
                assert_eq!(reply.get("secondary"), Some(&false.into()));
            }
        }
    }
    let mut client = Client::with(Settings { account: account(), ..node() });
    assert_eq!(client.run(hello("@shop@")).await.get("setName"), None);
}

/// A node of a cluster does not serve its clients permanently, so its handshake replies have no
/// `topologyVersion`: drivers poll it, and do not take the end of a stream for the loss of the
/// server.
#[tokio::test]
async fn a_client_does_not_wait_for_news_of_a_node() {
    let mut client = Client::with(node());
    let known = doc! {
        "processId": Value::ObjectId(document::ObjectId::from_parts(1, [1; 5], 1)), "counter": 0_i64,
    };
    let asked = doc! {
        "hello": 1, "topologyVersion": known, "maxAwaitTimeMS": i32::MAX, "$db": "admin",
    };
    let reply = client.run(asked).await;
    assert_eq!(reply.get("msg"), Some(&"isdbgrid".into()), "{reply:?}");
    assert!(reply.get("topologyVersion").is_none());
}

fn session() -> Document {
    doc! { "id": Value::Binary { subtype: 4, bytes: vec![3; 16] } }
}

/// Returns a command with more fields.
fn with(command: &Document, more: Document) -> Document {
    let mut command = command.clone();
    more.into_iter().for_each(|(name, value)| command.push(name, value));
    command.push("$db", "db");
    command
}

#[tokio::test]
async fn numbers_are_checked_as_a_router_does() {
    let update = doc! { "q": doc! { "_id": 1 }, "u": doc! { "$set": doc! { "a": 1 } } };
    let updates = document::array![update];
    let write = doc! { "update": "c", "updates": updates };
    let (find, ping) = (doc! { "find": "c" }, doc! { "ping": 1 });
    let number_of = || doc! { "txnNumber": 7_i64, "lsid": session() };
    let more = |mut fields: Document, name: &str, value: Value| {
        fields.push(name, value);
        fields
    };
    // The code on a standalone server, and on a router.
    for (command, fields, standalone, routed) in [
        (&write, number_of(), 20, 0),
        (&write, doc! { "lsid": session() }, 0, 0),
        (&write, doc! { "txnNumber": 7_i64 }, 20, 72),
        (&write, doc! { "txnNumber": -1_i64, "lsid": session() }, 20, 72),
        (&write, doc! { "txnNumber": 7, "lsid": session() }, 20, 14),
        (&write, more(number_of(), "startTransaction", true.into()), 20, 72),
        (&write, more(number_of(), "autocommit", false.into()), 20, 251),
        (&write, doc! { "autocommit": false, "lsid": session() }, 72, 72),
        (&write, more(number_of(), "stmtId", 5.into()), 20, 0),
        (&write, more(number_of(), "stmtId", (-1).into()), 20, 2),
        (&write, more(number_of(), "stmtIds", document::array![5]), 20, 0),
        (&write, more(number_of(), "stmtIds", document::array![5, 6]), 20, 16),
        (
            &write,
            more(more(number_of(), "stmtId", 1.into()), "stmtIds", document::array![5]),
            20,
            72,
        ),
        (&write, doc! { "stmtId": 5 }, 0, 0),
        (&find, number_of(), 20, 50768),
        (&ping, number_of(), 20, 50768),
        (&ping, doc! { "lsid": session() }, 0, 0),
    ] {
        for (settings, code) in [(Settings::default(), standalone), (router(), routed)] {
            let topology = settings.topology.clone();
            let mut client = Client::with(settings);
            let reply = client.run(with(command, fields.clone())).await;
            let found = reply.get("code").map_or(0, |_| number(&reply, "code"));
            assert_eq!(found, code, "{topology:?}: {command:?} {fields:?}: {reply:?}");
            assert!(reply.get("writeErrors").is_none(), "{reply:?}");
        }
    }
}

#[tokio::test]
async fn sessions_are_refreshed_and_ended() {
    let mut client = Client::with(router());
    for (command, sessions) in [
        ("refreshSessions", document::array![session()]),
        ("killSessions", document::array![session()]),
        ("killAllSessions", document::array![]),
        ("endSessions", document::array![session()]),
    ] {
        let reply = client.run(named(command, sessions, doc! { "$db": "admin" })).await;
        assert_eq!(number(&reply, "ok"), 1, "{command}: {reply:?}");
    }
}

#[tokio::test]
async fn errors_of_numbered_writes_say_whether_they_may_be_sent_again() {
    let insert = |number: bool| {
        let mut command = doc! { "insert": "c", "documents": document::array![doc! { "_id": 1 }] };
        if number {
            command.push("lsid", session());
            command.push("txnNumber", 1_i64);
        }
        command.push("$db", "db");
        command
    };
    for (code, labels, numbered, labelled) in [
        (91, None, true, true),
        (91, None, false, false),
        (11_600, None, true, true),
        (11_000, None, true, false),
        (91, Some(document::array![]), true, false),
        (11_000, Some(document::array!["RetryableWriteError"]), false, true),
    ] {
        let mut client = Client::with(router());
        let mut data = doc! { "failCommands": document::array!["insert"], "errorCode": code };
        labels.clone().into_iter().for_each(|labels| data.push("errorLabels", labels));
        let mode = doc! { "times": 1 };
        let set = doc! {
            "configureFailPoint": "failCommand", "mode": mode, "data": data, "$db": "admin",
        };
        client.run(set).await;
        let reply = client.run(insert(numbered)).await;
        assert_eq!(number(&reply, "code"), i64::from(code));
        let wanted = document::array!["RetryableWriteError"];
        let found = reply.get("errorLabels") == Some(&wanted);
        assert_eq!(found, labelled, "{code} {labels:?}: {reply:?}");
        assert_eq!(number(&client.run(insert(numbered)).await, "n"), 1);
    }
}

/// The error of a node that has lost its shard fails the whole command: drivers look for the code
/// and the label only in the command's reply.
#[tokio::test]
async fn a_write_that_comes_when_another_node_owns_the_data_may_be_sent_again() {
    let update = doc! { "q": doc! {}, "u": doc! { "$set": doc! { "a": 1 } } };
    let many = doc! { "q": doc! {}, "u": doc! { "$set": doc! { "a": 1 } }, "multi": true };
    let delete = doc! { "q": doc! {}, "limit": 1 };
    let set = doc! { "$set": doc! { "a": 1 } };
    let command = |name: &str, list: &str, one: Document| {
        let mut statements = Document::new();
        statements.push(list, document::array![one]);
        named(name, "c".into(), statements)
    };
    for (command, numbered) in [
        (command("insert", "documents", doc! { "_id": 2 }), true),
        (command("update", "updates", update), true),
        (command("update", "updates", many), false),
        (command("delete", "deletes", delete), true),
        (doc! { "findAndModify": "c", "update": set }, true),
    ] {
        let kit = test_kit::Kit::default();
        let mut client = Client::of(mongo::MongoApi::new(kit.engine.clone(), router()));
        kit.clock.end();
        let number_of = doc! { "lsid": session(), "txnNumber": 1_i64 };
        let fields = if numbered {
            number_of
        } else {
            doc! {}
        };
        let reply = client.run(with(&command, fields)).await;
        assert_eq!(
            (number(&reply, "ok"), number(&reply, "code")),
            (0, 91),
            "{command:?}: {reply:?}"
        );
        assert_eq!(reply.get("errorLabels").is_some(), numbered, "{reply:?}");
    }
}
