//! Fills a container with items in transactional batches, and ensures that each item expires in the
//! intended second. The `ttl` counts from the second of the write, which is known only after the
//! write.

use std::ops::Range;

use fastrand::Rng;
use hybrid_row::Operation;
use serde_json::Value;

use super::{
    call::{Call, Verb},
    container::Container,
    items::{self, Lifetime},
    link::{Answer, Link, brief_text},
    target::Target,
};
use crate::{
    error::{Error, Result},
    load::{self, Loader},
};

/// Number of operations per transactional batch, which is the maximum of Azure Cosmos DB.
pub(crate) const BATCH: usize = 100;
/// Maximum number of rewrites of an item that would expire in another second than intended.
const REWRITES: usize = 10;
/// Status of each creation in a batch.
const CREATED: u64 = 201;
/// Number of the operation type "create" in HybridRow batches.
const CREATE: i32 = 0;
/// Number of the resource type "item" in HybridRow batches.
const DOCUMENT: i32 = 2;

/// The items to load: `count` numbers from `first` on, in steps of `step`. A step divides the
/// number of items of a partition, so that a batch never spans two partitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemRange {
    /// Number of items to load.
    pub(crate) count: u64,
    /// Number of the first item.
    pub(crate) first: u64,
    /// Step between numbers; it divides the number of items of a partition.
    pub(crate) step: u64,
    pub(crate) life: Lifetime,
}

/// Loads items into a container.
#[derive(Clone)]
struct Batches {
    container: Container,
    stock: ItemRange,
}

impl Loader<Link> for Batches {
    /// The size of a transactional batch. All its items have the same partition key, as Azure
    /// Cosmos DB requires.
    const BATCH: u64 = BATCH as u64;

    async fn store_batch(&self, link: &mut Link, indexes: Range<u64>) -> Result<()> {
        let ItemRange { first, step, life, .. } = self.stock;
        let numbers: Vec<u64> = indexes.map(|index| first + index * step).collect();
        store_items(link, &self.container, &numbers, life).await
    }
}

/// Stores the items over several connections.
pub(crate) async fn load_items(
    target: &Target,
    container: &Container,
    stock: ItemRange,
) -> Result<()> {
    let batches = Batches { container: container.clone(), stock };
    load::load_documents(target, &container.link, stock.count, batches).await
}

/// Stores items of one partition in one batch. Then rewrites the items that would expire in another
/// second than intended.
async fn store_items(
    link: &mut Link,
    container: &Container,
    numbers: &[u64],
    life: Lifetime,
) -> Result<()> {
    let Some(first) = numbers.first() else { return Ok(()) };
    // Seeded with the first number, so that an item is the same whichever connection stores it.
    let rng = &mut Rng::with_seed(*first);
    let partition = items::partition_key(*first);
    let mut batch = Batch::default();
    for number in numbers {
        batch.add_creation(
            &items::item_id(*number),
            &partition,
            life.ttl_at(current_second()),
            rng,
        );
    }
    let answer = batch.send_batch(link, container, &partition).await?.parse_json()?;
    let results = answer.as_array().map(Vec::as_slice).unwrap_or_default();
    if results.len() != numbers.len() {
        return Err(Error::Answer(format!("unexpected reply to a batch: {}", brief_text(&answer))));
    }
    for (number, result) in numbers.iter().zip(results) {
        if result.get("statusCode").and_then(Value::as_u64) != Some(CREATED) {
            return Err(Error::Answer(format!(
                "unexpected result of an item in a batch: {}",
                brief_text(result)
            )));
        }
        let stored = result.get("resourceBody").unwrap_or(&Value::Null);
        if !expires_in_time(stored, life)? {
            rewrite_item(link, container, *number, life).await?;
        }
    }
    Ok(())
}

