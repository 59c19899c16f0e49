//! Server parameters, as tools and drivers' test suites read them.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};

async fn get(client: &mut Client, asked: Value) -> Document {
    let reply = client.run(doc! { "getParameter": asked.clone(), "$db": "admin" }).await;
    assert_eq!(number(&reply, "ok"), 1, "{asked:?}: {reply:?}");
    reply
}

#[tokio::test]
async fn what_suites_of_drivers_look_for_is_among_all_parameters() {
    let mut client = Client::new();
    let mechanisms = array!["MONGODB-X509", "SCRAM-SHA-1", "SCRAM-SHA-256"];
    for (name, value) in [
        ("requireApiVersion", Value::Bool(false)),
        ("acceptApiVersion2", Value::Bool(false)),
        ("enableTestCommands", Value::Bool(true)),
        ("authenticationMechanisms", mechanisms),
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
            "value": value.clone(), "settableAtRuntime": false, "settableAtStartup": false,
        };
        assert_eq!(shown.get(name), Some(&want.into()), "{name}");
        let mut set = doc! { "setParameter": 1 };
        set.push(name, value);
        set.push("$db", "admin");
        assert_eq!(number(&client.run(set).await, "code"), 20, "{name} cannot be set");
    }
}
