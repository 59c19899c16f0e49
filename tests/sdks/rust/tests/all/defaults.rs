//! A client with the SDK's own settings: HTTP/2 if the server offers it, and items as binary JSON.

use serde_json::Value;

use crate::kit::{
    advance, anywhere, bare, by_paths, connect_by_default, create, json, query, setting, shown,
};

#[tokio::test]
async fn a_client_as_it_comes() {
    let client = connect_by_default(&setting("EBB_ENDPOINT"), &setting("EBB_KEY")).await.unwrap();
    client.create_database("rust-defaults", None).await.unwrap();
    let database = client.database_client("rust-defaults");
    let container = create(&database, by_paths("c", &["/pk"]).with_default_ttl(10)).await;
    let long = "a long text, ".repeat(100);
    for (n, value) in [
        json!(null),
        json!(true),
        json!([0, 31, 32, 255, 256, -1, -32769, 2_147_483_648_i64, 0.5, 1e300, -1.5]),
        json!({"id": "id", "": "", "twice": "a text that comes twice", "again": "a text that comes twice"}),
        json!("2026-11-21T21:29:45Z"),
        json!("01234567-89ab-cdef-0123-456789abcdef"),
        json!("\u{e4}\u{20ac}\u{1f600}"),
        json!(long),
        json!([[], {}, [[{"deep": [{}]}]]]),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("{n}");
        let item = json!({"id": id, "pk": "a", "value": value});
        let created = container.create_item("a", &id, &item, Some(shown())).await.unwrap();
        assert_eq!(bare(created.into_model().unwrap()), item);
        let read: Value = container.read_item("a", &id, None).await.unwrap().into_model().unwrap();
        assert_eq!(bare(read), item);
        container.upsert_item("a", &id, &item, None).await.unwrap();
        container.replace_item("a", &id, &item, None).await.unwrap();
        let sql = format!("SELECT VALUE c[\"value\"] FROM c WHERE c.id = '{id}'");
        assert_eq!(query(&container, anywhere(), sql).await, [value]);
    }
    advance(10);
    assert_eq!(query(&container, anywhere(), "SELECT VALUE COUNT(1) FROM c").await, [json!(0)]);
}
