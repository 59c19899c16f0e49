//! Applications and libraries of jobs, and the service's own clients.

use document::{Document, Value, array, doc};

use super::{Framework, Step, step, step_refused, step_with};

pub(super) const TABLE: &[Framework] = &[
    Framework {
        name: "parse-server",
        about: "With its default options, names and addresses of users are compared without case.",
        steps: parse_server,
    },
    Framework {
        name: "ApostropheCMS",
        about: "Its search is a text index over four fields with weights.",
        steps: apostrophe,
    },
    Framework {
        name: "NodeBB",
        about: "All data is in one collection with expiring objects; the search of topics and the page about the \
                database in its administration need text indexes and statistics.",
        steps: node_bb,
    },
    Framework {
        name: "Hangfire.Mongo",
        about: "The strategy `TailNotificationsCollection` needs a capped collection and matches on the text of an \
                error. The default strategy, `Watch`, needs change streams.",
        steps: hangfire,
    },
    Framework {
        name: "Celery with kombu",
        about: "Broker (queues and broadcasts) and result backend.",
        steps: celery,
    },
    Framework {
        name: "Azure Cosmos DB for MongoDB",
        about: "The steps of the service's own guides: a database and a collection with throughput and a shard key, \
                and the charge of a request.",
        steps: azure,
    },
];

/// Returns the command that creates one index.
fn index(collection: &str, key: Document, name: &str, more: Document) -> Document {
    let mut spec = doc! { "key": key, "name": name };
    more.into_iter().for_each(|(name, value)| spec.push(name, value));
    doc! { "createIndexes": collection, "indexes": array![spec] }
}

fn loose() -> Document {
    doc! { "locale": "en_US", "strength": 2 }
}

fn parse_server() -> Vec<Step> {
    let unique = || doc! { "unique": true, "sparse": true, "background": true };
    let without_case = || doc! { "collation": loose(), "sparse": true, "background": true };
    let user = doc! { "_id": "u1", "username": "Tom", "email": "tom@example.com" };
    vec![
        step_with(
            "schema",
            doc! { "find": "_SCHEMA", "filter": doc! {} },
            [("cursor.firstBatch", array![])],
        ),
        step("unique names", index("_User", doc! { "username": 1 }, "username_1", unique())),
        step(
            "names without case",
            index("_User", doc! { "username": 1 }, "case_insensitive_username", without_case()),
        ),
        step(
            "addresses without case",
            index("_User", doc! { "email": 1 }, "case_insensitive_email", without_case()),
        ),
        step("roles", index("_Role", doc! { "name": 1 }, "name_1", unique())),
        step(
            "requests that are remembered",
            index("_Idempotency", doc! { "expire": 1 }, "ttl", doc! { "expireAfterSeconds": 0 }),
        ),
        step("sign-up", doc! { "insert": "_User", "documents": array![user] }),
        step_with(
            "log-in",
            doc! { "find": "_User", "filter": doc! { "username": "tom" }, "collation": loose() },
            [("cursor.firstBatch.0._id", "u1".into())],
        ),
    ]
}

fn apostrophe() -> Vec<Step> {
    let key = doc! {
        "highSearchText": "text", "lowSearchText": "text", "title": "text", "searchBoost": "text",
    };
    let weights =
        doc! { "title": 100, "searchBoost": 150, "highSearchText": 10, "lowSearchText": 2 };
    let more = doc! { "default_language": "none", "weights": weights };
    let page = doc! { "_id": "p1", "title": "Welcome", "highSearchText": "welcome home" };
    let score = || doc! { "$meta": "textScore" };
    vec![
        step("search", index("aposDocs", key, "text", more)),
        step(
            "paths",
            index("aposDocs", doc! { "slug": 1, "aposLocale": 1 }, "slug", doc! { "unique": true }),
        ),
        step("order of titles", index("aposDocs", doc! { "titleSortified": 1 }, "titles", doc! {})),
        step("a page", doc! { "insert": "aposDocs", "documents": array![page] }),
        step_with(
            "a search",
            doc! {
                "find": "aposDocs",
                "filter": doc! { "$text": doc! { "$search": "welcome" } },
                "projection": doc! { "title": 1, "textScore": score() },
                "sort": doc! { "textScore": score() },
            },
            [("cursor.firstBatch.0.title", "Welcome".into())],
        ),
    ]
}

fn node_bb() -> Vec<Step> {
    let unique = doc! { "background": true, "unique": true, "sparse": true };
    let expiring = doc! { "expireAfterSeconds": 0, "background": true };
    let object = |value: &str, score: i32| {
        doc! {
            "q": doc! { "_key": "topics:tid", "value": value },
            "u": doc! { "$set": doc! { "score": score } },
            "upsert": true,
        }
    };
    vec![
        step("sets", index("objects", doc! { "_key": 1, "score": -1 }, "sets", doc! {})),
        step("members", index("objects", doc! { "_key": 1, "value": -1 }, "members", unique)),
        step("expiring objects", index("objects", doc! { "expireAt": 1 }, "expireAt_1", expiring)),
        step(
            "search of topics",
            index("searchtopic", doc! { "content": "text", "uid": 1, "cid": 1 }, "text", doc! {}),
        ),
        step_with(
            "members of a set",
            doc! {
                "update": "objects",
                "updates": array![object("1", 10), object("2", 20)],
                "ordered": false,
            },
            [("n", 2.into())],
        ),
        step_with(
            "a page of a set",
            doc! {
                "find": "objects",
                "filter": doc! { "_key": "topics:tid" },
                "sort": doc! { "score": -1 },
                "limit": 1,
            },
            [("cursor.firstBatch.0.value", "2".into())],
        ),
        step("the database", doc! { "dbStats": 1 }),
        step("the server", doc! { "serverStatus": 1, "$db": "admin" }),
        step_with(
            "each collection",
            doc! {
                "aggregate": "objects",
                "pipeline": array![doc! { "$collStats": doc! {
                    "latencyStats": doc! {}, "storageStats": doc! {}, "count": doc! {},
                } }],
                "cursor": doc! {},
            },
            [("cursor.firstBatch.0.count", 2.into())],
        ),
    ]
}

