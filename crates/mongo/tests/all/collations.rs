//! Collations: where texts compare by them, which index serves which query, and refusals.

use std::sync::Arc;

use crate::client::{Client, first_batch, number};
use document::{Document, Value, array, doc};
use mongo::{MongoApi, MongoDialect, Settings};
use test_kit::{Kit, Setup};

pub(crate) fn loose() -> Document {
    doc! { "locale": "en", "strength": 2 }
}

/// Returns a client of a server without collections.
pub(crate) async fn client() -> Client {
    let kit = Kit::new(Setup { dialect: Arc::new(MongoDialect), ..Setup::default() });
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), Settings::default()));
    good(&mut client, doc! { "drop": "c" }).await;
    client
}

pub(crate) async fn run(client: &mut Client, mut command: Document) -> Document {
    if command.get("$db").is_none() {
        command.push("$db", "db");
    }
    client.run(command).await
}

pub(crate) async fn good(client: &mut Client, command: Document) -> Document {
    let reply = run(client, command.clone()).await;
    assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
    assert_eq!(reply.get("writeErrors"), None, "{command:?}: {reply:?}");
    reply
}

/// Returns the code of the first failed statement or of the command; 0 for success.
pub(crate) fn code_of(reply: &Document) -> i64 {
    let failed = match reply.get("writeErrors") {
        Some(Value::Array(errors)) => match errors.first() {
            Some(Value::Document(error)) => error,
            _ => reply,
        },
        _ => reply,
    };
    failed.get("code").map_or(0, |_| number(failed, "code"))
}

const NAMES: [&str; 6] = ["Bob", "alice", "ALICE", "bob", "Çelik", "celik"];

/// Returns a client whose collection `c` has a document for each name.
pub(crate) async fn filled(options: Document) -> Client {
    let mut client = client().await;
    let mut create = doc! { "create": "c" };
    options.into_iter().for_each(|(name, value)| create.push(name, value));
    good(&mut client, create).await;
    let row = |(id, name): (usize, &&str)| -> Value {
        doc! { "_id": id as i32, "name": *name, "list": array![*name, 1], "in": doc! { "n": *name } }
            .into()
    };
    let rows: Vec<Value> = NAMES.iter().enumerate().map(row).collect();
    good(&mut client, doc! { "insert": "c", "documents": Value::Array(rows) }).await;
    client
}

fn ids(reply: &Document) -> Vec<i64> {
    first_batch(reply).iter().map(|row| number(row, "_id")).collect()
}

/// Returns the ids that a find returns, by id unless it sorts.
pub(crate) async fn found(client: &mut Client, filter: Document, more: Document) -> Vec<i64> {
    let mut find = doc! { "find": "c", "filter": filter };
    let sorts = more.get("sort").is_some();
    more.into_iter().for_each(|(name, value)| find.push(name, value));
    let mut ids = ids(&good(client, find).await);
    if !sorts {
        ids.sort_unstable();
    }
    ids
}

pub(crate) async fn by(client: &mut Client, filter: Document) -> Vec<i64> {
    found(client, filter, doc! { "collation": loose() }).await
}

#[tokio::test]
async fn filters_compare_texts_by_the_collation() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    assert_eq!(by(c, doc! { "name": "alice" }).await, [1, 2]);
    assert_eq!(by(c, doc! { "name": doc! { "$ne": "alice" } }).await, [0, 3, 4, 5]);
    assert_eq!(by(c, doc! { "name": doc! { "$in": array!["BOB", 7, "x"] } }).await, [0, 3]);
    assert_eq!(by(c, doc! { "name": doc! { "$nin": array!["BOB", "alice"] } }).await, [4, 5]);
    assert_eq!(by(c, doc! { "name": doc! { "$lt": "b" } }).await, [1, 2]);
    assert_eq!(by(c, doc! { "name": doc! { "$gte": "BOB" } }).await, [0, 3, 4, 5]);
    assert_eq!(by(c, doc! { "list": doc! { "$all": array!["bOb"] } }).await, [0, 3]);
    assert_eq!(by(c, doc! { "list": array!["bOb", 1] }).await, [0, 3]);
    let element = doc! { "$elemMatch": doc! { "$eq": "BOB" } };
    assert_eq!(by(c, doc! { "list": element }).await, [0, 3]);
    assert_eq!(by(c, doc! { "in": doc! { "n": "ALIce" } }).await, [1, 2]);
    let equal = doc! { "$eq": array!["$name", "ALice"] };
    assert_eq!(by(c, doc! { "$expr": equal }).await, [1, 2]);
    // A regular expression matches the bytes of a text.
    let pattern = Value::Regex { pattern: "^a".into(), options: String::new() };
    assert_eq!(by(c, doc! { "name": pattern }).await, [1]);
    // Without the collation texts compare by their bytes.
    assert_eq!(found(c, doc! { "name": "alice" }, doc! {}).await, [1]);
}

