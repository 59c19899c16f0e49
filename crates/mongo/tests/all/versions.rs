//! The MongoDB version that the server reports, wherever a client reads it.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};

/// Returns the value at a path of a reply.
fn at<'a>(reply: &'a Document, path: &[&str]) -> &'a Value {
    let (first, rest) = path.split_first().unwrap();
    let value = reply.get(first).unwrap_or_else(|| panic!("{first} of {reply:?}"));
    match value {
        Value::Document(inner) if !rest.is_empty() => at(inner, rest),
        value => value,
    }
}

#[tokio::test]
async fn every_reply_says_the_version_that_has_the_wire_version() {
    let mut client = Client::new();
    for (command, path, version) in [
        (doc! { "buildInfo": 1 }, ["version"].as_slice(), "8.0.0"),
        (doc! { "serverStatus": 1 }, &["version"], "8.0.0"),
        (doc! { "explain": doc! { "find": "c" } }, &["serverInfo", "version"], "8.0.0"),
        (
            doc! { "getParameter": 1, "featureCompatibilityVersion": 1 },
            &["featureCompatibilityVersion", "version"],
            "8.0",
        ),
    ] {
        let mut command = command;
        command.push("$db", "admin");
        let reply = client.run(command.clone()).await;
        assert_eq!(at(&reply, path), &Value::from(version), "{command:?}");
    }
    let reply = client.run(doc! { "buildInfo": 1, "$db": "admin" }).await;
    assert_eq!(reply.get("versionArray"), Some(&array![8, 0, 0, 0]));
    let reply = client.run(doc! { "hello": 1, "$db": "admin" }).await;
    assert_eq!((number(&reply, "minWireVersion"), number(&reply, "maxWireVersion")), (0, 25));
}
