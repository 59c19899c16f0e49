//! Mappers of documents to objects, which create collections and indexes from classes.

use document::{Document, array, doc};

use super::{Framework, Step, step, step_refused, step_with};

pub(super) const TABLE: &[Framework] = &[
    Framework {
        name: "Mongoose",
        about: "`autoCreate` and `autoIndex` create collections and indexes at each start, `syncIndexes` drops what \
                the schema lacks. Time series are refused.",
        steps: mongoose,
    },
    Framework {
        name: "MikroORM",
        about: "`ensureIndexes` compares the options of the indexes that it finds with those of its entities.",
        steps: mikro_orm,
    },
    Framework {
        name: "Beanie",
        about: "`init_beanie` asks for the version, creates indexes, and views from their pipelines.",
        steps: beanie,
    },
    Framework {
        name: "MongoEngine",
        about: "Creates indexes with the first use of a class, and reads the options of a capped collection back.",
        steps: mongo_engine,
    },
    Framework {
        name: "MongoDB.Entities, MongoFramework, generic repository (.NET)",
        about: "Collections that may exist, and several kinds of index. Sessions with transactions need a replica set.",
        steps: dotnet,
    },
];

fn indexes(collection: &str, specs: impl IntoIterator<Item = Document>) -> Document {
    let specs = document::Value::Array(specs.into_iter().map(document::Value::Document).collect());
    doc! { "createIndexes": collection, "indexes": specs }
}

fn list(name: &str) -> Document {
    doc! { "listCollections": 1, "filter": doc! { "name": name } }
}

fn mongoose() -> Vec<Step> {
    let loose = || doc! { "locale": "en", "strength": 1 };
    let user = doc! { "_id": 1, "email": "a@example.com", "__v": 0 };
    let text = || doc! { "key": doc! { "bio": "text" }, "name": "bio_text", "collation": doc! { "locale": "simple" }, "background": true };
    let mail = || doc! { "key": doc! { "email": 1 }, "name": "email_1", "unique": true, "background": true };
    let expiring = doc! { "key": doc! { "createdAt": 1 }, "name": "createdAt_1", "expireAfterSeconds": 3600, "background": true };
    let validator = doc! { "$jsonSchema": doc! { "required": array!["email"] } };
    vec![
        step("a collection", doc! { "create": "users", "collation": loose() }),
        step("at the next start", doc! { "create": "users", "collation": loose() }),
        step("indexes", indexes("users", [mail(), text(), expiring])),
        step("again", indexes("users", [mail()])),
        step_with(
            "present indexes",
            doc! { "listIndexes": "users" },
            [
                ("cursor.firstBatch.1.unique", true.into()),
                ("cursor.firstBatch.1.background", true.into()),
            ],
        ),
        step("what the schema lacks", doc! { "dropIndexes": "users", "index": "bio_text" }),
        step("capped", doc! { "create": "logs", "capped": true, "size": 4096, "max": 100 }),
        step(
            "clustered",
            doc! {
                "create": "events",
                "clusteredIndex": doc! { "key": doc! { "_id": 1 }, "unique": true },
            },
        ),
        step("validated", doc! { "create": "checked", "validator": validator }),
        step(
            "a view",
            doc! {
                "create": "active",
                "viewOn": "users",
                "pipeline": array![doc! { "$match": doc! { "email": doc! { "$exists": true } } }],
                "collation": loose(),
            },
        ),
        step("a document", doc! { "insert": "users", "documents": array![user] }),
        step_with(
            "through the view",
            doc! { "find": "active", "filter": doc! { "email": "A@example.com" } },
            [("cursor.firstBatch.0._id", 1.into())],
        ),
        step_refused(
            "time series",
            doc! { "create": "readings", "timeseries": doc! { "timeField": "at" } },
            115,
            "timeseries",
        ),
    ]
}

fn mikro_orm() -> Vec<Step> {
    let mail =
        doc! { "key": doc! { "email": 1 }, "name": "email", "unique": true, "sparse": false };
    let title = doc! { "key": doc! { "title": "text", "perex": "text" }, "name": "search", "weights": doc! { "title": 10 } };
    let named = doc! { "key": doc! { "name": 1 }, "name": "name", "collation": doc! { "locale": "en", "strength": 2 } };
    vec![
        step("collections", doc! { "listCollections": 1, "nameOnly": true }),
        step("a collection", doc! { "create": "author" }),
        step("indexes", indexes("author", [mail, named])),
        step("a text index", indexes("book", [title])),
        step_with(
            "options as they were given",
            doc! { "listIndexes": "author" },
            [
                ("cursor.firstBatch.1.sparse", false.into()),
                ("cursor.firstBatch.2.collation.strength", 2.into()),
            ],
        ),
        step_with(
            "a second index of the same key",
            doc! { "listIndexes": "book" },
            [("cursor.firstBatch.1.weights.title", 10.into())],
        ),
    ]
}

