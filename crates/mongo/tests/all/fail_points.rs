//! Fail points, as tests of applications and suites of drivers set them.

use crate::client::{Client, number};
use document::{Document, array, doc};

async fn set(client: &mut Client, mode: Document, data: Document) {
    let command =
        doc! { "configureFailPoint": "failCommand", "mode": mode, "data": data, "$db": "admin" };
    let reply = client.run(command).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
}

fn hello(app: &str) -> Document {
    let client = doc! {
        "application": doc! { "name": app },
        "driver": doc! { "name": "test", "version": "1" },
        "os": doc! { "type": "test" },
    };
    doc! { "hello": 1, "client": client, "$db": "admin" }
}

#[tokio::test]
async fn that_there_are_fail_points_is_said() {
    let mut client = Client::new();
    for command in [
        doc! { "getParameter": 1, "enableTestCommands": 1, "$db": "admin" },
        doc! { "getParameter": "*", "$db": "admin" },
        doc! { "getParameter": doc! { "allParameters": true }, "$db": "admin" },
    ] {
        let reply = client.run(command.clone()).await;
        assert_eq!(reply.get("enableTestCommands"), Some(&true.into()), "{command:?}: {reply:?}");
    }
    let set = doc! { "setParameter": 1, "enableTestCommands": false, "$db": "admin" };
    assert_eq!(number(&client.run(set).await, "ok"), 0);
}

#[tokio::test]
async fn a_fail_point_with_a_name_meets_the_handshake_itself() {
    let mut client = Client::new();
    let data = doc! {
        "failCommands": array!["hello", "isMaster", "ping"], "errorCode": 91, "appName": "mine",
    };
    set(&mut client, doc! { "times": 2 }, data).await;
    let reply = client.beside().run(hello("other")).await;
    assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    let mut mine = client.beside();
    let reply = mine.run(hello("mine")).await;
    assert_eq!((number(&reply, "ok"), number(&reply, "code")), (0, 91));
    // The failed handshake introduced nobody: it may be tried again.
    let reply = mine.run(doc! { "ping": 1, "$db": "admin" }).await;
    assert_eq!(number(&reply, "ok"), 1);
    let reply = mine.run(hello("mine")).await;
    assert_eq!((number(&reply, "ok"), number(&reply, "code")), (0, 91));
    let reply = mine.run(hello("mine")).await;
    assert_eq!(number(&reply, "ok"), 1, "it failed as often as it was to: {reply:?}");
}

#[tokio::test]
async fn a_connection_that_has_said_its_name_is_met_and_others_are_not() {
    let mut client = Client::new();
    let mut mine = client.beside();
    mine.run(hello("mine")).await;
    let data = doc! { "failCommands": array!["find"], "closeConnection": true, "appName": "mine" };
    set(&mut client, doc! { "times": 1 }, data).await;
    let find = || doc! { "find": "c", "$db": "db" };
    assert_eq!(number(&client.run(find()).await, "ok"), 1);
    mine.ask(find(), &[]).await;
    mine.ended().await;
}
