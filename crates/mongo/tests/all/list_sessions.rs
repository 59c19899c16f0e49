//! The stages that list sessions.

use document::{Document, Value, array, doc};
use mongo::{Peer, Settings};

use crate::{
    client::{Client, cursor_id, first_batch, number},
    x509::{ANN, authenticate, with_user},
};

fn session(byte: u8) -> Document {
    doc! { "id": Value::Binary { subtype: 4, bytes: vec![byte; 16] } }
}

fn aggregate(of: impl Into<Value>, stages: Vec<Document>, database: &str) -> Document {
    let (of, stages): (Value, Vec<Value>) =
        (of.into(), stages.into_iter().map(Value::Document).collect());
    doc! { "aggregate": of, "pipeline": Value::Array(stages), "cursor": doc! {}, "$db": database }
}

fn local(spec: impl Into<Value>) -> Document {
    let spec: Value = spec.into();
    doc! { "$listLocalSessions": spec }
}

fn stored(spec: impl Into<Value>) -> Document {
    let spec: Value = spec.into();
    doc! { "$listSessions": spec }
}

/// Returns a command in a session.
fn within(mut command: Document, byte: u8) -> Document {
    command.push("lsid", session(byte));
    command
}

/// Returns the first bytes of the ids of listed sessions.
fn ids(listed: &[Document]) -> Vec<u8> {
    let id = |entry: &Document| {
        let Some(Value::Document(id)) = entry.get("_id") else { panic!("{entry:?}") };
        let Some(Value::Binary { bytes, .. }) = id.get("id") else { panic!("{id:?}") };
        bytes[0]
    };
    listed.iter().map(id).collect()
}

#[tokio::test]
async fn a_session_is_listed_while_it_has_an_operation_or_a_cursor() {
    let mut client = Client::new();
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[doc! {}, doc! {}])]).await;
    let list = || aggregate(1, vec![local(doc! {})], "admin");
    assert_eq!(first_batch(&client.run(list()).await), [], "the command is in no session");
    let listed = first_batch(&client.run(within(list(), 7)).await);
    assert_eq!(ids(&listed), [7]);
    let uid = Value::Binary { subtype: 0, bytes: auth::sha256(b"").to_vec() };
    let Some(Value::Document(id)) = listed[0].get("_id") else { panic!("{listed:?}") };
    assert_eq!((id.get("uid"), listed[0].get("user")), (Some(&uid), None));
    assert!(matches!(listed[0].get("lastUse"), Some(Value::DateTime(_))), "{listed:?}");
    let find = doc! { "find": "c", "batchSize": 1, "$db": "db" };
    let cursor = cursor_id(&client.run(within(find, 3)).await);
    for command in [
        aggregate(1, vec![local(doc! { "allUsers": true })], "db"),
        aggregate("system.sessions", vec![stored(doc! {})], "config"),
    ] {
        let listed = first_batch(&client.run(within(command.clone(), 7)).await);
        assert_eq!(ids(&listed), [3, 7], "{command:?}");
    }
    let kill = doc! { "killCursors": "c", "cursors": array![cursor], "$db": "db" };
    client.run(kill).await;
    assert_eq!(ids(&first_batch(&client.run(within(list(), 7)).await)), [7]);
}

#[tokio::test]
async fn the_aggregate_of_the_drivers_specifications_has_one_document() {
    let mut client = Client::new();
    let stages = vec![
        local(doc! {}),
        doc! { "$limit": 1 },
        doc! { "$addFields": doc! { "dummy": "dummy field" } },
        doc! { "$project": doc! { "_id": 0, "dummy": 1 } },
    ];
    let reply = client.run(within(aggregate(1, stages, "admin"), 1)).await;
    assert_eq!(first_batch(&reply), [doc! { "dummy": "dummy field" }]);
}

