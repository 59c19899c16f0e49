//! `customAction`, `shardCollection`, `enableSharding`, `reIndex` and `create` with a shard key:
//! the stored state, the replies, and the refusals, which change nothing.

use crate::{
    client::{Client, first_batch, number},
    numbered_on_disk::{crash, open},
};
use document::{Document, Value, array, doc};
use mongo::Topology;

fn with(mut base: Document, more: Document) -> Document {
    more.into_iter().for_each(|(name, value)| base.push(name, value));
    base
}

fn action(name: &str, more: Document) -> Document {
    with(doc! { "customAction": name }, with(more, doc! { "$db": "db" }))
}

/// Returns an action on the collection `made`.
fn on_made(name: &str, more: Document) -> Document {
    action(name, with(doc! { "collection": "made" }, more))
}

async fn done(client: &mut Client, command: Document) -> Document {
    let reply = client.run(command.clone()).await;
    assert_eq!(number(&reply, "ok"), 1, "{command:?}: {reply:?}");
    reply
}

async fn refused(client: &mut Client, command: Document) -> i64 {
    let reply = client.run(command.clone()).await;
    assert_eq!(number(&reply, "ok"), 0, "{command:?}: {reply:?}");
    let Some(Value::String(text)) = reply.get("errmsg") else { panic!("{reply:?}") };
    assert!(!text.is_empty());
    number(&reply, "code")
}

async fn shown(client: &mut Client) -> Document {
    done(client, on_made("GetCollection", doc! { "showIndexes": true })).await
}

fn index(path: &str, more: Document) -> Document {
    let mut key = Document::new();
    key.push(path, 1);
    with(doc! { "key": key, "name": format!("{path}_1") }, more)
}

/// Returns an index in the list of `GetCollection`.
fn listed(key: Document, name: &str, more: Document) -> Value {
    with(doc! { "v": 1, "key": key, "name": name, "ns": "db.made" }, more).into()
}

fn id_listed() -> Value {
    listed(doc! { "_id": 1 }, "_id_", doc! {})
}

#[tokio::test]
async fn a_collection_is_made_with_all_that_belongs_to_it() {
    let mut client = Client::new();
    let made = on_made(
        "CreateCollection",
        doc! {
            "offerThroughput": 500.0,
            "shardKey": "a.b",
            "indexes": array![
                index("_id", doc! {}),
                index("k", doc! { "unique": true }),
                index("p", doc! { "partialFilterExpression": doc! { "x": 1 } }),
            ],
            "defaultTtl": 3600,
        },
    );
    assert_eq!(done(&mut client, made.clone()).await, doc! { "ok": 1.0 });
    let want = doc! {
        "database": "db",
        "collection": "made",
        "shardKeyDefinition": doc! { "a.b": "hashed" },
        "provisionedThroughput": 500,
        "defaultTtl": 3600,
        "indexes": array![
            id_listed(),
            listed(doc! { "k": 1 }, "k_1", doc! { "unique": true }),
            listed(doc! { "p": 1 }, "p_1", doc! { "partialFilterExpression": doc! { "x": 1 } }),
            listed(doc! { "_ts": 1 }, "_ts_1", doc! { "expireAfterSeconds": 3600 }),
        ],
        "ok": 1.0,
    };
    assert_eq!(shown(&mut client).await, want);
    // Tools that dump a collection do not see what other servers do not know.
    let list = doc! { "listCollections": 1, "filter": doc! { "name": "made" }, "$db": "db" };
    let entry = first_batch(&client.run(list).await).remove(0);
    assert_eq!(entry.get("options"), Some(&Value::Document(doc! {})));
    assert_eq!(refused(&mut client, made).await, 48);
    // Documents without the shard key are accepted, and a unique index is in effect.
    let rows = [doc! { "_id": 1, "k": 1 }, doc! { "_id": 2, "k": 1 }];
    let reply = client.send(doc! { "insert": "made", "$db": "db" }, &[("documents", &rows)]).await;
    assert_eq!(number(&reply, "n"), 1, "{reply:?}");
    // Another name keeps all of it.
    let rename = doc! { "renameCollection": "db.made", "to": "db.other", "$db": "admin" };
    done(&mut client, rename).await;
    let other = action("GetCollection", doc! { "collection": "other" });
    let reply = done(&mut client, other).await;
    assert_eq!(reply.get("shardKeyDefinition"), Some(&doc! { "a.b": "hashed" }.into()));
    assert_eq!(number(&reply, "provisionedThroughput"), 500);
}

