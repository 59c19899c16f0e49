//! Time to live through the API: accepted values, expiry times, and that expired items are absent
//! on every path.

use crate::client::{Client, PARTITION};

const REFUSED: [&str; 9] =
    ["0", "null", "-2", "2147483648", "\\\"5\\\"", "5.5", "true", "{}", "[]"];

#[tokio::test]
async fn an_items_ttl_is_checked_on_every_way_in_where_ttl_is_on() {
    for (default, on) in [("", false), (r#","defaultTtl":-1"#, true), (r#","defaultTtl":9"#, true)]
    {
        let mut client = Client::with_container(default).await;
        let plain = r#"{"id":"1","pk":"a"}"#;
        assert_eq!(client.item("POST", "", plain).await.status, 201);
        for value in REFUSED {
            let value = value.replace('\\', "");
            let item = format!(r#"{{"id":"1","pk":"a","ttl":{value}}}"#);
            let patch =
                format!(r#"{{"operations":[{{"op":"set","path":"/ttl","value":{value}}}]}}"#);
            let created = item.replace("\"1\"", "\"2\"");
            let before = client.everything().await;
            for answer in [
                client.item("POST", "", &created).await,
                client.upsert(&item).await,
                client.item("PUT", "1", &item).await,
                client.item("PATCH", "1", &patch).await,
            ] {
                assert_eq!(answer.status == 400, on, "{value} {default}: {answer:?}");
                let shown = value.replace('"', "");
                let text =
                    format!("The input ttl '{shown}' is invalid. Ensure to provide a nonzero");
                assert_eq!(answer.body.contains(&text), on, "{value}: {answer:?}");
            }
            if on {
                assert_eq!(client.everything().await, before, "{value}");
            } else {
                client.item("DELETE", "2", "").await;
            }
        }
        for value in ["-1", "1", "5.0", "2147483647"] {
            let item = format!(r#"{{"id":"1","pk":"a","ttl":{value}}}"#);
            assert_eq!(client.upsert(&item).await.status, 200, "{value}");
        }
    }
}

#[tokio::test]
async fn who_dies_when() {
    // Seconds from the write to the expiry, for each default TTL and `ttl` of the item.
    for (default, ttl, dies) in [
        ("", "", None),
        ("", r#","ttl":-1"#, None),
        ("", r#","ttl":5"#, None),
        (r#","defaultTtl":-1"#, "", None),
        (r#","defaultTtl":-1"#, r#","ttl":-1"#, None),
        (r#","defaultTtl":-1"#, r#","ttl":5"#, Some(5)),
        (r#","defaultTtl":9"#, "", Some(9)),
        (r#","defaultTtl":9"#, r#","ttl":-1"#, None),
        (r#","defaultTtl":9"#, r#","ttl":5"#, Some(5)),
        (r#","defaultTtl":9"#, r#","ttl":20"#, Some(20)),
    ] {
        let mut client = Client::with_container(default).await;
        client.item("POST", "", &format!(r#"{{"id":"1","pk":"a"{ttl}}}"#)).await;
        let last = dies.unwrap_or(1000) - 1;
        client.advance(last);
        assert_eq!(client.item("GET", "1", "").await.status, 200, "{default} {ttl}");
        client.advance(1);
        let status = client.item("GET", "1", "").await.status;
        assert_eq!(status, if dies.is_some() { 404 } else { 200 }, "{default} {ttl}");
    }
}

#[tokio::test]
async fn the_dead_are_gone_on_every_path() {
    let unique = r#","defaultTtl":5,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}"#;
    let mut client = Client::with_container(unique).await;
    let made = client.item("POST", "", r#"{"id":"1","pk":"a","u":1}"#).await;
    let etag = made.header("etag").unwrap().to_owned();
    client.advance(5);
    let patch = r#"{"operations":[{"op":"set","path":"/ttl","value":-1}]}"#;
    for (verb, body) in
        [("GET", ""), ("PUT", r#"{"id":"1","pk":"a"}"#), ("PATCH", patch), ("DELETE", "")]
    {
        let answer = client.item(verb, "1", body).await;
        assert_eq!(answer.code(), (404, 0), "{verb}");
        assert!(answer.body.contains("Entity with the specified id does not exist"), "{answer:?}");
    }
    for text in
        ["SELECT * FROM c", "SELECT c.id FROM c WHERE c.u = 1", "SELECT * FROM c ORDER BY c.u"]
    {
        assert!(client.query(text).await.body.contains("\"Documents\":[]"), "{text}");
    }
    let counted = client.query("SELECT VALUE COUNT(1) FROM c").await;
    assert!(counted.body.contains("\"Documents\":[0]"), "{}", counted.body);
    let feed = client.item("GET", "", "").await;
    assert!(feed.body.contains("\"Documents\":[]"), "{}", feed.body);
    let changes = [("a-im", "Incremental Feed")];
    assert_eq!(client.ask("GET", "/dbs/d/colls/c/docs", &changes, "").await.status, 304);
    // The unique key of the expired item can be reused, and its version matches no condition.
    assert_eq!(client.item("POST", "", r#"{"id":"2","pk":"a","u":1}"#).await.status, 201);
    client.item("DELETE", "2", "").await;
    let headers = [PARTITION, ("if-match", &etag), ("x-ms-documentdb-is-upsert", "True")];
    let again = r#"{"id":"1","pk":"a","u":1}"#;
    let again = client.ask("POST", "/dbs/d/colls/c/docs", &headers, again).await;
    assert_eq!(again.status, 201);
    assert_ne!(again.text("_rid"), made.text("_rid"));
}

#[tokio::test]
async fn a_change_of_the_default_is_at_once_and_the_dead_stay_dead() {
    let mut client = Client::with_container("").await;
    let definition = |more: &str| {
        format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}{more}}}"#
        )
    };
    client.item("POST", "", r#"{"id":"old","pk":"a"}"#).await;
    client.advance(10);
    client.item("POST", "", r#"{"id":"new","pk":"a"}"#).await;
    let path = "/dbs/d/colls/c";
    let on = client.ask("PUT", path, &[], &definition(r#","defaultTtl":10"#)).await;
    assert_eq!(on.status, 200, "{on:?}");
    assert!(on.body.contains("\"defaultTtl\":10"));
    assert_eq!(client.item("GET", "old", "").await.status, 404);
    assert_eq!(client.item("GET", "new", "").await.status, 200);
    let off = client.ask("PUT", path, &[], &definition("")).await;
    assert!(!off.body.contains("defaultTtl"), "{}", off.body);
    assert_eq!(client.item("GET", "old", "").await.status, 404);
    client.advance(1000);
    assert_eq!(client.item("GET", "new", "").await.status, 200);
}

#[tokio::test]
async fn a_default_is_checked_when_a_container_is_made_and_when_it_is_changed() {
    let mut client = Client::with_container("").await;
    let key = r#""partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}"#;
    for (value, good) in [
        ("-1", true),
        ("1", true),
        ("2147483647", true),
        ("5.0", true),
        ("0", false),
        ("-2", false),
        ("2147483648", false),
        ("1.5", false),
        ("\"5\"", false),
        ("true", false),
        ("null", false),
        ("{}", false),
    ] {
        let body = format!(r#"{{"id":"c","defaultTtl":{value},{key}}}"#);
        let status = client.ask("PUT", "/dbs/d/colls/c", &[], &body).await.status;
        assert_eq!(status, if good { 200 } else { 400 }, "{value}");
        let body = body.replace("\"c\"", "\"e\"");
        let status = client.ask("POST", "/dbs/d/colls", &[], &body).await.status;
        assert_eq!(status, if good { 201 } else { 400 }, "{value}");
        client.ask("DELETE", "/dbs/d/colls/e", &[], "").await;
    }
    let none = r#""indexingPolicy":{"indexingMode":"none","automatic":false}"#;
    let body = format!(r#"{{"id":"c","defaultTtl":5,{none},{key}}}"#);
    let answer = client.ask("PUT", "/dbs/d/colls/c", &[], &body).await;
    let text = "Indexing mode value cannot be 'none' when 'defaultTtl' is specified";
    assert!(answer.status == 400 && answer.body.contains(text), "{answer:?}");
}

#[tokio::test]
async fn a_death_is_an_event_of_the_feed_of_all_versions() {
    let policy = r#","defaultTtl":-1,"changeFeedPolicy":{"retentionDuration":10}"#;
    let mut client = Client::with_container(policy).await;
    let feed = |position: &str| {
        [("a-im", "Full-Fidelity Feed"), ("if-none-match", position)]
            .map(|(name, value)| (name, value.to_owned()))
    };
    let path = "/dbs/d/colls/c/docs";
    let own = |headers: &[(&'static str, String); 2]| headers.clone();
    let start = own(&feed("*"));
    let start: Vec<(&str, &str)> =
        start.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let now = client.ask("GET", path, &start, "").await;
    assert_eq!((now.status, now.header("x-ms-item-count")), (304, Some("0")), "{now:?}");
    let position = now.header("etag").unwrap().to_owned();
    client.item("POST", "", r#"{"id":"1","pk":"a","ttl":5}"#).await;
    client.advance(60);
    let next = feed(&position);
    let next: Vec<(&str, &str)> =
        next.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let events = client.ask("GET", path, &next, "").await;
    assert_eq!(events.status, 200, "{events:?}");
    assert!(!events.body.contains("previous\""), "nobody asked for images: {}", events.body);
    let with_images = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1,"changeFeedPolicy":{"retentionDuration":10,"retainPreviousImages":true}}"#;
    assert_eq!(client.ask("PUT", "/dbs/d/colls/c", &[], with_images).await.status, 200);
    let events = client.ask("GET", path, &next, "").await;
    assert!(events.body.contains(r#""previous":{"id":"1","pk":"a","ttl":5,"#), "{}", events.body);
    for part in [
        r#""operationType":"create""#,
        r#""operationType":"delete""#,
        r#""timeToLiveExpired":true"#,
        r#""partitionKey":{"pk":"a"}"#,
    ] {
        assert!(events.body.contains(part), "{part}: {}", events.body);
    }
    assert_eq!(
        events.body.matches("partitionKey").count(),
        1,
        "of the delete alone: {}",
        events.body
    );
}

/// A change feed that is requested from a time on returns only changes after that second.
#[tokio::test]
async fn a_feed_since_a_time_leaves_that_second_out() {
    let mut client = Client::with_container(r#","defaultTtl":-1"#).await;
    let mut seconds = Vec::new();
    for id in ["1", "2", "3"] {
        let ttl = if id == "3" { r#","ttl":5"# } else { "" };
        let made = client.item("POST", "", &format!(r#"{{"id":"{id}","pk":"a"{ttl}}}"#)).await;
        let Some(document::Value::Int64(ts)) = made.document().get("_ts").cloned() else {
            panic!("{made:?}")
        };
        seconds.push(u64::try_from(ts).unwrap());
        client.advance(2);
    }
    for (since, want) in [
        (seconds[0] - 1, vec!["1", "2", "3"]),
        (seconds[0], vec!["2", "3"]),
        (seconds[0] + 1, vec!["2", "3"]),
        (seconds[1], vec!["3"]),
        (seconds[2], vec![]),
    ] {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(since);
        let since = httpdate::fmt_http_date(at);
        let headers = [
            ("a-im", "Incremental Feed"),
            ("x-ms-documentdb-partitionkeyrangeid", "0"),
            ("if-modified-since", since.as_str()),
        ];
        let page = client.ask("GET", "/dbs/d/colls/c/docs", &headers, "").await;
        assert_eq!(page.status, if want.is_empty() { 304 } else { 200 }, "{since}: {page:?}");
        for id in ["1", "2", "3"] {
            let there = page.body.contains(&format!("\"id\":\"{id}\""));
            assert_eq!(there, want.contains(&id), "{since}: {page:?}");
        }
    }
    // An expired item is in no feed.
    client.advance(5);
    let headers = [("a-im", "Incremental Feed"), ("x-ms-documentdb-partitionkeyrangeid", "0")];
    let page = client.ask("GET", "/dbs/d/colls/c/docs", &headers, "").await;
    assert!(page.body.contains("\"_count\":2") && !page.body.contains("\"id\":\"3\""), "{page:?}");
}
