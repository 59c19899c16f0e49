//! The server as the only member of a replica set, and its common ground with a router: cluster times,
//! and concerns that a standalone server refuses.

use crate::client::{Client, number};
use document::{Document, ObjectId, Value, array, doc};
use mongo::{MongoApi, ReplicaSetSettings, Settings, Topology};
use test_kit::Kit;

fn set(advertise: Option<&str>) -> Settings {
    let set =
        ReplicaSetSettings { name: "rs0".to_owned(), advertise: advertise.map(str::to_owned) };
    Settings {
        topology: Topology::ReplicaSet(set),
        host: "0.0.0.0:27017".to_owned(),
        ..Settings::default()
    }
}

fn router() -> Settings {
    Settings { topology: Topology::Router, ..Settings::default() }
}

/// Returns a client of a set that was started over the kit's engine.
async fn started(kit: &Kit, advertise: Option<&str>) -> Client {
    let api = MongoApi::new(kit.engine.clone(), set(advertise));
    api.prepare_replica_set().await;
    Client::of(api)
}

fn admin(mut command: Document) -> Document {
    command.push("$db", "admin");
    command
}

/// Runs a command on `admin`; returns its error code, or 0, and the reply.
async fn coded(client: &mut Client, command: Document) -> (i64, Document) {
    let reply = client.run(admin(command)).await;
    (reply.get("code").map_or(0, |_| number(&reply, "code")), reply)
}

async fn hello(client: &mut Client) -> Document {
    client.run(admin(doc! { "hello": 1 })).await
}

fn inner<'a>(reply: &'a Document, name: &str) -> &'a Document {
    let Some(Value::Document(inner)) = reply.get(name) else { panic!("{name} of {reply:?}") };
    inner
}

fn election(reply: &Document) -> ObjectId {
    let Some(Value::ObjectId(id)) = reply.get("electionId") else { panic!("{reply:?}") };
    *id
}

fn time(reply: &Document) -> u64 {
    let Some(Value::Timestamp(time)) = reply.get("operationTime") else { panic!("{reply:?}") };
    let cluster = inner(reply, "$clusterTime").get("clusterTime");
    assert_eq!(cluster, Some(&Value::Timestamp(*time)), "{reply:?}");
    *time
}

fn config(host: &str) -> Document {
    doc! { "_id": "rs0", "members": array![doc! { "_id": 0, "host": host }] }
}

#[tokio::test]
async fn hello_is_that_of_a_primary() {
    let kit = Kit::default();
    for (advertise, host) in [(None, "localhost:27017"), (Some("Db.Example:5"), "db.example:5")] {
        let mut client = started(&kit, advertise).await;
        for (name, primary) in [("hello", "isWritablePrimary"), ("isMaster", "ismaster")] {
            let mut command = Document::new();
            command.push(name, 1);
            let reply = client.run(admin(command)).await;
            for (field, value) in [
                (primary, Value::Bool(true)),
                ("secondary", false.into()),
                ("setName", "rs0".into()),
                ("setVersion", 1.into()),
                ("hosts", array![host]),
                ("primary", host.into()),
                ("me", host.into()),
                ("readOnly", false.into()),
                ("logicalSessionTimeoutMinutes", 30.into()),
            ] {
                assert_eq!(reply.get(field), Some(&value), "{field}: {reply:?}");
            }
            assert_eq!(reply.get("msg"), None);
            assert!(election(&reply).to_string().starts_with("7fffffff0000"), "{reply:?}");
            let last = inner(&reply, "lastWrite");
            assert_eq!(
                inner(last, "opTime").get("ts"),
                Some(&Value::Timestamp(time(&reply))),
                "{reply:?}"
            );
            assert_eq!(number(inner(&reply, "topologyVersion"), "counter"), 0);
        }
    }
}