fn beanie() -> Vec<Step> {
    let pipeline = || {
        array![doc! { "$group": doc! { "_id": "$category", "total": doc! { "$sum": "$price" } } }]
    };
    let products = array![
        doc! { "_id": 1, "category": "a", "price": 2 },
        doc! { "_id": 2, "category": "a", "price": 3 }
    ];
    let key = doc! { "key": doc! { "category": 1, "price": -1 }, "name": "category_1_price_-1" };
    vec![
        step_with(
            "the version",
            doc! { "buildInfo": 1, "$db": "admin" },
            [("versionArray.0", 8.into())],
        ),
        step(
            "collections",
            doc! { "listCollections": 1, "nameOnly": true, "authorizedCollections": true },
        ),
        step("indexes", indexes("products", [key])),
        step_with(
            "present indexes",
            doc! { "listIndexes": "products" },
            [("cursor.firstBatch.1.key.price", (-1).into())],
        ),
        step("a view", doc! { "create": "totals", "viewOn": "products", "pipeline": pipeline() }),
        step(
            "at the next start",
            doc! { "collMod": "totals", "viewOn": "products", "pipeline": pipeline() },
        ),
        step("documents", doc! { "insert": "products", "documents": products }),
        step_with(
            "through the view",
            doc! { "aggregate": "totals", "pipeline": array![], "cursor": doc! {} },
            [("cursor.firstBatch.0.total", 5.into())],
        ),
    ]
}

fn mongo_engine() -> Vec<Step> {
    let key = |key: Document, name: &str| doc! { "key": key, "name": name, "background": false };
    let expiring =
        doc! { "key": doc! { "created": 1 }, "name": "created_1", "expireAfterSeconds": 3600 };
    let hashed = key(doc! { "code": "hashed" }, "code_hashed");
    let text = doc! { "key": doc! { "title": "text", "body": "text" }, "name": "texts", "default_language": "english" };
    let partial = doc! {
        "key": doc! { "rank": 1 }, "name": "rank_1",
        "partialFilterExpression": doc! { "rank": doc! { "$gt": 0 } },
    };
    vec![
        step("the version", doc! { "buildInfo": 1, "$db": "admin" }),
        step(
            "a capped collection",
            doc! { "create": "log", "capped": true, "size": 2_000_128, "max": 1000 },
        ),
        step_with(
            "its options",
            list("log"),
            [
                ("cursor.firstBatch.0.options.max", 1000.into()),
                ("cursor.firstBatch.0.options.size", 2_000_128.into()),
            ],
        ),
        step("classes", indexes("pages", [key(doc! { "_cls": 1 }, "_cls_1")])),
        step("a hashed index", indexes("pages", [hashed])),
        step("texts", indexes("pages", [text])),
        step("expiry", indexes("pages", [expiring])),
        step("a part", indexes("pages", [partial])),
        step_with(
            "a search",
            doc! { "find": "pages", "filter": doc! { "$text": doc! { "$search": "coffee" } } },
            [("cursor.firstBatch", array![])],
        ),
    ]
}

fn dotnet() -> Vec<Step> {
    let key = |key: Document, name: &str| doc! { "key": key, "name": name };
    vec![
        step("a collection", doc! { "create": "books" }),
        step("at the next start", doc! { "create": "books" }),
        step(
            "hashed",
            indexes("books", [key(doc! { "SomeContent": "hashed" }, "SomeContent_hashed")]),
        ),
        step("all texts", indexes("books", [key(doc! { "$**": "text" }, "texts")])),
        step("all fields", indexes("books", [key(doc! { "$**": 1 }, "all")])),
        step(
            "all fields below one",
            indexes("books", [key(doc! { "Kind": 1, "Attributes.$**": 1 }, "below")]),
        ),
        step_with(
            "hidden",
            indexes(
                "books",
                [doc! { "key": doc! { "Title": 1 }, "name": "Title_1", "hidden": true }],
            ),
            [("numIndexesAfter", 6.into())],
        ),
        step("dropped by name", doc! { "dropIndexes": "books", "index": "SomeContent_hashed" }),
        step_with(
            "look-behind in a pattern",
            doc! { "count": "books", "query": doc! { "Title": doc! { "$regex": "(?<=The )[A-Z]" } } },
            [("n", 0.into())],
        ),
    ]
}
