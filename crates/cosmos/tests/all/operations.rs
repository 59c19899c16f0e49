//! The operation of every request: each method on each kind of path, with each combination of
//! relevant headers. `operations.txt` contains the expected outcomes; with `EBB_UPDATE=1` the test
//! writes this file.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc};

use auth::Right;
use cosmos::NoSqlApi;
use document::json;
use http_body_util::BodyExt;

use crate::{
    client::{Client, PARTITION},
    relay::request,
};

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The paths of the requests. If a request could change the resource of a path, that resource does
/// not exist, so that all requests see the same state.
const PATHS: [&str; 39] = [
    "/",
    "/_explorer/emulator.pem",
    "/nowhere",
    "//addresses",
    "/dbs",
    "/dbs/none",
    "/dbs/d/colls",
    "/dbs/d/colls/none",
    "/dbs/none/colls",
    "/dbs/d/colls/c/docs",
    "/dbs/d/colls/c/docs/none",
    "/dbs/d/colls/none/docs",
    "/dbs/d/colls/none/docs/none",
    "/dbs/none/colls/none/docs",
    "/dbs/d/colls/c/pkranges",
    "/dbs/d/colls/c/pkranges/0",
    "/dbs/d/colls/none/pkranges",
    "/dbs/d/colls/c/sprocs",
    "/dbs/d/colls/c/sprocs/none",
    "/dbs/d/colls/c/triggers",
    "/dbs/d/colls/c/triggers/none",
    "/dbs/d/colls/c/udfs",
    "/dbs/d/colls/c/udfs/none",
    "/dbs/d/colls/none/udfs",
    "/dbs/d/colls/c/conflicts",
    "/dbs/d/colls/c/conflicts/none",
    "/dbs/d/colls/c/operations/partitionkeydelete",
    "/dbs/d/users",
    "/dbs/d/users/none",
    "/dbs/none/users",
    "/dbs/d/users/u/permissions",
    "/dbs/d/users/u/permissions/none",
    "/dbs/d/users/none/permissions",
    "/dbs/d/clientencryptionkeys",
    "/dbs/d/clientencryptionkeys/none",
    "/dbs/none/clientencryptionkeys",
    "/offers",
    "/offers/none",
    "/offers/AAAAAQ==",
];

/// Paths of existing resources, to which only GET and HEAD are sent.
const READ_PATHS: [&str; 3] = ["/dbs/d", "/dbs/d/colls/c", "/dbs/d/users/u"];

/// The headers on which the operation depends, each with the letter that denotes it in
/// `operations.txt`.
const HEADERS: [(char, &str, &str); 6] = [
    ('q', "x-ms-documentdb-isquery", "True"),
    ('c', "content-type", "application/query+json"),
    ('p', "x-ms-cosmos-is-query-plan-request", "True"),
    ('b', "x-ms-cosmos-is-batch-request", "True"),
    ('u', "x-ms-documentdb-is-upsert", "True"),
    ('i', "a-im", "Incremental Feed"),
];

/// Returns the letters of the headers in a combination.
fn letters(combination: usize) -> String {
    let held = HEADERS.iter().enumerate().filter(|(at, _)| combination >> at & 1 == 1);
    let text: String = held.map(|(_, (letter, ..))| *letter).collect();
    if text.is_empty() { "-".to_owned() } else { text }
}

fn counts(api: &NoSqlApi) -> BTreeMap<&'static str, u64> {
    api.latencies().into_iter().map(|(name, times)| (name, times.measurement_count())).collect()
}

/// Returns the outcome of a request without the parts that differ between runs.
async fn outcome(
    api: &Arc<NoSqlApi>,
    right: Right,
    (method, path): (&str, &str),
    combination: usize,
) -> String {
    let held = HEADERS.iter().enumerate().filter(|(at, _)| combination >> at & 1 == 1);
    let mut headers: Vec<(&str, &str)> = held.map(|(_, (_, name, text))| (*name, *text)).collect();
    headers.push(PARTITION);
    let before = counts(api);
    let response = api.relay(right, request(method, path, &headers, "{}")).await;
    let after = counts(api);
    let measured = after.into_iter().find(|(name, count)| before.get(name) != Some(count));
    let header = |name: &str| {
        let value = response.headers().get(name);
        value.map_or("-", |value| value.to_str().unwrap()).to_owned()
    };
    let (status, owner) = (response.status().as_u16(), header("x-ms-alt-content-path"));
    let (charge, range) =
        (header("x-ms-request-charge"), header("x-ms-documentdb-partitionkeyrangeid"));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = match json::parse_document(&body, 128) {
        Ok(fields) if status < 400 => {
            fields.fields().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
        }
        Ok(fields) => {
            let message = json::to_string(fields.get("message").unwrap().as_ref());
            message.split("\\r\\n").next().unwrap().replace("\\\"", "'").replace('\\', "")
        }
        Err(_) => format!("{} bytes", body.len().min(1)),
    };
    let measured = measured.map_or("-", |(name, _)| name);
    format!("{status} | {measured} | owner {owner} | range {range} | {charge} RU | {text}")
}

async fn world() -> Client {
    let mut client = Client::with_container("").await;
    assert_eq!(client.ask("POST", "/dbs/d/users", &[], r#"{"id":"u"}"#).await.status, 201);
    client
}

#[tokio::test]
async fn every_request_is_taken_for_what_the_table_says() {
    let mut client = world().await;
    let before = client.everything().await;
    let api = client.api.upgrade().unwrap();
    let mut table = String::new();
    let all = PATHS.iter().flat_map(|path| METHODS.map(|method| (method, *path)));
    let read = READ_PATHS.iter().flat_map(|path| ["GET", "HEAD"].map(|method| (method, *path)));
    for (method, path) in all.chain(read) {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let every = 1_usize << HEADERS.len();
        // For methods other than GET and POST, whose operation does not depend on headers, it
        // suffices to test each header alone and all headers together.
        let few = |combination: &usize| combination.count_ones() < 2 || combination + 1 == every;
        let full = matches!(method, "GET" | "POST");
        for combination in (0..every).filter(|combination| full || few(combination)) {
            let about = (method, path);
            let mut seen = outcome(&api, Right::Write, about, combination).await;
            let reader = outcome(&api, Right::Read, about, combination).await;
            if reader != seen {
                seen = format!("{seen}\n    key that only reads: {reader}");
            }
            found.entry(seen).or_default().push(letters(combination));
        }
        let one = found.len() == 1;
        for (seen, combinations) in found {
            let headers = if one { "any".to_owned() } else { combinations.join(" ") };
            table.push_str(&format!("{method} {path} [{headers}]\n    {seen}\n"));
        }
    }
    drop(api);
    assert_eq!(client.everything().await, before, "a request of the table changed something");
    let file = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
        .join("tests/all/operations.txt");
    if std::env::var_os("EBB_UPDATE").is_some() {
        fs::write(&file, &table).unwrap();
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    for (want, found) in written.lines().zip(table.lines()) {
        assert_eq!(found, want);
    }
    assert_eq!(written.lines().count(), table.lines().count());
}
