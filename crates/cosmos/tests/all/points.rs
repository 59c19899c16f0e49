//! Operations on one item: statuses, headers, conditions.

use crate::client::{Client, PARTITION};

#[tokio::test]
async fn each_operation_has_its_status() {
    let mut client = Client::with_container("").await;
    let item = r#"{"id":"1","pk":"a","n":1}"#;
    for (verb, id, body, want) in [
        ("GET", "1", "", (404, 0)),
        ("PUT", "1", item, (404, 0)),
        ("DELETE", "1", "", (404, 0)),
        ("PATCH", "1", r#"{"operations":[{"op":"set","path":"/n","value":2}]}"#, (404, 0)),
        ("POST", "", item, (201, 0)),
        ("POST", "", item, (409, 0)),
        ("GET", "1", "", (200, 0)),
        ("PUT", "1", item, (200, 0)),
        ("PUT", "1", r#"{"id":"1","pk":"b"}"#, (400, 1001)),
        ("POST", "", r#"{"id":"2","pk":"b"}"#, (400, 1001)),
        ("POST", "", r#"{"pk":"a"}"#, (400, 0)),
        ("POST", "", "{", (400, 0)),
        ("POST", "", r#"{"id":"x","pk":"a","id":"y"}"#, (400, 0)),
        ("PATCH", "1", r#"{"operations":[{"op":"incr","path":"/n","value":2}]}"#, (200, 0)),
        ("PATCH", "1", r#"{"operations":[{"op":"remove","path":"/zz"}]}"#, (400, 0)),
        ("PATCH", "1", r#"[{"op":"incr","path":"/n","value":2}]"#, (200, 0)),
        ("PATCH", "1", "[]", (400, 0)),
        ("PATCH", "1", r#"{"operations":[]}"#, (400, 0)),
        (
            "PATCH",
            "1",
            r#"{"condition":"from c where c.n=1","operations":[{"op":"remove","path":"/n"}]}"#,
            (412, 0),
        ),
        (
            "PATCH",
            "1",
            r#"{"condition":"from c where","operations":[{"op":"remove","path":"/n"}]}"#,
            (400, 0),
        ),
        ("GET", "1", "", (200, 0)),
        ("DELETE", "1", "", (204, 0)),
        ("DELETE", "1", "", (404, 0)),
    ] {
        let answer = client.item(verb, id, body).await;
        assert_eq!(answer.code(), want, "{verb} {id} {body}: {answer:?}");
    }
    let first = client.upsert(item).await;
    assert_eq!((first.status, client.upsert(item).await.status), (201, 200));
}

#[tokio::test]
async fn answers_carry_versions_and_conditions_are_kept() {
    let mut client = Client::with_container("").await;
    let item = r#"{"id":"1","pk":"a"}"#;
    let made = client.item("POST", "", item).await;
    let etag = made.header("etag").unwrap().to_owned();
    assert_eq!(made.text("_etag"), etag);
    let path = "/dbs/d/colls/c/docs/1";
    let known = client.ask("GET", path, &[PARTITION, ("if-none-match", &etag)], "").await;
    assert_eq!((known.status, known.body.as_str()), (304, ""));
    for (condition, want) in
        [("\"other\"", 412), (etag.as_str(), 200), (etag.as_str(), 412), ("*", 200)]
    {
        let headers = [PARTITION, ("if-match", condition)];
        assert_eq!(client.ask("PUT", path, &headers, item).await.status, want, "{condition}");
    }
    let newer = client.ask("GET", path, &[PARTITION, ("if-none-match", &etag)], "").await;
    assert_eq!(newer.status, 200);
    assert_eq!(newer.text("_rid"), made.text("_rid"));
    let minimal = [PARTITION, ("prefer", "return=minimal")];
    let minimal = client.ask("PUT", path, &minimal, item).await;
    assert_eq!((minimal.status, minimal.body.as_str()), (200, ""));
    assert!(minimal.header("etag").is_some());
    for name in ["x-ms-request-charge", "x-ms-activity-id", "x-ms-session-token", "lsn"] {
        assert!(minimal.header(name).is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_session_from_the_future_is_not_served() {
    let mut client = Client::with_container("").await;
    let made = client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let own = made.header("x-ms-session-token").unwrap().to_owned();
    let path = "/dbs/d/colls/c/docs/1";
    for (token, want) in [
        (own.as_str(), (200, 0)),
        ("0:-1#999999", (404, 1002)),
        ("0:-1#1,0:-1#999999", (404, 1002)),
        ("nonsense", (400, 0)),
    ] {
        let headers = [PARTITION, ("x-ms-session-token", token)];
        assert_eq!(client.ask("GET", path, &headers, "").await.code(), want, "{token}");
    }
    let missing = [PARTITION, ("x-ms-session-token", "0:-1#999999")];
    let answer = client.ask("GET", "/dbs/d/colls/c/docs/none", &missing, "").await;
    assert_eq!(answer.code(), (404, 1002));
}

#[tokio::test]
async fn a_container_that_was_made_anew_is_another() {
    let mut client = Client::with_container("").await;
    let rid = client.ask("GET", "/dbs/d/colls/c", &[], "").await.text("_rid");
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    assert_eq!(client.ask("DELETE", "/dbs/d/colls/c", &[], "").await.status, 204);
    assert_eq!(client.item("GET", "1", "").await.code(), (404, 1003));
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2}}"#;
    assert_eq!(client.ask("POST", "/dbs/d/colls", &[], body).await.status, 201);
    assert_eq!(client.item("GET", "1", "").await.code(), (404, 0));
    let headers = [PARTITION, ("x-ms-cosmos-intended-collection-rid", rid.as_str())];
    let answer = client.ask("GET", "/dbs/d/colls/c/docs/1", &headers, "").await;
    assert_eq!(answer.code(), (400, 1024));
}

#[tokio::test]
async fn resources_have_names_and_ids() {
    let mut client = Client::with_container("").await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let database = client.ask("GET", "/dbs/d", &[], "").await.text("_rid");
    let container = client.ask("GET", "/dbs/d/colls/c", &[], "").await.text("_rid");
    for path in [
        format!("/dbs/{database}"),
        format!("/dbs/{database}/colls/{container}"),
        format!("/dbs/{database}/colls/{container}/docs/1"),
    ] {
        assert_eq!(client.ask("GET", &path, &[PARTITION], "").await.status, 200, "{path}");
    }
    let other = format!("/dbs/{container}");
    assert_eq!(client.ask("GET", &other, &[], "").await.status, 404);
}

#[tokio::test]
async fn items_are_found_by_their_own_links() {
    let mut client = Client::with_container("").await;
    let made = client.item("POST", "", r#"{"id":"1","pk":"a","n":1}"#).await;
    client.item("POST", "", r#"{"id":"2","pk":"a","n":1}"#).await;
    let link = format!("/{}", made.text("_self"));
    for (verb, body, want) in [
        ("GET", "", 200),
        ("PUT", r#"{"id":"2","pk":"a"}"#, 409),
        ("PUT", r#"{"id":"1","pk":"a","n":2}"#, 200),
        ("PATCH", r#"[{"op":"incr","path":"/n","value":1}]"#, 200),
        ("DELETE", "", 204),
        ("DELETE", "", 404),
        ("GET", "", 404),
    ] {
        let answer = client.ask(verb, &link, &[PARTITION], body).await;
        assert_eq!(answer.status, want, "{verb} {body}: {answer:?}");
        if want == 200 {
            assert_eq!(answer.text("_rid"), made.text("_rid"), "{verb}");
        }
    }
    assert_eq!(client.item("GET", "2", "").await.status, 200);
}

#[tokio::test]
async fn answers_about_items_name_the_range_and_what_they_are() {
    let mut client = Client::with_container("").await;
    let made = client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    assert_eq!(made.header("content-location"), Some("http://test:1/dbs/d/colls/c/docs"));
    let range = "x-ms-documentdb-partitionkeyrangeid";
    for (verb, id, body, status) in [
        ("POST", "", r#"{"id":"1","pk":"a"}"#, 409),
        ("POST", "", r#"{"id":"1","pk":"b"}"#, 400),
        ("GET", "none", "", 404),
        ("GET", "1", "", 200),
        ("PUT", "1", r#"{"id":"1","pk":"a","n":1}"#, 200),
        ("PATCH", "1", r#"[{"op":"incr","path":"/n","value":2}]"#, 200),
        ("DELETE", "1", "", 204),
        ("DELETE", "1", "", 404),
    ] {
        let answer = client.item(verb, id, body).await;
        assert_eq!((answer.status, answer.header(range)), (status, Some("0")), "{verb} {id}");
        let took = answer.header("x-ms-request-duration-ms").unwrap();
        assert!(took.parse::<f64>().is_ok_and(|ms| 0.0 <= ms), "{took}");
        let address = "http://test:1/dbs/d/colls/c/docs/1";
        let found = answer.header("content-location");
        assert_eq!(found, (status < 400).then_some(address), "{verb} {id}");
        let sub_status = answer.header("x-ms-substatus");
        assert_eq!(sub_status, (status == 400).then_some("1001"), "{verb} {id}");
        if (verb, status) == ("GET", 200) {
            let lsn = answer.header("x-ms-item-lsn").unwrap();
            assert_eq!(Some(lsn), made.header("lsn"));
        }
    }
    let other = client.ask("GET", "/dbs/d", &[], "").await;
    assert!(other.header("x-ms-request-duration-ms").is_some());
    assert_eq!((other.header(range), other.header("x-ms-substatus")), (None, None));
}

#[tokio::test]
async fn a_replace_may_change_the_id() {
    let mut client =
        Client::with_container(r#","changeFeedPolicy":{"retentionDuration":60}"#).await;
    let made = client.item("POST", "", r#"{"id":"1","pk":"a","n":1}"#).await;
    client.item("POST", "", r#"{"id":"2","pk":"a"}"#).await;
    let feed = [("a-im", "Full-Fidelity Feed"), ("if-none-match", "*"), PARTITION];
    let from = client.ask("GET", "/dbs/d/colls/c/docs", &feed, "").await;
    let etag = from.header("etag").unwrap().to_owned();
    for (from, body, want) in [
        ("1", r#"{"id":"2","pk":"a"}"#, 409),
        ("1", r#"{"id":"3","pk":"b"}"#, 400),
        ("4", r#"{"id":"3","pk":"a"}"#, 404),
        ("1", r#"{"id":"3","pk":"a","n":2}"#, 200),
        ("1", r#"{"id":"5","pk":"a"}"#, 404),
    ] {
        assert_eq!(client.item("PUT", from, body).await.status, want, "{from} {body}");
    }
    assert_eq!(client.item("GET", "1", "").await.status, 404);
    let moved = client.item("GET", "3", "").await;
    assert_eq!((moved.text("id"), moved.text("_rid")), ("3".to_owned(), made.text("_rid")));
    let again = client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    assert_eq!(again.status, 201);
    assert_ne!(again.text("_rid"), made.text("_rid"));
    let feed = [("a-im", "Full-Fidelity Feed"), ("if-none-match", etag.as_str()), PARTITION];
    let events = client.ask("GET", "/dbs/d/colls/c/docs", &feed, "").await;
    let kinds: Vec<&str> = events.body.split("operationType\":\"").skip(1).collect();
    let kinds = kinds.iter().map(|text| text.split('"').next().unwrap()).collect::<Vec<_>>();
    assert_eq!(kinds, ["replace", "create"], "{}", events.body);
}

#[tokio::test]
async fn a_replace_asks_first_whether_the_item_is_there() {
    let mut client = Client::with_container("").await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    for (id, body, want) in [
        ("none", r#"{"id":"x","pk":"b"}"#, (404, 0)),
        ("none", r#"{"id":"x"}"#, (404, 0)),
        ("none", r#"{"pk":"a"}"#, (404, 0)),
        ("none", "{", (400, 0)),
        ("1", r#"{"id":"x","pk":"b"}"#, (400, 1001)),
        ("1", r#"{"pk":"a"}"#, (400, 0)),
    ] {
        assert_eq!(client.item("PUT", id, body).await.code(), want, "{id} {body}");
    }
    let path = "/dbs/d/colls/c/docs/none";
    let keyless = client.ask("PUT", path, &[], r#"{"id":"none","pk":"a"}"#).await;
    assert_eq!(keyless.code(), (400, 0), "{keyless:?}");
    let patch = r#"{"operations":[{"op":"set","path":"/n","value":2}]}"#;
    let missing = client.item("PATCH", "none", patch).await;
    for part in ["Resource Not Found", "https://aka.ms/cosmosdb-tsg-not-found"] {
        assert!(missing.body.contains(part), "{missing:?}");
    }
}

#[tokio::test]
async fn links_of_items_are_left_out_where_a_client_says_so() {
    let mut client = Client::with_container("").await;
    let brief = ("x-ms-exclude-system-properties", "True");
    let (docs, one) = ("/dbs/d/colls/c/docs", "/dbs/d/colls/c/docs/1");
    let item = r#"{"id":"1","pk":"a"}"#;
    let patch = r#"[{"op":"set","path":"/n","value":2}]"#;
    for (verb, path, body) in
        [("POST", docs, item), ("GET", one, ""), ("PUT", one, item), ("PATCH", one, patch)]
    {
        let found = client.ask(verb, path, &[PARTITION, brief], body).await.document();
        let names: Vec<&str> = found.fields().iter().map(|(name, _)| name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| *name != "n").collect();
        assert_eq!(names, ["id", "pk", "_rid", "_etag", "_ts"], "{verb}");
    }
    let whole = client.item("GET", "1", "").await;
    assert!(whole.body.contains("_self") && whole.body.contains("_attachments"), "{whole:?}");
}

#[tokio::test]
async fn ids_that_links_cannot_carry() {
    let mut client = Client::with_container("").await;
    for (id, link, want) in [
        ("a?b", "a%3Fb", 200),
        ("a?b", "a?b", 200),
        ("a?b?c d", "a?b?c%20d", 200),
        ("a/b", "a%2Fb", 401),
        ("a#b", "a%23b", 401),
        ("a ", "a%20", 401),
        (r"a\tb", "a%09b", 200),
        ("a%20", "a%2520", 200),
        ("a b", "a%20b", 200),
    ] {
        let body = format!(r#"{{"id":"{id}","pk":"a"}}"#);
        let made = client.item("POST", "", &body).await;
        assert_eq!(made.status, 201, "{id}");
        assert_eq!(client.item("POST", "", &body).await.status, 409, "{id}");
        for (verb, body) in [("GET", ""), ("PUT", body.as_str())] {
            assert_eq!(client.item(verb, link, body).await.status, want, "{verb} {id}");
        }
        let own = format!("/{}", made.text("_self"));
        let read = client.ask("GET", &own, &[PARTITION], "").await;
        assert_eq!((read.status, read.text("_rid")), (200, made.text("_rid")), "{id}");
        let gone = client.item("DELETE", link, "").await.status;
        assert_eq!(gone, if want == 200 { 204 } else { want }, "{id}");
        let gone = client.ask("DELETE", &own, &[PARTITION], "").await.status;
        assert_eq!(gone, if want == 200 { 404 } else { 204 }, "{id}");
    }
}
