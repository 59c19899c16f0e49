//! Commands that remove or change several users and roles are atomic: if any of their commits
//! fails, everything stays as it was.

use document::{Document, array, doc};
use mongo::{MongoApi, Settings};
use test_kit::{Kit, PausingStore};

use crate::client::{Client, number};

/// Users of `$external` need no password.
const USERS: &str = "$external";

/// Returns a store and a client. `app` has the roles `old` and `older`, and another database has a
/// role that inherits both. Three users have some of these roles; one of them also has a built-in
/// role of `app`.
async fn filled() -> (PausingStore, Client) {
    let kit = Kit::default();
    let mut client = Client::of(MongoApi::new(kit.engine, Settings::default()));
    let (old, older) = (doc! { "role": "old", "db": "app" }, doc! { "role": "older", "db": "app" });
    let read = doc! { "role": "read", "db": "app" };
    let none = || array![];
    for command in [
        doc! { "createRole": "old", "privileges": none(), "roles": none(), "$db": "app" },
        doc! { "createRole": "older", "privileges": none(), "roles": array!["old"], "$db": "app" },
        doc! { "createRole": "all", "privileges": none(),
        "roles": array![old.clone(), older.clone(), read.clone()], "$db": "admin" },
        doc! { "createUser": "ann", "roles": array![old.clone(), read], "$db": USERS },
        doc! { "createUser": "ben", "roles": array![old, older.clone()], "$db": USERS },
        doc! { "createUser": "cid", "roles": array![older], "$db": USERS },
    ] {
        let reply = client.run(command).await;
        assert_eq!(number(&reply, "ok"), 1, "{reply:?}");
    }
    (kit.store, client)
}

/// Returns all users and roles, as commands show them.
async fn shown(client: &mut Client) -> Vec<Document> {
    let mut told =
        vec![client.run(doc! { "usersInfo": doc! { "forAllDBs": true }, "$db": "admin" }).await];
    for database in ["app", "admin"] {
        told.push(client.run(doc! { "rolesInfo": 1, "$db": database }).await);
    }
    told.iter().for_each(|reply| assert_eq!(number(reply, "ok"), 1, "{reply:?}"));
    told
}

/// Returns how often a role of `app` is named in these replies.
fn named(shown: &[Document], role: &str) -> usize {
    let name = format!("{:?}", doc! { "role": role, "db": "app" });
    format!("{shown:?}").matches(name.trim_end_matches(['}', ')', ']'])).count()
}

#[tokio::test]
async fn a_commit_that_fails_leaves_everything_as_it_was() {
    for command in [
        doc! { "dropRole": "old", "$db": "app" },
        doc! { "dropAllRolesFromDatabase": 1, "$db": "app" },
        doc! { "dropAllUsersFromDatabase": 1, "$db": USERS },
    ] {
        for nth in 1.. {
            let (store, mut client) = filled().await;
            let before = shown(&mut client).await;
            store.lose_nth_commit(nth);
            let reply = client.run(command.clone()).await;
            if number(&reply, "ok") == 1 {
                assert_eq!(nth, 2, "{command:?} is one commit");
                break;
            }
            assert_eq!(shown(&mut client).await, before, "{command:?}, commit {nth}");
        }
    }
}

#[tokio::test]
async fn nobody_has_roles_that_were_dropped() {
    let (_, mut client) = filled().await;
    let before = shown(&mut client).await;
    ["old", "older", "read"].iter().for_each(|role| assert!(0 < named(&before, role), "{role}"));
    client.run(doc! { "dropRole": "old", "$db": "app" }).await;
    let without = shown(&mut client).await;
    assert_eq!(named(&without, "old"), 0);
    assert_eq!(named(&without, "older"), named(&before, "older"));
    let dropped = client.run(doc! { "dropAllRolesFromDatabase": 1, "$db": "app" }).await;
    assert_eq!(number(&dropped, "n"), 1);
    let without = shown(&mut client).await;
    assert_eq!((named(&without, "old"), named(&without, "older")), (0, 0));
    // A built-in role of the database is not dropped.
    assert_eq!(named(&without, "read"), named(&before, "read"));
    let dropped = client.run(doc! { "dropAllUsersFromDatabase": 1, "$db": USERS }).await;
    assert_eq!(number(&dropped, "n"), 3);
    let dropped = client.run(doc! { "dropAllUsersFromDatabase": 1, "$db": USERS }).await;
    assert_eq!((number(&dropped, "ok"), number(&dropped, "n")), (1, 0));
}