#[tokio::test]
async fn sorts_and_commands_use_the_collation() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    let sorted = |more: Document| {
        let mut options = doc! { "sort": doc! { "name": 1, "_id": 1 } };
        more.into_iter().for_each(|(name, value)| options.push(name, value));
        options
    };
    let by_bytes = found(c, doc! {}, sorted(doc! {})).await;
    assert_eq!(by_bytes, [2, 0, 1, 3, 5, 4]);
    let collated = found(c, doc! {}, sorted(doc! { "collation": loose() })).await;
    assert_eq!(collated, [1, 2, 0, 3, 5, 4]);
    let limited = sorted(doc! { "collation": loose(), "limit": 3 });
    assert_eq!(found(c, doc! {}, limited).await, [1, 2, 0]);
    let count = doc! { "count": "c", "query": doc! { "name": "BOB" }, "collation": loose() };
    assert_eq!(number(&good(c, count).await, "n"), 2);
    let distinct = doc! { "distinct": "c", "key": "name", "collation": loose() };
    assert_eq!(
        good(c, distinct).await.get("values"),
        Some(&array!["alice", "Bob", "celik", "Çelik"])
    );
    let statement = doc! { "q": doc! { "name": "BOB" }, "u": doc! { "$set": doc! { "hit": 1 } },
    "multi": true, "collation": loose() };
    let update = doc! { "update": "c", "updates": array![statement] };
    assert_eq!(number(&good(c, update).await, "nModified"), 2);
    let change = doc! { "findAndModify": "c", "query": doc! { "name": "CELIK" },
    "update": doc! { "$set": doc! { "hit": 2 } }, "collation": loose() };
    let value = good(c, change).await;
    assert_eq!(
        value
            .get("value")
            .and_then(|v| v.as_ref().as_document())
            .map(|v| v.to_tree().get("_id").cloned()),
        Some(Some(5.into()))
    );
    let removal = doc! { "q": doc! { "name": "ALICE" }, "limit": 0, "collation": loose() };
    let delete = doc! { "delete": "c", "deletes": array![removal] };
    assert_eq!(number(&good(c, delete).await, "n"), 2);
    let ops = [
        doc! { "update": 0, "filter": doc! { "name": "BOB" }, "multi": true,
        "updateMods": doc! { "$set": doc! { "hit": 3 } }, "collation": loose() },
        doc! { "delete": 0, "filter": doc! { "name": "BOB" }, "multi": true },
        doc! { "delete": 0, "filter": doc! { "name": "BOB" }, "multi": true, "collation": loose() },
    ];
    let ops: Vec<Value> = ops.into_iter().map(Value::Document).collect();
    let bulk = doc! { "bulkWrite": 1, "nsInfo": array![doc! { "ns": "db.c" }],
    "ops": Value::Array(ops), "$db": "admin" };
    let bulk = good(c, bulk).await;
    assert_eq!((number(&bulk, "nModified"), number(&bulk, "nDeleted")), (2, 2));
}

async fn piped(client: &mut Client, stages: Value) -> Vec<Document> {
    let command =
        doc! { "aggregate": "c", "pipeline": stages, "cursor": doc! {}, "collation": loose() };
    first_batch(&good(client, command).await)
}

