//! Databases, containers, ranges, offers, users, permissions, scripts.

use crate::client::{Client, PARTITION};

#[tokio::test]
async fn resources_come_and_go() {
    let mut client = Client::with_container("").await;
    let container = "/dbs/d/colls/c";
    for (feed, body, changed) in [
        ("/dbs", r#"{"id":"x"}"#, None),
        ("/dbs/d/colls", r#"{"id":"x","partitionKey":{"paths":["/k"]}}"#, None),
        ("/dbs/d/users", r#"{"id":"x"}"#, Some(r#"{"id":"x"}"#)),
        ("/dbs/d/colls/c/sprocs", r#"{"id":"x","body":"f"}"#, Some(r#"{"id":"x","body":"g"}"#)),
        ("/dbs/d/colls/c/udfs", r#"{"id":"x","body":"f"}"#, Some(r#"{"id":"x","body":"g"}"#)),
        (
            "/dbs/d/colls/c/triggers",
            r#"{"id":"x","body":"f","triggerType":"Post","triggerOperation":"Create"}"#,
            Some(r#"{"id":"x","body":"g","triggerType":"Pre","triggerOperation":"All"}"#),
        ),
    ] {
        let own = format!("{feed}/x");
        assert_eq!(client.ask("GET", &own, &[], "").await.status, 404, "{own}");
        let made = client.ask("POST", feed, &[], body).await;
        assert_eq!(made.status, 201, "{own}: {made:?}");
        assert_eq!(client.ask("POST", feed, &[], body).await.status, 409, "{own}");
        let listed = client.ask("GET", feed, &[], "").await;
        assert!(listed.body.contains(&made.text("_rid")), "{own}: {}", listed.body);
        assert_eq!(client.ask("GET", &own, &[], "").await.text("_etag"), made.text("_etag"));
        if let Some(changed) = changed {
            let other = [("if-match", "\"x\"")];
            assert_eq!(client.ask("PUT", &own, &other, changed).await.status, 412, "{own}");
            let put = client.ask("PUT", &own, &[], changed).await;
            assert_eq!(put.status, 200, "{own}: {put:?}");
            assert_ne!(put.text("_etag"), made.text("_etag"));
        }
        let other = [("if-match", "\"x\"")];
        assert_eq!(client.ask("DELETE", &own, &other, "").await.status, 412, "{own}");
        assert_eq!(client.ask("DELETE", &own, &[], "").await.status, 204, "{own}");
        assert_eq!(client.ask("GET", &own, &[], "").await.status, 404, "{own}");
    }
    assert_eq!(client.ask("GET", container, &[], "").await.status, 200);
    let run = client.ask("POST", "/dbs/d/colls/c/sprocs/x", &[PARTITION], "[]").await;
    assert!(run.status == 501 && run.body.contains("stored procedures"), "{run:?}");
}

#[tokio::test]
async fn what_a_database_holds_goes_with_it() {
    let mut client = Client::with_container("").await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await;
    client.ask("POST", "/dbs/d/colls/c/udfs", &[], r#"{"id":"f","body":"x"}"#).await;
    assert_eq!(client.ask("DELETE", "/dbs/d", &[], "").await.status, 204);
    for path in ["/dbs/d", "/dbs/d/colls/c", "/dbs/d/colls/c/docs/1", "/dbs/d/users/u"] {
        assert_eq!(client.ask("GET", path, &[PARTITION], "").await.status, 404, "{path}");
    }
    assert!(client.ask("GET", "/offers", &[], "").await.body.contains("\"Offers\":[]"));
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    assert!(client.ask("GET", "/dbs/d/colls", &[], "").await.body.contains("\"_count\":0"));
    assert!(client.ask("GET", "/dbs/d/users", &[], "").await.body.contains("\"_count\":0"));
}

#[tokio::test]
async fn feeds_of_resources_come_in_pages() {
    let mut client = Client::new().await;
    for id in ["b", "a", "c"] {
        client.ask("POST", "/dbs", &[], &format!(r#"{{"id":"{id}"}}"#)).await;
    }
    let two = [("x-ms-max-item-count", "2")];
    let first = client.ask("GET", "/dbs", &two, "").await;
    assert!(first.body.contains("\"_count\":2") && !first.body.contains("\"id\":\"c\""));
    let token = first.header("x-ms-continuation").unwrap().to_owned();
    let next = [("x-ms-max-item-count", "2"), ("x-ms-continuation", token.as_str())];
    let last = client.ask("GET", "/dbs", &next, "").await;
    assert!(last.body.contains("\"id\":\"c\"") && last.body.contains("\"_count\":1"));
    assert_eq!(last.header("x-ms-continuation"), None);
    let damaged = format!("{}A", token.trim_end_matches('='));
    for token in [damaged.as_str(), "x"] {
        let headers = [("x-ms-continuation", token)];
        assert_eq!(client.ask("GET", "/dbs", &headers, "").await.status, 400, "{token}");
    }
}

#[tokio::test]
async fn there_is_one_range() {
    let mut client = Client::with_container("").await;
    let path = "/dbs/d/colls/c/pkranges";
    let first = client.ask("GET", path, &[("a-im", "Incremental Feed")], "").await;
    assert!(first.body.contains(r#""id":"0""#) && first.body.contains(r#""maxExclusive":"FF""#));
    let etag = first.header("etag").unwrap().to_owned();
    let again = client.ask("GET", path, &[("if-none-match", etag.as_str())], "").await;
    assert_eq!((again.status, again.header("x-ms-continuation")), (304, None));
    let other = [("x-ms-documentdb-partitionkeyrangeid", "7")];
    assert_eq!(client.ask("GET", "/dbs/d/colls/c/docs", &other, "").await.code(), (410, 1002));
}

#[tokio::test]
async fn throughput_is_kept_and_changed() {
    let mut client = Client::with_container("").await;
    let listed = client.ask("GET", "/offers", &[], "").await;
    assert!(listed.body.contains("\"offerThroughput\":400"), "{}", listed.body);
    let id = listed.body.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let path = format!("/offers/{id}");
    for (content, want) in
        [(r#"{"offerThroughput":800}"#, 200), (r#"{"offerThroughput":1}"#, 400), ("{}", 400)]
    {
        let body = format!(r#"{{"content":{content}}}"#);
        // Offers are signed by their resource id alone, in lower case.
        let date = crate::client::date(0);
        let link = id.to_lowercase();
        let key = cosmos::WELL_KNOWN_KEY;
        let signed = crate::client::sign(key, "PUT", "offers", &link, &date);
        let headers = [("x-ms-date", date.as_str()), ("authorization", signed.as_str())];
        assert_eq!(client.send("PUT", &path, &headers, &body).await.status, want, "{content}");
    }
    let listed = client.ask("GET", "/offers", &[], "").await;
    assert!(listed.body.contains("\"offerThroughput\":800"), "{}", listed.body);
}
