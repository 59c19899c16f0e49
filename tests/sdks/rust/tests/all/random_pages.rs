//! Random cases of queries whose pages are each read by a new iterator; see `../pages.py`.

use std::collections::HashSet;

use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{IndexingPolicy, TimeToLive};
use azure_data_cosmos::{ContainerClient, DatabaseClient};
use serde_json::Value;

use crate::kit::{advance, anywhere, by_paths, create, fresh, put, query, setting, within};
use crate::queries::{composite_index, token_pages};

#[tokio::test]
async fn random_pages() {
    let text = std::fs::read_to_string(setting("EBB_PAGES")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let database = fresh("random_pages").await;
    for (at, case) in cases.iter().enumerate() {
        let container = filled(&database, &format!("c{at}"), case).await;
        check(&container, case).await;
        container.delete(None).await.unwrap();
    }
}

async fn filled(database: &DatabaseClient, id: &str, case: &Value) -> ContainerClient {
    let mut policy = IndexingPolicy::default().with_included_path("/*");
    if !case["compositeIndex"].is_null() {
        policy = policy.with_composite_index(composite_index(&case["compositeIndex"]));
    }
    let properties =
        by_paths(id, &["/pk"]).with_default_ttl(TimeToLive::NoDefault).with_indexing_policy(policy);
    let container = create(database, properties).await;
    put(&container, case["items"].as_array().unwrap()).await;
    container
}

async fn check(container: &ContainerClient, case: &Value) {
    let number = |name: &str| u32::try_from(case[name].as_u64().unwrap()).unwrap();
    let (name, sql) = (case["name"].as_str().unwrap(), case["query"].as_str().unwrap());
    let (size, moves_after) = (number("pageSize"), number("movesAfter") as usize);
    let dead = case["mortal"].as_array().unwrap();
    let scope = || -> FeedScope {
        case["partitionKey"].as_str().map_or_else(anywhere, |key| within(key.to_owned()))
    };

    let pages = token_pages(container, scope(), sql, size, |_| ()).await;
    assert_eq!(pages.concat(), query(container, scope(), sql).await, "{name}");

    let pages = token_pages(container, scope(), sql, size, |count| {
        if count == moves_after {
            advance(number("diesAfter"));
        }
    });
    let pages = pages.await;
    if pages.len() < moves_after {
        advance(number("diesAfter"));
    }
    let live = query(container, scope(), sql).await;
    let mut found = pages.concat();
    let seen: HashSet<String> = found.iter().map(Value::to_string).collect();
    assert_eq!(seen.len(), found.len(), "a row is on two pages: {name}: {pages:?}");
    let later = pages.iter().skip(moves_after).flatten();
    assert!(!later.chain(&live).any(|row| dead.contains(row)), "expired: {name}: {pages:?}");
    if case["limited"] == false {
        found.retain(|row| !dead.contains(row));
        assert_eq!(found, live, "a row is lost: {name}: {pages:?}");
    }
}
