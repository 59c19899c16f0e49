//! Commands that would take much memory: each is refused with an error that names the command, and
//! releases its memory, so that the next command is served. The memory of idle cursors is reclaimed
//! when other operations need it.

use std::time::Duration;

use document::{Document, Value, array, doc};
use memory::Account;
use mongo::Settings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{Client, cursor_id, number};

const MB: usize = 1 << 20;

/// Returns a client of a server with this much memory for its operations; its collection has one
/// document with a long text and a list.
async fn client(bytes: usize) -> (Client, Account) {
    let memory = Account::new(bytes);
    let mut client = Client::with(Settings { memory: memory.clone(), ..Settings::default() });
    client.run(doc! { "ping": 1, "$db": "admin" }).await;
    let list: Vec<Value> = (0..3_000).map(Value::Int32).collect();
    let lists = Value::Array(vec![Value::Array(Vec::new()); 3_000]);
    let document = doc! { "_id": 1, "s": "x".repeat(100_000), "a": Value::Array(list), "l": lists };
    let mut document = document;
    (0..200).for_each(|at| document.push(format!("b{at}"), Value::Array(Vec::new())));
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[document])]).await;
    (client, memory)
}

fn aggregate(stages: impl IntoIterator<Item = Document>) -> Document {
    let stages = Value::Array(stages.into_iter().map(Value::Document).collect());
    let cursor = doc! { "batchSize": 1 };
    doc! { "aggregate": "c", "pipeline": stages, "cursor": cursor, "$db": "db" }
}

/// Returns stages that produce this many rows, each with its own text of 100 KB.
fn many(rows: i32) -> Vec<Document> {
    let text = doc! { "$concat": array!["$s", "y"] };
    vec![
        doc! { "$project": doc! { "s": 1, "a": doc! { "$range": array![0, rows] } } },
        doc! { "$unwind": "$a" },
        doc! { "$project": doc! { "a": 1, "p": text } },
    ]
}

fn and(mut stages: Vec<Document>, last: impl IntoIterator<Item = Document>) -> Document {
    stages.extend(last);
    aggregate(stages)
}

/// Returns an object with this many fields of this value.
fn fields(count: usize, value: impl Into<Value>) -> Document {
    let value = value.into();
    (0..count).map(|at| (format!("f{at}"), value.clone())).collect()
}

fn update(edit: impl Into<Value>, arrays: bool) -> Document {
    let edit: Value = edit.into();
    let mut one = doc! { "q": doc! {}, "u": edit };
    if arrays {
        one.push("multi", true);
    }
    let updates = Value::Array(vec![Value::Document(one)]);
    doc! { "update": "c", "updates": updates, "$db": "db" }
}

/// Returns commands that would need gigabytes.
fn bombs() -> Vec<Document> {
    let sort = doc! { "$sort": doc! { "a": 1 } };
    let part = Value::Array(
        many(500)
            .into_iter()
            .chain([sort.clone(), doc! { "$count": "n" }])
            .map(Value::Document)
            .collect(),
    );
    let range = doc! { "$range": array![0, 1_000_000] };
    let long = "y".repeat(100_000);
    let all = doc! { "$push": "$p" };
    let join = doc! {
        "from": "c", "as": "j", "let": fields(50, range.clone()),
        "pipeline": Value::Array(Vec::new()),
    };
    let big = doc! { "$set": doc! { "a.$[]": long.clone() } };
    let pushed = doc! { "$push": doc! { "l.$[]": long } };
    let padded: Document = (0..200).map(|at| (format!("b{at}.1400000"), Value::Int32(1))).collect();
    vec![
        and(many(2_000), [sort.clone()]),
        and(many(2_000), [doc! { "$group": doc! { "_id": Value::Null, "p": all.clone() } }]),
        and(many(2_000), [doc! { "$group": doc! { "_id": "$a", "p": doc! { "$first": "$p" } } }]),
        and(many(2_000), [doc! { "$bucketAuto": doc! { "groupBy": "$a", "buckets": 2 } }]),
        and(many(2_000), [doc! { "$sample": doc! { "size": 1_999 } }]),
        and(many(2_000), [doc! { "$facet": doc! { "f": Value::Array(Vec::new()) } }]),
        aggregate([doc! { "$facet": fields(30, part) }]),
        aggregate([doc! { "$project": fields(3_000, "$s") }]),
        aggregate([doc! { "$addFields": fields(3_000, "$s") }]),
        aggregate([doc! { "$addFields": doc! { "a": doc! { "b": "$s" } } }]),
        aggregate([doc! { "$project": doc! { "a": doc! { "b": "$s" } } }]),
        aggregate([doc! { "$replaceRoot": doc! { "newRoot": fields(3_000, "$s") } }]),
        aggregate([doc! { "$lookup": join }]),
        doc! { "find": "c", "projection": fields(3_000, "$s"), "$db": "db" },
        doc! { "find": "c", "let": fields(50, range.clone()), "$db": "db" },
        doc! { "find": "c", "filter": doc! { "$expr": Value::Array(vec![Value::from("$s"); 5_000]) },
        "$db": "db" },
        update(big, true),
        update(pushed, true),
        update(Value::Array(vec![Value::Document(doc! { "$set": fields(3_000, "$s") })]), false),
        update(doc! { "$set": padded }, false),
        doc! { "distinct": "c", "key": "a", "query": doc! { "$expr": doc! { "$eq": array![
        1, Value::Array(vec![Value::Document(range); 50]) ] } }, "$db": "db" },
    ]
}

