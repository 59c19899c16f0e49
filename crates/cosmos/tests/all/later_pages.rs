//! Later pages of queries that are evaluated completely: cached results never show outdated data
//! and do not change responses.

use memory::Account;

use crate::client::{Answer, Client, PARTITION};

const DOCS: &str = "/dbs/d/colls/c/docs";

/// Requests a page of a query.
async fn page(client: &mut Client, query: &str, token: Option<&str>) -> Answer {
    let mut headers = vec![
        ("content-type", "application/query+json"),
        ("x-ms-documentdb-isquery", "True"),
        ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ("x-ms-documentdb-populatequerymetrics", "True"),
        ("x-ms-max-item-count", "3"),
    ];
    headers.extend(token.map(|token| ("x-ms-continuation", token)));
    let answer = client.ask("POST", DOCS, &headers, &format!(r#"{{"query":"{query}"}}"#)).await;
    assert_eq!(answer.status, 200, "{query}: {answer:?}");
    answer
}

fn token(answer: &Answer) -> Option<String> {
    answer.header("x-ms-continuation").map(str::to_owned)
}

/// Returns everything that a client can observe of a query's pages. With `disturbed`, an item is
/// rewritten unchanged before each page, which invalidates the cached results.
async fn pages(client: &mut Client, query: &str, disturbed: bool) -> Vec<[String; 4]> {
    let (mut all, mut next) = (Vec::new(), None);
    loop {
        if disturbed {
            client.upsert(r#"{"id":"0","pk":"a","n":0,"m":0}"#).await;
        }
        let answer = page(client, query, next.as_deref()).await;
        next = token(&answer);
        let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        all.push([
            answer.body.clone(),
            next.clone().unwrap_or_default(),
            header("x-ms-request-charge"),
            answer.counts_of_metrics(),
        ]);
        if next.is_none() {
            return all;
        }
    }
}

const QUERIES: [&str; 6] = [
    "SELECT DISTINCT VALUE c.n FROM c",
    "SELECT DISTINCT VALUE c.n FROM c ORDER BY c.m DESC",
    "SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n",
    "SELECT VALUE c.id FROM c ORDER BY c.m DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.m OFFSET 2 LIMIT 15",
    "SELECT DISTINCT TOP 11 c.n FROM c",
];

/// Creates a container with 30 items.
async fn filled(memory: Account) -> Client {
    let mut client = Client::with_memory(memory).await;
    for at in 0..30 {
        let item = format!(r#"{{"id":"{at}","pk":"a","n":{},"m":{}}}"#, at % 17, at * 7 % 30);
        let made = client.ask("POST", DOCS, &[PARTITION], &item).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    client
}

#[tokio::test]
async fn what_is_kept_changes_no_answer() {
    for memory in [1 << 30, 1 << 20] {
        let mut client = filled(Account::new(memory)).await;
        for query in QUERIES {
            let evaluated = pages(&mut client, query, true).await;
            assert!(3 < evaluated.len(), "{query}");
            for _ in 0..2 {
                assert_eq!(pages(&mut client, query, false).await, evaluated, "{query}");
            }
        }
    }
}

#[tokio::test]
async fn a_write_is_seen_by_the_next_page() {
    let mut client = filled(Account::new(1 << 30)).await;
    let query = "SELECT VALUE c.id FROM c ORDER BY c.m DESC";
    let first = page(&mut client, query, None).await;
    let second = page(&mut client, query, token(&first).as_deref()).await;
    // The results of the third page are cached already, by the request for the second one.
    let all = pages(&mut client, query, false).await;
    let id = all[2][0].split('"').find(|text| text.parse::<u32>().is_ok()).unwrap().to_owned();
    assert_eq!(client.item("DELETE", &id, "").await.status, 204);
    let third = page(&mut client, query, token(&second).as_deref()).await;
    assert!(all[2][0].contains(&format!("\"{id}\"")));
    assert!(!third.body.contains(&format!("\"{id}\"")), "{third:?}");
}

#[tokio::test]
async fn what_expires_between_two_pages_is_in_neither() {
    // Items expire by their own `ttl`, or by a default TTL that is set between the pages.
    for own in [true, false] {
        for query in QUERIES {
            let mut client = Client::with_container(r#","defaultTtl":-1"#).await;
            for at in 0..30 {
                let ttl = if own && 9 <= at { r#","ttl":50"# } else { "" };
                let item = format!(r#"{{"id":"{at}","pk":"a","n":{at},"m":{}{ttl}}}"#, 30 - at);
                assert_eq!(client.item("POST", "", &item).await.status, 201);
            }
            let first = page(&mut client, query, None).await;
            let second = page(&mut client, query, token(&first).as_deref()).await;
            if !own {
                let body =
                    r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash"},"defaultTtl":50}"#;
                let put = client.ask("PUT", "/dbs/d/colls/c", &[], body).await;
                assert_eq!(put.status, 200, "{put:?}");
            }
            client.advance(50);
            let third = page(&mut client, query, token(&second).as_deref()).await;
            let live = client.query("SELECT VALUE c.n FROM c").await;
            for at in 9..30 {
                assert!(!live.body.contains(&format!("[{at},")), "{live:?}");
                for shown in [format!("\"{at}\""), format!(":{at}}}"), format!(":{at},")] {
                    let documents = third.body.split("\"Documents\":").nth(1).unwrap();
                    let documents = documents.split("],\"_count\"").next().unwrap();
                    assert!(!documents.contains(&shown), "{query}: {third:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_same_page_may_be_asked_for_again() {
    let mut client = filled(Account::new(1 << 30)).await;
    for query in QUERIES {
        let mut next = token(&page(&mut client, query, None).await);
        while let Some(held) = next {
            let one = page(&mut client, query, Some(&held)).await;
            let other = page(&mut client, query, Some(&held)).await;
            assert_eq!((&one.body, token(&one)), (&other.body, token(&other)), "{query}");
            next = token(&one);
        }
    }
}
