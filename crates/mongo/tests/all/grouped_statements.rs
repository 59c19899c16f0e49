//! Statements of a command are committed in groups, with the same results as separate commands:
//! random statements on a collection with arrays, and in half of the histories with unique values.

use crate::client::{Client, number};
use document::{Document, Value, array, doc};
use fastrand::Rng;

const HISTORIES: u64 = 150;
const STATEMENTS: usize = 30;

/// Returns a statement in the format of `bulkWrite`.
fn statement(rng: &mut Rng, at: usize, inserts: bool) -> Document {
    let small = |rng: &mut Rng| rng.i32(0..6);
    match rng.u8(0..10) {
        0 if inserts => {
            let (id, u) = (rng.i32(0..16), rng.i32(0..12));
            let mut document = doc! { "_id": id, "a": small(rng) };
            if rng.bool() {
                document.push("u", u);
            }
            doc! { "insert": 0, "document": document }
        }
        1 | 2 => doc! { "delete": 0, "filter": filter(rng), "multi": rng.u8(0..3) == 0 },
        _ => {
            let (many, upsert) = (rng.u8(0..4) == 0, rng.u8(0..3) == 0);
            let mut edit = edit(rng, many);
            let filter = filter(rng);
            if let (Value::Document(edit), None) = (&mut edit, filter.get("_id"))
                && edit.fields().iter().all(|(name, _)| name.starts_with('$'))
            {
                let id = 1_000 + i32::try_from(at).unwrap();
                edit.push("$setOnInsert", doc! { "_id": id });
            }
            // An upsert without an id would generate a different one in each run.
            let upsert = upsert
                && (filter.get("_id").is_some()
                    || matches!(&edit, Value::Document(edit) if edit.get("$setOnInsert").is_some()));
            doc! { "update": 0, "filter": filter, "updateMods": edit, "multi": many, "upsert": upsert }
        }
    }
}

fn filter(rng: &mut Rng) -> Document {
    let value = rng.i32(0..6);
    match rng.u8(0..12) {
        0..=3 => doc! { "_id": rng.i32(0..16) },
        4 => doc! { "a": value },
        5 => doc! { "a": value, "b": rng.i32(0..3) },
        6 => doc! { "u": rng.i32(0..12) },
        7 => doc! { "a": doc! { "$gt": value } },
        8 => doc! { "tags": value },
        9 => doc! { "tags": doc! { "$elemMatch": doc! { "$gt": value } } },
        10 => doc! { "$expr": doc! { "$eq": array!["$a", "$b"] } },
        _ => doc! { "$or": array![doc! { "a": value }, doc! { "u": rng.i32(0..12) }] },
    }
}

fn edit(rng: &mut Rng, many: bool) -> Value {
    let value = rng.i32(0..6);
    match rng.u8(0..12) {
        0 | 1 => doc! { "$set": doc! { "a": value } }.into(),
        2 => doc! { "$inc": doc! { "a": 1 } }.into(),
        3 | 4 => doc! { "$set": doc! { "u": rng.i32(0..12) } }.into(),
        5 => doc! { "$unset": doc! { "u": 1 } }.into(),
        6 => doc! { "$push": doc! { "tags": value } }.into(),
        // Fails for documents that have text in this field.
        7 => doc! { "$push": doc! { "b": value } }.into(),
        8 => doc! { "$set": doc! { "b": rng.i32(0..3) } }.into(),
        9 if !many => doc! { "a": value, "u": rng.i32(0..12) }.into(),
        10 => array![doc! { "$set": doc! { "a": doc! { "$add": array!["$a", 1] } } }],
        _ => doc! { "$set": doc! { "b": "text" } }.into(),
    }
}

async fn client_with(rng: &mut Rng) -> Client {
    let mut client = Client::new();
    let index = |name: &str, unique: bool| {
        let mut key = Document::new();
        key.push(name, 1);
        doc! { "key": key, "name": name, "unique": unique, "sparse": unique }
    };
    let unique = rng.bool();
    let indexes = array![index("u", unique), index("a", false), index("tags", false)];
    client.run(doc! { "createIndexes": "a", "indexes": indexes, "$db": "db" }).await;
    let documents: Vec<Value> = (0..8)
        .map(|id| {
            let tags = array![rng.i32(0..6), rng.i32(0..6)];
            doc! { "_id": id, "a": rng.i32(0..6), "b": rng.i32(0..3), "u": id, "tags": tags }.into()
        })
        .collect();
    let insert = doc! { "insert": "a", "documents": Value::Array(documents), "$db": "db" };
    assert_eq!(number(&client.run(insert).await, "n"), 8);
    client
}

