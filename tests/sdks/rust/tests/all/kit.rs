//! Helpers of the tests: a client and a database per test, the manual clock, and comparisons.

use std::fmt::Debug;
use std::io::{Read, Write};
use std::net::TcpStream;

use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{ContainerProperties, PartitionKeyDefinition, TimeToLive};
use azure_data_cosmos::options::{
    BinaryEncodingOptions, ConnectionPoolOptions, ContentResponseOnWrite, ItemWriteOptions,
    OperationOptions, Region,
};
use azure_data_cosmos::{
    AccountReference, ContainerClient, CosmosClient, CosmosClientBuilder, CosmosError,
    CosmosRuntime, DatabaseClient, PartitionKey, Query, Result, RoutingStrategy,
};
use futures::TryStreamExt;
use serde_json::Value;

pub(crate) use serde_json::json;

pub(crate) const NO_ITEM: &str = "Entity with the specified id does not exist in the system.";

pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Returns a client that uses HTTP/1.1 and JSON as text.
pub(crate) async fn connect(endpoint: &str, key: &str) -> Result<CosmosClient> {
    let pool = ConnectionPoolOptions::builder().with_is_http2_allowed(false).build()?;
    let builder = CosmosClient::builder()
        .with_runtime(CosmosRuntime::builder().with_connection_pool(pool).build().await?)
        .with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false));
    build(builder, endpoint, key).await
}

/// Returns a client with the SDK's default settings, which prefers HTTP/2 and binary JSON.
pub(crate) async fn connect_by_default(endpoint: &str, key: &str) -> Result<CosmosClient> {
    build(CosmosClient::builder(), endpoint, key).await
}

async fn build(builder: CosmosClientBuilder, endpoint: &str, key: &str) -> Result<CosmosClient> {
    let account = AccountReference::with_authentication_key(endpoint.parse()?, key.to_owned());
    builder.build(account, RoutingStrategy::ProximityTo(Region::from("South Central US"))).await
}

pub(crate) async fn client() -> CosmosClient {
    connect(&setting("EBB_ENDPOINT"), &setting("EBB_KEY")).await.unwrap()
}

/// Creates a database for one test.
pub(crate) async fn fresh(name: &str) -> DatabaseClient {
    let client = client().await;
    let name = format!("rust-{name}");
    client.create_database(&name, None).await.unwrap();
    client.database_client(name)
}

/// Creates a container partitioned by `/pk` in a database of its own.
pub(crate) async fn container(name: &str, default: Option<TimeToLive>) -> ContainerClient {
    let mut properties = by_paths("c", &["/pk"]);
    if let Some(default) = default {
        properties = properties.with_default_ttl(default);
    }
    create(&fresh(name).await, properties).await
}

pub(crate) fn by_paths(id: &str, paths: &[&'static str]) -> ContainerProperties {
    let paths = paths.iter().map(|&path| path.into()).collect();
    ContainerProperties::new(id.to_owned(), PartitionKeyDefinition::new(paths))
}

pub(crate) async fn create(
    database: &DatabaseClient,
    properties: ContainerProperties,
) -> ContainerClient {
    let id = properties.id.to_string();
    database.create_container(properties, None).await.unwrap();
    database.container_client(&id, None).await.unwrap()
}

pub(crate) fn advance(seconds: u32) {
    let admin = setting("EBB_ADMIN");
    let address = admin.trim_start_matches("http://");
    let body = format!(r#"{{"advance_seconds": {seconds}}}"#);
    let request = format!(
        "POST /_ebb/clock HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Asserts the status and sub-status of a refused request, and that its message contains `part`.
pub(crate) fn refused<T: Debug>(answer: Result<T>, status: u16, sub_status: u16, part: &str) {
    let error: CosmosError = answer.expect_err("it was not refused");
    let found = error.status();
    let sub = found.sub_status().map_or(0, |sub| sub.value());
    assert_eq!((u16::from(found.status_code()), sub), (status, sub_status), "{error}");
    let text = format!("{error} {}", body_of(&error));
    assert!(text.contains(part), "wanted {part:?} in: {text}");
}

fn body_of(error: &CosmosError) -> String {
    let body = error.response().map(|response| response.body().clone());
    let bytes = body.and_then(|body| body.single().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace("\\\"", "\"")
}

/// Returns an item without the properties that the server adds.
pub(crate) fn bare(mut item: Value) -> Value {
    let fields = item.as_object_mut().expect("not an item");
    for name in ["_rid", "_self", "_etag", "_ts", "_attachments", "_lsn"] {
        fields.remove(name);
    }
    item
}

/// Returns options for a write whose response contains the item.
pub(crate) fn shown() -> ItemWriteOptions {
    let mut operation = OperationOptions::default();
    operation.content_response_on_write = Some(ContentResponseOnWrite::Enabled);
    ItemWriteOptions::default().with_operation_options(operation)
}

/// Creates items in the partitions named by their `pk`.
pub(crate) async fn put(container: &ContainerClient, items: &[Value]) {
    for item in items {
        let (pk, id) = (item["pk"].as_str().unwrap(), item["id"].as_str().unwrap());
        container.create_item(pk.to_owned(), id, item, None).await.unwrap();
    }
}

pub(crate) async fn read(container: &ContainerClient, id: &str) -> Value {
    bare(container.read_item("a", id, None).await.unwrap().into_model().unwrap())
}

pub(crate) async fn query(
    container: &ContainerClient,
    scope: FeedScope,
    sql: impl Into<Query>,
) -> Vec<Value> {
    try_query(container, scope, sql).await.unwrap()
}

pub(crate) async fn try_query(
    container: &ContainerClient,
    scope: FeedScope,
    sql: impl Into<Query>,
) -> Result<Vec<Value>> {
    container.query_items::<Value>(sql, scope, None).await?.try_collect().await
}

pub(crate) fn anywhere() -> FeedScope {
    FeedScope::full_container()
}

pub(crate) fn within(key: impl Into<PartitionKey>) -> FeedScope {
    FeedScope::partition(key)
}

/// Returns the tables of expected results that the tests of all SDKs share.
pub(crate) fn expected() -> Value {
    let text = std::fs::read_to_string(setting("EBB_EXPECTATIONS")).unwrap();
    serde_json::from_str(&text).unwrap()
}
