//! Random histories of retryable writes against a model: commits and replies are lost, attempts run
//! concurrently, the process stops; in every case the last attempt has executed each statement once
//! and returns the combined result of all attempts.

use std::collections::BTreeMap;

use crate::{
    client::{Client, number},
    numbered_writes::{client_of, numbered, plain},
};
use document::{Document, Value, doc};
use fastrand::Rng;
use test_kit::Kit;

#[derive(Clone, Copy, Debug)]
enum Statement {
    Insert(i32),
    /// Adds 1 to the value. If the document is missing and `upsert` is true, inserts it with 1.
    Add {
        id: i32,
        upsert: bool,
    },
    /// Sets the value, which may change nothing.
    Set(i32, i32),
    Delete(i32),
}

/// How statements are sent; all statements of a command are of one kind.
#[derive(Clone, Debug)]
enum Write {
    List { ordered: bool, statements: Vec<Statement> },
    FindAndModify { statement: Statement, new: bool },
}

/// The result of a statement, as in the reply to it.
#[derive(Clone, Debug, PartialEq)]
struct ModelResult {
    hit: bool,
    modified: bool,
    upserted: bool,
    /// The values that `findAndModify` may return: before and after.
    values: [Option<i32>; 2],
}

/// The documents, and the results of the highest transaction number of each session.
#[derive(Debug, Default)]
struct Model {
    documents: BTreeMap<i32, i32>,
    sessions: BTreeMap<u8, (i64, BTreeMap<usize, ModelResult>)>,
}

impl Model {
    /// Executes a statement and returns its result; `None` on a duplicate id.
    fn run(&mut self, statement: Statement) -> Option<ModelResult> {
        let id = match statement {
            Statement::Insert(id) | Statement::Set(id, _) | Statement::Delete(id) => id,
            Statement::Add { id, .. } => id,
        };
        let before = self.documents.get(&id).copied();
        let after = match statement {
            Statement::Insert(_) if before.is_some() => return None,
            Statement::Insert(_) => Some(0),
            Statement::Add { upsert, .. } => before.map(|a| a + 1).or(upsert.then_some(1)),
            Statement::Set(_, a) => before.map(|_| a),
            Statement::Delete(_) => None,
        };
        match after {
            Some(a) => self.documents.insert(id, a),
            None => self.documents.remove(&id),
        };
        let upserted = matches!(statement, Statement::Add { .. }) && before.is_none();
        Some(ModelResult {
            hit: before.is_some() || after.is_some(),
            modified: before.is_some() && after.is_some() && before != after,
            upserted: upserted && after.is_some(),
            values: [before, after],
        })
    }

    /// Returns the expected reply to a command, including repeats.
    fn reply(&mut self, session: u8, number: i64, write: &Write) -> Document {
        let held = self.sessions.entry(session).or_default();
        if held.0 != number {
            *held = (number, BTreeMap::new());
        }
        let mut done = std::mem::take(&mut held.1);
        let (ordered, statements) = match write {
            Write::List { ordered, statements } => (*ordered, statements.as_slice()),
            Write::FindAndModify { statement, .. } => (true, std::slice::from_ref(statement)),
        };
        let mut failed = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            if done.contains_key(&at) {
                continue;
            }
            match self.run(*statement) {
                Some(result) => drop(done.insert(at, result)),
                None => {
                    failed.push(i32::try_from(at).unwrap());
                    if ordered {
                        break;
                    }
                }
            }
        }
        let reply = expected_values(write, &done, &failed);
        self.sessions.insert(session, (number, done));
        reply
    }
}

/// Returns the parts of a reply that are compared.
fn expected_values(write: &Write, done: &BTreeMap<usize, ModelResult>, failed: &[i32]) -> Document {
    if let Write::FindAndModify { new, .. } = write {
        let result = &done[&0];
        let value = result.values[usize::from(*new)].map_or(Value::Null, Value::Int32);
        return doc! { "n": i32::from(result.hit), "upserted": result.upserted, "value": value };
    }
    let count = |is: fn(&ModelResult) -> bool| {
        i32::try_from(done.values().filter(|result| is(result)).count()).unwrap()
    };
    let failed = failed.iter().map(|at| Value::Int32(*at)).collect();
    doc! {
        "n": count(|result| result.hit),
        "modified": count(|result| result.modified),
        "upserted": count(|result| result.upserted),
        "failed": Value::Array(failed),
    }
}

