//! Every route of the admin address, with its effect and the required authorization, checked
//! against the servers' responses. A route without an entry here fails the test.

use server_base::config::Config;
use test_server::{Server, send_request};

use super::access::{READER, WRITER, with_keys};

/// Effect of requests to a route, with any arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Public,
    Reads,
    /// Passes the request to an API, which authorizes it. The route itself changes nothing,
    /// although its method may be one for changes.
    Asks,
    /// Changes something or occupies a shared resource: requires a read-write key, and rejects
    /// requests from pages of other sites.
    Acts,
    /// Logs in or out: requires the token of a page.
    Logs,
}

use Effect::{Acts, Asks, Logs, Public, Reads};

/// First argument of `route` in the sources, a path for that route, and its methods.
type Entry = (&'static str, &'static str, &'static [(&'static str, Effect)]);

const READ: &[(&str, Effect)] = &[("GET", Reads), ("HEAD", Reads)];
const SHOW: &[(&str, Effect)] = &[("GET", Public), ("HEAD", Public)];
const DO: &[(&str, Effect)] = &[("POST", Acts)];
/// The methods with which each route is called.
const ANY: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/// Routes that forward any method; the API decides.
const RELAY: &[(&str, Effect)] = &[
    ("GET", Reads),
    ("HEAD", Reads),
    ("POST", Asks),
    ("PUT", Asks),
    ("PATCH", Asks),
    ("DELETE", Asks),
];
/// A standalone server returns 404; the node's routes are below.
const NODE: &[(&str, Effect)] = &[
    ("GET", Reads),
    ("HEAD", Reads),
    ("POST", Acts),
    ("PUT", Acts),
    ("PATCH", Acts),
    ("DELETE", Acts),
];

