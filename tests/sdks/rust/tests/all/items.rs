//! Items: create, read, upsert, replace, patch, delete, conditions, unique keys and batches.

use azure_data_cosmos::TransactionalBatch;
use azure_data_cosmos::models::{
    BatchResponse, PatchInstructions, PatchOperation, UniqueKey, UniqueKeyPolicy,
};
use azure_data_cosmos::options::{
    BatchDeleteOptions, ItemReadOptions, ItemWriteOptions, PatchItemOptions, PatchStrategy,
    Precondition,
};
use serde_json::Value;

use crate::kit::{
    NO_ITEM, anywhere, bare, by_paths, client, container, create, fresh, json, put, query, read,
    refused, shown, within,
};

const EXISTS: &str = "Entity with the specified id already exists in the system.";
const NOT_MET: &str = "One of the specified pre-condition is not met. Learn more: https://aka.ms/CosmosDB/sql/errors/precondition-failed";
const NOT_UNIQUE: &str = "Unique index constraint violation.";

#[tokio::test]
async fn life_of_an_item() {
    let container = container("life_of_an_item", None).await;
    let item = json!({"id": "1", "pk": "a", "n": 1});
    let created = container.create_item("a", "1", &item, Some(shown())).await.unwrap();
    assert_eq!(u16::from(created.status().status_code()), 201);
    let headers = created.headers();
    assert!(headers.request_charge().is_some() && headers.activity_id().is_some());
    assert!(headers.session_token().is_some());
    let etag = headers.etag().unwrap().to_string();
    let whole: Value = created.into_model().unwrap();
    assert_eq!(whole["_etag"], json!(etag));
    for name in ["_rid", "_self", "_ts", "_attachments"] {
        assert!(!whole[name].is_null(), "no {name} in {whole}");
    }
    assert_eq!(bare(whole.clone()), item);
    refused(container.create_item("a", "1", &item, None).await, 409, 0, EXISTS);
    assert_eq!(
        container.read_item("a", "1", None).await.unwrap().into_model::<Value>().unwrap(),
        whole
    );
    refused(container.read_item("b", "1", None).await, 404, 0, NO_ITEM);

    let item = json!({"id": "1", "pk": "a", "n": 2});
    let replaced = container.replace_item("a", "1", &item, Some(shown())).await.unwrap();
    assert_eq!(u16::from(replaced.status().status_code()), 200);
    assert_ne!(replaced.headers().etag().unwrap().to_string(), etag);
    for (id, status) in [("1", 200), ("2", 201)] {
        let item = json!({"id": id, "pk": "a", "n": 3});
        let upserted = container.upsert_item("a", id, &item, None).await.unwrap();
        assert_eq!(u16::from(upserted.status().status_code()), status);
        assert_eq!(read(&container, id).await, item);
    }

    let gone = container.delete_item("a", "1", None).await.unwrap();
    assert_eq!(u16::from(gone.status().status_code()), 204);
    refused(container.delete_item("a", "1", None).await, 404, 0, NO_ITEM);
    refused(container.replace_item("a", "1", &item, None).await, 404, 0, NO_ITEM);
}

#[tokio::test]
async fn etags() {
    let container = container("etags", None).await;
    let item = json!({"id": "1", "pk": "a", "n": 1});
    let created = container.create_item("a", "1", &item, Some(shown())).await.unwrap();
    let etag = created.headers().etag().unwrap().clone();
    let old = || {
        Some(ItemWriteOptions::default().with_precondition(Precondition::if_match(etag.clone())))
    };
    container.replace_item("a", "1", &item, old()).await.unwrap();
    refused(container.replace_item("a", "1", &item, old()).await, 412, 0, NOT_MET);
    refused(container.upsert_item("a", "1", &item, old()).await, 412, 0, NOT_MET);
    refused(container.delete_item("a", "1", old()).await, 412, 0, NOT_MET);

    let read = container.read_item("a", "1", None).await.unwrap();
    let now = read.headers().etag().unwrap().clone();
    let same = ItemReadOptions::default().with_precondition(Precondition::if_none_match(now));
    match container.read_item("a", "1", Some(same)).await {
        Ok(answer) => assert_eq!(u16::from(answer.status().status_code()), 304),
        Err(error) => assert_eq!(u16::from(error.status().status_code()), 304),
    }
    let newer = ItemReadOptions::default().with_precondition(Precondition::if_none_match(etag));
    let answer = container.read_item("a", "1", Some(newer)).await.unwrap();
    assert_eq!(u16::from(answer.status().status_code()), 200);
}