/// Returns the same values as `expected_values` does, from a reply of the server.
fn reply_values(write: &Write, reply: &Document) -> Document {
    let tree = |value: &Value| value.as_ref().as_document().map(|it| it.to_tree());
    let list = |name: &str| match reply.get(name) {
        Some(Value::Array(entries)) => entries.iter().filter_map(tree).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    if let Write::FindAndModify { .. } = write {
        let last =
            reply.get("lastErrorObject").and_then(tree).unwrap_or_else(|| panic!("{reply:?}"));
        let value = reply.get("value").and_then(tree).and_then(|it| it.get("a").cloned());
        return doc! {
            "n": i32::try_from(number(&last, "n")).unwrap(),
            "upserted": last.get("upserted").is_some(),
            "value": value.unwrap_or(Value::Null),
        };
    }
    let failed = list("writeErrors").iter().map(|it| it.get("index").unwrap().clone()).collect();
    doc! {
        "n": i32::try_from(number(reply, "n")).unwrap(),
        "modified": reply.get("nModified").cloned().unwrap_or(Value::Int32(0)),
        "upserted": i32::try_from(list("upserted").len()).unwrap(),
        "failed": Value::Array(failed),
    }
}

/// Returns the command for a write.
fn command_of(write: &Write) -> Document {
    let by_id = |id: i32| doc! { "_id": id };
    let edit = |statement: &Statement| match *statement {
        Statement::Add { id, upsert } => (id, doc! { "$inc": doc! { "a": 1 } }, upsert),
        Statement::Set(id, a) => (id, doc! { "$set": doc! { "a": a } }, false),
        Statement::Insert(id) | Statement::Delete(id) => (id, doc! {}, false),
    };
    match write {
        Write::FindAndModify { statement: Statement::Delete(id), .. } => {
            doc! { "findAndModify": "c", "query": by_id(*id), "remove": true }
        }
        Write::FindAndModify { statement, new } => {
            let (id, update, upsert) = edit(statement);
            doc! {
                "findAndModify": "c", "query": by_id(id), "update": update, "new": *new,
                "upsert": upsert,
            }
        }
        Write::List { ordered, statements } => {
            let (name, list) = match statements[0] {
                Statement::Insert(_) => ("insert", "documents"),
                Statement::Delete(_) => ("delete", "deletes"),
                _ => ("update", "updates"),
            };
            let one = |statement: &Statement| match *statement {
                Statement::Insert(id) => doc! { "_id": id, "a": 0 },
                Statement::Delete(id) => doc! { "q": by_id(id), "limit": 1 },
                _ => {
                    let (id, update, upsert) = edit(statement);
                    doc! { "q": by_id(id), "u": update, "upsert": upsert }
                }
            };
            let statements = statements.iter().map(|it| Value::Document(one(it))).collect();
            let mut command = Document::new();
            command.push(name, "c");
            command.push(list, Value::Array(statements));
            command.push("ordered", *ordered);
            command
        }
    }
}

fn any_write(rng: &mut Rng) -> Write {
    let kind = rng.u8(..3);
    let any = |rng: &mut Rng| {
        let id = rng.i32(0..6);
        match kind {
            0 => Statement::Insert(id),
            1 => Statement::Delete(id),
            _ if rng.bool() => Statement::Add { id, upsert: rng.bool() },
            _ => Statement::Set(id, rng.i32(0..3)),
        }
    };
    if kind != 0 && rng.u8(..3) == 0 {
        let statement = any(rng);
        let new = !matches!(statement, Statement::Delete(_)) && rng.bool();
        return Write::FindAndModify { statement, new };
    }
    let statements = (0..rng.usize(1..6)).map(|_| any(rng)).collect();
    Write::List { ordered: rng.bool(), statements }
}

/// The server and its client.
struct World {
    kit: Kit,
    client: Client,
}

impl World {
    /// Restarts the process and reconnects the client.
    fn restart(&mut self) {
        self.kit.restart();
        self.client = client_of(&self.kit);
    }

    /// Lets tasks run until all of them wait.
    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    /// Makes an attempt that may fail, or whose reply may be lost. Returns the replies of
    /// concurrent attempts.
    async fn disturbed(&mut self, rng: &mut Rng, command: &Document) -> Vec<Document> {
        // In an unordered command, a statement may be executed and reported although the commit of
        // an earlier one was lost.
        let ordered = command.get("ordered") != Some(&false.into());
        match rng.u8(..6) {
            0 if ordered => {
                self.kit.store.lose_nth_commit(rng.u64(1..4));
                self.client.run(command.clone()).await;
            }
            1 => {
                self.kit.store.lose_nth_answer(rng.u64(1..4));
                self.client.run(command.clone()).await;
            }
            // The process stops before anything is durable, or after everything is.
            2 => {
                self.kit.store.gate().shut();
                self.client.ask(command.clone(), &[]).await;
                Self::settle().await;
                self.restart();
            }
            3 => {
                self.client.run(command.clone()).await;
                self.restart();
            }
            // Two concurrent attempts; one starts while the other one is being committed.
            4 => {
                let mut second = self.client.beside();
                self.kit.store.gate().shut();
                self.client.ask(command.clone(), &[]).await;
                Self::settle().await;
                second.ask(command.clone(), &[]).await;
                Self::settle().await;
                self.kit.store.gate().open();
                return vec![self.client.reply().await, second.reply().await];
            }
            _ => {}
        }
        // A fault that did not occur must not occur later.
        self.kit.store.lose_nth_commit(0);
        self.kit.store.lose_nth_answer(0);
        Vec::new()
    }
}

#[tokio::test]
async fn each_statement_is_done_once() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = seed.map_or(0..80_u64, |seed: u64| seed..seed + 1);
    for seed in seeds {
        history(seed).await;
    }
}

