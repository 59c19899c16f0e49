//! TTL: which items expire, to the second, on every path that reads; validation of `ttl`;
//! countdowns; and changes of the default TTL.

use azure_data_cosmos::models::{PatchInstructions, PatchOperation, TimeToLive};
use azure_data_cosmos::options::{ChangeFeedStartFrom, PatchItemOptions, PatchStrategy};
use azure_data_cosmos::{ContainerClient, TransactionalBatch};
use futures::StreamExt;
use serde_json::Value;

use crate::kit::{
    NO_ITEM, advance, anywhere, by_paths, container, create, expected, fresh, json, put, query,
    read, refused, within,
};

fn time_to_live(value: &Value) -> TimeToLive {
    match value.as_i64() {
        None => TimeToLive::Forever,
        Some(-1) => TimeToLive::NoDefault,
        Some(seconds) => TimeToLive::Seconds(seconds.try_into().unwrap()),
    }
}

/// Asserts on every path that reads whether item 1 of partition `a` exists.
async fn alive(container: &ContainerClient, lives: bool) {
    let answer = container.read_item("a", "1", None).await;
    if lives {
        answer.unwrap();
    } else {
        refused(answer, 404, 0, NO_ITEM);
    }
    let ids = if lives { vec![json!("1")] } else { vec![] };
    for scope in [anywhere, || within("a")] {
        for sql in [
            "SELECT VALUE c.id FROM c",
            "SELECT VALUE c.id FROM c WHERE c.n = 1",
            "SELECT VALUE c.id FROM c ORDER BY c.n",
            "SELECT DISTINCT VALUE c.id FROM c ORDER BY c.id",
        ] {
            assert_eq!(query(container, scope(), sql).await, ids, "{sql}");
        }
        for sql in ["SELECT VALUE COUNT(1) FROM c", "SELECT VALUE COUNT(1) FROM c WHERE c.n = 1"] {
            assert_eq!(query(container, scope(), sql).await, [json!(ids.len())], "{sql}");
        }
    }
    let feed =
        container.query_change_feed::<Value>(anywhere(), ChangeFeedStartFrom::Beginning, None);
    let page = feed.await.unwrap().next().await.unwrap().unwrap();
    assert_eq!(page.items().len(), ids.len());
    let batch = TransactionalBatch::new("a").read_item("1", None).delete_item("no such item", None);
    let want = if lives { [424, 404] } else { [404, 424] };
    assert_eq!(statuses(container, batch).await, want);
}

async fn statuses(container: &ContainerClient, batch: TransactionalBatch) -> Vec<u16> {
    let answer = container.execute_transactional_batch(batch, None).await.unwrap();
    answer.into_model().unwrap().results().iter().map(|result| result.status_code()).collect()
}

#[tokio::test]
async fn the_matrix() {
    let database = fresh("the_matrix").await;
    for (n, cell) in expected()["matrix"].as_array().unwrap().iter().enumerate() {
        let properties =
            by_paths(&format!("c{n}"), &["/pk"]).with_default_ttl(time_to_live(&cell["default"]));
        let container = create(&database, properties).await;
        let mut item = json!({"id": "1", "pk": "a", "n": 1});
        if !cell["ttl"].is_null() {
            item["ttl"] = cell["ttl"].clone();
        }
        put(&container, &[item.clone()]).await;
        let Some(dies_after) = cell["diesAfter"].as_u64() else {
            alive(&container, true).await;
            advance(1_000_000);
            alive(&container, true).await;
            assert_eq!(read(&container, "1").await, item);
            continue;
        };
        advance(u32::try_from(dies_after).unwrap() - 1);
        alive(&container, true).await;
        assert_eq!(read(&container, "1").await, item);
        for _ in 0..2 {
            advance(1);
            alive(&container, false).await;
        }
    }
}

fn set(path: &str, value: Value) -> PatchInstructions {
    PatchInstructions::new().with_operation(PatchOperation::set(path, value))
}

fn served() -> Option<PatchItemOptions> {
    Some(PatchItemOptions::default().with_strategy(PatchStrategy::ServerSide))
}

#[tokio::test]
async fn writes_of_the_dead() {
    let container = container("writes_of_the_dead", Some(10.into())).await;
    let item = json!({"id": "1", "pk": "a", "n": 1});
    put(&container, &[item.clone(), json!({"id": "2", "pk": "a"})]).await;
    advance(10);
    refused(container.replace_item("a", "1", &item, None).await, 404, 0, NO_ITEM);
    refused(container.patch_item("a", "1", set("/x", json!(1)), served()).await, 404, 0, NO_ITEM);
    refused(container.delete_item("a", "1", None).await, 404, 0, NO_ITEM);
    put(&container, &[item]).await;
    let upserted =
        container.upsert_item("a", "2", json!({"id": "2", "pk": "a"}), None).await.unwrap();
    assert_eq!(u16::from(upserted.status().status_code()), 201);
}

