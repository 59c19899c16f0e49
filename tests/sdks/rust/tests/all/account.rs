//! The account: keys, databases, containers and throughput.

use azure_data_cosmos::models::{
    CompositeIndex, CompositeIndexOrder, CompositeIndexProperty, IndexingMode, IndexingPolicy,
    ThroughputProperties, TimeToLive, UniqueKey, UniqueKeyPolicy,
};
use azure_data_cosmos::options::CreateContainerOptions;
use futures::TryStreamExt;

use crate::kit::{by_paths, client, connect, container, create, fresh, refused, setting};

#[tokio::test]
async fn a_wrong_key_is_refused() {
    let wrong = "bm90IHRoZSBrZXkgb2YgdGhpcyBhY2NvdW50IGF0IGFsbA==";
    let answer = match connect(&setting("EBB_ENDPOINT"), wrong).await {
        Ok(client) => client.create_database("rust-intruder", None).await.map(|_| ()),
        Err(error) => Err(error),
    };
    refused(answer, 401, 0, "The input authorization token can't serve the request.");
}

#[tokio::test]
async fn databases() {
    let client = client().await;
    let created = client.create_database("rust-databases", None).await.unwrap();
    assert_eq!(u16::from(created.status().status_code()), 201);
    refused(
        client.create_database("rust-databases", None).await.map(|_| ()),
        409,
        0,
        "already exists",
    );

    let database = client.database_client("rust-databases");
    let found = database.read(None).await.unwrap();
    assert!(found.headers().request_charge().is_some());
    assert!(found.headers().activity_id().is_some());
    assert_eq!(found.into_model().unwrap().id.as_deref(), Some("rust-databases"));
    let all: Vec<_> =
        client.query_databases("SELECT * FROM c", None).await.unwrap().try_collect().await.unwrap();
    assert_eq!(all.iter().filter(|found| found.id.as_deref() == Some("rust-databases")).count(), 1);

    let gone = database.delete(None).await.unwrap();
    assert_eq!(u16::from(gone.status().status_code()), 204);
    refused(database.read(None).await.map(|_| ()), 404, 0, "");
    refused(database.delete(None).await.map(|_| ()), 404, 0, "");
}

#[tokio::test]
async fn containers() {
    let database = fresh("containers").await;
    let properties = by_paths("c", &["/pk"]).with_default_ttl(10).with_unique_key_policy(
        UniqueKeyPolicy::default().with_unique_key(UniqueKey::default().with_path("/a")),
    );
    let created = database.create_container(properties.clone(), None).await.unwrap();
    assert_eq!(u16::from(created.status().status_code()), 201);
    refused(
        database.create_container(properties, None).await.map(|_| ()),
        409,
        0,
        "already exists",
    );

    let container = database.container_client("c", None).await.unwrap();
    let shown = container.read(None).await.unwrap().into_model().unwrap();
    assert_eq!(shown.default_ttl, TimeToLive::Seconds(10));
    assert_eq!(shown.partition_key.paths(), ["/pk"]);
    assert_eq!(shown.unique_key_policy.unwrap().unique_keys[0].paths, ["/a"]);
    let policy = shown.indexing_policy.unwrap();
    assert_eq!(policy.indexing_mode, Some(IndexingMode::Consistent));
    assert_eq!(policy.included_paths, ["/*".into()]);
    assert_eq!(policy.excluded_paths, ["/\"_etag\"/?".into()]);

    create(&database, by_paths("d", &["/pk"])).await;
    let listed = database.query_containers("SELECT * FROM c ORDER BY c.id", None).await.unwrap();
    let listed: Vec<_> = listed.try_collect().await.unwrap();
    assert_eq!(listed.iter().map(|found| &*found.id).collect::<Vec<_>>(), ["c", "d"]);

    let gone = container.delete(None).await.unwrap();
    assert_eq!(u16::from(gone.status().status_code()), 204);
    refused(container.read(None).await.map(|_| ()), 404, 0, "");
}

#[tokio::test]
async fn replacing_a_container() {
    let container = container("replacing_a_container", None).await;
    let mut properties = container.read(None).await.unwrap().into_model().unwrap();
    assert_eq!(properties.default_ttl, TimeToLive::Forever);
    for ttl in [
        TimeToLive::NoDefault,
        TimeToLive::Seconds(20),
        TimeToLive::Seconds(30),
        TimeToLive::Forever,
    ] {
        properties = properties.with_default_ttl(ttl.clone());
        container.replace(properties.clone(), None).await.unwrap();
        let found = container.read(None).await.unwrap().into_model().unwrap();
        assert_eq!(found.default_ttl, ttl);
    }

    let index = CompositeIndex::default()
        .with_property(CompositeIndexProperty::new("/a", CompositeIndexOrder::Ascending))
        .with_property(CompositeIndexProperty::new("/b", CompositeIndexOrder::Descending));
    let policy = IndexingPolicy::default()
        .with_included_path("/*")
        .with_excluded_path("/big/*")
        .with_composite_index(index.clone());
    let found = container.replace(properties.clone().with_indexing_policy(policy), None).await;
    let found = found.unwrap().into_model().unwrap().indexing_policy.unwrap();
    assert_eq!(found.composite_indexes, [index]);

    let other = by_paths("c", &["/other"]);
    refused(container.replace(other, None).await.map(|_| ()), 400, 0, "");
}

#[tokio::test]
async fn no_ttl_without_an_index() {
    let why =
        "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection";
    let database = fresh("no_ttl_without_an_index").await;
    let policy = IndexingPolicy::default().with_indexing_mode(IndexingMode::None);
    let off = by_paths("c", &["/pk"]).with_indexing_policy(policy);
    let on = off.clone().with_default_ttl(TimeToLive::NoDefault);
    refused(database.create_container(on.clone(), None).await.map(|_| ()), 400, 0, why);
    let container = create(&database, off).await;
    refused(container.replace(on, None).await.map(|_| ()), 400, 0, why);
}

#[tokio::test]
async fn throughput() {
    let database = fresh("throughput").await;
    for (id, wanted) in [
        ("c", ThroughputProperties::manual(400)),
        ("d", ThroughputProperties::autoscale(4000, None)),
    ] {
        let options = CreateContainerOptions::default().with_throughput(wanted);
        database.create_container(by_paths(id, &["/pk"]), Some(options)).await.unwrap();
    }
    let manual = database.container_client("c", None).await.unwrap();
    let found = manual.read_throughput(None).await.unwrap().unwrap();
    assert_eq!(found.throughput(), Some(400));
    let poller = manual.begin_replace_throughput(ThroughputProperties::manual(500), None).await;
    let replaced = poller.unwrap().await.unwrap().into_model().unwrap();
    assert_eq!(replaced.throughput(), Some(500));
    let found = manual.read_throughput(None).await.unwrap().unwrap();
    assert_eq!(found.throughput(), Some(500));
    let autoscale = database.container_client("d", None).await.unwrap();
    let found = autoscale.read_throughput(None).await.unwrap().unwrap();
    assert_eq!(found.autoscale_maximum(), Some(4000));
}