/// Rewrites an item that would expire in another second than intended, because the second changed
/// between the computation of its `ttl` and the write. Fails after [`REWRITES`] attempts: the
/// server's clock then differs.
async fn rewrite_item(
    link: &mut Link,
    container: &Container,
    number: u64,
    life: Lifetime,
) -> Result<()> {
    let rng = &mut Rng::with_seed(number);
    let partition = items::partition_key(number);
    for _ in 0..REWRITES {
        let mut body = String::new();
        items::write_item(
            &mut body,
            &items::item_id(number),
            &partition,
            life.ttl_at(current_second()),
            rng,
        );
        let stored = upsert_item(link, container, &partition, &body).await?.parse_json()?;
        if expires_in_time(&stored, life)? {
            return Ok(());
        }
    }
    let why = "the server's clock is not this machine's: no item expires in the intended second";
    Err(Error::Answer(why.to_owned()))
}

/// Returns the second of the wall clock since 1970.
fn current_second() -> i64 {
    clock::wall_ms().div_euclid(1000)
}

/// Returns whether a stored item expires as intended. The item contains the second of its write.
fn expires_in_time(stored: &Value, life: Lifetime) -> Result<bool> {
    let Lifetime::Until(second) = life else { return Ok(true) };
    let number = |name| stored.get(name).and_then(Value::as_i64);
    match (number("_ts"), number("ttl")) {
        (Some(stamp), Some(ttl)) => Ok(stamp.saturating_add(ttl) == second),
        _ => Err(Error::Answer("a stored item has no _ts or no ttl".to_owned())),
    }
}

/// Creates or replaces an item, and returns the stored item.
pub(crate) async fn upsert_item<'a>(
    link: &'a mut Link,
    container: &Container,
    partition: &str,
    body: &str,
) -> Result<Answer<'a>> {
    let call = Call {
        verb: Verb::Post,
        kind: "docs",
        operation: "Upsert",
        link: &container.link,
        under: "/docs/",
        headers: &[
            ("content-type", "application/json"),
            ("x-ms-documentdb-is-upsert", "True"),
            ("x-ms-cosmos-intended-collection-rid", &container.rid),
            ("x-ms-documentdb-partitionkey", &items::partition_header(partition)),
        ],
        body: body.as_bytes(),
    };
    link.call_accepted(&call).await
}

/// The encoding of a transactional batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// A JSON array, as all SDKs but that for .NET send it.
    #[default]
    Json,
    /// A HybridRow per operation, as the SDK for .NET sends it.
    HybridRow,
}

/// A transactional batch of creations.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    encoding: Encoding,
    /// The JSON array or, for HybridRow, the texts of the items one after the other.
    text: String,
    /// Offset in `text` at which each item for HybridRow ends.
    ends: Vec<usize>,
}

