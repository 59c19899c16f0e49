//! `$geoNear` in pipelines of other stages.

use std::sync::Arc;

use document::{Document, Value, array, doc};
use mongo::{MongoApi, MongoDialect, Settings};
use test_kit::{Kit, Setup};

use super::{insert, point, sphere};
use crate::client::{Client, first_batch, number};
use crate::replies::{good, refused};

/// Nine points on the equator, a degree apart; the fourth expires after ten seconds.
async fn fill(client: &mut Client) {
    let system = array![doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": -1 }];
    good(client, doc! { "createIndexes": "c", "indexes": system }).await;
    let rows = (0..9_i64).map(|id| {
        let mut row = doc! { "_id": id, "p": point(id as f64, 0.0), "of": id % 3 };
        if id == 4 {
            row.push("ttl", 10);
        }
        row
    });
    insert(client, rows.collect()).await;
    good(client, sphere()).await;
}

fn near_stage(more: Document) -> Value {
    let mut near = doc! { "near": point(4.2, 0.0), "distanceField": "d", "key": "p" };
    more.into_iter().for_each(|(name, value)| near.push(name, value));
    Value::from(doc! { "$geoNear": near })
}

/// The pipeline of an inner stage: two places, and whether they are far away.
fn inner() -> Value {
    array![
        near_stage(doc! { "query": doc! { "_id": doc! { "$gt": 0 } } }),
        doc! { "$limit": 2 },
        doc! { "$project": doc! { "far": doc! { "$gt": array!["$d", 100_000] } } },
    ]
}

fn aggregate(pipeline: Value) -> Document {
    doc! { "aggregate": "c", "pipeline": pipeline, "cursor": doc! {} }
}

/// An aggregation that joins a collection to the document 0.
fn lookup(from: &str, pipeline: Value, more: Document) -> Document {
    let mut lookup = doc! { "from": from, "pipeline": pipeline, "as": "found" };
    more.into_iter().for_each(|(name, value)| lookup.push(name, value));
    aggregate(array![doc! { "$match": doc! { "_id": 0 } }, doc! { "$lookup": lookup }])
}

fn union(with: &str, pipeline: Value) -> Document {
    let union = doc! { "coll": with, "pipeline": pipeline };
    aggregate(array![doc! { "$match": doc! { "_id": 8 } }, doc! { "$unionWith": union }])
}

fn found(of: i64, far: bool) -> Document {
    doc! { "_id": of, "far": far }
}

async fn joined(client: &mut Client, command: Document) -> Value {
    first_batch(&good(client, command).await)[0].get("found").unwrap().clone()
}

#[tokio::test]
async fn geo_near_begins_pipelines_of_lookup_and_union() {
    let mut client = Client::new();
    fill(&mut client).await;
    let two = array![found(4, false), found(5, false)];
    assert_eq!(joined(&mut client, lookup("c", inner(), doc! {})).await, two);
    let equal = doc! { "localField": "of", "foreignField": "of" };
    let of_field = array![found(3, true), found(6, true)];
    assert_eq!(joined(&mut client, lookup("c", inner(), equal)).await, of_field);
    let rows = first_batch(&good(&mut client, union("c", inner())).await);
    assert_eq!(rows[1..], [found(4, false), found(5, false)]);
    // The inner search of each row has the variables of the row.
    let query = doc! { "$expr": doc! { "$eq": array!["$of", "$$of"] } };
    let each = doc! {
        "from": "c",
        "let": doc! { "of": "$of" },
        "pipeline": array![near_stage(doc! { "query": query }), doc! { "$limit": 1 }],
        "as": "found",
    };
    let each = aggregate(array![
        doc! { "$match": doc! { "_id": doc! { "$lt": 3 } } },
        doc! { "$lookup": each },
        doc! { "$sort": doc! { "_id": 1 } },
        doc! { "$project": doc! { "_id": 0, "id": "$found._id" } },
    ]);
    let rows = first_batch(&good(&mut client, each).await);
    assert_eq!(rows, [3, 4, 5].map(|id: i64| doc! { "id": array![id] }));
    // Without an index there is no order by distance.
    good(&mut client, doc! { "dropIndexes": "c", "index": "x" }).await;
    refused(&mut client, lookup("c", inner(), doc! {}), 291).await;
    refused(&mut client, union("c", inner()), 291).await;
    assert_eq!(joined(&mut client, lookup("nowhere", inner(), doc! {})).await, array![]);
}

#[tokio::test]
async fn geo_near_is_refused_elsewhere() {
    let mut client = Client::new();
    fill(&mut client).await;
    let facet = array![doc! { "$facet": doc! { "a": inner() } }];
    refused(&mut client, aggregate(facet.clone()), 40_600).await;
    refused(&mut client, lookup("c", facet, doc! {}), 40_600).await;
    let late = array![doc! { "$limit": 1 }, near_stage(doc! {})];
    refused(&mut client, lookup("c", late.clone(), doc! {}), 40_602).await;
    refused(&mut client, union("c", late), 40_602).await;
    refused(&mut client, lookup("c", array![doc! { "$geoNear": doc! {} }], doc! {}), 16_605).await;
}

#[tokio::test]
async fn geo_near_follows_the_stages_of_a_view() {
    let kit = Kit::new(Setup { dialect: Arc::new(MongoDialect), ..Setup::default() });
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), Settings::default()));
    fill(&mut client).await;
    for (view, pipeline) in [
        ("same", array![]),
        ("first", array![doc! { "$match": doc! { "of": 1 } }]),
        ("nearest", array![near_stage(doc! { "maxDistance": 150_000 })]),
    ] {
        good(&mut client, doc! { "create": view, "viewOn": "c", "pipeline": pipeline }).await;
    }
    // Only a view without stages lets the search be the first one.
    let two = array![found(4, false), found(5, false)];
    assert_eq!(joined(&mut client, lookup("same", inner(), doc! {})).await, two);
    for view in ["first", "nearest"] {
        refused(&mut client, lookup(view, inner(), doc! {}), 40_602).await;
        refused(&mut client, union(view, inner()), 40_602).await;
    }
    let ids = array![doc! { "$project": doc! { "_id": 1 } }];
    let ordered: Vec<Document> = [4, 5, 3].map(|id: i64| doc! { "_id": id }).into();
    let rows = first_batch(&good(&mut client, union("nearest", ids)).await);
    assert_eq!(rows[1..], ordered);
}

#[tokio::test]
async fn documents_expire_in_joined_searches_at_their_instant() {
    let mut client = Client::new();
    fill(&mut client).await;
    let advance = |seconds: f64| doc! { "ebbClock": 1, "advanceSeconds": seconds, "$db": "admin" };
    assert_eq!(number(&client.run(advance(9.999)).await, "ok"), 1);
    for (seconds, want) in
        [(0.0, [found(4, false), found(5, false)]), (0.001, [found(5, false), found(3, true)])]
    {
        assert_eq!(number(&client.run(advance(seconds)).await, "ok"), 1);
        let rows = first_batch(&good(&mut client, union("c", inner())).await);
        assert_eq!(rows[1..], want);
        let list = want.map(Value::from).to_vec();
        assert_eq!(joined(&mut client, lookup("c", inner(), doc! {})).await, Value::Array(list));
    }
}