async fn history(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let kit = Kit::default();
    let client = client_of(&kit);
    let mut world = World { kit, client };
    let mut model = Model::default();
    let mut last: BTreeMap<u8, (i64, Write)> = BTreeMap::new();
    for step in 0..25 {
        let session = rng.u8(0..3);
        // A new write, or a much later repeat of the session's last one.
        let (at, write) = match last.get(&session) {
            Some((at, write)) if rng.u8(..4) == 0 => (*at, write.clone()),
            Some((at, _)) => (at + 1, any_write(&mut rng)),
            None => (rng.i64(0..3), any_write(&mut rng)),
        };
        last.insert(session, (at, write.clone()));
        let command = numbered(command_of(&write), session, at);
        let wanted = model.reply(session, at, &write);
        let mut replies = Vec::new();
        for _ in 0..rng.u8(..3) {
            replies.extend(world.disturbed(&mut rng, &command).await);
        }
        replies.push(world.client.run(command.clone()).await);
        for reply in replies {
            assert_eq!(number(&reply, "ok"), 1, "seed {seed}, step {step}: {command:?}: {reply:?}");
            let found = reply_values(&write, &plain(reply));
            assert_eq!(found, wanted, "seed {seed}, step {step}: {command:?}");
        }
        let documents = world.client.all("c").await.into_iter();
        let held: BTreeMap<i64, i64> =
            documents.map(|it| (number(&it, "_id"), number(&it, "a"))).collect();
        let expected = model.documents.iter().map(|(id, a)| (i64::from(*id), i64::from(*a)));
        assert_eq!(held, expected.collect(), "seed {seed}, step {step}: {command:?}");
        // A transaction number without any executed statement leaves no receipt.
        let traced = !model.sessions[&session].1.is_empty();
        if traced && 0 < at && rng.u8(..4) == 0 {
            let old = numbered(command_of(&any_write(&mut rng)), session, at - 1);
            let reply = world.client.run(old).await;
            assert_eq!(number(&reply, "code"), 225, "seed {seed}, step {step}: {reply:?}");
        }
    }
}
