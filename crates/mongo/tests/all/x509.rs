//! Logins by certificate: accepted logins, and the errors of refused ones.

use document::{Document, Value, doc};
use mongo::{Peer, Settings};

use crate::client::{Client, number};

pub(crate) const ANN: &str = "CN=ann,OU=x,O=y";

/// Returns a client of the same server whose certificate has this subject; `None` for no
/// certificate.
fn with_certificate(of: &Client, subject: Option<&str>) -> Client {
    let address = "10.0.0.7:5000".to_owned();
    let certificate_subject = subject.map(str::to_owned);
    Client::known_as(
        of.api.clone(),
        Peer {
            address,
            certificate_subject,
            reached_at: Some([127, 0, 0, 1].into()),
            ..Peer::default()
        },
    )
}

/// Returns a server with a user of this name.
pub(crate) async fn with_user(subject: &str) -> Client {
    let settings = Settings { host: "10.0.0.1:27017".to_owned(), ..Settings::default() };
    let mut client = Client::with(settings);
    let roles = vec![doc! { "role": "readWrite", "db": "db" }];
    let create = doc! { "createUser": subject, "roles": roles, "$db": "$external" };
    let made = client.run(create).await;
    assert_eq!(number(&made, "ok"), 1, "{made:?}");
    client
}

pub(crate) fn authenticate(user: Option<&str>) -> Document {
    let mut command = doc! { "authenticate": 1, "mechanism": "MONGODB-X509" };
    if let Some(user) = user {
        command.push("user", user);
    }
    command.push("$db", "$external");
    command
}

/// Returns the names of the users that are logged in on a connection.
async fn logged_in(client: &mut Client) -> Vec<String> {
    let status = client.run(doc! { "connectionStatus": 1, "$db": "admin" }).await;
    let Some(Value::Document(info)) = status.get("authInfo") else { panic!("{status:?}") };
    let Some(Value::Array(users)) = info.get("authenticatedUsers") else { panic!("{info:?}") };
    let name = |user: &Value| {
        let user = user.as_ref().as_document().unwrap().to_tree();
        let Some(Value::String(name)) = user.get("user") else { panic!("{user:?}") };
        name.to_string()
    };
    users.iter().map(name).collect()
}

#[tokio::test]
async fn whoever_shows_the_certificate_of_a_user_is_the_user() {
    let api = with_user(ANN).await;
    for user in [None, Some(ANN)] {
        let mut client = with_certificate(&api, Some(ANN));
        assert_eq!(logged_in(&mut client).await, Vec::<String>::new());
        let reply = client.run(authenticate(user)).await;
        assert_eq!(reply, doc! { "dbname": "$external", "user": ANN, "ok": 1.0 });
        assert_eq!(logged_in(&mut client).await, [ANN]);
        client.run(doc! { "logout": 1, "$db": "$external" }).await;
        assert_eq!(logged_in(&mut client).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_handshake_may_carry_the_login() {
    let api = with_user(ANN).await;
    for (subject, logs_in) in [(Some(ANN), true), (Some("CN=bob"), false), (None, false)] {
        let mut client = with_certificate(&api, subject);
        let login = doc! { "authenticate": 1, "mechanism": "MONGODB-X509", "db": "$external" };
        let hello = doc! { "hello": 1, "speculativeAuthenticate": login, "$db": "admin" };
        let reply = client.run(hello).await;
        let want = doc! { "dbname": "$external", "user": ANN };
        let said = reply.get("speculativeAuthenticate");
        assert_eq!(said, logs_in.then_some(&Value::Document(want)), "{subject:?}");
        assert_eq!(logged_in(&mut client).await.len(), usize::from(logs_in));
    }
}

#[tokio::test]
async fn everybody_else_is_told_the_same() {
    let api = with_user(ANN).await;
    let other = doc! { "authenticate": 1, "mechanism": "PLAIN", "$db": "$external" };
    let elsewhere = doc! { "authenticate": 1, "mechanism": "MONGODB-X509", "$db": "admin" };
    for (subject, command, code) in [
        (None, authenticate(None), 18),
        (None, authenticate(Some(ANN)), 18),
        (Some("CN=bob"), authenticate(None), 18),
        (Some("CN=bob"), authenticate(Some(ANN)), 18),
        (Some("O=y,OU=x,CN=ann"), authenticate(None), 18),
        (Some(ANN), authenticate(Some("CN=bob")), 18),
        (Some(ANN), elsewhere, 18),
        (Some(ANN), other, 334),
    ] {
        let mut client = with_certificate(&api, subject);
        let reply = client.run(command.clone()).await;
        assert_eq!(number(&reply, "code"), code, "{subject:?} {command:?}: {reply:?}");
        if code == 18 {
            let text = Value::from("Authentication failed.");
            assert_eq!(reply.get("errmsg"), Some(&text), "{reply:?}");
        }
        assert_eq!(logged_in(&mut client).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_user_may_be_bound_to_addresses_and_may_go() {
    let mut api = with_user(ANN).await;
    for (from, code) in [("10.0.0.0/8", 0), ("192.168.0.0/16", 18)] {
        let restrictions = vec![doc! { "clientSource": vec![document::Value::from(from)] }];
        let update = doc! {
            "updateUser": ANN,
            "authenticationRestrictions": restrictions,
            "$db": "$external",
        };
        let updated = api.run(update).await;
        assert_eq!(number(&updated, "ok"), 1, "{updated:?}");
        let mut client = with_certificate(&api, Some(ANN));
        let reply = client.run(authenticate(None)).await;
        let found = reply.get("code").map_or(0, |_| number(&reply, "code"));
        assert_eq!(found, code, "{from}: {reply:?}");
    }
    api.run(doc! { "dropUser": ANN, "$db": "$external" }).await;
    let mut client = with_certificate(&api, Some(ANN));
    assert_eq!(number(&client.run(authenticate(None)).await, "code"), 18);
}

#[tokio::test]
async fn a_certificate_opens_a_door_that_asks_for_logins() {
    let open = with_user(ANN).await;
    let settings = Settings { asks_for_login: true, ..Settings::default() };
    let api = mongo::MongoApi::new(open.api.engine().clone(), settings);
    let peer = Peer { certificate_subject: Some(ANN.to_owned()), ..Peer::default() };
    let mut client = Client::known_as(api, peer);
    let find = |database: &str| doc! { "find": "c", "$db": database };
    assert_eq!(number(&client.run(find("db")).await, "code"), 13);
    client.run(authenticate(None)).await;
    assert_eq!(number(&client.run(find("db")).await, "ok"), 1);
    assert_eq!(number(&client.run(find("other")).await, "code"), 13);
}