#[tokio::test]
async fn without_options_a_collection_shows_none() {
    let mut client = Client::new();
    done(&mut client, on_made("CreateCollection", doc! {})).await;
    let want = doc! { "database": "db", "collection": "made", "ok": 1.0 };
    assert_eq!(done(&mut client, on_made("GetCollection", doc! {})).await, want);
    let autoscale = doc! { "autoScaleSettings": doc! { "maxThroughput": 4000_i64 } };
    done(&mut client, on_made("UpdateCollection", autoscale)).await;
    let want = doc! {
        "database": "db",
        "collection": "made",
        "provisionedThroughput": 400,
        "autoScaleSettings": doc! { "maxThroughput": 4000 },
        "ok": 1.0,
    };
    assert_eq!(done(&mut client, on_made("GetCollection", doc! {})).await, want);
}

#[tokio::test]
async fn a_refused_action_changes_nothing() {
    let mut client = Client::new();
    let indexes = array![index("_id", doc! {}), index("k", doc! {})];
    let base = doc! { "offerThroughput": 400, "indexes": indexes };
    done(&mut client, on_made("CreateCollection", base)).await;
    let rows = [doc! { "_id": 1, "u": 1 }, doc! { "_id": 2, "u": 1 }];
    client.send(doc! { "insert": "made", "$db": "db" }, &[("documents", &rows)]).await;
    let before = shown(&mut client).await;
    let id = || index("_id", doc! {});
    let settings = |most: Value| doc! { "autoScaleSettings": doc! { "maxThroughput": most } };
    let both = with(settings(4000.into()), doc! { "offerThroughput": 400 });
    let twice = array![id(), index("_ts", doc! { "expireAfterSeconds": 5 })];
    for (more, code) in [
        (doc! { "offerThroughput": 300 }, 2),
        (doc! { "offerThroughput": 450 }, 2),
        (doc! { "offerThroughput": 400.5 }, 2),
        (doc! { "offerThroughput": "400" }, 14),
        (settings(4100.into()), 2),
        (settings("4000".into()), 14),
        (doc! { "autoScaleSettings": doc! {} }, 40414),
        (doc! { "autoScaleSettings": 1 }, 14),
        (doc! { "autoScaleSettings": doc! { "x": 1 } }, 40415),
        (both, 2),
        (doc! { "defaultTtl": 0 }, 2),
        (doc! { "defaultTtl": -2 }, 2),
        (doc! { "defaultTtl": 1.5 }, 2),
        (doc! { "defaultTtl": 2_147_483_648_i64 }, 2),
        (doc! { "defaultTtl": "60" }, 14),
        (doc! { "defaultTtl": true }, 14),
        (doc! { "defaultTtl": 60, "indexes": twice }, 85),
        (doc! { "indexes": 1 }, 14),
        (doc! { "indexes": array![1] }, 14),
        (doc! { "indexes": array![id(), doc! { "key": doc! { "a": 1 } }] }, 9),
        (doc! { "indexes": array![id(), index("a", doc! { "x": 1 })] }, 197),
        (
            doc! {
                "indexes": array![id(), index("a", doc! {}), index("a", doc! { "sparse": true })],
            },
            86,
        ),
        (doc! { "zzz": 1 }, 40415),
        (doc! { "showIndexes": true }, 40415),
    ] {
        for (name, collection) in [("UpdateCollection", "made"), ("CreateCollection", "new")] {
            let more = with(doc! { "collection": collection }, more.clone());
            assert_eq!(refused(&mut client, action(name, more.clone())).await, code, "{more:?}");
        }
    }
    for (more, code) in [
        // Documents violate it, and nothing was dropped for it.
        (doc! { "indexes": array![id(), index("u", doc! { "unique": true })] }, 11000),
        (doc! { "indexes": array![index("a", doc! {})] }, 67),
        (doc! { "indexes": array![] }, 67),
        (doc! { "shardKey": "a" }, 40415),
    ] {
        assert_eq!(
            refused(&mut client, on_made("UpdateCollection", more.clone())).await,
            code,
            "{more:?}"
        );
    }
    for key in ["", "$a", "a..b", "_ts"] {
        let more = doc! { "collection": "new", "shardKey": key };
        assert_eq!(refused(&mut client, action("CreateCollection", more)).await, 2, "{key}");
    }
    for (command, code) in [
        (action("CreateCollection", doc! {}), 40414),
        (action("CreateCollection", doc! { "collection": 1 }), 14),
        (action("CreateCollection", doc! { "collection": "" }), 73),
        (action("CreateCollection", doc! { "collection": "a$b" }), 73),
        (action("CreateCollection", doc! { "collection": "new", "shardKey": 1 }), 14),
        (action("UpdateCollection", doc! { "collection": "new" }), 26),
        (action("GetCollection", doc! { "collection": "new" }), 26),
        (action("GetCollection", doc! { "collection": "new", "offerThroughput": 400 }), 40415),
        (action("GetDatabase", doc! { "collection": "made" }), 40415),
        (action("CreateDatabase", doc! {}), 48),
        (action("GetChangeStreamTokens", doc! { "collection": "made" }), 115),
        (action("DropCollection", doc! { "collection": "made" }), 59),
        (action("getDatabase", doc! {}), 59),
        (doc! { "customAction": 1, "$db": "db" }, 14),
    ] {
        assert_eq!(refused(&mut client, command.clone()).await, code, "{command:?}");
    }
    assert_eq!(shown(&mut client).await, before);
    assert_eq!(client.all("made").await.len(), 2);
}

