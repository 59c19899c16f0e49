//! Reads or replaces one item by id and partition key. A point read is not a query: its path names
//! the item.

use super::{
    super::{
        call::{Call, Verb},
        container::Container,
        items,
        link::{Answer, Link},
        load,
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

/// Requests one item and returns the answer with any status.
pub(super) async fn get_item<'a>(
    link: &'a mut Link,
    container: &Container,
    number: u64,
) -> Result<Answer<'a>> {
    let of = format!("{}/docs/{}", container.link, items::item_id(number));
    let call = Call {
        verb: Verb::Get,
        kind: "docs",
        operation: "Read",
        link: &of,
        under: "/",
        headers: &[
            ("x-ms-cosmos-intended-collection-rid", &container.rid),
            (
                "x-ms-documentdb-partitionkey",
                &items::partition_header(&items::partition_key(number)),
            ),
        ],
        body: b"",
    };
    link.send_call(&call).await
}

struct Reader(Choice);

impl Worker<Link> for Reader {
    /// Reads an item, which has to exist and have a body.
    async fn run_step(&mut self, link: &mut Link) -> Result<()> {
        let number = self.0.choose_number();
        let answer = get_item(link, &self.0.container, number).await?.require_success()?;
        if answer.body.is_empty() {
            return Err(Error::Answer(format!("item {number} is empty")));
        }
        Ok(())
    }
}

pub(super) async fn run_reads(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let choice = Choice::shared_items(target, settings).await?;
    closed_loop::run_workers(target, plan, |worker| Reader(choice(worker))).await
}

struct Writer {
    choice: Choice,
    /// Text of the item, in a reused buffer.
    body: String,
}

impl Worker<Link> for Writer {
    /// Replaces an existing item with another of the same size.
    async fn run_step(&mut self, link: &mut Link) -> Result<()> {
        let number = self.choice.choose_number();
        let partition = items::partition_key(number);
        let (body, rng) = (&mut self.body, &mut self.choice.rng);
        body.clear();
        items::write_item(body, &items::item_id(number), &partition, None, rng);
        load::upsert_item(link, &self.choice.container, &partition, body).await.map(|_| ())
    }
}

/// Measures uniform upserts of existing items.
pub(super) async fn run_upserts(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let choice = Choice::shared_items(target, settings).await?;
    let worker = |worker| Writer { choice: choice(worker), body: String::with_capacity(2048) };
    let figures = closed_loop::run_workers(target, plan, worker).await?;
    target.wait_until_idle().await;
    Ok(figures)
}
