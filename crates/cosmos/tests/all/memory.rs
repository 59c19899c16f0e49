//! Requests that need too much memory are refused with the documented error, their memory is
//! released, and the next request succeeds.

use memory::Account;

use crate::client::{Client, PARTITION};

const DOCS: &str = "/dbs/d/colls/c/docs";
const QUERY: (&str, &str) = ("content-type", "application/query+json");
const MB: usize = 1 << 20;

/// Returns a client of an API with this much memory for requests, and one item with a long string
/// and a long array, from which queries can compute huge results.
async fn client(bytes: usize) -> (Client, Account) {
    let account = Account::new(bytes);
    let mut client = Client::with_memory(account.clone()).await;
    let list: Vec<String> = (0..1000).map(|at| at.to_string()).collect();
    let item = format!(
        r#"{{"id":"1","pk":"a","s":"{}","a":[{}]}}"#,
        "x".repeat(1_000_000),
        list.join(",")
    );
    let made = client.ask("POST", DOCS, &[PARTITION], &item).await;
    assert_eq!(made.status, 201, "{made:?}");
    (client, account)
}

#[tokio::test]
async fn what_takes_too_much_is_refused_and_given_back() {
    let many = vec!["c.s"; 1000].join(",");
    for (bytes, wanted) in [(1024 * MB, &[400_u16][..]), (24 * MB, &[400, 503])] {
        let (mut client, account) = client(bytes).await;
        let mut short = 0;
        for query in [
            "SELECT VALUE ARRAY(SELECT VALUE c.s FROM x IN c.a) FROM c".to_owned(),
            format!("SELECT VALUE [{many}] FROM c"),
            format!("SELECT * FROM c WHERE IS_ARRAY([{many}])"),
            format!("SELECT COUNT(1) FROM c GROUP BY [{many}]"),
            "SELECT VALUE MAKELIST(c.s) FROM c JOIN x IN c.a".to_owned(),
        ] {
            let body = format!(r#"{{"query":"{query}"}}"#);
            let answer = client.ask("POST", DOCS, &[PARTITION, QUERY], &body).await;
            assert!(wanted.contains(&answer.status), "{query:.60}: {}", answer.body);
            if answer.status == 503 {
                assert!(answer.header("x-ms-retry-after-ms").is_some(), "{answer:?}");
                short += 1;
            }
            // Memory of the previous response stays reserved until the connection has sent it,
            // which is before the next response.
            let read = client.ask("GET", "/dbs/d/colls/c/docs/1", &[PARTITION], "").await;
            assert_eq!(read.status, 200);
            assert!(account.used_bytes() < 2 * MB, "{query:.60}: {}", account.used_bytes());
        }
        assert_eq!(short > 0, bytes < 1024 * MB);
        assert!(account.peak_bytes() < 400 * MB, "{}", account.peak_bytes());
    }
}

#[tokio::test]
async fn a_head_that_never_ends_is_cut_off() {
    let (mut client, _) = client(MB * 64).await;
    let mut stranger = client.beside().await;
    let part = format!("GET /dbs HTTP/1.1\r\nhost: x\r\nx: {}", "y".repeat(300_000));
    stranger.begin_raw(part.as_bytes()).await;
    assert!(stranger.answer().await.is_none_or(|answer| answer.status != 200));
    // A long request head is accepted if it is complete.
    let long = format!("{}\r\n", "y".repeat(70_000));
    let answer = client.ask("GET", "/dbs", &[("x", long.trim())], "").await;
    assert_eq!(answer.status, 200);
}