#[tokio::test]
async fn stages_and_expressions_use_the_collation() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    let group = doc! { "$group": doc! { "_id": "$name", "n": doc! { "$sum": 1 } } };
    let sort = doc! { "$sort": doc! { "_id": 1 } };
    let groups = piped(c, array![group, sort]).await;
    let counts: Vec<i64> = groups.iter().map(|row| number(row, "n")).collect();
    assert_eq!(counts, [2, 2, 1, 1], "{groups:?}");
    let all = doc! { "$group": doc! { "_id": 1, "set": doc! { "$addToSet": "$name" },
    "least": doc! { "$min": "$name" }, "most": doc! { "$max": "$name" },
    "two": doc! { "$minN": doc! { "input": "$name", "n": 2 } },
    "top": doc! { "$top": doc! { "sortBy": doc! { "name": -1 }, "output": "$name" } } } };
    let all = piped(c, array![doc! { "$sort": doc! { "_id": 1 } }, all]).await.remove(0);
    assert_eq!(all.get("set"), Some(&array!["Bob", "alice", "Çelik", "celik"]));
    assert_eq!(all.get("least"), Some(&"alice".into()));
    assert_eq!(all.get("most"), Some(&"Çelik".into()));
    assert_eq!(all.get("two"), Some(&array!["alice", "ALICE"]));
    assert_eq!(all.get("top"), Some(&"Çelik".into()));
    let bucket =
        doc! { "$bucket": doc! { "groupBy": "$name", "boundaries": array!["a", "B", "d"] } };
    let buckets = piped(c, array![bucket]).await;
    assert_eq!(buckets.iter().map(|row| number(row, "count")).collect::<Vec<_>>(), [2, 4]);
    let auto = doc! { "$bucketAuto": doc! { "groupBy": "$name", "buckets": 2 } };
    let buckets = piped(c, array![auto]).await;
    let range = buckets[0].get("_id").unwrap().as_ref().as_document().unwrap().to_tree();
    assert_eq!(range, doc! { "min": "alice", "max": "celik" });
    let expressions = doc! {
        "cmp": doc! { "$cmp": array!["a", "A"] },
        "lt": doc! { "$lt": array!["a", "B"] },
        "in": doc! { "$in": array!["A", array!["x", "a"]] },
        "at": doc! { "$indexOfArray": array![array!["x", "a"], "A"] },
        "union": doc! { "$setUnion": array![array!["b", "B"], array!["A"]] },
        "both": doc! { "$setIntersection": array![array!["b", "c"], array!["B"]] },
        "sub": doc! { "$setIsSubset": array![array!["A"], array!["a", "b"]] },
        "less": doc! { "$setDifference": array![array!["A", "c"], array!["a"]] },
        "same": doc! { "$setEquals": array![array!["A"], array!["a"]] },
        "sorted": doc! { "$sortArray": doc! { "input": array!["B", "a", "C"], "sortBy": 1 } },
        "max": doc! { "$max": array!["a", "B"] },
        // These compare bytes.
        "case": doc! { "$strcasecmp": array!["é", "e"] },
        "bytes": doc! { "$indexOfBytes": array!["ab", "B"] },
    };
    let row =
        piped(c, array![doc! { "$limit": 1 }, doc! { "$project": expressions }]).await.remove(0);
    let expected = doc! { "_id": 0, "cmp": 0, "lt": true, "in": true, "at": 1,
    "union": array!["A", "b"], "both": array!["b"], "sub": true, "less": array!["c"],
    "same": true, "sorted": array!["a", "B", "C"], "max": "B", "case": 1, "bytes": -1 };
    assert_eq!(row, expected);
    let other = array![doc! { "_id": 1, "who": "BOB" }, doc! { "_id": 2, "who": "none" }];
    good(c, doc! { "insert": "other", "documents": other }).await;
    let lookup = doc! { "$lookup": doc! { "from": "other", "localField": "name",
    "foreignField": "who", "as": "found" } };
    let matched = doc! { "$match": doc! { "found": doc! { "$ne": array![] } } };
    let joined = piped(c, array![lookup, matched]).await;
    assert_eq!(joined.iter().map(|row| number(row, "_id")).collect::<Vec<_>>(), [0, 3]);
}