/// Returns the error code of a command or of its first write.
fn code(reply: &Document) -> Option<i64> {
    if let Some(Value::Array(errors)) = reply.get("writeErrors") {
        return errors[0].as_ref().as_document().map(|it| number(&it.to_tree(), "code"));
    }
    (number(reply, "ok") == 0).then(|| number(reply, "code"))
}

#[tokio::test]
async fn what_takes_too_much_is_refused_and_given_back() {
    for (bytes, may_be_short) in [(usize::MAX, false), (8 * MB, true)] {
        let (mut client, account) = client(bytes).await;
        for command in bombs() {
            let reply = client.run(command.clone()).await;
            let shown = format!("{command:?}");
            let shown = shown.get(..shown.len().min(120)).unwrap_or_default();
            match code(&reply) {
                Some(10334 | 146 | 292 | 17419) => {}
                Some(365) if may_be_short => assert_eq!(
                    reply.get("codeName").unwrap_or(&Value::from("TemporarilyUnavailable")),
                    &Value::from("TemporarilyUnavailable")
                ),
                _ => panic!("{shown}: {reply:?}"),
            }
            assert_eq!(account.used_bytes(), 0, "{shown}");
            assert!(account.peak_bytes() < 300 * MB, "{shown}: {}", account.peak_bytes() / MB);
        }
        let found = client.run(doc! { "count": "c", "$db": "db" }).await;
        assert_eq!(number(&found, "n"), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_returned_is_not_modified() {
    let (mut client, account) = client(64 * MB).await;
    for document in [doc! { "_id": 2, "n": 0, "s": "x".repeat(MB) }, doc! { "_id": 3, "n": 0 }] {
        client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[document])]).await;
    }
    let modify = |id: i32, how: Document| {
        let mut command = doc! { "findAndModify": "c", "query": doc! { "_id": id } };
        how.into_iter().for_each(|(name, value)| command.push(name, value));
        command.push("$db", "db");
        command
    };
    let add = || doc! { "update": doc! { "$inc": doc! { "n": 1 } } };
    let add_new = || {
        let mut how = add();
        how.push("new", true);
        how
    };
    let remove = || doc! { "remove": true };
    // All but the last eighth of the account, which is for small holders.
    let mut others = account.share();
    others.set(55 * MB).unwrap();
    for how in [add(), add_new(), remove()] {
        let reply = client.run(modify(2, how)).await;
        assert_eq!(code(&reply), Some(365), "{reply:?}");
    }
    assert_eq!(code(&client.run(modify(3, add())).await), None);
    drop(others);
    for (id, before) in [(2, 0), (3, 1)] {
        let reply = client.run(modify(id, remove())).await;
        let value = reply.get("value").unwrap().as_ref().as_document().unwrap().to_tree();
        assert_eq!(number(&value, "n"), before);
    }
    client.run(doc! { "ping": 1, "$db": "admin" }).await;
    assert_eq!(account.used_bytes(), 0);
}

/// Opens a cursor that holds a sort of about 10 MB.
async fn open(client: &mut Client) -> i64 {
    let reply = client.run(and(many(100), [doc! { "$sort": doc! { "a": -1 } }])).await;
    cursor_id(&reply)
}

async fn more(client: &mut Client, id: i64) -> Option<i64> {
    let reply =
        client.run(doc! { "getMore": id, "collection": "c", "batchSize": 1, "$db": "db" }).await;
    code(&reply)
}

