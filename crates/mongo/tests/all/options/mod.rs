//! The options of the commands that applications send most, each tested for the behavior that the
//! compatibility page documents. The page is generated from the table of these tests, so that it
//! cannot claim anything else.

mod table;

use document::{Document, Value, array, doc};

use crate::client::{Client, first_batch, number};

pub(crate) use table::{Answer, OPTIONS, Row};

/// The commands whose options are in the table.
pub(crate) const COMMANDS: &[&str] = &[
    "create",
    "collMod",
    "createIndexes",
    "insert",
    "update",
    "delete",
    "findAndModify",
    "find",
    "aggregate",
    "count",
    "distinct",
];

/// Returns a command that succeeds, to which an option is added.
fn command_for(row: &Row) -> Document {
    let pipeline = || array![doc! { "$set": doc! { "b": 1 } }];
    match (row.command, row.option) {
        ("create", "pipeline") => doc! { "create": "new", "viewOn": "c" },
        ("create", "expireAfterSeconds") => {
            let cluster_key = doc! { "key": doc! { "_id": 1 }, "unique": true };
            doc! { "create": "new", "clusteredIndex": cluster_key }
        }
        ("create", _) => doc! { "create": "new" },
        ("collMod", "viewOn") => doc! { "collMod": "v", "pipeline": array![] },
        ("collMod", "pipeline") => doc! { "collMod": "v", "viewOn": "c" },
        ("collMod", "expireAfterSeconds") => doc! { "collMod": "clustered" },
        ("collMod", "index.keyPattern") => {
            doc! { "collMod": "c", "index": doc! { "hidden": false } }
        }
        ("collMod", option) if option.starts_with("index.") => {
            doc! { "collMod": "c", "index": doc! { "name": "a_1", "hidden": false } }
        }
        ("collMod", _) => doc! { "collMod": "c" },
        ("createIndexes", _) => {
            let index = doc! { "key": doc! { "b": 1 }, "name": "b_1" };
            doc! { "createIndexes": "c", "indexes": array![index] }
        }
        ("insert", _) => doc! { "insert": "c", "documents": array![doc! { "_id": 2 }] },
        ("update", "updates.arrayFilters") => {
            let edit = doc! { "$set": doc! { "l.$[x]": 1 } };
            doc! { "update": "c", "updates": array![doc! { "q": doc! { "_id": 9 }, "u": edit }] }
        }
        ("update", _) => {
            let update = doc! { "q": doc! { "_id": 1 }, "u": pipeline() };
            doc! { "update": "c", "updates": array![update] }
        }
        ("delete", _) => {
            doc! { "delete": "c", "deletes": array![doc! { "q": doc! { "_id": 1 }, "limit": 1 }] }
        }
        ("findAndModify", "remove") => doc! { "findAndModify": "c" },
        ("findAndModify", "arrayFilters") => {
            let edit = doc! { "$set": doc! { "l.$[x]": 1 } };
            doc! { "findAndModify": "c", "query": doc! { "_id": 9 }, "update": edit }
        }
        ("findAndModify", _) => doc! { "findAndModify": "c", "update": pipeline() },
        ("aggregate", _) => doc! { "aggregate": "c", "pipeline": array![], "cursor": doc! {} },
        ("distinct", _) => doc! { "distinct": "c", "key": "a" },
        (name, _) => {
            let mut command = Document::new();
            command.push(name, "c");
            command
        }
    }
}

/// Adds an option to a command, or to the document or the first listed document that it belongs to.
fn add(command: &mut Document, path: &str, value: Value) {
    let Some((outer, inner)) = path.split_once('.') else { return command.insert(path, value) };
    match command.get_mut(outer).unwrap() {
        Value::Document(document) => document.insert(inner, value),
        Value::Array(list) => match list.first_mut() {
            Some(Value::Document(document)) => document.insert(inner, value),
            other => panic!("{path}: {other:?}"),
        },
        other => panic!("{path}: {other:?}"),
    }
}

/// Returns the code of a reply, or of its first write error; 0 without an error.
fn code(reply: &Document) -> i64 {
    if let Some(Value::Array(errors)) = reply.get("writeErrors") {
        let Some(Value::Document(error)) = errors.first() else { panic!("{reply:?}") };
        return number(error, "code");
    }
    reply.get("code").map_or(0, |_| number(reply, "code"))
}