#[tokio::test]
async fn every_write_restarts_the_countdown() {
    let item = json!({"id": "1", "pk": "a", "n": 1});
    let database = fresh("every_write_restarts_the_countdown").await;
    for write in ["replace", "upsert", "patch", "batch"] {
        let container = create(&database, by_paths(write, &["/pk"]).with_default_ttl(10)).await;
        put(&container, &[item.clone()]).await;
        advance(9);
        match write {
            "replace" => drop(container.replace_item("a", "1", &item, None).await.unwrap()),
            "upsert" => drop(container.upsert_item("a", "1", &item, None).await.unwrap()),
            "patch" => {
                drop(container.patch_item("a", "1", set("/x", json!(1)), served()).await.unwrap());
            }
            _ => {
                let batch = TransactionalBatch::new("a").replace_item("1", &item, None).unwrap();
                assert_eq!(statuses(&container, batch).await, [200]);
            }
        }
        advance(9);
        alive(&container, true).await;
        advance(1);
        alive(&container, false).await;
    }
}

#[tokio::test]
async fn the_default_changes() {
    let container = container("the_default_changes", None).await;
    let set = async |ttl: TimeToLive| {
        let properties = by_paths("c", &["/pk"]).with_default_ttl(ttl);
        container.replace(properties, None).await.unwrap();
    };
    put(&container, &[json!({"id": "1", "pk": "a", "n": 1})]).await;
    advance(50);
    set(100.into()).await;
    alive(&container, true).await;
    set(50.into()).await;
    alive(&container, false).await;
    for ttl in [1000.into(), TimeToLive::NoDefault, TimeToLive::Forever] {
        set(ttl).await;
        alive(&container, false).await;
    }
    put(&container, &[json!({"id": "1", "pk": "a", "n": 1, "ttl": 5})]).await;
    advance(5);
    alive(&container, true).await;
    set(TimeToLive::NoDefault).await;
    alive(&container, false).await;
}

#[tokio::test]
async fn container_ttl_is_checked() {
    let database = fresh("container_ttl_is_checked").await;
    for (n, seconds) in [0, 2_147_483_648, u32::MAX].into_iter().enumerate() {
        let properties = by_paths(&format!("bad{n}"), &["/pk"]).with_default_ttl(seconds);
        refused(database.create_container(properties, None).await.map(|_| ()), 400, 0, "");
    }
    for (n, seconds) in [1, 2_147_483_647].into_iter().enumerate() {
        let properties = by_paths(&format!("good{n}"), &["/pk"]).with_default_ttl(seconds);
        let container = create(&database, properties).await;
        let found = container.read(None).await.unwrap().into_model().unwrap();
        assert_eq!(found.default_ttl, TimeToLive::Seconds(seconds));
        let bad = by_paths(&format!("good{n}"), &["/pk"]).with_default_ttl(0);
        refused(container.replace(bad, None).await.map(|_| ()), 400, 0, "");
    }
}

#[tokio::test]
async fn item_ttl_is_checked() {
    let table = expected();
    let accepted = table["acceptedItemTtl"].as_array().unwrap();
    let bad = table["refusedItemTtl"].as_array().unwrap();
    let text = table["texts"]["itemTtl"].as_str().unwrap();
    let database = fresh("item_ttl_is_checked").await;
    for (name, default) in [("none", TimeToLive::NoDefault), ("some", 100.into())] {
        let on = create(&database, by_paths(name, &["/pk"]).with_default_ttl(default)).await;
        for (n, ttl) in accepted.iter().enumerate() {
            put(&on, &[json!({"id": format!("good{n}"), "pk": "a", "ttl": ttl})]).await;
        }
        put(&on, &[json!({"id": "x", "pk": "a"})]).await;
        for case in bad {
            let text = text.replace("%s", case["quoted"].as_str().unwrap());
            let item = json!({"id": "x", "pk": "a", "ttl": case["ttl"]});
            let new = json!({"id": "y", "pk": "a", "ttl": case["ttl"]});
            let patch = set("/ttl", case["ttl"].clone());
            refused(on.create_item("a", "y", &new, None).await, 400, 0, &text);
            refused(on.upsert_item("a", "x", &item, None).await, 400, 0, &text);
            refused(on.replace_item("a", "x", &item, None).await, 400, 0, &text);
            refused(on.patch_item("a", "x", patch, served()).await, 400, 0, &text);
        }
        assert_eq!(read(&on, "x").await, json!({"id": "x", "pk": "a"}));
    }
    let off = create(&database, by_paths("off", &["/pk"])).await;
    for (n, case) in bad.iter().enumerate() {
        let item = json!({"id": format!("any{n}"), "pk": "a", "ttl": case["ttl"]});
        put(&off, &[item.clone()]).await;
        assert_eq!(read(&off, &format!("any{n}")).await, item);
    }
}
