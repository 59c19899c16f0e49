//! The admin address, tested over sockets: expiration series and feature switches.

use document::{Document, Value as Bson, array, doc};
use serde_json::{Value, json};
use server_base::config::{Config, Limits};
use test_server::Server;

const CONTAINER: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
const OF: &str = "/_ebb/databases/db/collections/c/expiry";

async fn insert(server: &Server, documents: &[Document]) {
    let documents = documents.iter().cloned().map(Bson::Document).collect();
    server
        .run_command(doc! { "insert": "c", "documents": Bson::Array(documents), "$db": "db" })
        .await;
}

async fn turn_on_ttl(server: &Server, seconds: i32) {
    let index = doc! { "key": doc! { "_ts": 1 }, "name": "t", "expireAfterSeconds": seconds };
    server.run_command(doc! { "createIndexes": "c", "indexes": array![index], "$db": "db" }).await;
}

async fn ids(server: &Server) -> Vec<i32> {
    let found = server.run_command(doc! { "distinct": "c", "key": "_id", "$db": "db" }).await;
    let Some(Bson::Array(values)) = found.get("values") else { panic!("{found:?}") };
    let id = |value: &Bson| match value {
        Bson::Int32(id) => *id,
        other => panic!("{other:?}"),
    };
    values.iter().map(id).collect()
}