#[tokio::test]
async fn updates_compare_texts_by_the_collation() {
    let mut client = client().await;
    let c = &mut client;
    let list = || array!["a", "B", "c"];
    let row = doc! { "_id": 1, "l": list(), "m": list(), "p": list(), "s": list(), "x": "b" };
    good(c, doc! { "insert": "c", "documents": array![row] }).await;
    let edit = doc! {
        "$addToSet": doc! { "l": doc! { "$each": array!["b", "D", "d"] } },
        "$pull": doc! { "m": "b" },
        "$pullAll": doc! { "p": array!["A", "C"] },
        "$push": doc! { "s": doc! { "$each": array!["A"], "$sort": -1 } },
        "$max": doc! { "x": "C" },
    };
    let statement = doc! { "q": doc! {}, "u": edit, "collation": loose() };
    good(c, doc! { "update": "c", "updates": array![statement] }).await;
    let expected = doc! { "_id": 1, "l": array!["a", "B", "c", "D"], "m": array!["a", "c"],
    "p": array!["B"], "s": array!["c", "B", "a", "A"], "x": "C" };
    assert_eq!(c.all("c").await, [expected]);
}

pub(crate) fn index(key: Document, name: &str, more: Document) -> Document {
    let mut spec = doc! { "key": key, "name": name };
    more.into_iter().for_each(|(name, value)| spec.push(name, value));
    doc! { "createIndexes": "c", "indexes": array![spec] }
}

/// Returns the index that a find uses; empty for a scan of the rows.
pub(crate) async fn used(client: &mut Client, filter: Document, more: Document) -> String {
    let mut find = doc! { "find": "c", "filter": filter };
    more.into_iter().for_each(|(name, value)| find.push(name, value));
    let reply = good(client, doc! { "explain": find, "verbosity": "queryPlanner" }).await;
    let text = format!("{reply:?}");
    let name = text.split("indexName").nth(1).and_then(|rest| rest.split('"').nth(2));
    name.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn an_index_serves_texts_of_its_own_collation() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    good(c, index(doc! { "name": 1 }, "plain", doc! {})).await;
    good(c, index(doc! { "name": 1 }, "loose", doc! { "collation": loose() })).await;
    let collated = || doc! { "collation": loose() };
    let other = || doc! { "collation": doc! { "locale": "en", "strength": 1 } };
    let equal = || doc! { "name": "alice" };
    assert_eq!(used(c, equal(), doc! {}).await, "plain");
    assert_eq!(used(c, equal(), collated()).await, "loose");
    assert_eq!(used(c, equal(), other()).await, "");
    // Either index serves a number.
    assert_ne!(used(c, doc! { "name": 5 }, other()).await, "");
    // The order of texts is that of an index with the same collation.
    let sort = || doc! { "sort": doc! { "name": 1 } };
    let mut collated_sort = sort();
    collated_sort.push("collation", loose());
    assert_eq!(used(c, doc! {}, sort()).await, "plain");
    assert_eq!(used(c, doc! {}, collated_sort.clone()).await, "loose");
    // Results are those of a scan, also with a hint of an index that cannot help.
    for (filter, expected) in [
        (equal(), vec![1, 2]),
        (doc! { "name": doc! { "$in": array!["BOB", "alice"] } }, vec![0, 1, 2, 3]),
        (doc! { "name": doc! { "$gt": "alice", "$lt": "CELIK" } }, vec![0, 3]),
        (doc! { "name": doc! { "$ne": "ALICE" } }, vec![0, 3, 4, 5]),
        (
            doc! { "$or": array![doc! { "name": "BOB" }, doc! { "name": doc! { "$gt": "celik" } }] },
            vec![0, 3, 4],
        ),
        (doc! { "$expr": doc! { "$lte": array!["$name", "ALICE"] } }, vec![1, 2]),
    ] {
        assert_eq!(by(c, filter.clone()).await, expected, "{filter:?}");
        for hint in ["plain", "loose"] {
            let more = doc! { "collation": loose(), "hint": hint };
            assert_eq!(found(c, filter.clone(), more).await, expected, "{filter:?} {hint}");
        }
        let count = doc! { "count": "c", "query": filter, "collation": loose() };
        assert_eq!(number(&good(c, count).await, "n"), expected.len() as i64);
    }
    let sorted = found(c, doc! {}, collated_sort).await;
    assert_eq!(sorted[2..4].iter().sum::<i64>(), 3, "{sorted:?}");
    assert_eq!(sorted[4..], [5, 4]);
    let pattern = Value::Regex { pattern: "^a".into(), options: String::new() };
    let more = doc! { "collation": loose(), "hint": "loose" };
    assert_eq!(found(c, doc! { "name": pattern }, more).await, [1]);
    assert_eq!(found(c, equal(), doc! { "hint": "loose" }).await, [1]);
}