#[tokio::test]
async fn a_list_of_indexes_replaces_all() {
    let mut client = Client::new();
    let id = || index("_id", doc! {});
    let first = array![id(), index("a", doc! {}), index("b", doc! { "expireAfterSeconds": 60 })];
    done(&mut client, on_made("CreateCollection", doc! { "indexes": first })).await;
    let rows: Vec<Document> = (0..20).map(|n| doc! { "_id": n, "a": n, "c": -n }).collect();
    client.send(doc! { "insert": "made", "$db": "db" }, &[("documents", &rows)]).await;
    let second = array![id(), index("c", doc! {}), index("b", doc! { "expireAfterSeconds": 90 })];
    done(&mut client, on_made("UpdateCollection", doc! { "indexes": second, "defaultTtl": 5 }))
        .await;
    let reply = shown(&mut client).await;
    let want = array![
        id_listed(),
        listed(doc! { "b": 1 }, "b_1", doc! { "expireAfterSeconds": 90 }),
        listed(doc! { "c": 1 }, "c_1", doc! {}),
        listed(doc! { "_ts": 1 }, "_ts_1", doc! { "expireAfterSeconds": 5 }),
    ];
    assert_eq!(reply.get("indexes"), Some(&want));
    // The new index is complete.
    let find = doc! { "find": "made", "filter": doc! { "c": -7 }, "hint": "c_1", "$db": "db" };
    assert_eq!(first_batch(&client.run(find).await).len(), 1);
    // The default alone leaves the others.
    done(&mut client, on_made("UpdateCollection", doc! { "defaultTtl": -1 })).await;
    assert_eq!(number(&shown(&mut client).await, "defaultTtl"), -1);
    // An index of the same name with another key takes the place of the former.
    let third = array![id(), doc! { "key": doc! { "a": 1 }, "name": "c_1" }];
    done(&mut client, on_made("UpdateCollection", doc! { "indexes": third })).await;
    let want = array![id_listed(), listed(doc! { "a": 1 }, "c_1", doc! {})];
    assert_eq!(shown(&mut client).await.get("indexes"), Some(&want));
    let find = doc! { "find": "made", "filter": doc! { "a": 7 }, "hint": "c_1", "$db": "db" };
    assert_eq!(first_batch(&client.run(find).await).len(), 1);
}

