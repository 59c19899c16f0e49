//! Queries: shapes, parameters, paging with tokens across clients, plans of the gateway, and errors.

use std::{collections::HashSet, num::NonZeroU32};

use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{
    CompositeIndex, CompositeIndexOrder, CompositeIndexProperty, IndexingPolicy, TimeToLive,
};
use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions, QueryPlanMode};
use azure_data_cosmos::{ContainerClient, DatabaseClient, Query};
use futures::{StreamExt, TryStreamExt};
use serde_json::Value;

use crate::kit::{
    advance, anywhere, by_paths, client, container, create, expected, fresh, json, put, query,
    refused, try_query, within,
};

async fn shelf(name: &str) -> ContainerClient {
    let container = container(name, None).await;
    put(
        &container,
        &[
            json!({"id": "1", "pk": "a", "n": 3, "kind": "x", "tags": ["red", "blue"]}),
            json!({"id": "2", "pk": "a", "n": 1, "kind": "y", "tags": ["red"]}),
            json!({"id": "3", "pk": "b", "n": 2, "kind": "x", "tags": []}),
            json!({"id": "4", "pk": "b", "n": 5, "kind": "x"}),
            json!({"id": "5", "pk": "b", "n": 4.5, "kind": "y", "tags": ["green"]}),
            json!({"id": "6", "pk": "b", "kind": "z", "s": "text"}),
        ],
    )
    .await;
    container
}

/// Returns queries with their expected results.
fn shapes() -> Vec<(&'static str, Value)> {
    vec![
        ("SELECT VALUE c.id FROM c WHERE c.n > 2 ORDER BY c.n", json!(["1", "5", "4"])),
        (
            "SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.n) ORDER BY c.n DESC",
            json!(["4", "5", "1", "3", "2"]),
        ),
        ("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.n DESC", json!(["4", "5"])),
        ("SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 2 LIMIT 3", json!(["3", "4", "5"])),
        ("SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind", json!(["x", "y", "z"])),
        ("SELECT VALUE COUNT(1) FROM c", json!([6])),
        ("SELECT VALUE SUM(c.n) FROM c", json!([15.5])),
        ("SELECT VALUE MIN(c.n) FROM c", json!([1])),
        ("SELECT VALUE MAX(c.n) FROM c", json!([5])),
        ("SELECT VALUE AVG(c.n) FROM c WHERE c.kind = 'y'", json!([2.75])),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n > 100", json!([0])),
        (
            "SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE c.pk = 'a' ORDER BY c.id",
            json!([{"id": "1", "tag": "red"}, {"id": "1", "tag": "blue"}, {"id": "2", "tag": "red"}]),
        ),
        (
            "SELECT VALUE c.id FROM c WHERE EXISTS (SELECT VALUE t FROM t IN c.tags WHERE t = 'green')",
            json!(["5"]),
        ),
        ("SELECT VALUE UPPER(c.s) FROM c WHERE c.s LIKE 'te%'", json!(["TEXT"])),
        ("SELECT c.n FROM c WHERE c.id = '6'", json!([{}])),
    ]
}

#[tokio::test]
async fn shapes_of_queries() {
    let container = shelf("shapes_of_queries").await;
    for (sql, want) in shapes() {
        let found = try_query(&container, anywhere(), sql).await;
        assert_eq!(json!(found.unwrap_or_else(|error| panic!("{sql}: {error}"))), want, "{sql}");
    }
    assert_eq!(
        query(&container, within("a"), "SELECT VALUE c.id FROM c ORDER BY c.id").await,
        ["1", "2"]
    );
    assert_eq!(query(&container, within("a"), "SELECT VALUE COUNT(1) FROM c").await, [json!(2)]);
}

#[tokio::test]
async fn plans_of_the_gateway() {
    let container = shelf("plans_of_the_gateway").await;
    for (sql, want) in shapes() {
        let options = QueryOptions::default().with_query_plan_mode(QueryPlanMode::GatewayOnly);
        let found = async {
            let items = container.query_items::<Value>(sql, anywhere(), Some(options)).await?;
            items.try_collect::<Vec<Value>>().await
        };
        let found = found.await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(json!(found), want, "{sql}");
    }
}

#[tokio::test]
async fn groups() {
    let container = shelf("groups").await;
    let sql = "SELECT c.kind, COUNT(1) AS many, SUM(c.n) AS total FROM c WHERE c.kind != 'z' GROUP BY c.kind";
    let mut found = query(&container, anywhere(), sql).await;
    found.sort_by_key(|group| group["kind"].to_string());
    let want =
        json!([{"kind": "x", "many": 3, "total": 10}, {"kind": "y", "many": 2, "total": 5.5}]);
    assert_eq!(as_floats(json!(found)), as_floats(want));
}