#[tokio::test]
async fn a_unique_index_compares_by_its_collation() {
    let mut client = client().await;
    let c = &mut client;
    let unique = doc! { "unique": true, "collation": doc! { "locale": "en_US", "strength": 2 } };
    good(c, index(doc! { "name": 1 }, "u", unique)).await;
    let insert = |id: i32, name: &str| {
        doc! { "insert": "c", "documents": array![doc! { "_id": id, "name": name }] }
    };
    good(c, insert(1, "Ann")).await;
    let refused = run(c, insert(2, "ANN")).await;
    assert_eq!(code_of(&refused), 11000, "{refused:?}");
    good(c, insert(3, "Än")).await;
    let statement = doc! { "q": doc! { "_id": 3 }, "u": doc! { "$set": doc! { "name": "anN" } } };
    let update = doc! { "update": "c", "updates": array![statement] };
    assert_eq!(code_of(&run(c, update).await), 11000);
    // A build finds values that are equal already.
    let strict = doc! { "unique": true, "collation": doc! { "locale": "en", "strength": 1 } };
    good(c, insert(4, "ane")).await;
    good(c, insert(5, "äne")).await;
    assert_eq!(code_of(&run(c, index(doc! { "name": -1 }, "p", strict)).await), 11000);
    assert_eq!(c.all("c").await.len(), 4);
}

#[tokio::test]
async fn a_collection_has_a_default_that_its_indexes_inherit() {
    let mut client = filled(doc! { "collation": loose() }).await;
    let c = &mut client;
    assert_eq!(found(c, doc! { "name": "BOB" }, doc! {}).await, [0, 3]);
    let simple = doc! { "collation": doc! { "locale": "simple" } };
    assert_eq!(found(c, doc! { "name": "bob" }, simple.clone()).await, [3]);
    let delete = doc! { "delete": "c", "deletes": array![doc! { "q": doc! { "name": "ÇELIK" }, "limit": 1 }] };
    assert_eq!(number(&good(c, delete).await, "n"), 1);
    good(c, index(doc! { "name": 1 }, "inherits", doc! {})).await;
    good(c, index(doc! { "name": 1 }, "simple", simple.clone())).await;
    assert_eq!(used(c, doc! { "name": "bob" }, doc! {}).await, "inherits");
    assert_eq!(used(c, doc! { "name": "bob" }, simple).await, "simple");
    let whole = doc! { "locale": "en", "caseLevel": false, "caseFirst": "off", "strength": 2,
    "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
    "normalization": false, "backwards": false, "version": "57.1" };
    let listed = first_batch(&good(c, doc! { "listIndexes": "c" }).await);
    let shown: Vec<_> = listed.iter().map(|entry| entry.get("collation").cloned()).collect();
    let whole = Value::Document(whole);
    assert_eq!(shown, [Some(whole.clone()), Some(whole.clone()), None]);
    let listed = first_batch(&good(c, doc! { "listCollections": 1 }).await).remove(0);
    let options = listed.get("options").unwrap().as_ref().as_document().unwrap().to_tree();
    assert_eq!(options.get("collation"), Some(&whole));
    // The same options are no conflict, others are.
    good(c, doc! { "create": "c", "collation": loose() }).await;
    assert_eq!(code_of(&run(c, doc! { "create": "c" }).await), 48);
    // Two indexes of one name have to be equal.
    let other = doc! { "collation": doc! { "locale": "de" } };
    assert_eq!(code_of(&run(c, index(doc! { "name": 1 }, "inherits", other)).await), 86);
    // The collection's collation also decides which ids are equal.
    let insert = |id: &str| doc! { "insert": "c", "documents": array![doc! { "_id": id }] };
    good(c, insert("key")).await;
    assert_eq!(code_of(&run(c, insert("KEY")).await), 11000);
    assert_eq!(used(c, doc! { "_id": "Key" }, doc! {}).await, "_id_");
    let named = run(c, doc! { "find": "c", "filter": doc! { "_id": "Key" } }).await;
    assert_eq!(first_batch(&named), [doc! { "_id": "key" }]);
    let dropped = good(c, doc! { "dropIndexes": "c", "index": "*" }).await;
    assert_eq!(number(&dropped, "nIndexesWas"), 3);
    assert_eq!(code_of(&run(c, insert("kEY")).await), 11000);
    let valid = good(c, doc! { "validate": "c" }).await;
    assert_eq!((valid.get("valid"), number(&valid, "nIndexes")), (Some(&true.into()), 1));
}

