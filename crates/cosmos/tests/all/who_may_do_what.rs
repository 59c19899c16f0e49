//! Keys, dates and tokens: authentication and authorization.

use std::sync::Arc;

use arc_swap::ArcSwap;
use auth::Right;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use cosmos::{Hosts, Keys, Roles, Settings, TokenRules, WELL_KNOWN_KEY};

use crate::{
    client::{Client, PARTITION, date, sign},
    relay::relay,
};

#[tokio::test]
async fn only_signed_requests_are_answered() {
    let mut client = Client::with_container("").await;
    let now = date(0);
    let sign = |date: &str| sign(WELL_KNOWN_KEY, "GET", "dbs", "", date);
    let (late, early) = (date(-16 * 60_000), date(16 * 60_000));
    let wrong = crate::client::sign("MDEyMzQ1Njc4OWFiY2RlZg==", "GET", "dbs", "", &now);
    let other = crate::client::sign(WELL_KNOWN_KEY, "GET", "colls", "", &now);
    for (date, authorization, want) in [
        (Some(now.as_str()), Some(sign(&now)), 200),
        (Some(&now), Some(sign(&now).replace("%3D", "=").replace("%26", "&")), 200),
        (Some(&now), None, 401),
        (Some(&now), Some(String::new()), 401),
        (Some(&now), Some("Bearer x".to_owned()), 401),
        (Some(&now), Some(wrong), 401),
        (Some(&now), Some(other), 401),
        (None, Some(sign(&now)), 401),
        (Some(&late), Some(sign(&late)), 403),
        (Some(&early), Some(sign(&early)), 403),
        (Some(&now), Some(sign(&late)), 401),
    ] {
        let date = date.map(|date| ("x-ms-date", date));
        let authorization = authorization.as_deref().map(|it| ("authorization", it));
        let headers: Vec<(&str, &str)> = date.into_iter().chain(authorization).collect();
        let answer = client.send("GET", "/dbs", &headers, "").await;
        assert_eq!(answer.status, want, "{headers:?}: {answer:?}");
    }
}