async fn advance(client: &mut Client, seconds: i64) {
    done(client, doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" }).await;
}

async fn ids(client: &mut Client) -> Vec<i64> {
    client.all("made").await.iter().map(|row| number(row, "_id")).collect()
}

#[tokio::test]
async fn documents_expire_by_the_default_ttl_to_the_second() {
    let mut client = Client::new();
    done(&mut client, on_made("CreateCollection", doc! { "defaultTtl": 60 })).await;
    let rows = [doc! { "_id": 1 }, doc! { "_id": 2, "ttl": 10 }, doc! { "_id": 3, "ttl": -1 }];
    client.send(doc! { "insert": "made", "$db": "db" }, &[("documents", &rows)]).await;
    advance(&mut client, 9).await;
    assert_eq!(ids(&mut client).await, [1, 2, 3]);
    advance(&mut client, 1).await;
    assert_eq!(ids(&mut client).await, [1, 3]);
    advance(&mut client, 49).await;
    assert_eq!(ids(&mut client).await, [1, 3]);
    advance(&mut client, 1).await;
    assert_eq!(ids(&mut client).await, [3]);
    // An expired document stays expired after the default is extended or removed.
    for more in [doc! { "defaultTtl": 3600 }, doc! { "indexes": array![index("_id", doc! {})] }] {
        done(&mut client, on_made("UpdateCollection", more)).await;
        assert_eq!(ids(&mut client).await, [3]);
    }
    let count = doc! { "count": "made", "$db": "db" };
    assert_eq!(number(&client.run(count).await, "n"), 1);
}

#[tokio::test]
async fn a_longer_default_saves_what_lives() {
    let mut client = Client::new();
    done(&mut client, on_made("CreateCollection", doc! {})).await;
    let rows = [doc! { "_id": 1 }];
    client.send(doc! { "insert": "made", "$db": "db" }, &[("documents", &rows)]).await;
    done(&mut client, on_made("UpdateCollection", doc! { "defaultTtl": 10 })).await;
    advance(&mut client, 9).await;
    done(&mut client, on_made("UpdateCollection", doc! { "defaultTtl": 20 })).await;
    advance(&mut client, 10).await;
    assert_eq!(ids(&mut client).await, [1]);
    advance(&mut client, 1).await;
    assert_eq!(ids(&mut client).await, [0_i64; 0]);
}

#[tokio::test]
async fn a_database_without_collections_is_kept_until_it_is_dropped() {
    let mut client = Client::new();
    let of = |name: &str, database: &str, more: Document| {
        with(doc! { "customAction": name }, with(more, doc! { "$db": database }))
    };
    let manual = doc! { "offerThroughput": 800 };
    assert_eq!(refused(&mut client, of("GetDatabase", "shop", doc! {})).await, 26);
    assert_eq!(refused(&mut client, of("UpdateDatabase", "shop", manual.clone())).await, 26);
    assert_eq!(
        refused(&mut client, of("CreateDatabase", "shop", doc! { "offerThroughput": 1 })).await,
        2
    );
    done(&mut client, of("CreateDatabase", "shop", manual)).await;
    for (database, code) in
        [("shop", 48), ("Shop", 13297), ("DB", 13297), ("db", 48), ("admin", 48)]
    {
        assert_eq!(refused(&mut client, of("CreateDatabase", database, doc! {})).await, code);
    }
    // No collection can be created in a database whose name differs only in case.
    for command in [
        doc! { "create": "c" },
        doc! { "customAction": "CreateCollection", "collection": "c" },
        doc! { "insert": "c", "documents": array![doc! {}] },
        doc! { "shardCollection": "Shop.c", "key": doc! { "a": 1 } },
    ] {
        let command = with(command, doc! { "$db": "Shop" });
        assert_eq!(refused(&mut client, command.clone()).await, 13297, "{command:?}");
    }
    let want = doc! { "database": "shop", "provisionedThroughput": 800, "ok": 1.0 };
    assert_eq!(done(&mut client, of("GetDatabase", "shop", doc! {})).await, want);
    let list = doc! { "listDatabases": 1, "nameOnly": true, "$db": "admin" };
    let has = |reply: &Document| format!("{reply:?}").contains("shop");
    assert!(has(&client.run(list.clone()).await));
    // A collection of it shows no throughput, since it shares that of the database.
    done(&mut client, of("CreateCollection", "shop", doc! { "collection": "c" })).await;
    let reply = done(&mut client, of("GetCollection", "shop", doc! { "collection": "c" })).await;
    assert_eq!(reply.get("provisionedThroughput"), None);
    let settings = doc! { "autoScaleSettings": doc! { "maxThroughput": 20_000 } };
    done(&mut client, of("UpdateDatabase", "shop", settings.clone())).await;
    let reply = done(&mut client, of("GetDatabase", "shop", doc! {})).await;
    assert_eq!(number(&reply, "provisionedThroughput"), 2000);
    assert_eq!(reply.get("autoScaleSettings"), settings.get("autoScaleSettings"));
    done(&mut client, doc! { "dropDatabase": 1, "$db": "shop" }).await;
    assert_eq!(refused(&mut client, of("GetDatabase", "shop", doc! {})).await, 26);
    assert!(!has(&client.run(list).await));
    // A database that came with its collection can get a throughput, too.
    done(&mut client, of("UpdateDatabase", "db", doc! { "offerThroughput": 400 })).await;
    let reply = done(&mut client, of("GetDatabase", "db", doc! {})).await;
    assert_eq!(number(&reply, "provisionedThroughput"), 400);
}

#[tokio::test]
async fn a_shard_key_is_kept_and_shown() {
    let mut client = Client::new();
    let shard = |name: &str, key: Document, more: Document| {
        with(doc! { "shardCollection": name, "key": key }, with(more, doc! { "$db": "admin" }))
    };
    let hashed = || doc! { "a": "hashed" };
    done(&mut client, doc! { "enableSharding": "db", "$db": "admin" }).await;
    let reply = done(&mut client, shard("db.made", hashed(), doc! {})).await;
    let want = doc! { "_t": "ShardCollectionResponse", "collectionsharded": "db.made", "ok": 1.0 };
    assert_eq!(reply, want);
    done(&mut client, shard("db.made", hashed(), doc! { "unique": false })).await;
    for (command, code) in [
        (shard("db.made", doc! { "b": 1 }, doc! {}), 23),
        (shard("db.new", doc! {}, doc! {}), 2),
        (shard("db.new", doc! { "a": -1 }, doc! {}), 2),
        (shard("db.new", doc! { "a": "2d" }, doc! {}), 2),
        (shard("db.new", doc! { "a": "hashed", "b": "hashed" }, doc! {}), 2),
        (shard("db.new", hashed(), doc! { "unique": true }), 115),
        (shard("db.new", hashed(), doc! { "zzz": 1 }), 40415),
        (shard("db", hashed(), doc! {}), 73),
        (shard("db.a$b", hashed(), doc! {}), 73),
        (doc! { "shardCollection": "db.new", "$db": "admin" }, 40414),
        (doc! { "shardCollection": "db.new", "key": 1, "$db": "admin" }, 14),
        (doc! { "shardCollection": 1, "key": hashed(), "$db": "admin" }, 73),
        (doc! { "enableSharding": 1, "$db": "admin" }, 14),
        (doc! { "enableSharding": "a.b", "$db": "admin" }, 73),
        (doc! { "enableSharding": "db", "$db": "db" }, 13),
        (doc! { "reIndex": "new", "$db": "db" }, 26),
        (doc! { "reIndex": 1, "$db": "db" }, 73),
        (doc! { "create": "new", "shardKey": 1, "$db": "db" }, 14),
        (doc! { "create": "new", "shardKey": "a.", "$db": "db" }, 2),
        (action("GetCollection", doc! { "collection": "new" }), 26),
    ] {
        assert_eq!(refused(&mut client, command.clone()).await, code, "{command:?}");
    }
    let reply = shown(&mut client).await;
    assert_eq!(reply.get("shardKeyDefinition"), Some(&hashed().into()));
    // An existing collection keeps its documents and options.
    client.send(doc! { "insert": "c", "$db": "db" }, &[("documents", &[doc! { "_id": 1 }])]).await;
    let key = || doc! { "a": 1, "b": "hashed" };
    let on_its_database =
        with(doc! { "shardCollection": "db.c", "key": key() }, doc! { "$db": "db" });
    done(&mut client, on_its_database).await;
    let reply = done(&mut client, action("GetCollection", doc! { "collection": "c" })).await;
    assert_eq!(reply.get("shardKeyDefinition"), Some(&key().into()));
    assert_eq!(client.all("c").await.len(), 1);
    let reply = done(&mut client, doc! { "reIndex": "c", "$db": "db" }).await;
    assert_eq!((number(&reply, "nIndexesWas"), number(&reply, "nIndexes")), (1, 1));
}

#[tokio::test]
async fn create_takes_a_shard_key() {
    let mut client = Client::new();
    let create = |more: Document| with(doc! { "create": "made" }, with(more, doc! { "$db": "db" }));
    done(&mut client, create(doc! { "shardKey": "a.b" })).await;
    let reply = shown(&mut client).await;
    assert_eq!(reply.get("shardKeyDefinition"), Some(&doc! { "a.b": "hashed" }.into()));
    // The same again, or without the key, which a dump does not contain.
    done(&mut client, create(doc! { "shardKey": "a.b" })).await;
    done(&mut client, create(doc! {})).await;
    assert_eq!(refused(&mut client, create(doc! { "shardKey": "b" })).await, 48);
    let other = doc! { "storageEngine": doc! { "wiredTiger": doc! {} } };
    assert_eq!(refused(&mut client, create(other)).await, 48);
}

#[tokio::test]
async fn a_restart_keeps_all_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let (mut client, clock) = open(directory.path(), None, Topology::Standalone).await;
    let made = doc! {
        "autoScaleSettings": doc! { "maxThroughput": 4000 },
        "shardKey": "a",
        "indexes": array![index("_id", doc! {}), index("k", doc! { "unique": true })],
        "defaultTtl": 60,
    };
    done(&mut client, on_made("CreateCollection", made)).await;
    let in_shop = || doc! { "customAction": "GetDatabase", "$db": "shop" };
    let create = doc! { "customAction": "CreateDatabase", "offerThroughput": 400, "$db": "shop" };
    done(&mut client, create).await;
    let before = (shown(&mut client).await, done(&mut client, in_shop()).await);
    crash(client).await;
    let (mut client, _clock) =
        open(directory.path(), Some(clock.tick()), Topology::Standalone).await;
    let after = (shown(&mut client).await, done(&mut client, in_shop()).await);
    assert_eq!(after, before);
}