#[tokio::test]
async fn validators_and_partial_filters_compare_by_the_collection_and_the_index() {
    let mut client = client().await;
    let c = &mut client;
    good(c, doc! { "create": "c", "collation": loose(), "validator": doc! { "kind": "good" } })
        .await;
    let insert = |id: i32, kind: &str| {
        doc! { "insert": "c", "documents": array![doc! { "_id": id, "kind": kind }] }
    };
    good(c, insert(1, "GOOD")).await;
    good(c, insert(2, "Good")).await;
    assert_eq!(code_of(&run(c, insert(3, "bad")).await), 121);
    let partial = doc! { "partialFilterExpression": doc! { "kind": "gooD" }, "unique": true };
    assert_eq!(code_of(&run(c, index(doc! { "kind": 1 }, "p", partial.clone())).await), 11000);
    good(c, index(doc! { "_id": -1, "kind": 1 }, "p", partial)).await;
    let more = || doc! { "sort": doc! { "_id": -1 } };
    assert_eq!(found(c, doc! { "kind": "good" }, more()).await, [2, 1]);
}

#[tokio::test]
async fn documents_expire_through_a_collated_index_to_the_second() {
    let mut client = client().await;
    let c = &mut client;
    good(c, doc! { "create": "c", "collation": loose() }).await;
    good(c, index(doc! { "name": 1 }, "u", doc! { "unique": true })).await;
    let per_document = doc! { "expireAfterSeconds": -1 };
    good(c, index(doc! { "_ts": 1 }, "_ts_1", per_document)).await;
    let rows =
        array![doc! { "_id": "A", "name": "Ann", "ttl": 10 }, doc! { "_id": "B", "name": "Bea" }];
    good(c, doc! { "insert": "c", "documents": rows }).await;
    let again = || doc! { "insert": "c", "documents": array![doc! { "_id": "a", "name": "ANN" }] };
    let advance = |seconds: i64| doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    good(c, advance(9)).await;
    let find =
        || doc! { "find": "c", "filter": doc! { "name": doc! { "$in": array!["ann", "BEA"] } } };
    assert_eq!(first_batch(&good(c, find()).await).len(), 2);
    assert_eq!(code_of(&run(c, again()).await), 11000);
    good(c, advance(1)).await;
    assert_eq!(first_batch(&good(c, find()).await).len(), 1);
    let count = doc! { "count": "c", "query": doc! { "name": "aNN" } };
    assert_eq!(number(&good(c, count).await, "n"), 0);
    // Ids and unique values of expired documents are free.
    good(c, again()).await;
    assert_eq!(first_batch(&good(c, find()).await).len(), 2);
}