#[tokio::test]
async fn idle_cursors_give_way_the_oldest_of_who_has_most_first() {
    let (mut greedy, account) = client(64 * MB).await;
    let mut modest = greedy.beside();
    let kept = open(&mut modest).await;
    let mut cursors = Vec::new();
    for _ in 0..20 {
        cursors.push(open(&mut greedy).await);
        assert!(account.used_bytes() <= 64 * MB);
    }
    assert_eq!(more(&mut modest, kept).await, None, "another connection's is older but alone");
    assert_eq!(more(&mut greedy, cursors[0]).await, Some(43));
    assert_eq!(more(&mut greedy, cursors[19]).await, None);
    for id in cursors.into_iter().chain([kept]) {
        greedy.run(doc! { "killCursors": "c", "cursors": array![id], "$db": "db" }).await;
    }
    assert_eq!(account.used_bytes(), 0);
}

#[tokio::test]
async fn a_cursor_that_holds_much_ends_soon_after_its_connection() {
    let (mut client, account) = client(64 * MB).await;
    let mut other = client.beside();
    let (left, stays) = (open(&mut other).await, open(&mut client).await);
    let api = std::sync::Arc::clone(&client.api);
    drop(other);
    let now = clock::monotonic_time();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    api.tick(now + Duration::from_secs(20));
    assert_eq!(api.open().1, 2);
    api.tick(now + Duration::from_secs(40));
    assert_eq!(api.open().1, 1);
    assert_eq!(more(&mut client, left).await, Some(43));
    assert_eq!(more(&mut client, stays).await, None);
    api.tick(now + Duration::from_secs(700));
    assert_eq!(account.used_bytes(), 0);
}

/// Sends the start of a message: a header with this length, and `part` bytes of payload.
async fn begin(client: &mut Client, len: i32, part: usize) {
    let mut message = vec![0; 16];
    for (at, number) in [(0, len), (4, 1), (8, 0), (12, 2013)] {
        message[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    message.resize(16 + part, 0);
    client.stream.write_all(&message).await.unwrap();
}

#[tokio::test]
async fn who_has_asked_nothing_yet_cannot_begin_a_large_message() {
    let (memory, unknown_clients) = (Account::new(8 * MB), Account::new(MB / 2));
    let settings = Settings {
        memory: memory.clone(),
        unknown_clients: unknown_clients.clone(),
        ..Settings::default()
    };
    let mut client = Client::with(settings);
    begin(&mut client, 70_000, 16).await;
    assert_eq!(client.stream.read(&mut [0; 16]).await.unwrap(), 0, "the connection is closed");
    // The memory limit of clients that have received no reply applies to all of them together.
    let mut half: Vec<Client> = (0..40).map(|_| client.beside()).collect();
    for client in &mut half {
        begin(client, 60_000, 50_000).await;
    }
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert!(
        unknown_clients.used_bytes() <= MB / 2 && 0 < unknown_clients.refused_count(),
        "{unknown_clients:?}"
    );
    assert_eq!(memory.used_bytes(), 0);
    drop(half);
    // A client that has received a reply reserves memory from the account as the message arrives.
    let mut known = client.beside();
    known.run(doc! { "ping": 1, "$db": "admin" }).await;
    begin(&mut known, 40_000_000, 1_000_000).await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert!((MB / 2..4 * MB).contains(&memory.used_bytes()), "{memory:?}");
    // A message without memory is refused, and the next one is read.
    let rest = vec![0; 40_000_000 - 16 - 1_000_000];
    known.stream.write_all(&rest).await.unwrap();
    assert_eq!(code(&known.reply().await), Some(365));
    let reply = known.run(doc! { "ping": 1, "$db": "admin" }).await;
    assert_eq!((number(&reply, "ok"), memory.used_bytes()), (1, 0));
}

#[tokio::test]
async fn a_program_counts_in_the_dearest_form_it_may_take() {
    let (mut client, account) = client(8 * MB).await;
    let terms = |count: i32| (0..count).map(|at| Value::Document(doc! { "a": at })).collect();
    for (count, want) in [(1_000, None), (100_000, Some(365))] {
        let or = doc! { "$or": Value::Array(terms(count)) };
        let reply = client.run(doc! { "find": "c", "filter": or, "$db": "db" }).await;
        assert_eq!(code(&reply), want, "{count}");
        assert_eq!(account.used_bytes(), 0);
    }
    let patterns = |count: i32| {
        let pattern = |at: i32| format!("(a{{1,100}}b{{1,100}}){{1,4}}{at}");
        let pattern = |at| Value::Regex { pattern: pattern(at), options: "".into() };
        doc! { "a": doc! { "$in": Value::Array((0..count).map(pattern).collect()) } }
    };
    for (count, want) in [(10, None), (3_000, Some(146))] {
        let find = doc! { "find": "c", "filter": patterns(count), "$db": "db" };
        assert_eq!(code(&client.run(find).await), want, "{count}");
    }
}