/// Converts all numbers to floating point, because the SDK adds up in floating point: it returns
/// 10.0 where the server returns 10.
fn as_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(as_floats).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, as_floats(value))).collect()
        }
        other => other,
    }
}

#[tokio::test]
async fn parameters() {
    let container = shelf("parameters").await;
    let sql = Query::from(
        "SELECT VALUE c.id FROM c WHERE c.n = @n OR c.tags = @tags OR c.s = @s ORDER BY c.id",
    )
    .with_parameter("@n", 5)
    .unwrap()
    .with_parameter("@tags", ["red"])
    .unwrap()
    .with_parameter("@s", json!(null))
    .unwrap();
    assert_eq!(query(&container, anywhere(), sql).await, ["2", "4"]);
}

#[tokio::test]
async fn pages() {
    let container = container("pages", None).await;
    let items: Vec<Value> = (0..25)
        .map(|n| json!({"id": format!("{n:02}"), "pk": if n % 2 == 0 { "a" } else { "b" }}))
        .collect();
    put(&container, &items).await;
    let want: Vec<Value> = items.iter().map(|item| item["id"].clone()).collect();
    for sql in ["SELECT VALUE c.id FROM c ORDER BY c.id", "SELECT VALUE c.id FROM c"] {
        let (mut found, mut token, mut pages) = (Vec::new(), None, 0);
        loop {
            // Each page is requested by a separate client.
            let there = client().await.database_client("rust-pages");
            let there = there.container_client("c", None).await.unwrap();
            let mut options = QueryOptions::default()
                .with_max_item_count(MaxItemCountHint::Limit(NonZeroU32::new(4).unwrap()));
            if let Some(token) = token {
                options = options.with_continuation_token(token);
            }
            let items = there.query_items::<Value>(sql, anywhere(), Some(options)).await.unwrap();
            let mut stream = items.into_pages();
            let Some(page) = stream.next().await else { break };
            let page = page.unwrap();
            assert!(page.items().len() <= 4, "{} items on a page of 4", page.items().len());
            found.extend(page.into_items());
            pages += 1;
            assert!(pages < 30, "the pages do not end");
            match stream.to_continuation_token() {
                Ok(next) if found.len() < want.len() => token = Some(next),
                _ => break,
            }
        }
        found.sort_by_key(|id| id.to_string());
        assert_eq!(found, want, "{sql}");
        assert!(pages >= 7, "{pages} pages");
    }
}

/// Reads a query page by page, each page by a new iterator from the continuation token of the
/// previous page. `between` is called after each page with the number of pages so far.
pub(crate) async fn token_pages(
    container: &ContainerClient,
    scope: FeedScope,
    sql: &str,
    size: u32,
    between: impl Fn(usize),
) -> Vec<Vec<Value>> {
    let (mut pages, mut token) = (Vec::new(), None);
    loop {
        let mut options = QueryOptions::default()
            .with_max_item_count(MaxItemCountHint::Limit(NonZeroU32::new(size).unwrap()));
        if let Some(token) = token {
            options = options.with_continuation_token(token);
        }
        let items =
            container.query_items::<Value>(sql, scope.clone(), Some(options)).await.unwrap();
        let mut stream = items.into_pages();
        // The token of the last page results in an iterator without pages.
        let Some(page) = stream.next().await else { return pages };
        let page = page.unwrap().into_items();
        assert!(page.len() <= size as usize, "{} items on a page of {size}", page.len());
        pages.push(page);
        assert!(pages.len() < 100, "the pages do not end");
        between(pages.len());
        token = Some(stream.to_continuation_token().unwrap());
    }
}

#[tokio::test]
async fn pages_over_ties() {
    let table = &expected()["tiedPages"];
    let number = |name: &str| u32::try_from(table[name].as_u64().unwrap()).unwrap();
    let (size, dies_after) = (number("pageSize"), number("diesAfter"));
    let dies = |n: &Value| n.as_u64().unwrap() % 5 == 4;
    let database = fresh("pages_over_ties").await;
    for (at, sql) in table["queries"].as_array().unwrap().iter().enumerate() {
        let sql = sql.as_str().unwrap();
        let container = tied(&database, &format!("c{at}"), table).await;
        let pages = token_pages(&container, anywhere(), sql, size, |_| ()).await;
        assert_eq!(pages.concat(), query(&container, anywhere(), sql).await, "{sql}");
        let pages = token_pages(&container, anywhere(), sql, size, |count| {
            if count == 2 {
                advance(dies_after);
            }
        });
        let pages = pages.await;
        let mut found = pages.concat();
        let seen: HashSet<u64> = found.iter().filter_map(Value::as_u64).collect();
        assert_eq!(seen.len(), found.len(), "an item is on two pages: {sql}");
        found.retain(|n| !dies(n));
        assert_eq!(found, query(&container, anywhere(), sql).await, "an item is lost: {sql}");
        assert!(!pages[2..].concat().iter().any(dies), "an expired item is on a page: {sql}");
    }
}

