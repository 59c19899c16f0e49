//! Partition keys: of every type, missing, and hierarchical ones.

use azure_data_cosmos::PartitionKey;
use serde_json::Value;

use crate::kit::{
    NO_ITEM, anywhere, bare, by_paths, container, create, fresh, json, query, refused, within,
};

#[tokio::test]
async fn keys_of_every_type() {
    let container = container("keys_of_every_type", None).await;
    let kinds: Vec<(PartitionKey, Value)> = vec![
        ("ключ \"quoted\"".into(), json!("ключ \"quoted\"")),
        ("".into(), json!("")),
        (1.into(), json!(1)),
        ((-1.5).try_into().unwrap(), json!(-1.5)),
        (true.into(), json!(true)),
        (false.into(), json!(false)),
        (PartitionKey::NULL.into(), json!(null)),
    ];
    for (key, value) in &kinds {
        let item = json!({"id": "1", "pk": value});
        container.create_item(key.clone(), "1", &item, None).await.unwrap();
        let found = container.read_item(key.clone(), "1", None).await.unwrap();
        assert_eq!(bare(found.into_model().unwrap()), item);
        let found = query(&container, within(key.clone()), "SELECT VALUE c.pk FROM c").await;
        assert_eq!(found, [value.clone()]);
    }
    let missing = || PartitionKey::from(PartitionKey::UNDEFINED);
    container.create_item(missing(), "1", json!({"id": "1"}), None).await.unwrap();
    let found = container.read_item(missing(), "1", None).await.unwrap();
    assert_eq!(bare(found.into_model().unwrap()), json!({"id": "1"}));
    assert_eq!(query(&container, within(missing()), "SELECT VALUE c.id FROM c").await, ["1"]);
    assert_eq!(query(&container, anywhere(), "SELECT VALUE COUNT(1) FROM c").await, [json!(8)]);
    refused(
        container.create_item(missing(), "2", json!({"id": "2", "pk": null}), None).await,
        400,
        1001,
        "",
    );
}

#[tokio::test]
async fn hierarchical_keys() {
    let properties = by_paths("c", &["/t", "/u/v", "/w"]);
    let container = create(&fresh("hierarchical_keys").await, properties).await;
    for u in [1, 2] {
        for tenant in ["x", "y"] {
            let item = json!({"id": "1", "t": tenant, "u": {"v": u}, "w": true});
            container.create_item((tenant, u, true), "1", &item, None).await.unwrap();
        }
    }
    let found = container.read_item(("x", 2, true), "1", None).await.unwrap();
    assert_eq!(
        bare(found.into_model().unwrap()),
        json!({"id": "1", "t": "x", "u": {"v": 2}, "w": true})
    );
    refused(container.read_item(("z", 2, true), "1", None).await, 404, 0, NO_ITEM);
    let pair = "SELECT VALUE [c.t, c.u.v] FROM c";
    assert_eq!(query(&container, within(("x", 2, true)), pair).await, [json!(["x", 2])]);
    assert_eq!(query(&container, within(("x", 1)), pair).await, [json!(["x", 1])]);
    let ordered = "SELECT VALUE c.u.v FROM c ORDER BY c.u.v";
    assert_eq!(query(&container, within("y"), ordered).await, [json!(1), json!(2)]);
    assert_eq!(query(&container, anywhere(), "SELECT VALUE COUNT(1) FROM c").await, [json!(4)]);

    let ranges = container.feed_range_from_partition_key("x", None).await.unwrap();
    assert_eq!(ranges.len(), 1);
}