#[tokio::test]
async fn patch() {
    let container = container("patch", None).await;
    put(&container, &[json!({"id": "1", "pk": "a", "n": 1, "s": "x", "list": [1, 3], "o": {"gone": 1, "kept": 2}, "from": 9})]).await;
    let patch = PatchInstructions::new()
        .with_operation(PatchOperation::add("/list/1", json!(2)))
        .with_operation(PatchOperation::add("/list/-", json!(4)))
        .with_operation(PatchOperation::set("/new", json!({"k": true})))
        .with_operation(PatchOperation::replace("/s", json!("y")))
        .with_operation(PatchOperation::remove("/o/gone"))
        .with_operation(PatchOperation::increment("/n", 5))
        .with_operation(PatchOperation::move_value("/from", "/to"));
    let served = || PatchItemOptions::default().with_strategy(PatchStrategy::ServerSide);
    let answer = container.patch_item("a", "1", patch.clone(), Some(served())).await.unwrap();
    assert_eq!(u16::from(answer.status().status_code()), 200);
    let want = json!({"id": "1", "pk": "a", "n": 6, "s": "y", "list": [1, 2, 3, 4], "o": {"kept": 2}, "new": {"k": true}, "to": 9});
    assert_eq!(read(&container, "1").await, want);

    let missing =
        PatchInstructions::new().with_operation(PatchOperation::replace("/nowhere", json!(1)));
    refused(container.patch_item("a", "1", missing.clone(), Some(served())).await, 400, 0, "");
    refused(container.patch_item("a", "none", missing, Some(served())).await, 404, 0, NO_ITEM);
    let eleven = (0..11).fold(PatchInstructions::new(), |patch, n| {
        patch.with_operation(PatchOperation::set(format!("/x{n}"), json!(1)))
    });
    refused(container.patch_item("a", "1", eleven, Some(served())).await, 400, 0, "");
    let stale = served().with_precondition(Precondition::if_match("\"stale\""));
    let set = PatchInstructions::new().with_operation(PatchOperation::set("/n", json!(0)));
    refused(container.patch_item("a", "1", set, Some(stale)).await, 412, 0, NOT_MET);
    assert_eq!(read(&container, "1").await, want);
}

/// A patch that the SDK executes as a read, a change and a replacement on the client.
#[tokio::test]
async fn patch_by_the_client() {
    let container = container("patch_by_the_client", None).await;
    put(&container, &[json!({"id": "1", "pk": "a", "n": 1})]).await;
    let patch = PatchInstructions::new().with_operation(PatchOperation::increment("/n", 5));
    container.patch_item("a", "1", patch, None).await.unwrap();
    assert_eq!(read(&container, "1").await["n"], json!(6));
}

#[tokio::test]
async fn bad_items() {
    let container = container("bad_items", None).await;
    for item in [json!({"pk": "a"}), json!({"id": 5, "pk": "a"}), json!([])] {
        refused(container.create_item("a", "1", &item, None).await, 400, 0, "BadRequest");
    }
    let why = "PartitionKey extracted from document doesn't match the one specified in the header.";
    let item = json!({"id": "1", "pk": "a"});
    refused(container.create_item("b", "1", &item, None).await, 400, 1001, why);
    let item = json!({"id": "1", "pk": "a", "s": "x".repeat(2 << 20)});
    refused(
        container.create_item("a", "1", &item, None).await,
        413,
        0,
        "Request size is too large",
    );
    assert_eq!(query(&container, anywhere(), "SELECT VALUE COUNT(1) FROM c").await, [json!(0)]);
}