fn documents(series: &Value) -> Vec<i64> {
    let steps = series["steps"].as_array().unwrap();
    steps.iter().map(|step| step["documents"].as_i64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_series_tells_what_dies_in_each_step() {
    let server = Server::new(&Config::for_tests()).await;
    turn_on_ttl(&server, 10).await;
    let some = [doc! { "_id": 1 }, doc! { "_id": 2, "ttl": 2 }, doc! { "_id": 3, "ttl": -1 }];
    insert(&server, &some).await;
    let series = server.ask_well("GET", &format!("{OF}/series?step=1&steps=12"), "").await;
    let now = server.ask_well("GET", "/_ebb/clock", "").await["now_ms"].clone();
    assert_eq!(series["now_ms"], now);
    assert_eq!((&series["step_seconds"], &series["exact"]), (&json!(1), &json!(true)));
    let told = documents(&series);
    assert_eq!((told.len(), told.iter().sum::<i64>()), (12, 2), "{told:?}");
    let mut before = ids(&server).await.len();
    for died in told {
        server.move_forward(1.0).await;
        let after = ids(&server).await.len();
        assert_eq!(before - after, usize::try_from(died).unwrap());
        before = after;
    }
    let all = server.ask_well("GET", "/_ebb/expiry/series?step=60&steps=1", "").await;
    assert_eq!((&all["collections"], &all["live"]["documents"]), (&json!(1), &json!(1)));
    assert_eq!(documents(&all), [0]);
    for name in ["documents", "bytes", "oldest_dead_seconds"] {
        assert!(all["unreaped_estimate"][name].is_i64(), "{all}");
    }
    // The default series: a day in steps of an hour.
    let plain = server.ask_well("GET", "/_ebb/expiry/series", "").await;
    assert_eq!((&plain["step_seconds"], documents(&plain).len()), (&json!(3_600), 24));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_and_collections_of_both_apis_are_listed() {
    let server = Server::new(&Config::for_tests()).await;
    assert_eq!(server.ask_well("GET", "/_ebb/databases", "").await, json!({ "databases": [] }));
    insert(&server, &[doc! { "_id": 1, "ttl": 5 }, doc! { "_id": 2 }]).await;
    turn_on_ttl(&server, 60).await;
    let create = json!({ "id": "empty" }).to_string();
    let created = server.ask_admin("POST", "/_portal/api/nosql/dbs", &create).await;
    assert_eq!(created.status, 201, "{created:?}");
    let all = server.ask_well("GET", "/_ebb/databases", "").await;
    let wanted = json!([
        { "api": "mongo", "database": "db", "collections": ["c"] },
        { "api": "nosql", "database": "empty", "collections": [] },
    ]);
    assert_eq!(all["databases"], wanted);
    let path = "/_ebb/collections?database=db";
    for path in ["/_ebb/collections", path] {
        let found = server.ask_well("GET", path, "").await;
        let [one] = found["collections"].as_array().unwrap().as_slice() else { panic!("{found}") };
        for (name, want) in
            [("api", json!("mongo")), ("collection", json!("c")), ("default", json!(60))]
        {
            assert_eq!(one[name], want, "{one}");
        }
        assert_eq!((&one["live"]["documents"], &one["exact"]), (&json!(2), &json!(true)));
    }
    let of_other = server.ask_well("GET", "/_ebb/collections?database=empty", "").await;
    assert_eq!(of_other, json!({ "collections": [] }));
    assert_eq!(server.ask_admin("GET", "/_ebb/collections?databases=x", "").await.status, 400);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_operations_of_both_apis_are_told_with_what_they_asked() {
    let all = Limits { slow_ms: Some(0), ..Limits::default() };
    let server = Server::new(&Config { limits: all, ..Config::for_tests() }).await;
    insert(&server, &[doc! { "_id": 1, "secret": "planted" }]).await;
    let find = doc! { "find": "c", "filter": doc! { "_id": doc! { "$gt": 0 } }, "$db": "db" };
    server.run_command(find).await;
    let dbs = "/_portal/api/nosql/dbs";
    for (path, body) in [(dbs, r#"{"id":"d"}"#), (&format!("{dbs}/d/colls"), CONTAINER)] {
        let made = server.ask_admin("POST", path, body).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    let body =
        r#"{"query":"SELECT * FROM c WHERE c.n = @n","parameters":[{"name":"@n","value":1}]}"#;
    let query = [
        ("content-type", "application/query+json"),
        ("x-ms-documentdb-isquery", "true"),
        ("x-ms-documentdb-query-enablecrosspartition", "true"),
    ];
    let path = format!("{dbs}/d/colls/c/docs");
    let answer = server.ask_admin_with("POST", &path, &query, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let told = server.ask_well("GET", "/_ebb/slow", "").await;
    assert_eq!(told["threshold_ms"], 0);
    let of = |api: &str, operation: &str| {
        let all = told["operations"].as_array().unwrap().iter();
        let mut found = all.filter(|it| it["api"] == api && it["operation"] == operation);
        found.next().unwrap_or_else(|| panic!("{api} {operation}: {told}"))
    };
    let (find, insert, sql) = (of("mongo", "find"), of("mongo", "insert"), of("nosql", "query"));
    assert_eq!(find["query"], "{ find: \"c\", filter: { _id: { $gt: 0 } } }");
    assert_eq!((&find["database"], &find["collection"]), (&json!("db"), &json!("c")));
    assert_eq!(
        (&find["examined"], &find["returned"], &find["failed"]),
        (&json!(1), &json!(1), &json!(false))
    );
    assert_eq!((&insert["query"], &sql["query"]), (&Value::Null, &json!(body)));
    assert!(!told.to_string().contains("planted"), "documents are not told: {told}");
    server.stop().await;
    let off = Limits { slow_ms: None, ..Limits::default() };
    let server = Server::new(&Config { limits: off, ..Config::for_tests() }).await;
    let none = json!({ "threshold_ms": null, "operations": [] });
    assert_eq!(server.ask_well("GET", "/_ebb/slow", "").await, none);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_series_is_refused() {
    let server = Server::new(&Config::for_tests()).await;
    insert(&server, &[doc! { "_id": 1 }]).await;
    for (query, status) in [
        ("step=1&steps=400", 200),
        ("step=31536000&steps=1&door=mongo", 200),
        ("step=0&steps=1", 400),
        ("step=1&steps=0", 400),
        ("step=-1&steps=1", 400),
        ("step=31536001&steps=1", 400),
        ("step=1&steps=401", 400),
        ("step=1.5&steps=1", 400),
        ("step=a&steps=1", 400),
        ("step=99999999999999999999&steps=1", 400),
        ("step=1&steps=", 400),
    ] {
        for path in [format!("{OF}/series?{query}"), format!("/_ebb/expiry/series?{query}")] {
            let answer = server.ask_admin("GET", &path, "").await;
            assert_eq!(answer.status, status, "{path}: {answer:?}");
            let code = answer.json()["error"]["code"].clone();
            assert_eq!(code == "BadRequest", status == 400, "{path}: {answer:?}");
        }
    }
    let other = format!("{OF}/series?door=nosql");
    assert_eq!(server.ask_admin("GET", &other, "").await.status, 404);
    let missing = "/_ebb/databases/db/collections/none/expiry/series";
    assert_eq!(server.ask_admin("GET", missing, "").await.status, 404);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_expire_next_are_listed_in_pages() {
    let server = Server::new(&Config::for_tests()).await;
    let dbs = "/_portal/api/nosql/dbs";
    let container = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":-1}"#;
    for (path, body) in [(dbs, r#"{"id":"i"}"#), (&format!("{dbs}/i/colls"), container)] {
        let made = server.ask_admin("POST", path, body).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    let mut client = server.connect_nosql().await;
    for (id, ttl) in [("a", 30), ("b", 10), ("c", -1), ("d", 20)] {
        let item = json!({ "id": id, "pk": "p", "ttl": ttl }).to_string();
        let key = [("x-ms-documentdb-partitionkey", r#"["p"]"#)];
        let made = client.ask("POST", "/dbs/i/colls/c/docs", &key, &item).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    let path = "/_ebb/databases/i/collections/c/expiry/next";
    let first = server.ask_well("GET", &format!("{path}?limit=2"), "").await;
    let ids = |answer: &Value| -> Vec<String> {
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&first), ["b", "d"]);
    let after = first["after"].as_str().unwrap();
    let second = server.ask_well("GET", &format!("{path}?limit=2&after={after}"), "").await;
    assert_eq!(ids(&second), ["a"]);
    assert_eq!(second["after"], Value::Null);
    for wrong in ["limit=0", "limit=1001", "limit=x", "after=x", "after=1-0"] {
        let answer = server.ask_admin("GET", &format!("{path}?{wrong}"), "").await;
        assert_eq!(answer.status, 400, "{wrong}");
    }
    let missing = "/_ebb/databases/i/collections/none/expiry/next";
    assert_eq!(server.ask_admin("GET", missing, "").await.status, 404);
    server.stop().await;
}

const FEATURES: &str = "/_ebb/features";

fn features(on: bool, source: &str) -> Value {
    json!({
        "per_document_ttl": { "on": on, "source": source },
        "carry_timestamps": { "on": false },
    })
}

async fn switch(server: &Server, on: bool) {
    let body = json!({ "per_document_ttl": on }).to_string();
    assert_eq!(server.ask_well("PUT", FEATURES, &body).await, features(on, "stored"));
    assert_eq!(server.ask_well("GET", FEATURES, "").await, features(on, "stored"));
}

async fn update(server: &Server, id: i32) {
    let statement = doc! { "q": doc! { "_id": id }, "u": doc! { "$set": doc! { "v": 1 } } };
    server.run_command(doc! { "update": "c", "updates": array![statement], "$db": "db" }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ttl_means_nothing_in_what_is_written_while_it_is_switched_off() {
    let server = Server::new(&Config::for_tests()).await;
    turn_on_ttl(&server, -1).await;
    insert(&server, &[1, 2].map(|id| doc! { "_id": id, "ttl": 10 })).await;
    switch(&server, false).await;
    // Documents written before the switch was off keep their own time to live; documents written
    // now have none.
    insert(&server, &[doc! { "_id": 3, "ttl": 10 }]).await;
    update(&server, 2).await;
    let ask = doc! { "ebbExpiry": "c", "ids": array![1, 2, 3], "$db": "db" };
    let fates = server.run_command(ask).await;
    let Some(Bson::Array(fates)) = fates.get("documents") else { panic!("{fates:?}") };
    let class = |fate: &Bson| fate.as_ref().as_document().unwrap().get("class").unwrap().to_value();
    let classes: Vec<_> = fates.iter().map(class).collect();
    assert_eq!(classes, ["explicit", "inherit", "inherit"].map(Bson::from));
    server.move_forward(9.0).await;
    switch(&server, true).await;
    insert(&server, &[doc! { "_id": 4, "ttl": 5 }]).await;
    assert_eq!(ids(&server).await, [1, 2, 3, 4]);
    server.move_forward(1.0).await;
    assert_eq!(ids(&server).await, [2, 3, 4]);
    // Turning the switch on again affects only later writes.
    update(&server, 3).await;
    server.move_forward(4.0).await;
    assert_eq!(ids(&server).await, [2, 3]);
    server.move_forward(6.0).await;
    assert_eq!(ids(&server).await, [2]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_goes_on_while_the_ttl_of_documents_is_off() {
    let server = Server::new(&Config::for_tests()).await;
    turn_on_ttl(&server, 10).await;
    switch(&server, false).await;
    insert(&server, &[doc! { "_id": 1, "ttl": 5 }, doc! { "_id": 2, "ttl": -1 }]).await;
    server.move_forward(9.0).await;
    assert_eq!(ids(&server).await, [1, 2]);
    server.move_forward(1.0).await;
    assert_eq!(ids(&server).await, [0; 0]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_holds_after_a_restart_unless_a_flag_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_keeping(folder.path(), None).await;
    assert_eq!(server.ask_well("GET", FEATURES, "").await, features(true, "default"));
    switch(&server, false).await;
    server.stop().await;
    for (flag, on, source) in
        [(None, false, "stored"), (Some(true), true, "flag"), (Some(false), false, "flag")]
    {
        let server = Server::start_keeping(folder.path(), flag).await;
        assert_eq!(server.ask_well("GET", FEATURES, "").await, features(on, source), "{flag:?}");
        server.run_command(doc! { "drop": "c", "$db": "db" }).await;
        turn_on_ttl(&server, -1).await;
        insert(&server, &[doc! { "_id": 1, "ttl": 1 }]).await;
        server.move_forward(1.0).await;
        assert_eq!(ids(&server).await.is_empty(), on, "{flag:?}");
        server.stop().await;
    }
    // A switch overridden by a flag can still be changed for this run, and is stored for runs
    // without the flag.
    let server = Server::start_keeping(folder.path(), Some(false)).await;
    switch(&server, true).await;
    server.stop().await;
    let server = Server::start_keeping(folder.path(), None).await;
    assert_eq!(server.ask_well("GET", FEATURES, "").await, features(true, "stored"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seconds_are_carried_while_that_is_switched_on_and_not_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_keeping(folder.path(), None).await;
    let carries = |features: &Value| features["carry_timestamps"]["on"].as_bool().unwrap();
    assert!(!carries(&server.ask_well("GET", FEATURES, "").await));
    let insert = |id: i32| doc! { "insert": "c", "documents": array![doc! { "_id": id, "_ts": 1 }], "$db": "db" };
    let refused = server.run_command(insert(1)).await;
    assert!(refused.get("writeErrors").is_some(), "{refused:?}");
    for (id, on) in [(2, true), (3, false), (4, true)] {
        let body = json!({ "carry_timestamps": on }).to_string();
        assert_eq!(carries(&server.ask_well("PUT", FEATURES, &body).await), on);
        assert_eq!(carries(&server.ask_well("GET", FEATURES, "").await), on);
        assert_eq!(server.run_command(insert(id)).await.get("writeErrors").is_none(), on, "{id}");
    }
    assert_eq!(ids(&server).await, [2, 4]);
    // The documents are older than the time to live, so they expire once it is set.
    turn_on_ttl(&server, 1000).await;
    assert_eq!(ids(&server).await, [0; 0]);
    server.stop().await;
    let server = Server::start_keeping(folder.path(), None).await;
    assert!(!carries(&server.ask_well("GET", FEATURES, "").await));
    // Both switches are changed in one request.
    let body = json!({ "carry_timestamps": true, "per_document_ttl": false }).to_string();
    let turned = server.ask_well("PUT", FEATURES, &body).await;
    assert!(carries(&turned) && turned["per_document_ttl"]["on"] == false, "{turned}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_switches_that_there_are_can_be_turned() {
    let server = Server::new(&Config { mongo_addr: None, ..Config::for_tests() }).await;
    for body in [
        "",
        "{}",
        "[]",
        "{\"per_document_ttl\": \"off\"}",
        "{\"per_document_ttl\": null}",
        "{\"carry_timestamps\": 1}",
        "{\"carry_timestamps\": true, \"more\": true}",
        "{\"per_document_ttl\": true, \"more\": true}",
        "{\"per_document_ttl\": true, \"per_document_ttl\": false}",
    ] {
        let answer = server.ask_admin("PUT", FEATURES, body).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], "BadRequest", "{body}");
    }
    assert_eq!(server.ask_well("GET", FEATURES, "").await, features(true, "default"));
    // The switch can be changed even while the API that uses it is off.
    switch(&server, false).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn which_paths_of_a_container_are_indexed_and_why() {
    let server = Server::new(&Config { index_unused_days: Some(30), ..Config::for_tests() }).await;
    let dbs = "/_portal/api/nosql/dbs";
    let made = server.ask_admin("POST", dbs, r#"{"id":"d"}"#).await;
    assert_eq!(made.status, 201, "{made:?}");
    let container = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
        "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]},
        "indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/a/[]/?"}],
        "compositeIndexes":[[{"path":"/x"},{"path":"/y","order":"descending"}]]}}"#;
    let made = server.ask_admin("POST", &format!("{dbs}/d/colls"), container).await;
    assert_eq!(made.status, 201, "{made:?}");
    let shown = server.ask_well("GET", "/_ebb/databases/d/collections/c/indexes", "").await;
    assert_eq!(shown["progress"], 100);
    assert_eq!(shown["unused_days"], 30);
    assert_eq!(shown["included"], json!(["/*", "/a/[]/?"]));
    assert_eq!(shown["excluded"], json!(["/_etag/?"]));
    let kept: Vec<_> = shown["kept"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kept| {
            assert_eq!((&kept["state"], &kept["uses"]), (&json!("ready"), &json!(0)));
            (kept["why"].as_str().unwrap(), kept["paths"].to_string())
        })
        .collect();
    assert_eq!(
        kept,
        [
            ("composite", r#"["/x ASC","/y DESC"]"#.to_owned()),
            ("unique", r#"["/u"]"#.to_owned()),
            ("named", r#"["/a/[]/?"]"#.to_owned()),
        ]
    );
    insert(&server, &[doc! { "_id": 1 }]).await;
    for (path, status) in [("db/collections/c", 400), ("d/collections/none", 404)] {
        let path = format!("/_ebb/databases/{path}/indexes");
        assert_eq!(server.ask_admin("GET", &path, "").await.status, status, "{path}");
    }
    server.stop().await;
}