const SERVER: &[Entry] = &[
    (r#""/livez""#, "/livez", SHOW),
    (r#""/alive""#, "/alive", SHOW),
    (r#""/readyz""#, "/readyz", SHOW),
    (r#""/ready""#, "/ready", SHOW),
    (r#""/status""#, "/status", SHOW),
    (r#""/metrics""#, "/metrics", SHOW),
    (r#""/_ebb/clock""#, "/_ebb/clock", &[("GET", Reads), ("HEAD", Reads), ("POST", Acts)]),
    (r#""/_ebb/clock/accept""#, "/_ebb/clock/accept", DO),
    (r#""/_ebb/databases""#, "/_ebb/databases", READ),
    (r#""/_ebb/collections""#, "/_ebb/collections", READ),
    (r#"&format!("{collection}/expiry")"#, "/_ebb/databases/d/collections/c/expiry", READ),
    (
        r#"&format!("{collection}/expiry/preview")"#,
        "/_ebb/databases/d/collections/c/expiry/preview",
        &[("POST", Asks)],
    ),
    (
        r#"&format!("{collection}/expiry/series")"#,
        "/_ebb/databases/d/collections/c/expiry/series",
        READ,
    ),
    (
        r#"&format!("{collection}/expiry/next")"#,
        "/_ebb/databases/d/collections/c/expiry/next",
        READ,
    ),
    (r#"&format!("{collection}/indexes")"#, "/_ebb/databases/d/collections/c/indexes", READ),
    (r#""/_ebb/expiry/series""#, "/_ebb/expiry/series", READ),
    ("CONFIG", "/config.json", SHOW),
    ("PAGES", "/_explorer", SHOW),
    (r#"&format!("{PAGES}/")"#, "/_explorer/", SHOW),
    (r#"&format!("{PAGES}/{{*file}}")"#, "/_explorer/x.js", SHOW),
    (r#""/_ebb/quickstart""#, "/_ebb/quickstart", DO),
    (r#""/_ebb/users""#, "/_ebb/users", &[("GET", Reads), ("HEAD", Reads), ("POST", Acts)]),
    (r#""/_ebb/users/{database}/{user}""#, "/_ebb/users/d/u", &[("PUT", Acts), ("DELETE", Acts)]),
    // A GET, but it occupies the only backup permit, delays reaping and exports all data.
    ("::portal::BACKUP", "/_ebb/backup", &[("GET", Acts), ("HEAD", Acts)]),
    (r#""/_ebb/ttl""#, "/_ebb/ttl", READ),
    (r#""/_ebb/ttl/pause""#, "/_ebb/ttl/pause", DO),
    (r#""/_ebb/ttl/resume""#, "/_ebb/ttl/resume", DO),
    (r#""/_ebb/slow""#, "/_ebb/slow", READ),
    (r#""/_ebb/figures""#, "/_ebb/figures", READ),
    (r#""/_ebb/doctor""#, "/_ebb/doctor", READ),
    (r#""/_ebb/cluster""#, "/_ebb/cluster", NODE),
    (r#""/_ebb/cluster/{what}""#, "/_ebb/cluster/x", NODE),
    (r#""/_ebb/features""#, "/_ebb/features", &[("GET", Reads), ("HEAD", Reads), ("PUT", Acts)]),
];

const PORTAL: &[Entry] = &[
    (
        "gate::SESSION",
        "/_portal/api/session",
        &[("GET", Public), ("HEAD", Public), ("POST", Logs), ("DELETE", Logs)],
    ),
    ("NOSQL", "/_portal/api/nosql", RELAY),
    (r#"&format!("{NOSQL}/")"#, "/_portal/api/nosql/", RELAY),
    (r#"&format!("{NOSQL}/{{*link}}")"#, "/_portal/api/nosql/dbs", RELAY),
    (r#""/_portal/api/mongo/{database}""#, "/_portal/api/mongo/d", &[("POST", Asks)]),
];

/// Routes that a cluster node handles itself, with the same access control.
const NODE_ROUTES: &[&str] = &[
    r#""/livez" get"#,
    r#""/alive" get"#,
    r#""/readyz" get"#,
    r#""/ready" get"#,
    r#""/status" get"#,
    r#""/metrics" get"#,
    r#""/_ebb/cluster" get"#,
    r#""/_ebb/cluster/hand-over" post"#,
    r#""/_ebb/cluster/base" post"#,
];
const OPENING_ROUTES: &[&str] = &[
    r#""/livez" get"#,
    r#""/alive" get"#,
    r#""/readyz" get"#,
    r#""/ready" get"#,
    r#""/status" get"#,
    r#""/metrics" get"#,
];

/// Returns the arguments of each `route` call in a source file: the path, and the methods.
fn routes_in(source: &str) -> Vec<(String, String)> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let calls = code.split(".route(").skip(1).map(|call| {
        let mut depth = 1;
        let end = call.find(|it| {
            depth += i32::from(it == '(') - i32::from(it == ')');
            depth == 0
        });
        let arguments = call[..end.unwrap()].split_whitespace().collect::<Vec<_>>().join(" ");
        let (path, methods) = split_arguments(&arguments);
        let methods: Vec<&str> = ["get", "post", "put", "patch", "delete", "any"]
            .into_iter()
            .filter(|name| {
                methods.starts_with(&format!("{name}(")) || methods.contains(&format!(".{name}("))
            })
            .collect();
        (path, methods.join(" "))
    });
    calls.collect()
}

/// Splits at the first comma outside of parentheses.
fn split_arguments(arguments: &str) -> (String, String) {
    let mut depth = 0;
    let comma = arguments.find(|it| {
        depth += i32::from(it == '(') - i32::from(it == ')');
        depth == 0 && it == ','
    });
    let (path, methods) = arguments.split_at(comma.unwrap());
    let methods = methods.trim_start_matches(',').trim().trim_end_matches(',');
    (path.trim().to_owned(), methods.to_owned())
}

#[test]
fn every_route_is_listed() {
    for (source, entries) in [
        (include_str!("../../src/routes/mod.rs"), SERVER),
        (include_str!("../../../portal/src/mount.rs"), PORTAL),
    ] {
        let found: Vec<String> = routes_in(source).into_iter().map(|(path, _)| path).collect();
        let listed: Vec<&str> = entries.iter().map(|(path, ..)| *path).collect();
        assert_eq!(found, listed, "list the route here, with what it does and who may ask for it");
    }
    for (source, listed) in [
        (include_str!("../../../node/src/admin_routes.rs"), NODE_ROUTES),
        (include_str!("../../src/routes/opening.rs"), OPENING_ROUTES),
    ] {
        let found: Vec<String> = routes_in(source)
            .into_iter()
            .map(|(path, methods)| format!("{path} {methods}"))
            .collect();
        assert_eq!(found, listed, "a GET must have no effect; POST asks for a key that writes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_for_whom_its_entry_says() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path()).await;
    let address = server.0.admin().unwrap().to_owned();
    let bearer = |key: &str| format!("Bearer {key}");
    let (writer, reader) = (bearer(WRITER), bearer(READER));
    let strange = [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")];
    for (_, path, methods) in SERVER.iter().chain(PORTAL) {
        for method in ANY {
            let told = format!("{method} {path}");
            let ask = async |headers: &[(&str, &str)]| {
                let answer = send_request(&address, method, path, headers, "").await;
                (answer.status, answer)
            };
            let Some((_, effect)) = methods.iter().find(|(name, _)| name == method) else {
                let (status, answer) = ask(&[("authorization", &writer)]).await;
                assert!([404, 405].contains(&status), "{told} is not listed: {answer:?}");
                continue;
            };
            let (nobody, answer) = ask(&[]).await;
            match effect {
                Public => assert!(![401, 403, 405].contains(&nobody), "{told}: {answer:?}"),
                Logs => assert_eq!(nobody, 403, "{told}: {answer:?}"),
                Reads | Asks | Acts => assert_eq!(nobody, 401, "{told}: {answer:?}"),
            }
            let (reads, answer) = ask(&[("authorization", &reader)]).await;
            match effect {
                Acts => assert_eq!(reads, 403, "{told}: {answer:?}"),
                // For relayed requests the API decides, which refuses writes.
                Reads | Asks => assert_ne!(reads, 401, "{told}: {answer:?}"),
                Public | Logs => {}
            }
            let from_elsewhere = [&strange[..], &[("authorization", writer.as_str())]].concat();
            let (elsewhere, answer) = ask(&from_elsewhere).await;
            let may_act = *effect != Reads && !(*effect == Public && is_read(method));
            match may_act {
                true => {
                    assert_eq!(elsewhere, 403, "{told}: {answer:?}");
                    assert!(*method == "HEAD" || answer.body.contains("CrossSite"), "{told}");
                }
                false => assert_ne!(elsewhere, 403, "{told}: {answer:?}"),
            }
        }
    }
    server.stop().await;
}

fn is_read(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_for_programs_where_nobody_is_asked_for_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = Some(folder.path().join("data"));
    let server = Server::new(&Config { data_dir, ..Config::for_tests() }).await;
    let page = [("sec-fetch-site", "same-site"), ("x-ebb-client", "page")];
    for (headers, status) in [
        (&[][..], 403),
        (&[("cookie", "ebb_session=x")], 403),
        (&[("authorization", "Bearer x")], 403),
        (&[("origin", "http://evil.example"), ("x-ebb-client", "x")], 403),
        (&[("sec-fetch-site", "cross-site"), ("x-ebb-client", "x")], 403),
        (&page, 200),
        (&[("x-ebb-client", "x")], 200),
    ] {
        // The stream is binary, so only its head is requested.
        let request = send_request(server.0.admin().unwrap(), "HEAD", "/_ebb/backup", headers, "");
        let answer = request.await;
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
    server.stop().await;
}