#[tokio::test]
async fn a_term_rises_with_each_start_and_the_configuration_stays() {
    let kit = Kit::default();
    let mut client = started(&kit, None).await;
    let first = election(&hello(&mut client).await);
    assert_eq!(coded(&mut client, doc! { "replSetInitiate": config("one:1") }).await.0, 0);
    let mut client = started(&kit, None).await;
    let reply = hello(&mut client).await;
    assert!(first < election(&reply), "{reply:?}");
    assert_eq!(reply.get("me"), Some(&"one:1".into()));
    assert_eq!(coded(&mut client, doc! { "replSetInitiate": doc! {} }).await.0, 23);
    // An address that was configured gives way to one in the settings.
    let mut client = started(&kit, Some("two:2")).await;
    assert_eq!(hello(&mut client).await.get("me"), Some(&"two:2".into()));
}

#[tokio::test]
async fn a_set_is_initiated_once_and_may_be_reconfigured() {
    let mut client = started(&Kit::default(), None).await;
    let two = array![doc! { "_id": 0, "host": "a:1" }, doc! { "_id": 1, "host": "b:2" }];
    let initiate = |config: Document| doc! { "replSetInitiate": config };
    let reconfig = |mut config: Document, version: i32| {
        config.push("version", version);
        doc! { "replSetReconfig": config }
    };
    let other = doc! { "_id": "rs1", "members": array![doc! { "_id": 0, "host": "a:1" }] };
    let forced = || {
        let mut command = reconfig(config("c:3"), 1);
        command.push("force", true);
        command
    };
    for (command, code, host, version) in [
        (initiate(other.clone()), 93, "localhost:27017", 1),
        (initiate(doc! { "_id": "rs0", "members": two.clone() }), 93, "localhost:27017", 1),
        (initiate(config("a:x")), 93, "localhost:27017", 1),
        (initiate(config("a")), 0, "a:27017", 1),
        (initiate(config("b:2")), 23, "a:27017", 1),
        (reconfig(config("b:2"), 1), 103, "a:27017", 1),
        (reconfig(other, 2), 103, "a:27017", 1),
        (reconfig(doc! { "_id": "rs0", "members": two }, 2), 103, "a:27017", 1),
        (reconfig(config("b:2"), 2), 0, "b:2", 2),
        (forced(), 0, "c:3", 3),
    ] {
        let (found, reply) = coded(&mut client, command.clone()).await;
        assert_eq!(found, code, "{command:?}: {reply:?}");
        let hello = hello(&mut client).await;
        assert_eq!(hello.get("me"), Some(&host.into()), "{command:?}");
        assert_eq!(number(&hello, "setVersion"), version, "{command:?}");
    }
    let (_, reply) = coded(&mut client, doc! { "replSetInitiate": 1 }).await;
    assert_eq!(reply.get("errmsg"), Some(&"already initialized".into()));
}

#[tokio::test]
async fn status_and_configuration_are_those_of_one_member() {
    let mut client = started(&Kit::default(), Some("a:1")).await;
    let (_, status) = coded(&mut client, doc! { "replSetGetStatus": 1 }).await;
    assert_eq!((status.get("set"), number(&status, "myState")), (Some(&"rs0".into()), 1));
    let Some(Value::Array(members)) = status.get("members") else { panic!("{status:?}") };
    let [Value::Document(member)] = &members[..] else { panic!("{status:?}") };
    assert_eq!(member.get("name"), Some(&"a:1".into()));
    assert_eq!(member.get("stateStr"), Some(&"PRIMARY".into()));
    let (_, reply) = coded(&mut client, doc! { "replSetGetConfig": 1 }).await;
    let shown = inner(&reply, "config");
    assert_eq!((shown.get("_id"), number(shown, "version")), (Some(&"rs0".into()), 1));
    let (_, reply) = coded(&mut client, doc! { "getCmdLineOpts": 1 }).await;
    assert_eq!(inner(inner(&reply, "parsed"), "replication").get("replSet"), Some(&"rs0".into()));
    let (_, reply) = coded(&mut client, doc! { "serverStatus": 1 }).await;
    assert_eq!(inner(&reply, "repl").get("setName"), Some(&"rs0".into()));
    assert_eq!(coded(&mut client, doc! { "replSetStepDown": 1 }).await.0, 115);
    let mut alone = Client::with(router());
    for name in ["replSetGetStatus", "replSetGetConfig", "replSetInitiate", "replSetReconfig"] {
        let mut command = Document::new();
        command.push(name, 1);
        assert_eq!(coded(&mut alone, command).await.0, 76, "{name}");
    }
    let (_, reply) = coded(&mut alone, doc! { "serverStatus": 1 }).await;
    assert_eq!(reply.get("repl"), None);
}

