//! The explorer's pages at both addresses, tested over sockets.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::json;
use server_base::config::Config;
use tempfile::TempDir;
use test_server::{Answer, Server, send_request};

/// Creates a directory of pages, next to a file outside of it.
fn pages() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    let pages = folder.path().join("pages");
    fs::create_dir_all(pages.join("sub/empty")).unwrap();
    for (name, text) in [
        ("explorer.html", "<p>explorer</p>"),
        ("sub/index.html", "<p>sub</p>"),
        ("main.js", "run()"),
        ("a b.css", "p {}"),
        ("emulator.pem", "not the certificate"),
    ] {
        fs::write(pages.join(name), text).unwrap();
    }
    symlink("../secret.txt", pages.join("out.txt")).unwrap();
    symlink("..", pages.join("up")).unwrap();
    symlink("main.js", pages.join("same.js")).unwrap();
    folder
}

async fn serving(folder: &Path) -> Server {
    let explorer_dir = Some(folder.join("pages"));
    let cosmos_hosts = vec!["box.example".to_owned()];
    Server::new(&Config { explorer_dir, cosmos_hosts, ..Config::for_tests() }).await
}

fn addresses(server: &Server) -> [String; 2] {
    [server.0.admin().unwrap().to_owned(), server.0.cosmos().unwrap().to_owned()]
}

async fn get(address: &str, path: &str) -> Answer {
    send_request(address, "GET", path, &[], "").await
}