impl Batch {
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, ..Self::default() }
    }

    pub(crate) fn add_creation(
        &mut self,
        id: &str,
        partition: &str,
        ttl: Option<i64>,
        rng: &mut Rng,
    ) {
        if self.encoding == Encoding::HybridRow {
            items::write_item(&mut self.text, id, partition, ttl, rng);
            self.ends.push(self.text.len());
            return;
        }
        self.text.push(if self.text.is_empty() { '[' } else { ',' });
        self.text.push_str(r#"{"operationType":"Create","resourceBody":"#);
        items::write_item(&mut self.text, id, partition, ttl, rng);
        self.text.push('}');
    }

    /// Returns the body of the request and clears the batch.
    pub(crate) fn take_body(&mut self) -> Vec<u8> {
        let ends = std::mem::take(&mut self.ends);
        let mut text = std::mem::take(&mut self.text);
        if self.encoding == Encoding::Json {
            text.push(']');
            return text.into_bytes();
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let items = starts.zip(&ends).filter_map(|(start, end)| text.get(start..*end));
        let operations: Vec<Operation<'_>> = items
            .map(|item| Operation {
                operation_type: Some(CREATE),
                resource_type: Some(DOCUMENT),
                resource_body: Some(item.as_bytes()),
                ..Operation::default()
            })
            .collect();
        hybrid_row::write_operations(&operations)
    }

    /// Sends the batch, and clears it even after a failure.
    pub(crate) async fn send_batch<'a>(
        &mut self,
        link: &'a mut Link,
        container: &Container,
        partition: &str,
    ) -> Result<Answer<'a>> {
        let body = self.take_body();
        let partition = items::partition_header(partition);
        let headers = [
            ("content-type", "application/json"),
            ("x-ms-cosmos-is-batch-request", "True"),
            ("x-ms-cosmos-batch-atomic", "True"),
            ("x-ms-cosmos-batch-continue-on-error", "False"),
            ("x-ms-cosmos-intended-collection-rid", &container.rid),
            ("x-ms-documentdb-partitionkey", &partition),
        ];
        // The SDK for .NET sends no content type with rows.
        let first = usize::from(self.encoding == Encoding::HybridRow);
        let call = Call {
            verb: Verb::Post,
            kind: "docs",
            operation: "Batch",
            link: &container.link,
            under: "/docs/",
            headers: headers.get(first..).unwrap_or_default(),
            body: &body,
        };
        link.call_accepted(&call).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_batch_is_json() {
        let rng = &mut Rng::with_seed(1);
        let mut batch = Batch::default();
        batch.add_creation("a", "p0", None, rng);
        batch.add_creation("b", "p0", Some(-1), rng);
        let value: Value = serde_json::from_slice(&batch.take_body()).unwrap();
        assert_eq!(value[0]["operationType"], "Create");
        assert_eq!(value[0]["resourceBody"]["id"], "a");
        assert_eq!(value[1]["resourceBody"]["ttl"], -1);
        assert_eq!(value.as_array().map(Vec::len), Some(2));
        assert_eq!(batch.take_body(), b"]", "a batch is cleared");
    }

    #[test]
    fn a_batch_of_rows_has_the_same_items() {
        let (mut json, mut rows) = (Batch::default(), Batch::new(Encoding::HybridRow));
        for batch in [&mut json, &mut rows] {
            let rng = &mut Rng::with_seed(1);
            batch.add_creation("a", "p0", None, rng);
            batch.add_creation("b", "p0", Some(-1), rng);
        }
        let json: Value = serde_json::from_slice(&json.take_body()).unwrap();
        let rows = rows.take_body();
        let operations = hybrid_row::read_operations(&rows).unwrap();
        assert_eq!(operations.len(), 2);
        for (at, operation) in operations.iter().enumerate() {
            let body: Value = serde_json::from_slice(operation.resource_body.unwrap()).unwrap();
            assert_eq!(body, json[at]["resourceBody"]);
            assert_eq!((operation.operation_type, operation.resource_type), (Some(0), Some(2)));
        }
    }

    #[test]
    fn deaths_are_checked() {
        for (stored, life, want) in [
            (json!({}), Lifetime::Default, Ok(true)),
            (json!({}), Lifetime::Endless, Ok(true)),
            (json!({ "_ts": 100, "ttl": 60 }), Lifetime::Until(160), Ok(true)),
            (json!({ "_ts": 101, "ttl": 60 }), Lifetime::Until(160), Ok(false)),
            (json!({ "_ts": i64::MAX, "ttl": 60 }), Lifetime::Until(160), Ok(false)),
            (json!({ "_ts": 100 }), Lifetime::Until(160), Err("no _ts or no ttl")),
            (Value::Null, Lifetime::Until(160), Err("no _ts or no ttl")),
        ] {
            match (expires_in_time(&stored, life), want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want, "{stored} {life:?}"),
                (Err(got), Err(want)) => assert!(got.to_string().contains(want), "{got}"),
                (got, want) => panic!("{stored}: {got:?} instead of {want:?}"),
            }
        }
    }
}