#[tokio::test]
async fn a_waiting_client_gets_a_change_of_the_configuration() {
    let mut client = started(&Kit::default(), None).await;
    let known = inner(&hello(&mut client).await, "topologyVersion").clone();
    let wait = |known: &Document, ms: i64| {
        admin(doc! { "hello": 1, "topologyVersion": known.clone(), "maxAwaitTimeMS": ms })
    };
    assert_eq!(hello(&mut client).await.get("me"), Some(&"localhost:27017".into()));
    let mut waiting = client.beside();
    waiting.ask(wait(&known, 3_600_000), &[]).await;
    tokio::task::yield_now().await;
    assert_eq!(coded(&mut client, doc! { "replSetInitiate": config("a:1") }).await.0, 0);
    let reply = waiting.reply().await;
    assert_eq!(reply.get("me"), Some(&"a:1".into()), "{reply:?}");
    assert_eq!(number(inner(&reply, "topologyVersion"), "counter"), 1);
    // The state that the client knows is an earlier one.
    assert_eq!(number(&waiting.run(wait(&known, 3_600_000)).await, "ok"), 1);
    let mut future = inner(&reply, "topologyVersion").clone();
    future.insert("counter", 2_i64);
    assert_eq!(number(&waiting.run(wait(&future, 1)).await, "code"), 31382);
}

#[tokio::test]
async fn replies_have_the_time_of_the_last_commit() {
    for settings in [set(None), router()] {
        let mut client = Client::with(settings);
        let insert = |id: i32| {
            doc! { "insert": "c", "documents": array![doc! { "_id": id }], "$db": "db" }
        };
        let first = time(&client.run(insert(1)).await);
        let read = client.run(doc! { "find": "c", "$db": "db" }).await;
        assert_eq!(time(&read), first, "a read commits nothing");
        let failed = client.run(doc! { "no such command": 1, "$db": "db" }).await;
        assert_eq!((number(&failed, "ok"), time(&failed)), (0, first));
        assert!(first < time(&client.run(insert(2)).await));
        let key = inner(inner(&read, "$clusterTime"), "signature").get("keyId");
        assert_eq!(key, Some(&0_i64.into()));
    }
    for settings in [Settings::default(), Settings { in_cluster: true, ..router() }] {
        let reply = Client::with(settings).run(doc! { "ping": 1, "$db": "db" }).await;
        assert_eq!((reply.get("operationTime"), reply.get("$clusterTime")), (None, None));
    }
}