#[tokio::test]
async fn wrong_options_and_places_are_refused() {
    let mut client = Client::new();
    let user = |user: Document| local(doc! { "users": array![Value::Null, user] });
    let both = doc! { "allUsers": true, "users": array![doc! { "user": "a", "db": "b" }] };
    let limit = || doc! { "$limit": 1 };
    for (command, code) in [
        (aggregate(1, vec![local(1)], "admin"), 14),
        (aggregate(1, vec![local(doc! { "allUsers": 1 })], "admin"), 14),
        (aggregate(1, vec![local(doc! { "users": 1 })], "admin"), 14),
        (aggregate(1, vec![local(doc! { "users": array![1] })], "admin"), 14),
        (aggregate(1, vec![user(doc! { "user": 1, "db": "b" })], "admin"), 14),
        (aggregate(1, vec![user(doc! { "db": "b" })], "admin"), 40414),
        (aggregate(1, vec![user(doc! { "user": "a", "db": "b", "x": 1 })], "admin"), 40415),
        (aggregate(1, vec![local(doc! { "x": 1 })], "admin"), 40415),
        (aggregate(1, vec![local(both)], "admin"), 12),
        (aggregate(1, vec![local(doc! { "users": array![Value::Null] })], "admin"), 0),
        (aggregate("c", vec![local(doc! {})], "admin"), 73),
        (aggregate(1, vec![limit(), local(doc! {})], "admin"), 40602),
        (aggregate("c", vec![limit(), local(doc! {})], "db"), 40602),
        (
            aggregate("c", vec![doc! { "$facet": doc! { "a": array![local(doc! {})] } }], "db"),
            40600,
        ),
        (aggregate(1, vec![stored(doc! {})], "config"), 73),
        (aggregate("system.sessions", vec![stored(doc! {})], "db"), 73),
        (aggregate("system.sessions", vec![stored(1)], "config"), 14),
    ] {
        let reply = client.run(command.clone()).await;
        let got = reply.get("code").map_or(0, |_| number(&reply, "code"));
        assert_eq!(got, code, "{command:?}: {reply:?}");
    }
}

#[tokio::test]
async fn a_user_lists_the_own_sessions_and_others_with_a_right_alone() {
    let mut open = with_user(ANN).await;
    let admin = doc! {
        "createUser": "CN=root", "roles": array![doc! { "role": "root", "db": "admin" }],
        "$db": "$external",
    };
    assert_eq!(number(&open.run(admin).await, "ok"), 1);
    let settings = Settings { asks_for_login: true, ..Settings::default() };
    let api = mongo::MongoApi::new(open.api.engine().clone(), settings);
    let known = |subject: &str| {
        let peer = Peer { certificate_subject: Some(subject.to_owned()), ..Peer::default() };
        Client::known_as(api.clone(), peer)
    };
    let (mut ann, mut root) = (known(ANN), known("CN=root"));
    let list = |spec: Document| aggregate(1, vec![local(spec)], "admin");
    assert_eq!(number(&ann.run(list(doc! {})).await, "code"), 13);
    ann.run(authenticate(None)).await;
    root.run(authenticate(None)).await;
    let rows = [doc! {}, doc! {}];
    ann.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &rows)]).await;
    ann.run(within(doc! { "find": "c", "batchSize": 1, "$db": "db" }, 2)).await;
    let named = |user: &str| doc! { "users": array![doc! { "user": user, "db": "$external" }] };
    for spec in [doc! { "allUsers": true }, named("CN=root")] {
        let reply = ann.run(within(list(spec.clone()), 1)).await;
        assert_eq!(number(&reply, "code"), 13, "{spec:?}: {reply:?}");
    }
    for spec in [doc! {}, named(ANN), doc! { "allUsers": false }] {
        let listed = first_batch(&ann.run(within(list(spec.clone()), 1)).await);
        assert_eq!(ids(&listed), [1, 2], "{spec:?}");
        let shown = format!("{ANN}@$external");
        assert!(listed.iter().all(|it| it.get("user") == Some(&shown.as_str().into())));
    }
    for (spec, want) in
        [(doc! {}, [5].as_slice()), (named(ANN), &[2]), (doc! { "allUsers": true }, &[2, 5])]
    {
        let listed = first_batch(&root.run(within(list(spec.clone()), 5)).await);
        assert_eq!(ids(&listed), want, "{spec:?}");
    }
}