/// Returns a client of a collection with one document and one index, a view and a clustered
/// collection.
async fn client() -> Client {
    let mut client = Client::new();
    let documents = [doc! { "_id": 1, "a": 1 }];
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &documents)]).await;
    let index = doc! { "key": doc! { "a": 1 }, "name": "a_1", "expireAfterSeconds": 60 };
    let made = doc! { "createIndexes": "c", "indexes": array![index], "$db": "db" };
    assert_eq!(number(&client.run(made).await, "ok"), 1);
    let cluster_key = doc! { "key": doc! { "_id": 1 }, "unique": true };
    for made in [
        doc! { "create": "v", "viewOn": "c", "$db": "db" },
        doc! { "create": "clustered", "clusteredIndex": cluster_key, "$db": "db" },
    ] {
        assert_eq!(number(&client.run(made).await, "ok"), 1);
    }
    client
}

/// Returns everything that a refused command must not change.
async fn contents(client: &mut Client) -> (Vec<Document>, Vec<Document>, Vec<Document>) {
    let collections = client.run(doc! { "listCollections": 1, "$db": "db" }).await;
    let indexes = client.run(doc! { "listIndexes": "c", "$db": "db" }).await;
    (first_batch(&collections), first_batch(&indexes), client.all("c").await)
}

async fn send(client: &mut Client, row: &Row, value: Value) -> i64 {
    let mut command = command_for(row);
    add(&mut command, row.option, value);
    command.push("$db", "db");
    code(&client.run(command).await)
}

#[tokio::test]
async fn each_option_is_answered_as_the_page_says() {
    for row in OPTIONS {
        let mut client = client().await;
        let before = contents(&mut client).await;
        let got = send(&mut client, row, (row.value)()).await;
        match row.answer {
            Answer::Works | Answer::Ignored => assert_eq!(got, 0, "{row:?}"),
            Answer::Refused(code) => {
                assert_eq!(got, code, "{row:?}");
                assert_eq!(contents(&mut client).await, before, "{row:?}");
            }
        }
        if let Some(nothing) = row.nothing {
            assert!(matches!(row.answer, Answer::Refused(_)), "{row:?}");
            assert_eq!(send(&mut client, row, nothing()).await, 0, "{row:?} asks for nothing");
        }
    }
}

#[tokio::test]
async fn what_is_ignored_changes_no_answer() {
    let writes = ["insert", "update", "delete", "findAndModify"];
    let reads = ["find", "aggregate", "count", "distinct"];
    let compared = |row: &&Row| writes.contains(&row.command) || reads.contains(&row.command);
    for row in OPTIONS.iter().filter(|row| row.answer == Answer::Ignored).filter(compared) {
        let mut plain = command_for(row);
        plain.push("$db", "db");
        let mut with = plain.clone();
        add(&mut with, row.option, (row.value)());
        let (mut one, mut other) = (client().await, client().await);
        assert_eq!(one.run(plain).await, other.run(with).await, "{row:?}");
        assert_eq!(one.all("c").await, other.all("c").await, "{row:?}");
    }
}

#[test]
fn every_option_that_a_command_knows_is_in_the_table() {
    for name in COMMANDS {
        let row = mongo::table().iter().find(|row| row.name == *name).unwrap();
        let listed: Vec<&str> = OPTIONS
            .iter()
            .filter(|option| option.command == *name && !option.option.contains('.'))
            .map(|option| option.option)
            .collect();
        for field in row.fields {
            assert!(listed.contains(field), "{name} knows '{field}'");
        }
        for field in &listed {
            assert!(row.fields.contains(field), "{name} does not know '{field}'");
        }
    }
    for row in OPTIONS {
        assert!(COMMANDS.contains(&row.command), "{row:?}");
    }
}

#[tokio::test]
async fn an_option_that_is_not_in_the_table_is_unknown() {
    let unknown = |command, option| {
        let value = || Value::Int32(1);
        Row { command, option, kind: "", answer: Answer::Works, note: "", value, nothing: None }
    };
    for name in COMMANDS.iter().copied() {
        let mut client = client().await;
        assert_eq!(send(&mut client, &unknown(name, "nope"), 1.into()).await, 40415, "{name}");
    }
    for (name, option, code) in [
        ("createIndexes", "indexes.nope", 197),
        ("collMod", "index.nope", 40415),
        ("update", "updates.nope", 40415),
        ("delete", "deletes.nope", 40415),
    ] {
        let mut client = client().await;
        assert_eq!(send(&mut client, &unknown(name, option), 1.into()).await, code, "{option}");
    }
}