#[tokio::test]
async fn a_key_that_only_reads_cannot_write() {
    let reader = "MDEyMzQ1Njc4OWFiY2RlZg==";
    let keys = Keys::new(&[(WELL_KNOWN_KEY, Right::Write), (reader, Right::Read)]).unwrap();
    let mut client = Client::with_keys(keys).await;
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await;
    let container = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
    client.ask("POST", "/dbs/d/colls", &[], container).await;
    let query = [("content-type", "application/query+json")];
    let tricked = [PARTITION, ("x-ms-documentdb-isquery", "true")];
    let batch = [PARTITION, tricked[1], ("x-ms-cosmos-is-batch-request", "true")];
    let plan = [("x-ms-cosmos-is-query-plan-request", "True")];
    let permission = r#"{"id":"p","permissionMode":"All","resource":"dbs/d"}"#;
    let before = client.everything().await;
    for (verb, path, headers, body, want) in [
        ("GET", "/dbs/d", &[][..], "", 200),
        ("POST", "/dbs", &query, r#"{"query":"SELECT * FROM c"}"#, 200),
        ("POST", "/dbs", &[], r#"{"id":"e"}"#, 403),
        ("DELETE", "/dbs/d", &[], "", 403),
        ("POST", "/dbs/d/colls/c/operations/partitionkeydelete", &tricked, "", 403),
        ("POST", "/dbs/d/colls/c/docs", &batch, "[]", 403),
        ("GET", "/dbs/d/users/u/permissions", &[], "", 403),
        ("POST", "/dbs", &plan, r#"{"id":"e"}"#, 403),
        ("POST", "/dbs/d/colls", &plan, container, 403),
        ("POST", "/dbs/d/users", &plan, r#"{"id":"v"}"#, 403),
        ("POST", "/dbs/d/users/u/permissions", &plan, permission, 403),
        ("POST", "/dbs/d/users/u/permissions", &query, permission, 403),
        ("POST", "/dbs/d/colls/c/sprocs", &plan, r#"{"id":"s","body":"x"}"#, 403),
        ("POST", "/dbs/d/colls/c/sprocs/s", &tricked, "[]", 403),
        ("POST", "/dbs/d/colls/c/operations/partitionkeydelete", &plan, "", 403),
        ("PUT", "/dbs/d/colls/c", &plan, container, 403),
        ("POST", "/dbs/d/colls/c/docs", &plan, r#"{"query":"SELECT * FROM c"}"#, 200),
        ("POST", "/dbs/d/colls/c/docs", &plan, r#"{"id":"1","pk":"a"}"#, 400),
        ("POST", "/dbs/d/colls/c/conflicts", &[PARTITION], "", 200),
    ] {
        let answer = client.ask_with(reader, verb, path, headers, body).await;
        assert_eq!(answer.status, want, "{verb} {path}: {answer:?}");
        let relayed = relay(&client, Right::Read, verb, path, headers, body).await;
        assert_eq!(relayed.0, want, "{verb} {path}: {relayed:?}");
    }
    assert_eq!(client.everything().await, before);
    let users = client.ask("GET", "/dbs/d/users", &[], "").await;
    assert_eq!(users.header("x-ms-item-count"), Some("1"), "{users:?}");
}

#[tokio::test]
async fn a_token_is_for_one_resource() {
    let mut client = Client::with_container("").await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await;
    let feed = "/dbs/d/users/u/permissions";
    let token = async |client: &mut Client, mode: &str, key: &str| {
        let id = format!("{mode}{}", key.len());
        let body =
            format!(r#"{{"id":"{id}","permissionMode":"{mode}","resource":"dbs/d/colls/c"{key}}}"#);
        let made = client.ask("POST", feed, &[], &body).await;
        assert_eq!(made.status, 201, "{made:?}");
        made.text("_token").replace('+', "%2B")
    };
    let read = token(&mut client, "Read", "").await;
    let of_item = r#"{"id":"of-item","permissionMode":"Read","resource":"dbs/d/colls/c/docs/1","resourcePartitionKey":["a"]}"#;
    let made = client.ask("POST", feed, &[], of_item).await;
    assert_eq!(made.status, 201, "{made:?}");
    let of_item = made.text("_token").replace('+', "%2B");
    let all = token(&mut client, "All", r#","resourcePartitionKey":["a"]"#).await;
    let item = "/dbs/d/colls/c/docs/1";
    let docs = "/dbs/d/colls/c/docs";
    let (a, b) = (PARTITION, ("x-ms-documentdb-partitionkey", "[\"b\"]"));
    let body = r#"{"id":"1","pk":"a"}"#;
    for (token, verb, path, partition, body, want) in [
        (&read, "GET", item, a, "", 200),
        (&read, "GET", "/", a, "", 200),
        (&read, "GET", "/dbs/d/colls/c", a, "", 200),
        (&read, "PUT", item, a, body, 403),
        (&read, "DELETE", item, a, "", 403),
        (&read, "GET", "/dbs/d", a, "", 403),
        (&read, "GET", "/dbs/d/colls/cc", a, "", 403),
        (&of_item, "GET", item, a, "", 200),
        (&of_item, "GET", item, b, "", 403),
        (&of_item, "GET", "/dbs/d/colls/c", a, "", 200),
        (&of_item, "GET", "/dbs/d/colls/c/pkranges", a, "", 200),
        (&of_item, "GET", docs, a, "", 403),
        (&of_item, "GET", "/dbs/d/colls/c/docs/2", a, "", 403),
        (&of_item, "GET", "/dbs/d/colls/c/udfs", a, "", 403),
        (&of_item, "GET", "/dbs/d/colls/other", a, "", 403),
        (&of_item, "GET", "/dbs/d", a, "", 403),
        (&of_item, "PUT", "/dbs/d/colls/c", a, "{}", 403),
        (&of_item, "DELETE", "/dbs/d/colls/c", a, "", 403),
        (&all, "PUT", item, a, body, 200),
        (&all, "GET", item, b, "", 403),
        (&all, "GET", docs, a, "", 200),
        (&all, "DELETE", "/dbs/d", a, "", 403),
        (&all, "DELETE", "/dbs/d/colls/c", a, "", 403),
        (&all, "GET", "/dbs/d/colls/c", b, "", 200),
        (&all, "GET", "/dbs/d/colls/c/pkranges", b, "", 200),
        (&all, "GET", "/dbs/d/colls/c/udfs", a, "", 403),
        (&all, "GET", "/dbs/d/users/u/permissions/All27", a, "", 403),
    ] {
        let headers = [("authorization", token.as_str()), partition];
        let answer = client.send(verb, path, &headers, body).await;
        assert_eq!(answer.status, want, "{verb} {path}: {answer:?}");
    }
    let bulk = [
        ("authorization", all.as_str()),
        a,
        ("x-ms-cosmos-is-batch-request", "true"),
        ("x-ms-cosmos-batch-continue-on-error", "true"),
    ];
    let other = r#"[{"operationType":"Create","partitionKey":"[\"b\"]","resourceBody":{"id":"1","pk":"b"}}]"#;
    let answer = client.send("POST", docs, &bulk, other).await;
    assert!(answer.status == 207 && answer.body.contains("1001"), "{answer:?}");
    let none = client.send("GET", docs, &[("authorization", all.as_str())], "").await;
    assert_eq!(none.status, 403, "without a partition key");
    let forged = read.replacen("sig=", "sig=A", 1);
    let answer = client.send("GET", item, &[("authorization", forged.as_str()), a], "").await;
    assert_eq!(answer.status, 401);
    for (seconds, want) in [("600", 200), ("86400", 200), ("599", 400), ("86401", 400), ("x", 400)]
    {
        let headers = [("x-ms-documentdb-expiry-seconds", seconds)];
        let path = format!("{feed}/Read0");
        assert_eq!(client.ask("GET", &path, &headers, "").await.status, want, "{seconds}");
    }
}

#[tokio::test]
async fn a_token_ends_with_its_permission() {
    let mut client = Client::with_container("").await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let user = r#"{"id":"u"}"#;
    client.ask("POST", "/dbs/d/users", &[], user).await;
    let feed = "/dbs/d/users/u/permissions";
    let one = "/dbs/d/users/u/permissions/p";
    let permission = |mode: &str| {
        format!(r#"{{"id":"p","permissionMode":"{mode}","resource":"dbs/d/colls/c"}}"#)
    };
    let (all, read) = (permission("All"), permission("Read"));
    for (verb, path, body, after, want) in [
        ("PUT", one, read.as_str(), "", (403, 403)),
        ("DELETE", one, "", "", (403, 403)),
        ("DELETE", one, "", all.as_str(), (403, 403)),
        ("DELETE", "/dbs/d/users/u", "", "", (403, 403)),
        ("GET", one, "", "", (200, 204)),
    ] {
        client.ask("POST", "/dbs/d/users", &[], user).await;
        client.ask("DELETE", one, &[], "").await;
        let made = client.ask("POST", feed, &[], &all).await;
        let token = made.text("_token").replace('+', "%2B");
        client.ask(verb, path, &[], body).await;
        if !after.is_empty() {
            assert_eq!(client.ask("POST", feed, &[], after).await.status, 201);
        }
        let headers = [("authorization", token.as_str()), PARTITION];
        let item = "/dbs/d/colls/c/docs/1";
        let read = client.send("GET", item, &headers, "").await;
        let gone = client.send("DELETE", item, &headers, "").await;
        assert_eq!((read.status, gone.status), want, "{verb} {path} {after}");
    }
}

#[tokio::test]
async fn a_token_by_names_is_for_links_of_resource_ids() {
    let mut client = Client::with_container("").await;
    client.ask("POST", "/dbs", &[], r#"{"id":"e"}"#).await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await;
    let database = client.ask("GET", "/dbs/d", &[], "").await.text("_rid");
    let other = client.ask("GET", "/dbs/e", &[], "").await.text("_rid");
    let container = client.ask("GET", "/dbs/d/colls/c", &[], "").await.text("_rid");
    let by_id = format!("dbs/{database}/colls/{container}");
    for resource in ["dbs/d/colls/c", by_id.as_str(), "/dbs/d/", &format!("dbs/{database}")] {
        client.ask("DELETE", "/dbs/d/users/u/permissions/p", &[], "").await;
        let body = format!(r#"{{"id":"p","permissionMode":"Read","resource":"{resource}"}}"#);
        let made = client.ask("POST", "/dbs/d/users/u/permissions", &[], &body).await;
        let token = made.text("_token").replace('+', "%2B");
        let headers = [("authorization", token.as_str()), PARTITION];
        for (path, want) in [
            (format!("/{by_id}/pkranges"), 200),
            (format!("/{by_id}/docs/1"), 200),
            ("/dbs/d/colls/c/docs/1".to_owned(), 200),
            (format!("/dbs/d/colls/{container}"), 200),
            (format!("/dbs/{other}"), 403),
            (format!("/dbs/{other}/colls/{container}"), 403),
        ] {
            let answer = client.send("GET", &path, &headers, "").await;
            assert_eq!(answer.status, want, "{resource} {path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_permission_that_cannot_be_answered_is_not_made() {
    let mut client = Client::with_container("").await;
    client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await;
    let feed = "/dbs/d/users/u/permissions";
    let body = |mode: &str, more: &str| {
        format!(r#"{{"id":"p","permissionMode":"{mode}","resource":"dbs/d/colls/c"{more}}}"#)
    };
    let (read, all) = (body("Read", ""), body("All", ""));
    let life = |seconds| [("x-ms-documentdb-expiry-seconds", seconds)];
    for seconds in ["0", "-1", "599", "86401", "x", ""] {
        let refused = client.ask("POST", feed, &life(seconds), &read).await;
        assert_eq!(refused.status, 400, "{seconds}");
    }
    for more in [r#","resourcePartitionKey":[[]]"#, r#","resourcePartitionKey":[{"a":1}]"#] {
        assert_eq!(client.ask("POST", feed, &[], &body("Read", more)).await.status, 400, "{more}");
    }
    let none = client.ask("GET", feed, &[], "").await;
    assert_eq!(none.header("x-ms-item-count"), Some("0"), "{none:?}");
    assert_eq!(client.ask("POST", feed, &life("600"), &read).await.status, 201);
    let one = "/dbs/d/users/u/permissions/p";
    assert_eq!(client.ask("PUT", one, &life("0"), &all).await.status, 400);
    assert_eq!(client.ask("GET", one, &[], "").await.text("permissionMode"), "Read");
}

#[tokio::test]
async fn who_guesses_has_to_wait_and_who_knows_has_not() {
    let own = "MDEyMzQ1Njc4OWFiY2RlZg==";
    let mut client = Client::with_keys(Keys::new(&[(own, Right::Write)]).unwrap()).await;
    for count in 0..30 {
        let wrong = client.ask("GET", "/dbs", &[], "").await;
        let want = if count < 10 { 401 } else { 429 };
        assert_eq!(wrong.status, want, "{count}: {wrong:?}");
        let wait = wrong.header("x-ms-retry-after-ms").map(|ms| ms.parse::<u64>().unwrap());
        assert_eq!(wait.is_some_and(|ms| (1..=61_000).contains(&ms)), want == 429, "{wrong:?}");
        let right = client.ask_with(own, "GET", "/dbs", &[], "").await;
        assert_eq!(right.status, 200, "{count}");
    }
    // With the well-known account key, senders of wrong signatures are not throttled.
    let mut client = Client::new().await;
    for _ in 0..30 {
        assert_eq!(client.ask_with(own, "GET", "/dbs", &[], "").await.status, 401);
    }
}

#[tokio::test]
async fn only_own_names_are_answered_to() {
    let hosts = Some(Hosts::new(&["db.example".to_owned()]));
    let mut client = Client::with_settings(|settings| Settings { hosts, ..settings }).await;
    for (host, want) in [
        ("db.example:8081", 401),
        ("DB.example", 401),
        ("127.0.0.1:8081", 401),
        ("[::1]:8081", 401),
        ("localhost", 401),
        ("evil.example:8081", 421),
        ("db.example.evil.example", 421),
        ("", 421),
    ] {
        for path in ["/dbs", "/", "/_explorer/emulator.pem"] {
            let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
            let answer = client.raw(request.as_bytes()).await;
            let open = path.ends_with("pem") && want == 401;
            assert_eq!(answer.status, if open { 200 } else { want }, "{host} {path}: {answer:?}");
            assert_eq!(answer.body.contains("--cosmos-host"), want == 421, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_permission_for_an_item_has_its_partition_key() {
    let mut client = Client::with_container("").await;
    let made = client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await;
    let own = made.text("_self");
    for (id, resource, key, want) in [
        ("1", "dbs/d/colls/c/docs/1", "", 400),
        ("2", "dbs/d/colls/c/docs/1", r#","resourcePartitionKey":["a"]"#, 201),
        ("3", own.trim_end_matches('/'), "", 201),
        ("4", "dbs/d/colls/c", "", 201),
    ] {
        let body =
            format!(r#"{{"id":"{id}","permissionMode":"All","resource":"{resource}"{key}}}"#);
        let made = client.ask("POST", "/dbs/d/users/u/permissions", &[], &body).await;
        assert_eq!(made.status, want, "{body}: {made:?}");
        let put = format!("/dbs/d/users/u/permissions/{id}");
        let put = client.ask("PUT", &put, &[], &body).await;
        assert_eq!(put.status, if want == 201 { 200 } else { want }, "{body}: {put:?}");
    }
}

#[tokio::test]
async fn nothing_is_named_like_another_by_its_resource_id() {
    let mut client = Client::with_container("").await;
    let database = client.ask("GET", "/dbs/d", &[], "").await.text("_rid");
    let container = client.ask("GET", "/dbs/d/colls/c", &[], "").await.text("_rid");
    let item = client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await.text("_rid");
    for (path, body, want) in [
        ("/dbs", format!(r#"{{"id":"{database}"}}"#), 400),
        ("/dbs", r#"{"id":"AAAAAg=="}"#.to_owned(), 400),
        (
            "/dbs/d/colls",
            format!(r#"{{"id":"{container}","partitionKey":{{"paths":["/pk"]}}}}"#),
            400,
        ),
        ("/dbs/d/users", format!(r#"{{"id":"{container}"}}"#), 400),
        ("/dbs/d/colls/c/docs", format!(r#"{{"id":"{item}","pk":"a"}}"#), 400),
        ("/dbs/d/colls/c/docs", r#"{"id":"1B2M2Y8AsgTpgAmY7PhCfg==","pk":"a"}"#.to_owned(), 201),
    ] {
        let answer = client.ask("POST", path, &[PARTITION], &body).await;
        assert_eq!(answer.status, want, "{path} {body}: {answer:?}");
    }
}

/// Returns a token as emulators accept it, signed by the account key, for this principal.
fn token_of(name: &str) -> String {
    token_signed(name, WELL_KNOWN_KEY)
}

/// Returns a token as emulators accept it, for this principal and signed by this key.
fn token_signed(name: &str, key: &str) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let header = part(r#"{"typ":"JWT","alg":"RS256","kid":"CosmosEmulatorPrimaryMaster"}"#);
    let exp = clock::wall_ms() / 1000 + 3600;
    let oid = if name.is_empty() { String::new() } else { format!(r#","oid":"{name}""#) };
    let claims = format!(r#"{{"aud":"https://localhost.localhost","exp":{exp}{oid}}}"#);
    let (claims, signature) = (part(&claims), part(key));
    format!("type%3daad%26ver%3d1.0%26sig%3d{header}.{claims}.{signature}")
}

#[tokio::test]
async fn roles_say_what_a_token_is_for() {
    let assigned = [
        ("ann", "reader", "/dbs/d"),
        ("bob", "contributor", "/dbs/d/colls/c"),
        ("bob", "reader", "/dbs/d/colls/e"),
        ("cid", "mine", "/"),
    ];
    let assigned = assigned.map(|(who, role, scope)| (who.into(), role.into(), scope.into()));
    let read = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/read";
    let own = [("mine".to_owned(), vec![read.to_owned()])];
    let tokens = Arc::new(ArcSwap::from_pointee(TokenRules::default()));
    let settings = Arc::clone(&tokens);
    let mut client =
        Client::with_settings(move |given| Settings { tokens: settings, ..given }).await;
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    for container in ["c", "e"] {
        let body = format!(r#"{{"id":"{container}","partitionKey":{{"paths":["/pk"]}}}}"#);
        client.ask("POST", "/dbs/d/colls", &[], &body).await;
    }
    let made = client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let by_rid = made.text("_self");
    let by_rid = format!("/{}", by_rid.trim_end_matches('/'));
    // Without roles a token has the rights of the key that signed it.
    let headers = [("authorization", &*token_of("ann"))];
    assert_eq!(client.send("POST", "/dbs", &headers, r#"{"id":"x"}"#).await.status, 201);
    let roles = Roles::new(&own, &assigned).unwrap();
    tokens.store(Arc::new(TokenRules { roles: Some(roles), ..TokenRules::default() }));
    let query = [PARTITION, ("content-type", "application/query+json")];
    let upsert = [PARTITION, ("x-ms-documentdb-is-upsert", "true")];
    let batch = [PARTITION, ("x-ms-cosmos-is-batch-request", "true")];
    let feed = [PARTITION, ("a-im", "Incremental feed")];
    let (docs, item) = ("/dbs/d/colls/c/docs", "/dbs/d/colls/c/docs/1");
    let (other, select) = ("/dbs/d/colls/e/docs", r#"{"query":"SELECT * FROM c"}"#);
    let one = r#"{"id":"1","pk":"a"}"#;
    for (who, verb, path, headers, body, want) in [
        ("ann", "GET", "/", &[][..], "", (200, 0)),
        ("dan", "GET", "/", &[], "", (403, 5301)),
        ("ann", "GET", "/dbs/d", &[], "", (200, 0)),
        ("bob", "GET", "/dbs/d", &[], "", (403, 5301)),
        ("bob", "GET", "/dbs/d/colls/c", &[], "", (200, 0)),
        ("bob", "GET", "/dbs/d/colls/c/pkranges", &[], "", (200, 0)),
        ("cid", "GET", "/dbs/d/colls/c", &[], "", (403, 5301)),
        ("ann", "GET", item, &[PARTITION], "", (200, 0)),
        ("ANN", "GET", item, &[PARTITION], "", (200, 0)),
        ("ann", "GET", &by_rid, &[PARTITION], "", (200, 0)),
        ("cid", "GET", item, &[PARTITION], "", (200, 0)),
        ("dan", "GET", item, &[PARTITION], "", (403, 5302)),
        ("ann", "POST", docs, &query, select, (200, 0)),
        ("cid", "POST", docs, &query, select, (403, 5302)),
        ("ann", "GET", docs, &feed, "", (200, 0)),
        ("cid", "GET", docs, &feed, "", (403, 5302)),
        ("ann", "PUT", item, &[PARTITION], one, (403, 5302)),
        ("ann", "POST", docs, &upsert, one, (403, 5302)),
        ("ann", "POST", docs, &batch, "[]", (403, 5302)),
        ("ann", "DELETE", item, &[PARTITION], "", (403, 5302)),
        ("bob", "PUT", item, &[PARTITION], one, (200, 0)),
        ("bob", "POST", docs, &upsert, one, (200, 0)),
        ("bob", "POST", other, &upsert, one, (403, 5302)),
        ("bob", "POST", other, &query, select, (200, 0)),
        ("bob", "DELETE", "/dbs/d/colls/c", &[], "", (403, 5300)),
        ("bob", "POST", "/dbs/d/users", &[], r#"{"id":"u"}"#, (403, 5300)),
        ("bob", "GET", "/offers", &[], "", (403, 5300)),
        ("bob", "PATCH", "/dbs/d", &[], "", (403, 5300)),
        ("", "GET", "/", &[], "", (401, 0)),
    ] {
        let token = token_of(who);
        let headers = [&[("authorization", token.as_str())], headers].concat();
        let answer = client.send(verb, path, &headers, body).await;
        assert_eq!(answer.code(), want, "{who} {verb} {path}: {answer:?}");
    }
    // Roles do not limit the rights of account keys.
    assert_eq!(client.ask("DELETE", "/dbs/d", &[], "").await.status, 204);
}

/// A token permits only what both the roles of its principal and the key that signed it permit,
/// because the holder of a read-only key can put any principal into a token.
#[tokio::test]
async fn a_token_that_a_read_only_key_signed_only_reads() {
    let reader = "MDEyMzQ1Njc4OWFiY2RlZg==";
    let keys = Keys::new(&[(WELL_KNOWN_KEY, Right::Write), (reader, Right::Read)]).unwrap();
    let tokens = Arc::new(ArcSwap::from_pointee(TokenRules::default()));
    let settings = Arc::clone(&tokens);
    let mut client = Client::with_settings(move |given| Settings {
        tokens: settings,
        keys: keys.into(),
        ..given
    })
    .await;
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    let container = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
    client.ask("POST", "/dbs/d/colls", &[], container).await;
    client.item("POST", "", r#"{"id":"1","pk":"a"}"#).await;
    let assigned = [("bob".into(), "contributor".into(), "/".into())];
    let roles = || Some(Roles::new(&[], &assigned).unwrap());
    let query = [PARTITION, ("content-type", "application/query+json")];
    let tricked = [PARTITION, query[1], ("x-ms-cosmos-is-batch-request", "true")];
    let upsert = [PARTITION, ("x-ms-documentdb-is-upsert", "true")];
    let (docs, item) = ("/dbs/d/colls/c/docs", "/dbs/d/colls/c/docs/1");
    let one = r#"{"id":"1","pk":"a"}"#;
    // The first request for this feed starts the retention of versions, which is a write.
    let versions = [PARTITION, ("a-im", "Full-Fidelity Feed"), ("if-none-match", "*")];
    for rules in [TokenRules::default(), TokenRules { roles: roles(), ..TokenRules::default() }] {
        let with_roles = rules.roles.is_some();
        tokens.store(Arc::new(rules));
        for (verb, path, headers, body, want) in [
            ("GET", "/", &[][..], "", 200),
            ("GET", item, &[PARTITION], "", 200),
            ("POST", docs, &query, r#"{"query":"SELECT * FROM c"}"#, 200),
            ("POST", docs, &[PARTITION], r#"{"id":"2","pk":"a"}"#, 403),
            ("POST", docs, &upsert, one, 403),
            ("POST", docs, &tricked, "[]", 403),
            ("PUT", item, &[PARTITION], one, 403),
            ("PATCH", item, &[PARTITION], r#"[{"op":"set","path":"/v","value":1}]"#, 403),
            ("DELETE", item, &[PARTITION], "", 403),
            ("POST", "/dbs/d/colls/c/operations/partitionkeydelete", &[PARTITION], "", 403),
            ("DELETE", "/dbs/d/colls/c/conflicts/x", &[], "", 403),
            ("GET", docs, &versions, "", 400),
        ] {
            let token = token_signed("bob", reader);
            let headers = [&[("authorization", token.as_str())], headers].concat();
            let answer = client.send(verb, path, &headers, body).await;
            assert_eq!(answer.status, want, "{with_roles} {verb} {path}: {answer:?}");
        }
    }
    // The full key can sign tokens for everything that the roles permit.
    let token = token_of("bob");
    let headers = [("authorization", token.as_str()), PARTITION];
    assert_eq!(client.send("PUT", item, &headers, one).await.status, 200);
    let of_versions = [&headers[..1], &versions].concat();
    assert_eq!(client.send("GET", docs, &of_versions, "").await.status, 304);
    let (by_reader, by_owner) = (token_signed("bob", reader), token);
    for token in [by_reader, by_owner] {
        let of_versions = [&[("authorization", token.as_str())], &versions[..]].concat();
        let answer = client.send("GET", docs, &of_versions, "").await;
        assert_eq!(answer.status, 304, "who may read reads a feed that has begun: {answer:?}");
    }
    // Neither token is valid if tokens signed by account keys are disabled; the error says that
    // they are.
    let rules = TokenRules { roles: roles(), emulator_tokens: false, ..TokenRules::default() };
    tokens.store(Arc::new(rules));
    for key in [WELL_KNOWN_KEY, reader, "none"] {
        let token = token_signed("bob", key);
        let answer = client.send("GET", item, &[("authorization", &token), PARTITION], "").await;
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.text("message").contains("emulator_tokens"), "{answer:?}");
    }
}