/// Creates a container with the items of the shared table `tiedPages`, many with equal sort keys.
async fn tied(database: &DatabaseClient, id: &str, table: &Value) -> ContainerClient {
    let index = composite_index(&table["compositeIndex"]);
    let policy = IndexingPolicy::default().with_included_path("/*").with_composite_index(index);
    let properties =
        by_paths(id, &["/pk"]).with_default_ttl(TimeToLive::NoDefault).with_indexing_policy(policy);
    let container = create(database, properties).await;
    let item = |n: u64| {
        let ttl = if n % 5 == 4 { table["diesAfter"].clone() } else { json!(-1) };
        json!({
            "id": n.to_string(), "pk": format!("k{}", n % 7), "n": n, "same": n % 3, "odd": n % 2,
            "ttl": ttl,
        })
    };
    let items: Vec<Value> = (0..table["items"].as_u64().unwrap()).map(item).collect();
    put(&container, &items).await;
    container
}

/// Reads a composite index from its paths in a shared table.
pub(crate) fn composite_index(paths: &Value) -> CompositeIndex {
    let mut index = CompositeIndex::default();
    for part in paths.as_array().unwrap() {
        let order = match part["order"].as_str() {
            Some("descending") => CompositeIndexOrder::Descending,
            _ => CompositeIndexOrder::Ascending,
        };
        let path = part["path"].as_str().unwrap().to_owned();
        index = index.with_property(CompositeIndexProperty::new(path, order));
    }
    index
}

#[tokio::test]
async fn composite_order() {
    let index = CompositeIndex::default()
        .with_property(CompositeIndexProperty::new("/x", CompositeIndexOrder::Ascending))
        .with_property(CompositeIndexProperty::new("/y", CompositeIndexOrder::Descending));
    let policy = IndexingPolicy::default().with_included_path("/*").with_composite_index(index);
    let properties = by_paths("c", &["/pk"]).with_indexing_policy(policy);
    let container = create(&fresh("composite_order").await, properties).await;
    put(
        &container,
        &[
            json!({"id": "1", "pk": "a", "x": 1, "y": 1}),
            json!({"id": "2", "pk": "a", "x": 1, "y": 2}),
            json!({"id": "3", "pk": "b", "x": 0, "y": 0}),
        ],
    )
    .await;
    let down =
        query(&container, anywhere(), "SELECT VALUE c.id FROM c ORDER BY c.x, c.y DESC").await;
    assert_eq!(down, ["3", "2", "1"]);
    let why = "The order by query does not have a corresponding composite index that it can be served from.";
    bad_query(&container, "SELECT * FROM c ORDER BY c.x, c.y", why).await;
}

#[tokio::test]
async fn bad_queries() {
    let container = container("bad_queries", None).await;
    bad_query(&container, "SELECT * FORM c", "yntax error").await;
    bad_query(&container, "SELECT nowhere.x FROM c", "Identifier 'nowhere' could not be resolved.")
        .await;
    bad_query(
        &container,
        "SELECT NOSUCH(c.x) FROM c",
        "'NOSUCH' is not a recognized built-in function name.",
    )
    .await;
}

async fn bad_query(container: &ContainerClient, sql: &str, part: &str) {
    for scope in [FeedScope::full_container(), within("a")] {
        refused(try_query(container, scope, sql).await, 400, 0, part);
    }
}

#[tokio::test]
async fn feed_ranges() {
    let container = shelf("feed_ranges").await;
    let ranges = container.read_feed_ranges(None).await.unwrap();
    let mut found = Vec::new();
    for range in ranges {
        found.extend(query(&container, FeedScope::range(range), "SELECT VALUE c.id FROM c").await);
    }
    found.sort_by_key(|id| id.to_string());
    assert_eq!(found, ["1", "2", "3", "4", "5", "6"]);
    // The feed range of a key may contain other keys: the SDK queries no smaller range.
    let ranges = container.feed_range_from_partition_key("a", None).await.unwrap();
    assert_eq!(ranges.len(), 1);
    let found =
        query(&container, FeedScope::range(ranges[0].clone()), "SELECT VALUE c.id FROM c").await;
    assert!(found.contains(&json!("1")) && found.contains(&json!("2")), "{found:?}");
}