fn port(address: &str) -> &str {
    address.rsplit_once(':').unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_directory_and_no_others_are_served() {
    let folder = pages();
    let server = serving(folder.path()).await;
    for address in addresses(&server) {
        for (path, status, kind, body) in [
            ("/_explorer/", 200, "text/html", "<p>explorer</p>"),
            ("/_explorer/explorer.html?platform=Emulator", 200, "text/html", "<p>explorer</p>"),
            ("/_explorer/sub/", 200, "text/html", "<p>sub</p>"),
            ("/_explorer/main.js", 200, "text/javascript", "run()"),
            ("/_explorer/a%20b.css", 200, "text/css", "p {}"),
            ("/_explorer/same.js", 200, "text/javascript", "run()"),
            ("/_explorer/none.js", 404, "text/plain", "page not found\n"),
            ("/_explorer/sub/empty/", 404, "text/plain", "page not found\n"),
            // No path leads outside, however it is encoded.
            ("/_explorer/../secret.txt", 404, "", ""),
            ("/_explorer/%2e%2e/secret.txt", 404, "", ""),
            ("/_explorer/..%2fsecret.txt", 404, "", ""),
            ("/_explorer/sub/%2e%2e/main.js", 404, "", ""),
            ("/_explorer/%2fetc/passwd", 404, "", ""),
            ("/_explorer//etc/passwd", 404, "", ""),
            ("/_explorer/..%5csecret.txt", 404, "", ""),
            ("/_explorer/main.js%00", 404, "", ""),
            ("/_explorer/%ff", 404, "", ""),
            ("/_explorer/out.txt", 404, "", ""),
            ("/_explorer/up/secret.txt", 404, "", ""),
            ("/_explorer/up/", 404, "", ""),
        ] {
            let answer = get(&address, path).await;
            assert_eq!(answer.status, status, "{path}: {answer:?}");
            let got = answer.header("content-type").unwrap_or_default();
            assert!(got.starts_with(kind), "{path}: {answer:?}");
            assert!(body.is_empty() || answer.body == body, "{path}: {answer:?}");
            assert!(!answer.body.contains("secret"), "{path}: {answer:?}");
        }
        let slash = get(&address, "/_explorer").await;
        assert_eq!((slash.status, slash.header("location")), (302, Some("/_explorer/")));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_others_has_a_policy_of_its_own() {
    let folder = pages();
    let server = serving(folder.path()).await;
    for address in addresses(&server) {
        let page = get(&address, "/_explorer/").await;
        let policy = page.header("content-security-policy").unwrap();
        for part in ["'unsafe-inline'", "frame-ancestors 'none'", "connect-src 'self' https://"] {
            assert!(policy.contains(part), "{policy}");
        }
        for (name, want) in [
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(page.header(name), Some(want), "{page:?}");
        }
        let since = page.header("last-modified").unwrap();
        let again =
            send_request(&address, "GET", "/_explorer/", &[("if-modified-since", since)], "").await;
        assert_eq!((again.status, again.body.as_str()), (304, ""));
        let part =
            send_request(&address, "GET", "/_explorer/main.js", &[("range", "bytes=0-2")], "")
                .await;
        assert_eq!((part.status, part.body.as_str()), (206, "run"));
        let head = send_request(&address, "HEAD", "/_explorer/main.js", &[], "").await;
        assert_eq!((head.status, head.body.as_str()), (200, ""));
        let put = send_request(&address, "PUT", "/_explorer/main.js", &[], "x").await;
        assert_eq!(put.status, 405);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn its_settings_name_the_door_as_the_browser_reaches_it() {
    let folder = pages();
    let server = serving(folder.path()).await;
    let [admin, nosql] = addresses(&server);
    let door = port(&nosql);
    for (address, host, endpoint) in [
        (&admin, "localhost:9".to_owned(), format!("https://localhost:{door}")),
        (&admin, "[::1]:9".to_owned(), format!("https://[::1]:{door}")),
        (&nosql, format!("box.example:{door}"), format!("https://box.example:{door}")),
        // The API is published on another port than it listens on.
        (&nosql, "box.example".to_owned(), "https://box.example".to_owned()),
    ] {
        for path in ["/config.json", "/_explorer/config.json"] {
            let answer = send_request(address, "GET", path, &[("host", &host)], "").await;
            assert_eq!((answer.status, answer.header("content-type")), {
                (200, Some("application/json"))
            });
            let want = json!({
                "BACKEND_ENDPOINT": endpoint,
                "MONGO_BACKEND_ENDPOINT": endpoint,
                "PROXY_PATH": "/",
                "EMULATOR_ENDPOINT": endpoint,
            });
            assert_eq!(answer.json(), want, "{host}");
        }
    }
    for host in ["a;b:1", "a b", "a'b", "u@b", "<b>", "a,b"] {
        let answer = send_request(&nosql, "GET", "/config.json", &[("host", host)], "").await;
        assert_eq!(answer.status, 421, "{host}: {answer:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_directory_it_leads_to_the_portal() {
    let server = Server::new(&Config::for_tests()).await;
    let [admin, nosql] = addresses(&server);
    let portal = format!("http://localhost:{}/", port(&admin));
    for path in ["/_explorer", "/_explorer/", "/_explorer/index.html"] {
        for (address, want) in [(&admin, "/"), (&nosql, portal.as_str())] {
            let answer = send_request(address, "GET", path, &[("host", "localhost:1")], "").await;
            assert_eq!((answer.status, answer.header("location")), (302, Some(want)), "{path}");
        }
    }
    for address in [&admin, &nosql] {
        assert_eq!(get(address, "/_explorer/main.js").await.status, 404);
        assert_eq!(get(address, "/config.json").await.status, 404);
    }
    server.stop().await;
    let server = Server::new(&Config { admin_addr: None, ..Config::for_tests() }).await;
    let answer = get(server.0.cosmos().unwrap(), "/_explorer/").await;
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("--admin-addr"), "{answer:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_certificate_of_the_door_stays_where_it_is() {
    let folder = pages();
    for config in [
        Config::for_tests(),
        Config { explorer_dir: Some(folder.path().join("pages")), ..Config::for_tests() },
    ] {
        let server = Server::new(&config).await;
        let answer = get(server.0.cosmos().unwrap(), "/_explorer/emulator.pem").await;
        assert_eq!(answer.status, 200);
        assert!(answer.body.starts_with("-----BEGIN CERTIFICATE-----"), "{answer:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_refused() {
    let folder = pages();
    for name in ["none", "secret.txt"] {
        let explorer_dir = Some(folder.path().join(name));
        let config = Config { explorer_dir, ..Config::for_tests() };
        let refused = server::start(&config).await.unwrap_err().to_string();
        assert!(refused.contains("--explorer-dir"), "{refused}");
    }
}