#[tokio::test]
async fn reads_are_as_consistent_as_their_concern_wants() {
    let settings = [Settings::default(), router(), set(None)];
    let mut clients = settings.map(Client::with);
    let now = time(&clients[2].run(doc! { "find": "c", "$db": "db" }).await);
    let at = |time: u64| Value::Timestamp(time);
    let level = |level: &str| doc! { "level": level };
    let with = |mut concern: Document, name: &str, time: u64| {
        concern.push(name, at(time));
        concern
    };
    let after = |concern: Document, time: u64| with(concern, "afterClusterTime", time);
    let find = || doc! { "find": "c" };
    let insert = || doc! { "insert": "c", "documents": array![doc! {}] };
    let future = now + (100 << 32);
    for (command, concern, standalone, replicated) in [
        (find(), level("local"), 0, 0),
        (find(), level("majority"), 0, 0),
        (find(), level("linearizable"), 123, 0),
        (find(), level("snapshot"), 123, 0),
        (insert(), level("snapshot"), 72, 72),
        (find(), level("none"), 9, 9),
        (find(), after(doc! {}, 1), 20, 0),
        (find(), after(level("majority"), 1), 20, 0),
        (find(), after(level("available"), 1), 72, 72),
        (find(), after(level("linearizable"), 1), 72, 72),
        (find(), after(doc! {}, 0), 72, 72),
        (find(), after(doc! {}, future), 20, 72),
        (insert(), after(doc! {}, 1), 20, 0),
        (insert(), after(doc! {}, future), 20, 72),
        (doc! { "create": "n" }, after(doc! {}, 1), 20, 0),
        (find(), with(level("local"), "atClusterTime", 1), 72, 72),
        (find(), with(level("snapshot"), "atClusterTime", 0), 72, 72),
        (find(), with(level("snapshot"), "atClusterTime", 1), 123, 239),
        (find(), with(level("snapshot"), "atClusterTime", future), 123, 72),
        (find(), after(with(level("snapshot"), "atClusterTime", 1), 1), 72, 72),
    ] {
        let codes = [standalone, replicated, replicated];
        for (client, code) in clients.iter_mut().zip(codes) {
            let mut command = command.clone();
            command.push("readConcern", concern.clone());
            command.push("$db", "db");
            let reply = client.run(command.clone()).await;
            let found = reply.get("code").map_or(0, |_| number(&reply, "code"));
            assert_eq!(found, code, "{command:?}: {reply:?}");
        }
    }
    // A client that has seen the time on a server from before a restore.
    let seen = doc! { "clusterTime": at(future) };
    let mut command = find();
    command.push("readConcern", after(doc! {}, future));
    command.push("$clusterTime", seen);
    command.push("$db", "db");
    let reply = clients[2].run(command).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    assert!(time(&reply) < future, "the client's time is not believed");
}

#[tokio::test]
async fn a_write_for_more_members_than_one_is_made_and_reported() {
    for settings in [set(None), router()] {
        let mut client = Client::with(settings);
        for (id, w, code) in [
            (1, Value::from(1), None),
            (2, "majority".into(), None),
            (3, 2.into(), Some(100)),
            (4, "everywhere".into(), Some(79)),
        ] {
            let reply = client
                .run(doc! {
                    "insert": "c", "documents": array![doc! { "_id": id }],
                    "writeConcern": doc! { "w": w.clone() }, "$db": "db",
                })
                .await;
            assert_eq!((number(&reply, "ok"), number(&reply, "n")), (1, 1), "{reply:?}");
            let found = reply.get("writeConcernError").map(|_| inner(&reply, "writeConcernError"));
            assert_eq!(found.map(|error| number(error, "code")), code, "{reply:?}");
        }
        assert_eq!(client.all("c").await.len(), 4);
    }
    let refused = doc! {
        "insert": "c", "documents": array![doc! { "_id": 1 }],
        "writeConcern": doc! { "w": 2 }, "$db": "db",
    };
    let reply = Client::new().run(refused).await;
    assert_eq!(number(&reply, "code"), 2, "{reply:?}");
}

#[tokio::test]
async fn a_set_does_a_numbered_write_once() {
    let kit = Kit::default();
    let lsid = doc! { "id": Value::Binary { subtype: 4, bytes: vec![7; 16] } };
    let write = doc! {
        "update": "c", "lsid": lsid, "txnNumber": 3_i64, "$db": "db",
        "updates": array![doc! {
            "q": doc! { "_id": 1 }, "u": doc! { "$inc": doc! { "n": 1 } }, "upsert": true,
        }],
    };
    for again in [false, true] {
        let mut client = started(&kit, None).await;
        let reply = client.run(write.clone()).await;
        assert_eq!(reply.get("retriedStmtIds").is_some(), again, "{reply:?}");
        assert_eq!(client.all("c").await, [doc! { "_id": 1, "n": 1 }]);
    }
}
