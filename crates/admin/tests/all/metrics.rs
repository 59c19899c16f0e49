//! The metrics of a server and the pages that use their names: all exist, and all are documented.

use std::collections::BTreeSet;

use server::start;
use server_base::config::Config;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Encodes `{ping: 1, $db: "admin"}` as a message.
fn ping() -> Vec<u8> {
    let mut body = b"\x10ping\0\x01\0\0\0\x02$db\0\x06\0\0\0admin\0\0".to_vec();
    let len = u32::try_from(body.len() + 4).unwrap();
    body.splice(..0, len.to_le_bytes());
    let mut message = (len + 21).to_le_bytes().to_vec();
    for number in [1_u32, 0, 2013, 0] {
        message.extend_from_slice(&number.to_le_bytes());
    }
    message.push(0);
    message.extend_from_slice(&body);
    message
}

async fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn every_promised_name_is_there_and_counts() {
    let directory = tempfile::tempdir().unwrap();
    let config = Config { data_dir: Some(directory.path().join("data")), ..Config::for_tests() };
    let running = start(&config).await.unwrap();
    let mut client = TcpStream::connect(running.mongo().unwrap()).await.unwrap();
    client.write_all(&ping()).await.unwrap();
    let mut head = [0; 16];
    client.read_exact(&mut head).await.unwrap();
    let listed = get(running.admin().unwrap(), "/_portal/api/nosql/dbs").await;
    assert!(listed.starts_with("HTTP/1.1 200"), "{listed}");
    let text = get(running.admin().unwrap(), "/metrics").await;
    for line in [
        "ebb_ttl_purge_backlog 0",
        "ebb_ttl_purge_lag_seconds 0",
        "ebb_clock_offset_seconds ",
        "ebb_memory_limit_bytes ",
        "ebb_memory_operations_limit_bytes ",
        "ebb_memory_operations_bytes 0",
        "ebb_memory_operations_withheld_bytes 0",
        "ebb_memory_operations_peak_bytes ",
        "ebb_memory_resident_bytes ",
        "ebb_memory_refused_total 0",
        "# TYPE ebb_fsync_seconds histogram",
        "ebb_fsync_seconds_bucket{le=\"+Inf\"}",
        "# TYPE ebb_group_commit_size histogram",
        "ebb_group_commit_size_bucket{le=\"1.0\"}",
        "# TYPE ebb_operation_seconds histogram",
        "ebb_operation_seconds_count{protocol=\"mongodb\",command=\"ping\"} 1",
        "ebb_operation_seconds_count{protocol=\"nosql\",command=\"database\"} 1",
        "ebb_operation_seconds_bucket{le=\"+Inf\",protocol=\"mongodb\",command=\"ping\"} 1",
    ] {
        assert!(text.lines().any(|held| held.starts_with(line)), "{line}\n{text}");
    }
    let names = names_of(&text);
    let metrics = include_str!("../../../../docs/metrics.md");
    let documented = named_in(metrics);
    let of_nodes = |name: &&String| name.starts_with("ebb_cluster_");
    let undocumented: Vec<_> = names.iter().filter(|name| !documented.contains(*name)).collect();
    assert!(undocumented.is_empty(), "not in docs/metrics.md: {undocumented:?}");
    let promised = documented.iter().filter(|name| !of_nodes(name));
    let missing: Vec<_> = promised.filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "in docs/metrics.md alone: {missing:?}");
    for (page, text) in [
        ("dashboard", include_str!("../../../../deploy/grafana-dashboard.json")),
        ("alerts", include_str!("../../../../deploy/prometheus-alerts.yml")),
    ] {
        let used = named_in(text);
        assert!(5 < used.len(), "{page}: {used:?}");
        // Queries name the series of a histogram, whose names have a suffix that the documentation
        // lacks.
        let of_histogram = |name: &str| {
            let part = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            part.is_some_and(|whole| documented.contains(whole))
        };
        let unknown: Vec<_> =
            used.iter().filter(|name| !documented.contains(*name) && !of_histogram(name)).collect();
        assert!(unknown.is_empty(), "{page} uses metrics that there are not: {unknown:?}");
    }
    let dashboard: serde_json::Value =
        serde_json::from_str(include_str!("../../../../deploy/grafana-dashboard.json")).unwrap();
    assert!(5 < dashboard["panels"].as_array().unwrap().len());
    running.stop().await.unwrap();
}

/// Returns the metrics in a response, by the names that queries use.
fn names_of(text: &str) -> BTreeSet<String> {
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let name = |line: &str| {
        let (name, kind) = line.split_once(' ').unwrap();
        let end = match kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        format!("{name}{end}")
    };
    kinds.map(name).collect()
}

/// Returns the names of metrics in a text.
fn named_in(text: &str) -> BTreeSet<String> {
    let is_part =
        |letter: char| letter.is_ascii_lowercase() || letter == '_' || letter.is_ascii_digit();
    let words = text.split(|letter| !is_part(letter));
    words.filter(|word| word.starts_with("ebb_")).map(str::to_owned).collect()
}