/// Returns the contents of outcomes that are compared, without positions and texts.
fn outcomes(reply: &Document) -> Vec<Document> {
    let mut out = Vec::new();
    for outcome in crate::client::first_batch(reply) {
        let mut kept = Document::new();
        for name in ["ok", "n", "nModified", "upserted", "code", "keyValue"] {
            if let Some(value) = outcome.get(name) {
                kept.push(name, value.clone());
            }
        }
        out.push(kept);
    }
    out
}

async fn history(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut together = client_with(&mut Rng::with_seed(seed)).await;
    let mut single = client_with(&mut Rng::with_seed(seed)).await;
    let ordered = rng.bool();
    let statements: Vec<Document> =
        (0..STATEMENTS).map(|at| statement(&mut rng, at, true)).collect();
    let all = doc! { "ordered": ordered, "cursor": doc! { "batchSize": 1_000 } };
    let found = outcomes(&together.bulk(all, &statements).await);
    let mut wanted = Vec::new();
    for statement in &statements {
        let one = outcomes(&single.bulk(doc! {}, std::slice::from_ref(statement)).await);
        let failed = one[0].get("code").is_some();
        wanted.extend(one);
        if failed && ordered {
            break;
        }
    }
    for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        assert_eq!(found, wanted, "seed {seed} statement {at}: {:?}", statements[at]);
    }
    assert_eq!(found.len(), wanted.len(), "seed {seed}");
    assert_eq!(together.all("a").await, single.all("a").await, "seed {seed}");
}

#[tokio::test]
async fn statements_of_one_command_do_what_single_ones_do() {
    if let Some(seed) = std::env::var("SIM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return history(seed).await;
    }
    for seed in 0..HISTORIES {
        history(seed).await;
    }
}

#[tokio::test]
async fn updates_and_deletes_see_what_statements_before_them_did() {
    let mut client = Client::new();
    let upsert = |key: &str, score: i32| {
        let (q, u) = (doc! { "key": key }, doc! { "$set": doc! { "score": score } });
        doc! { "q": q, "u": u, "upsert": true }
    };
    let inc = doc! { "q": doc! { "key": "x" }, "u": doc! { "$inc": doc! { "score": 1 } } };
    let updates = [upsert("x", 1), inc.clone(), inc.clone(), upsert("y", 5), upsert("x", 7), inc];
    let body = doc! { "update": "c", "$db": "db" };
    let reply = client.send(body, &[("updates", &updates)]).await;
    assert_eq!([number(&reply, "n"), number(&reply, "nModified")], [6, 4], "{reply:?}");
    let Some(Value::Array(upserted)) = reply.get("upserted") else { panic!("{reply:?}") };
    let index = |value: &Value| number(&value.as_ref().as_document().unwrap().to_tree(), "index");
    assert_eq!(upserted.iter().map(index).collect::<Vec<_>>(), [0, 3]);
    let mut scores: Vec<i64> =
        client.all("c").await.iter().map(|document| number(document, "score")).collect();
    scores.sort_unstable();
    assert_eq!(scores, [5, 8]);
    let remove = |filter: Document, limit: i32| doc! { "q": filter, "limit": limit };
    let deletes = [
        remove(doc! { "score": 8 }, 1),
        remove(doc! { "score": 8 }, 1),
        remove(doc! { "key": doc! { "$exists": true } }, 0),
    ];
    let body = doc! { "delete": "c", "$db": "db" };
    let reply = client.send(body, &[("deletes", &deletes)]).await;
    assert_eq!(number(&reply, "n"), 2, "{reply:?}");
}

#[tokio::test]
async fn failures_have_the_positions_of_their_statements() {
    for (ordered, failed, scores) in [(true, vec![2], 2), (false, vec![2, 4], 3)] {
        let mut client = Client::new();
        let unique = doc! { "key": doc! { "u": 1 }, "name": "u", "unique": true };
        let create = doc! { "createIndexes": "c", "indexes": array![unique], "$db": "db" };
        client.run(create).await;
        let set = |id: i32, u: i32| {
            let (q, u) = (doc! { "_id": id }, doc! { "$set": doc! { "u": u } });
            doc! { "q": q, "u": u, "upsert": true }
        };
        // The third one duplicates the value of the first, the fifth that of the fourth.
        let updates = [set(1, 1), set(2, 2), set(3, 1), set(4, 4), set(5, 4)];
        let body = doc! { "update": "c", "ordered": ordered, "$db": "db" };
        let reply = client.send(body, &[("updates", &updates)]).await;
        let Some(Value::Array(errors)) = reply.get("writeErrors") else { panic!("{reply:?}") };
        let errors: Vec<Document> =
            errors.iter().map(|error| error.as_ref().as_document().unwrap().to_tree()).collect();
        let at: Vec<i64> = errors.iter().map(|error| number(error, "index")).collect();
        assert_eq!(at, failed, "{reply:?}");
        assert!(errors.iter().all(|error| number(error, "code") == 11000), "{reply:?}");
        assert_eq!(client.all("c").await.len(), scores);
    }
}
