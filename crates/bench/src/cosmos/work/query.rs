//! Queries for the items with the highest numbers in one partition, and for the count of all items.
//! Pages are requested with continuation tokens, as an SDK does.

use serde_json::Value;

use super::{
    super::{
        call::{Call, Verb},
        container::Container,
        items,
        link::{Answer, Link, brief_text},
        target::Target,
    },
    Settings,
    choice::Choice,
};
use crate::{
    closed_loop::{self, Plan, Worker},
    error::{Error, Result},
    figures::Figures,
};

/// Number of items that a query of one partition requests.
const TOP: usize = 20;

/// Sends a query to one partition or to all, from the start or from a continuation token, and
/// returns the page.
pub(super) async fn ask_query<'a>(
    link: &'a mut Link,
    container: &Container,
    partition: Option<&str>,
    body: &str,
    continuation: Option<&str>,
) -> Result<Answer<'a>> {
    let key = partition.map(items::partition_header);
    let mut headers = vec![
        ("content-type", "application/query+json"),
        ("x-ms-documentdb-isquery", "true"),
        ("x-ms-cosmos-intended-collection-rid", container.rid.as_str()),
    ];
    headers.push(match &key {
        Some(key) => ("x-ms-documentdb-partitionkey", key),
        None => ("x-ms-documentdb-query-enablecrosspartition", "True"),
    });
    headers.extend(continuation.map(|token| ("x-ms-continuation", token)));
    let call = Call {
        verb: Verb::Post,
        kind: "docs",
        operation: "SqlQuery",
        link: &container.link,
        under: "/docs/",
        headers: &headers,
        body: body.as_bytes(),
    };
    link.call_accepted(&call).await
}

/// Returns the body of a query for one partition. The text of the query also contains the partition
/// key, because not every server evaluates the header.
pub(super) fn query_body(select: &str, partition: &str, order: &str) -> String {
    format!(
        "{{\"query\":\"{select} FROM c WHERE c.pk = @pk{order}\",\
         \"parameters\":[{{\"name\":\"@pk\",\"value\":\"{partition}\"}}]}}"
    )
}

/// Lists the top items of partitions.
struct Lister(Choice);

impl Worker<Link> for Lister {
    /// Queries one partition; the first page has to contain the whole result.
    async fn run_step(&mut self, link: &mut Link) -> Result<()> {
        let partition = items::partition_key(self.0.choose_number());
        let body = query_body(&format!("SELECT TOP {TOP} *"), &partition, " ORDER BY c.n DESC");
        let answer = ask_query(link, &self.0.container, Some(&partition), &body, None).await?;
        // Every item has an `_etag`; parsing the JSON would cost more than the server's work.
        let found = count_occurrences(answer.body, b"\"_etag\":");
        if found == 0 || TOP < found || answer.continuation.is_some() {
            return Err(Error::Answer(format!(
                "unexpected number of items in partition {partition}: {found}"
            )));
        }
        Ok(())
    }
}

/// Counts the occurrences of a property name in a JSON text whose strings contain no quotes.
fn count_occurrences<const N: usize>(bytes: &[u8], name: &[u8; N]) -> usize {
    bytes.windows(N).filter(|window| window == name).count()
}

/// Measures queries that return the items with the highest `n` in a randomly chosen partition.
pub(super) async fn run_top(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let choice = Choice::shared_items(target, settings).await?;
    closed_loop::run_workers(target, plan, |worker| Lister(choice(worker))).await
}

struct Counter(Choice);

impl Worker<Link> for Counter {
    /// Counts all items. The count has to equal the number of loaded items; none is added during
    /// the measurement.
    async fn run_step(&mut self, link: &mut Link) -> Result<()> {
        let body = r#"{"query":"SELECT VALUE COUNT(1) FROM c"}"#;
        let (mut count, mut continuation) = (0, None::<String>);
        // An SDK adds up the parts of all pages too.
        loop {
            let from = continuation.as_deref();
            let answer = ask_query(link, &self.0.container, None, body, from).await?;
            count += sum_numbers(&answer.parse_json()?)?;
            match answer.continuation {
                // If a page returned the token of its request, the loop would never end.
                Some(token) if continuation.as_deref() == Some(token) => {
                    return Err(Error::Answer(
                        "a page of a count repeated its continuation token".to_owned(),
                    ));
                }
                Some(token) => continuation = Some(token.to_owned()),
                None => break,
            }
        }
        if count == self.0.items {
            return Ok(());
        }
        Err(Error::Answer(format!("the count is {count} instead of {}", self.0.items)))
    }
}

/// Returns the sum of the numbers in a query result.
pub(super) fn sum_numbers(answer: &Value) -> Result<u64> {
    let values = answer.get("Documents").and_then(Value::as_array);
    let sum = values.and_then(|values| values.iter().map(Value::as_u64).sum());
    sum.ok_or_else(|| Error::Answer(format!("no number: {}", brief_text(answer))))
}

/// Measures counts of all items; an operation includes all pages.
pub(super) async fn run_counts(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let choice = Choice::shared_items(target, settings).await?;
    closed_loop::run_workers(target, plan, |worker| Counter(choice(worker))).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sums() {
        for (answer, want) in [
            (json!({ "Documents": [100_000] }), Some(100_000)),
            (json!({ "Documents": [1, 2] }), Some(3)),
            (json!({ "Documents": [] }), Some(0)),
            (json!({ "Documents": ["1"] }), None),
            (json!({ "Documents": [{}] }), None),
            (json!([1]), None),
        ] {
            assert_eq!(sum_numbers(&answer).ok(), want, "{answer}");
        }
    }

    #[test]
    fn a_partition_is_asked_by_name() {
        let body: Value =
            serde_json::from_str(&query_body("SELECT *", "p1", " ORDER BY c.n")).unwrap();
        assert_eq!(body["query"], "SELECT * FROM c WHERE c.pk = @pk ORDER BY c.n");
        assert_eq!(body["parameters"], json!([{ "name": "@pk", "value": "p1" }]));
    }

    #[test]
    fn names_are_counted() {
        for (text, want) in [("", 0), ("{\"a\":1,\"b\":\"a\"}", 1), ("[{\"a\":1},{\"a\":2}]", 2)] {
            assert_eq!(count_occurrences(text.as_bytes(), b"\"a\":"), want, "{text}");
        }
    }
}
