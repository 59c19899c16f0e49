//! Throughput limits: which offer applies, and the response when it is exhausted.

use crate::client::{Answer, Client, PARTITION};

async fn make(client: &mut Client, path: &str, headers: &[(&str, &str)], body: &str) {
    let made = client.ask("POST", path, headers, body).await;
    assert_eq!(made.status, 201, "{made:?}");
}

fn container(id: &str) -> String {
    format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}}}"#)
}

/// Writes an item of nearly two million bytes. Its cost takes several seconds of the minimum
/// throughput.
async fn spend(client: &mut Client, path: &str) -> Answer {
    let body = format!(r#"{{"id":"1","pk":"a","x":"{}"}}"#, "y".repeat(1_900_000));
    client.ask("POST", path, &[PARTITION, ("x-ms-documentdb-is-upsert", "True")], &body).await
}

#[tokio::test]
async fn what_is_spent_is_429_until_it_comes_again() {
    let mut client = Client::limited().await;
    make(&mut client, "/dbs", &[], r#"{"id":"d"}"#).await;
    make(&mut client, "/dbs/d/colls", &[], &container("c")).await;
    make(&mut client, "/dbs/d/colls", &[("x-ms-offer-throughput", "10000")], &container("large"))
        .await;
    let autoscale = ("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":10000}"#);
    make(&mut client, "/dbs/d/colls", &[autoscale], &container("scaled")).await;
    for (name, limited) in [("c", true), ("large", false), ("scaled", false)] {
        let docs = format!("/dbs/d/colls/{name}/docs");
        assert_eq!(spend(&mut client, &docs).await.status, 201, "{name}");
        let answer = client.ask("GET", &format!("{docs}/none"), &[PARTITION], "").await;
        if !limited {
            assert_eq!(answer.code(), (404, 0), "{name}");
            continue;
        }
        assert_eq!(answer.code(), (429, 3200), "{answer:?}");
        assert!(answer.body.contains("Request rate is large"), "{answer:?}");
        assert_eq!(answer.header("x-ms-request-charge"), Some("0"));
        let ms: u64 = answer.header("x-ms-retry-after-ms").unwrap().parse().unwrap();
        assert!((1..=5_000).contains(&ms), "{ms}");
        for (verb, path) in [("GET", docs.as_str()), ("DELETE", &format!("{docs}/1"))] {
            let answer = client.ask(verb, path, &[PARTITION], "").await;
            assert_eq!(answer.status, 429, "{verb} {path}");
        }
        // Requests that are not about items are not limited.
        for path in ["/dbs/d/colls/c", "/dbs/d/colls/c/pkranges", "/offers"] {
            assert_eq!(client.ask("GET", path, &[], "").await.status, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn containers_without_a_throughput_share_that_of_their_database() {
    let mut client = Client::limited().await;
    make(&mut client, "/dbs", &[("x-ms-offer-throughput", "400")], r#"{"id":"d"}"#).await;
    make(&mut client, "/dbs/d/colls", &[], &container("a")).await;
    make(&mut client, "/dbs/d/colls", &[], &container("b")).await;
    make(&mut client, "/dbs/d/colls", &[("x-ms-offer-throughput", "400")], &container("own")).await;
    assert_eq!(spend(&mut client, "/dbs/d/colls/a/docs").await.status, 201);
    for (name, status) in [("b", 429), ("own", 404), ("a", 429)] {
        let path = format!("/dbs/d/colls/{name}/docs/none");
        assert_eq!(client.ask("GET", &path, &[PARTITION], "").await.status, status, "{name}");
    }
}

#[tokio::test]
async fn nothing_is_limited_where_the_server_is_not_told_to() {
    let mut client = Client::with_container("").await;
    assert_eq!(spend(&mut client, "/dbs/d/colls/c/docs").await.status, 201);
    assert_eq!(client.item("GET", "none", "").await.status, 404);
}

#[tokio::test]
async fn what_an_end_between_two_steps_left_is_mended() {
    let mut client = Client::new().await;
    make(&mut client, "/dbs", &[], r#"{"id":"d"}"#).await;
    make(&mut client, "/dbs", &[("x-ms-offer-throughput", "400")], r#"{"id":"shared"}"#).await;
    make(&mut client, "/dbs/d/colls", &[], &container("c")).await;
    make(&mut client, "/dbs/d/colls", &[], &container("gone")).await;
    make(&mut client, "/dbs/shared/colls", &[], &container("c")).await;
    let rids = |answer: &Answer| {
        let behind = answer.body.split("offerResourceId\":\"").skip(1);
        let mut rids: Vec<String> =
            behind.filter_map(|it| it.split('"').next()).map(str::to_owned).collect();
        rids.sort();
        rids
    };
    let before = rids(&client.ask("GET", "/offers", &[], "").await);
    assert_eq!(before.len(), 3);
    let kept = client.ask("GET", "/dbs/d/colls/c", &[], "").await.text("_rid");
    let api = client.api.upgrade().unwrap();
    let engine = api.engine().clone();
    // The state after two crashes: one during the creation of a container and one during a
    // deletion, each after the first step.
    let offers = engine.resources_below(&["offer"]);
    let own = offers.iter().find(|offer| format!("{:?}", offer.body).contains(&kept)).unwrap();
    let path: Vec<&str> = own.path.iter().map(String::as_str).collect();
    engine.remove_resource(&path, engine::Expected::Present).await.unwrap();
    let gone = engine::Namespace::new("d", "gone");
    assert!(engine.drop_collection(engine::Model::Items, &gone).await.unwrap());
    api.mend().await.unwrap();
    drop((api, engine));
    let after = rids(&client.ask("GET", "/offers", &[], "").await);
    assert_eq!(after.len(), 2, "{before:?} {after:?}");
    assert!(after.contains(&kept) && after.iter().all(|rid| before.contains(rid)), "{after:?}");
}
