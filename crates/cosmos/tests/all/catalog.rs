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
    for (content, more, want) in [
        (r#"{"offerThroughput":800}"#, "", 200),
        (r#"{"offerThroughput":1}"#, "", 400),
        ("{}", "", 400),
        (r#"{"offerThroughput":900}"#, r#","_rid":"NotAllowed""#, 400),
        (r#"{"offerThroughput":900}"#, r#","_rid":null"#, 400),
    ] {
        let body = format!(r#"{{"content":{content}{more}}}"#);
        // Requests about offers are signed with only their resource id, in lower case.
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

#[tokio::test]
async fn an_offer_has_the_name_that_it_was_made_with() {
    let mut client = Client::with_container("").await;
    let body = |id: &str| format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"]}}}}"#);
    for (id, name, want) in [("one", "S1", 201), ("two", "s2", 201), ("three", "S9", 400)] {
        let named = [("x-ms-offer-type", name)];
        let made = client.ask("POST", "/dbs/d/colls", &named, &body(id)).await;
        assert_eq!(made.status, want, "{name}: {made:?}");
    }
    let offers = client.ask("GET", "/offers", &[], "").await.body;
    for (name, count) in [("S1", 1), ("S2", 1), ("Invalid", 1)] {
        let shown = format!(r#""offerType":"{name}""#);
        assert_eq!(offers.matches(&shown).count(), count, "{name}: {offers}");
    }
    // A numeric throughput replaces the legacy performance level.
    let at = offers.find(r#""offerType":"S1""#).unwrap();
    let id = offers[at..].split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let (date, link) = (crate::client::date(0), id.to_lowercase());
    let signed = crate::client::sign(cosmos::WELL_KNOWN_KEY, "PUT", "offers", &link, &date);
    let headers = [("x-ms-date", date.as_str()), ("authorization", signed.as_str())];
    let body = r#"{"content":{"offerThroughput":500}}"#;
    let put = client.send("PUT", &format!("/offers/{id}"), &headers, body).await;
    assert_eq!(
        (put.text("offerType"), put.text("offerVersion")),
        ("Invalid".to_owned(), "V2".to_owned())
    );
}

#[tokio::test]
async fn a_key_that_is_not_whole_is_another() {
    let mut client = Client::new().await;
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    let body = r#"{"id":"c","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], body).await.status, 201);
    let docs = "/dbs/d/colls/c/docs";
    let partial = ("x-ms-documentdb-partitionkey", r#"["x"]"#);
    let whole = ("x-ms-documentdb-partitionkey", r#"["x","y"]"#);
    let item = r#"{"id":"1","a":"x","b":"y"}"#;
    assert_eq!(client.ask("POST", docs, &[whole], item).await.status, 201);
    let one = "/dbs/d/colls/c/docs/1";
    let patch = r#"[{"op":"add","path":"/n","value":2}]"#;
    for (verb, path, body) in [
        ("GET", one, ""),
        ("PUT", one, item),
        ("PATCH", one, patch),
        ("DELETE", one, ""),
        ("POST", docs, item),
    ] {
        let answer = client.ask(verb, path, &[partial], body).await;
        assert_eq!(answer.code(), (400, 1001), "{verb}: {answer:?}");
    }
    let batch =
        [("x-ms-cosmos-is-batch-request", "true"), ("x-ms-cosmos-batch-atomic", "true"), partial];
    let answer = client.ask("POST", docs, &batch, r#"[{"operationType":"Read","id":"1"}]"#).await;
    assert_eq!(answer.code(), (400, 1001), "{answer:?}");
    assert!(answer.body.contains("doesn't correspond to definition"), "{answer:?}");
}

#[tokio::test]
async fn words_are_kept_as_they_came() {
    let mut client = Client::with_container("").await;
    let path = "/dbs/d/colls/c/triggers";
    let trigger = |kind: &str, of: &str| {
        format!(r#"{{"id":"t","body":"x","triggerType":"{kind}","triggerOperation":"{of}"}}"#)
    };
    let made = client.ask("POST", path, &[], &trigger("post", "CREATE")).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(
        (made.text("triggerType"), made.text("triggerOperation")),
        ("post".into(), "CREATE".into())
    );
    let upsert = trigger("Pre", "Upsert").replace("\"t\"", "\"u\"");
    assert_eq!(client.ask("POST", path, &[], &upsert).await.status, 201);
    let refused = client.ask("POST", path, &[], &trigger("never", "All")).await;
    assert_eq!(refused.status, 400);
    assert_eq!(client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await.status, 201);
    let permission = r#"{"id":"p","permissionMode":"READ","resource":"dbs/d/colls/c"}"#;
    let made = client.ask("POST", "/dbs/d/users/u/permissions", &[], permission).await;
    assert_eq!((made.status, made.text("permissionMode")), (201, "READ".to_owned()));
}

#[tokio::test]
async fn offers_of_autoscale_and_what_a_container_holds() {
    let named = r#","indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/a/[]/?"}]}"#;
    let mut client = Client::with_container(named).await;
    let settings =
        r#"{"maxThroughput":2000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":3}}}"#;
    let header = ("x-ms-cosmos-offer-autopilot-settings", settings);
    let body = r#"{"id":"scaled","partitionKey":{"paths":["/pk"]}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[header], body).await.status, 201);
    let offers = client.ask("GET", "/offers", &[], "").await;
    assert!(offers.body.contains(settings), "{}", offers.body);
    for (id, want) in [("none", 400), ("AAAA", 400), ("AAAAZA==", 404)] {
        let path = format!("/offers/{id}");
        assert_eq!(client.ask("GET", &path, &[], "").await.status, want, "{id}");
        let body = r#"{"content":{"offerThroughput":400}}"#;
        assert_eq!(client.ask("PUT", &path, &[], body).await.status, want, "{id}");
    }
    let quota = [("x-ms-documentdb-populatequotainfo", "true")];
    for (count, least) in [(0, 0), (3, 3)] {
        for at in 0..count {
            let numbers: Vec<String> = (0..100).map(|at| at.to_string()).collect();
            let (text, numbers) = ("x".repeat(1000), numbers.join(","));
            let item = format!(r#"{{"id":"{at}","pk":"a","s":"{text}","a":[{numbers}]}}"#);
            assert_eq!(client.item("POST", "", &item).await.status, 201);
        }
        let answer = client.ask("GET", "/dbs/d/colls/c", &quota, "").await;
        let usage = answer.header("x-ms-resource-usage").unwrap();
        let figure = |name: &str| -> u64 {
            let (_, rest) = usage.split_once(&format!("{name}=")).unwrap();
            rest.split(';').next().unwrap().parse().unwrap()
        };
        assert!(least <= figure("documentsSize"), "{usage}");
        assert!(figure("documentsSize") <= figure("collectionSize"), "{usage}");
        // The disk usage includes the indexes.
        assert!(count == 0 || figure("documentsSize") < figure("collectionSize"), "{usage}");
    }
}

#[tokio::test]
async fn queries_of_conflicts_are_of_one_partition() {
    let mut client = Client::with_container("").await;
    let path = "/dbs/d/colls/c/conflicts";
    let query = ("content-type", "application/query+json");
    let cross = ("x-ms-documentdb-query-enablecrosspartition", "true");
    let body = r#"{"query":"SELECT * FROM c"}"#;
    for (headers, want) in [(&[query][..], 400), (&[query, cross], 200), (&[query, PARTITION], 200)]
    {
        assert_eq!(client.ask("POST", path, headers, body).await.status, want, "{headers:?}");
    }
    assert_eq!(client.ask("GET", path, &[], "").await.status, 200);
}