#[tokio::test]
async fn unique_keys() {
    let key = UniqueKey::default().with_path("/x").with_path("/y/z");
    let properties = by_paths("c", &["/pk"])
        .with_unique_key_policy(UniqueKeyPolicy::default().with_unique_key(key));
    let container = create(&fresh("unique_keys").await, properties).await;
    let item = |id: &str, pk: &str, z: i64| json!({"id": id, "pk": pk, "x": 1, "y": {"z": z}});
    put(&container, &[item("1", "a", 1), item("2", "a", 2), item("1", "b", 1)]).await;
    refused(container.create_item("a", "3", item("3", "a", 1), None).await, 409, 0, NOT_UNIQUE);
    refused(container.replace_item("a", "2", item("2", "a", 1), None).await, 409, 0, NOT_UNIQUE);
    container.delete_item("a", "1", None).await.unwrap();
    put(&container, &[item("3", "a", 1)]).await;
}

#[tokio::test]
async fn session_tokens() {
    let container = container("session_tokens", None).await;
    let item = json!({"id": "1", "pk": "a"});
    let created = container.create_item("a", "1", &item, None).await.unwrap();
    let token = created.headers().session_token().unwrap().clone();
    let other = client().await.database_client("rust-session_tokens");
    let other = other.container_client("c", None).await.unwrap();
    let with = |token| Some(ItemReadOptions::default().with_session_token(token));
    other.read_item("a", "1", with(token)).await.unwrap();
    // On 404/1002 the SDK tries other regions, and finally returns an error of its own.
    let why = "session";
    refused(other.read_item("a", "1", with("0:-1#999999999999".into())).await, 503, 20310, why);
}

#[tokio::test]
async fn batch() {
    let container = container("batch", None).await;
    put(
        &container,
        &[
            json!({"id": "1", "pk": "a", "n": 1}),
            json!({"id": "2", "pk": "a"}),
            json!({"id": "3", "pk": "a"}),
        ],
    )
    .await;
    let batch = TransactionalBatch::new("a")
        .create_item(json!({"id": "new", "pk": "a"}))
        .unwrap()
        .read_item("1", None)
        .upsert_item(json!({"id": "up", "pk": "a"}), None)
        .unwrap()
        .replace_item("2", json!({"id": "2", "pk": "a", "r": true}), None)
        .unwrap()
        .delete_item("3", None);
    let answer = container.execute_transactional_batch(batch, None).await.unwrap();
    assert_eq!(u16::from(answer.status().status_code()), 200);
    let results = answer.into_model().unwrap();
    let statuses: Vec<u16> = results.results().iter().map(|result| result.status_code()).collect();
    assert_eq!(statuses, [201, 200, 201, 200, 204]);
    let found: Value = results.results()[1].into_model().unwrap().unwrap();
    assert_eq!(bare(found), json!({"id": "1", "pk": "a", "n": 1}));
    let ids = query(&container, within("a"), "SELECT VALUE c.id FROM c ORDER BY c.id").await;
    assert_eq!(ids, ["1", "2", "new", "up"]);
}

#[tokio::test]
async fn a_failed_batch_changes_nothing() {
    let container = container("a_failed_batch_changes_nothing", None).await;
    put(&container, &[json!({"id": "1", "pk": "a"})]).await;
    let stale =
        || BatchDeleteOptions::default().with_precondition(Precondition::if_match("\"stale\""));
    let start =
        || TransactionalBatch::new("a").upsert_item(json!({"id": "x", "pk": "a"}), None).unwrap();
    for (batch, want) in [
        (start().create_item(json!({"id": "1", "pk": "a"})).unwrap(), 409),
        (start().read_item("none", None), 404),
        (start().delete_item("none", None), 404),
        (start().delete_item("1", Some(stale())), 412),
    ] {
        let answer =
            container.execute_transactional_batch(batch.delete_item("1", None), None).await;
        assert_eq!(statuses(answer.unwrap()), [424, want, 424]);
        assert_eq!(query(&container, within("a"), "SELECT VALUE c.id FROM c").await, ["1"]);
    }
}

fn statuses(answer: BatchResponse) -> Vec<u16> {
    assert_eq!(u16::from(answer.status().status_code()), 207);
    answer.into_model().unwrap().results().iter().map(|result| result.status_code()).collect()
}
