//! Server parameters, as tools and drivers' test suites read them.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};
use mongo::{IsHome, Settings};

async fn get(client: &mut Client, asked: Value) -> Document {
    let reply = client.run(doc! { "getParameter": asked.clone(), "$db": "admin" }).await;
    assert_eq!(number(&reply, "ok"), 1, "{asked:?}: {reply:?}");
    reply
}

#[tokio::test]
async fn what_suites_of_drivers_look_for_is_among_all_parameters() {
    let mut client = Client::new();
    let mechanisms = array!["MONGODB-X509", "SCRAM-SHA-1", "SCRAM-SHA-256"];
    for (name, value, settable) in [
        ("requireApiVersion", Value::Bool(false), true),
        ("acceptApiVersion2", Value::Bool(false), false),
        ("enableTestCommands", Value::Bool(true), false),
        ("authenticationMechanisms", mechanisms, false),
    ] {
        for asked in ["*".into(), doc! { "allParameters": true }.into()] {
            assert_eq!(get(&mut client, asked).await.get(name), Some(&value), "{name}");
        }
        let mut one = doc! { "getParameter": 1 };
        one.push(name, 1);
        one.push("$db", "admin");
        assert_eq!(client.run(one).await.get(name), Some(&value), "{name}");
        let asked = doc! { "allParameters": true, "showDetails": true };
        let shown = get(&mut client, asked.into()).await;
        let want = doc! {
            "value": value.clone(), "settableAtRuntime": settable, "settableAtStartup": false,
        };
        assert_eq!(shown.get(name), Some(&want.into()), "{name}");
        if settable {
            continue;
        }
        let mut set = doc! { "setParameter": 1 };
        set.push(name, value);
        set.push("$db", "admin");
        assert_eq!(number(&client.run(set).await, "code"), 20, "{name} cannot be set");
    }
}

#[tokio::test]
async fn an_api_version_is_required_on_request() {
    let mut client = Client::new();
    let mut other = client.beside();
    let set = |value: Value| doc! { "setParameter": 1, "requireApiVersion": value, "$db": "admin" };
    let ping = || doc! { "ping": 1, "$db": "admin" };
    let with_version = |mut command: Document| {
        command.push("apiVersion", "1");
        command
    };
    assert_eq!(number(&client.run(ping()).await, "ok"), 1);
    let reply = client.run(set(1.into())).await;
    assert_eq!(reply.get("was"), Some(&Value::Bool(false)), "{reply:?}");
    for command in [ping(), doc! { "hello": 1, "$db": "admin" }, set(false.into())] {
        for client in [&mut client, &mut other] {
            let reply = client.run(command.clone()).await;
            assert_eq!(number(&reply, "code"), 498_870, "{command:?}: {reply:?}");
            assert_eq!(reply.get("codeName"), Some(&"Location498870".into()));
        }
    }
    // The errors of a wrong declaration and of an unknown command take precedence.
    let strict = doc! { "ping": 1, "apiStrict": true, "$db": "admin" };
    assert_eq!(number(&client.run(strict).await, "code"), 4_886_600);
    assert_eq!(number(&client.run(doc! { "nonsense": 1, "$db": "db" }).await, "code"), 59);
    assert_eq!(number(&other.run(with_version(ping())).await, "ok"), 1);
    let reply = client.run(with_version(set(false.into()))).await;
    assert_eq!(reply.get("was"), Some(&Value::Bool(true)), "{reply:?}");
    assert_eq!(number(&other.run(ping()).await, "ok"), 1);
}

#[tokio::test]
async fn an_api_version_cannot_be_required_in_a_sharded_cluster() {
    let is_home = Some(IsHome::new(|_| true));
    let mut client = Client::with(Settings { is_home, ..Settings::default() });
    let set = |value: bool| doc! { "setParameter": 1, "requireApiVersion": value, "$db": "admin" };
    assert_eq!(number(&client.run(set(true)).await, "code"), 115);
    assert_eq!(number(&client.run(set(false)).await, "ok"), 1);
    assert_eq!(number(&client.run(doc! { "ping": 1, "$db": "admin" }).await, "ok"), 1);
}
