//! Tests of EbbDB with the Rust SDK. The tests share the server's manual clock, so they run one at
//! a time. The one test in this file runs on the machine's clock.

mod account;
mod change_feed;
mod defaults;
mod items;
mod kit;
mod partition_keys;
mod queries;
mod random_pages;
mod ttl;

use azure_data_cosmos::models::TimeToLive;

use kit::{NO_ITEM, anywhere, by_paths, connect, create, json, put, query, read, refused, setting};

#[tokio::test]
async fn real_clock() {
    let client = connect(&setting("EBB_SYSTEM_ENDPOINT"), &setting("EBB_KEY")).await.unwrap();
    client.create_database("rust-real_clock", None).await.unwrap();
    let properties = by_paths("c", &["/pk"]).with_default_ttl(TimeToLive::NoDefault);
    let container = create(&client.database_client("rust-real_clock"), properties).await;
    let item = json!({"id": "1", "pk": "a", "ttl": 2});
    put(&container, &[item.clone()]).await;
    assert_eq!(read(&container, "1").await, item);
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    refused(container.read_item("a", "1", None).await, 404, 0, NO_ITEM);
    assert_eq!(query(&container, anywhere(), "SELECT VALUE COUNT(1) FROM c").await, [json!(0)]);
}
