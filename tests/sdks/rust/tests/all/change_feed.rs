//! The change feed: latest versions, and all versions and deletes.

use std::time::Duration;

use azure_data_cosmos::ContainerClient;
use azure_data_cosmos::feed::{ChangeFeedPageIterator, FeedScope};
use azure_data_cosmos::models::{ChangeFeedItem, ChangeFeedOperationType, ChangeFeedPolicy};
use azure_data_cosmos::options::{ChangeFeedMode, ChangeFeedOptions, ChangeFeedStartFrom};
use futures::StreamExt;
use serde_json::Value;

use crate::kit::{
    advance, anywhere, bare, by_paths, container, create, fresh, json, put, refused, within,
};

type Feed = ChangeFeedPageIterator<ChangeFeedItem<Value>>;

async fn feed(container: &ContainerClient, scope: FeedScope, from: ChangeFeedStartFrom) -> Feed {
    container.query_change_feed::<Value>(scope, from, None).await.unwrap()
}

/// Returns all items of a feed up to the first page that is empty.
macro_rules! drain {
    ($feed:expr) => {{
        let mut found = Vec::new();
        loop {
            let page = $feed.next().await.unwrap().unwrap();
            if page.items().is_empty() {
                break found;
            }
            found.extend(page.into_items());
        }
    }};
}

fn ids<'a>(items: impl IntoIterator<Item = &'a ChangeFeedItem<Value>>) -> Vec<&'a str> {
    items.into_iter().map(|item| item.current().unwrap()["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn latest_versions() {
    let container = container("latest_versions", None).await;
    put(&container, &[json!({"id": "1", "pk": "a", "n": 1}), json!({"id": "2", "pk": "b"})]).await;
    let mut from_now = feed(&container, anywhere(), ChangeFeedStartFrom::Now).await;
    assert!(from_now.next().await.unwrap().unwrap().items().is_empty());
    container.upsert_item("a", "1", json!({"id": "1", "pk": "a", "n": 2}), None).await.unwrap();
    put(&container, &[json!({"id": "3", "pk": "a"})]).await;
    container.delete_item("b", "2", None).await.unwrap();

    let mut all = feed(&container, anywhere(), ChangeFeedStartFrom::Beginning).await;
    let found = drain!(all);
    assert_eq!(ids(&found), ["1", "3"]);
    assert_eq!(bare(found[0].current().unwrap().clone()), json!({"id": "1", "pk": "a", "n": 2}));
    assert_eq!(ids(&drain!(from_now)), ["1", "3"]);
    let mut key = feed(&container, within("b"), ChangeFeedStartFrom::Beginning).await;
    assert!(drain!(key).is_empty());
    let mut key = feed(&container, within("a"), ChangeFeedStartFrom::Beginning).await;
    assert_eq!(ids(&drain!(key)), ["1", "3"]);

    let token = all.to_continuation_token().unwrap();
    put(&container, &[json!({"id": "4", "pk": "b"})]).await;
    let options = ChangeFeedOptions::default().with_continuation_token(token);
    let mut resumed = container
        .query_change_feed::<Value>(anywhere(), ChangeFeedStartFrom::Beginning, Some(options))
        .await
        .unwrap();
    assert_eq!(ids(&drain!(resumed)), ["4"]);
}

#[tokio::test]
async fn the_dead_leave_the_feed() {
    let container = container("the_dead_leave_the_feed", Some(10.into())).await;
    put(&container, &[json!({"id": "1", "pk": "a"}), json!({"id": "2", "pk": "a", "ttl": -1})])
        .await;
    advance(9);
    let mut all = feed(&container, anywhere(), ChangeFeedStartFrom::Beginning).await;
    assert_eq!(ids(&drain!(all)), ["1", "2"]);
    advance(1);
    let mut all = feed(&container, anywhere(), ChangeFeedStartFrom::Beginning).await;
    assert_eq!(ids(&drain!(all)), ["2"]);
}

fn full() -> ChangeFeedOptions {
    ChangeFeedOptions::default().with_mode(ChangeFeedMode::AllVersionsAndDeletes)
}

#[tokio::test]
async fn all_versions_and_deletes() {
    let policy = ChangeFeedPolicy::default().with_retention_duration(Duration::from_secs(3600));
    let properties = by_paths("c", &["/pk"]).with_change_feed_policy(policy).with_default_ttl(10);
    let container = create(&fresh("all_versions_and_deletes").await, properties).await;
    put(&container, &[json!({"id": "0", "pk": "a", "ttl": -1})]).await;
    let mut feed = container
        .query_change_feed::<Value>(anywhere(), ChangeFeedStartFrom::Now, Some(full()))
        .await
        .unwrap();
    assert!(feed.next().await.unwrap().unwrap().items().is_empty());
    put(&container, &[json!({"id": "1", "pk": "a", "n": 1})]).await;
    container.upsert_item("a", "1", json!({"id": "1", "pk": "a", "n": 2}), None).await.unwrap();
    container.delete_item("a", "1", None).await.unwrap();
    put(&container, &[json!({"id": "2", "pk": "a"})]).await;
    advance(10);
    let found = drain!(feed);
    use ChangeFeedOperationType::{Create, Delete, Replace};
    let kinds: Vec<_> = found.iter().map(|item| item.operation_type().unwrap()).collect();
    assert_eq!(kinds, [Create, Replace, Delete, Create, Delete]);
    let numbers: Vec<_> =
        found.iter().map(|item| item.metadata().unwrap().lsn().unwrap().value()).collect();
    assert!(numbers.is_sorted_by(|left, right| left < right), "{numbers:?}");
    assert_eq!(bare(found[0].current().unwrap().clone()), json!({"id": "1", "pk": "a", "n": 1}));
    assert_eq!(bare(found[1].current().unwrap().clone()), json!({"id": "1", "pk": "a", "n": 2}));
    let deleted = found[2].metadata().unwrap();
    assert_ne!(deleted.time_to_live_expired(), Some(true));
    assert_eq!(deleted.id(), Some("1"));
    let expired = found[4].metadata().unwrap();
    assert_eq!(expired.time_to_live_expired(), Some(true));
    assert_eq!(expired.id(), Some("2"));
    assert_eq!(expired.partition_key(), Some(&json!({"pk": "a"})));
}

#[tokio::test]
async fn all_versions_where_they_are_not_kept() {
    let policy = ChangeFeedPolicy::default().with_retention_duration(Duration::ZERO);
    let properties = by_paths("c", &["/pk"]).with_change_feed_policy(policy);
    let container = create(&fresh("all_versions_where_they_are_not_kept").await, properties).await;
    let why = "Change Feed 'All Versions and Deletes' mode must be enabled.";
    let answer = async {
        let mut feed = container
            .query_change_feed::<Value>(anywhere(), ChangeFeedStartFrom::Now, Some(full()))
            .await?;
        feed.next().await.unwrap().map(|page| page.into_items().len())
    };
    refused(answer.await, 400, 0, why);
}