#[tokio::test]
async fn wrong_collations_are_refused() {
    let mut client = filled(doc! {}).await;
    let c = &mut client;
    for (collation, code) in [
        (Value::Int32(1), 14),
        (doc! { "strength": 2 }.into(), 40414),
        (doc! { "locale": 1 }.into(), 14),
        (doc! { "locale": "" }.into(), 2),
        (doc! { "locale": "xx" }.into(), 2),
        (doc! { "locale": "en_GB" }.into(), 2),
        (doc! { "locale": "en", "more": 1 }.into(), 40415),
        (doc! { "locale": "simple", "strength": 1 }.into(), 9),
        (doc! { "locale": "en", "strength": 0 }.into(), 51024),
        (doc! { "locale": "en", "strength": 6 }.into(), 51024),
        (doc! { "locale": "en", "strength": "x" }.into(), 14),
        (doc! { "locale": "en", "caseFirst": "x" }.into(), 2),
        (doc! { "locale": "en", "alternate": "x" }.into(), 2),
        (doc! { "locale": "en", "maxVariable": "x" }.into(), 2),
        (doc! { "locale": "en", "strength": 1, "backwards": true }.into(), 2),
        (doc! { "locale": "en", "strength": 1, "caseFirst": "upper" }.into(), 2),
        (doc! { "locale": "sv", "backwards": true }.into(), 115),
        (doc! { "locale": "de@collation=search" }.into(), 115),
        (doc! { "locale": "en", "version": "1" }.into(), 161),
    ] {
        let statement = doc! { "q": doc! {}, "limit": 0, "collation": collation.clone() };
        for command in [
            doc! { "find": "c", "collation": collation.clone() },
            doc! { "aggregate": "c", "pipeline": array![], "cursor": doc! {}, "collation": collation.clone() },
            doc! { "count": "c", "collation": collation.clone() },
            doc! { "distinct": "c", "key": "a", "collation": collation.clone() },
            doc! { "findAndModify": "c", "remove": true, "collation": collation.clone() },
            doc! { "delete": "c", "deletes": array![statement] },
            doc! { "create": "new", "collation": collation.clone() },
            index(doc! { "a": 1 }, "a", doc! { "collation": collation.clone() }),
        ] {
            let reply = run(c, command.clone()).await;
            assert_eq!(code_of(&reply), code, "{command:?}: {reply:?}");
        }
    }
    assert_eq!(c.all("c").await.len(), NAMES.len());
    let other_id = index(doc! { "_id": 1 }, "_id_", doc! { "collation": loose() });
    assert_eq!(code_of(&run(c, other_id).await), 2);
    let missing = run(c, doc! { "listIndexes": "new" }).await;
    assert_eq!(code_of(&missing), 26);
}

#[tokio::test]
async fn numbers_in_texts_and_other_options_have_an_effect() {
    let mut client = client().await;
    let c = &mut client;
    let rows: Vec<Value> = ["a10", "a9", "A9", "a-9", "é", "e", "f"]
        .iter()
        .enumerate()
        .map(|(id, name)| doc! { "_id": id as i32, "name": *name }.into())
        .collect();
    good(c, doc! { "insert": "c", "documents": Value::Array(rows) }).await;
    for (collation, expected) in [
        (doc! { "locale": "en", "numericOrdering": true }, vec![3, 1, 2, 0, 5, 4, 6]),
        (doc! { "locale": "en", "caseFirst": "upper" }, vec![3, 0, 2, 1, 5, 4, 6]),
        (doc! { "locale": "simple" }, vec![2, 3, 0, 1, 5, 6, 4]),
    ] {
        let more = doc! { "sort": doc! { "name": 1 }, "collation": collation.clone() };
        assert_eq!(found(c, doc! {}, more).await, expected, "{collation:?}");
    }
    for (collation, expected) in [
        (doc! { "locale": "en", "strength": 1 }, vec![1, 2]),
        (doc! { "locale": "en", "strength": 1, "caseLevel": true }, vec![1]),
        (doc! { "locale": "en", "strength": 1, "alternate": "shifted" }, vec![1, 2, 3]),
        (
            doc! { "locale": "en", "strength": 1, "alternate": "shifted", "maxVariable": "space" },
            vec![1, 2],
        ),
    ] {
        let more = doc! { "collation": collation.clone() };
        assert_eq!(found(c, doc! { "name": "a9" }, more).await, expected, "{collation:?}");
    }
}