fn hangfire() -> Vec<Step> {
    let tail = || {
        doc! { "find": "hangfire.notifications", "tailable": true, "awaitData": true, "batchSize": 1 }
    };
    let lock = doc! {
        "findAndModify": "hangfire.locks",
        "query": doc! { "Resource": "jobs" },
        "update": doc! { "$setOnInsert": doc! { "Resource": "jobs" } },
        "upsert": true,
        "new": true,
    };
    let signal = doc! { "_id": 1, "Type": "JobEnqueued", "Value": "default" };
    vec![
        step(
            "locks",
            index("hangfire.locks", doc! { "Resource": 1 }, "Resource", doc! { "unique": true }),
        ),
        step(
            "expiry of jobs",
            index(
                "hangfire.jobGraph",
                doc! { "ExpireAt": 1 },
                "ttl",
                doc! { "expireAfterSeconds": 0 },
            ),
        ),
        step_with("a lock", lock, [("value.Resource", "jobs".into())]),
        step(
            "a first notification",
            doc! { "insert": "hangfire.notifications", "documents": array![signal] },
        ),
        step_refused(
            "a cursor on a collection that is not capped",
            tail(),
            2,
            "tailable cursor requested on non capped collection",
        ),
        step(
            "so it is converted",
            doc! { "convertToCapped": "hangfire.notifications", "size": 16_777_216, "max": 100_000 },
        ),
        step_with("and followed", tail(), [("cursor.firstBatch.0.Type", "JobEnqueued".into())]),
        step("a collection that exists", doc! { "create": "hangfire.jobGraph" }),
    ]
}

fn celery() -> Vec<Step> {
    let message = |id: i32, priority: i32| {
        doc! { "_id": id, "queue": "celery", "payload": "{}", "priority": priority }
    };
    let next = doc! {
        "findAndModify": "messages",
        "query": doc! { "queue": "celery" },
        "sort": doc! { "priority": 1, "_id": 1 },
        "remove": true,
    };
    let result = doc! { "q": doc! { "_id": "t1" }, "u": doc! { "_id": "t1", "status": "SUCCESS" }, "upsert": true };
    vec![
        step(
            "broadcasts",
            doc! { "create": "messages.broadcast", "size": 100_000, "capped": true },
        ),
        step(
            "queues",
            index("messages", doc! { "queue": 1, "priority": 1, "_id": 1 }, "queues", doc! {}),
        ),
        step("readers", index("messages.broadcast", doc! { "queue": 1 }, "queue_1", doc! {})),
        step(
            "routes",
            index("messages.routing", doc! { "queue": 1, "exchange": 1 }, "routes", doc! {}),
        ),
        step(
            "messages",
            doc! { "insert": "messages", "documents": array![message(1, 9), message(2, 0)] },
        ),
        step_with("the next one", next, [("value._id", 2.into())]),
        step(
            "a broadcast",
            doc! { "insert": "messages.broadcast", "documents": array![message(3, 0)] },
        ),
        step_with(
            "the broadcasts so far and later",
            doc! { "find": "messages.broadcast", "filter": doc! { "queue": "celery" }, "tailable": true },
            [("cursor.firstBatch.0._id", 3.into())],
        ),
        step(
            "expiry of results",
            index(
                "celery_taskmeta",
                doc! { "date_done": 1 },
                "date_done_1",
                doc! { "expireAfterSeconds": 86_400 },
            ),
        ),
        step_with(
            "a result",
            doc! { "update": "celery_taskmeta", "updates": array![result] },
            [("n", 1.into())],
        ),
    ]
}

fn azure() -> Vec<Step> {
    let product = doc! { "_id": "p1", "category": "gear", "name": "Surfboard" };
    vec![
        step(
            "a database with throughput",
            doc! { "customAction": "CreateDatabase", "offerThroughput": 400, "$db": "shop" },
        ),
        step(
            "a collection with a shard key",
            doc! {
                "customAction": "CreateCollection",
                "collection": "products",
                "shardKey": "category",
                "offerThroughput": 400,
            },
        ),
        step_with(
            "its settings",
            doc! { "customAction": "GetCollection", "collection": "products" },
            [
                ("provisionedThroughput", 400.into()),
                ("shardKeyDefinition.category", "hashed".into()),
            ],
        ),
        step(
            "the same by the command of MongoDB",
            doc! {
                "shardCollection": "db.orders",
                "key": doc! { "customer": "hashed" },
                "$db": "admin",
            },
        ),
        step("an index", index("products", doc! { "name": 1 }, "name_1", doc! {})),
        step("a product", doc! { "insert": "products", "documents": array![product] }),
        step_with(
            "the charge of the insert",
            doc! { "getLastRequestStatistics": 1 },
            [("CommandName", "insert".into())],
        ),
        step_with(
            "the product",
            doc! { "find": "products", "filter": doc! { "category": "gear", "_id": "p1" } },
            [("cursor.firstBatch.0.name", "Surfboard".into())],
        ),
        step(
            "all data to be found by any field",
            index("products", doc! { "$**": 1 }, "all", doc! {}),
        ),
        step_with(
            "the default retention",
            index("products", doc! { "_ts": 1 }, "_ts_1", doc! { "expireAfterSeconds": 3600 }),
            [("ok", Value::Double(1.0))],
        ),
    ]
}
