//! Commands on the database `db` and assertions about their replies.

use document::{Document, Value};

use crate::client::{Client, number};

/// Runs a command, on `db` unless it names another database.
pub(crate) async fn run(client: &mut Client, mut command: Document) -> Document {
    if command.get("$db").is_none() {
        command.push("$db", "db");
    }
    client.run(command).await
}

/// Runs a command that has to succeed.
pub(crate) async fn good(client: &mut Client, command: Document) -> Document {
    let reply = run(client, command.clone()).await;
    assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
    assert_eq!(reply.get("writeErrors"), None, "{command:?}: {reply:?}");
    reply
}

/// Runs a command and returns the code of its error or of its first write error; 0 if it succeeds.
pub(crate) async fn code(client: &mut Client, command: Document) -> i64 {
    let failed = first_error(run(client, command).await);
    failed.get("code").map_or(0, |_| number(&failed, "code"))
}

/// Runs a command that has to fail with a code; returns the message.
pub(crate) async fn refused(client: &mut Client, command: Document, code: i64) -> String {
    let failed = first_error(run(client, command.clone()).await);
    assert_eq!(number(&failed, "code"), code, "{command:?}: {failed:?}");
    failed.get("errmsg").unwrap().as_ref().as_str().unwrap().to_owned()
}

fn first_error(reply: Document) -> Document {
    match reply.get("writeErrors") {
        Some(Value::Array(errors)) => errors[0].as_ref().as_document().unwrap().to_tree(),
        _ => reply,
    }
}
