//! One item by its id and partition key: read, or replaced.

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

/// Asks for one item and returns the answer, whatever its status.
pub(super) async fn get<'a>(
    link: &'a mut Link,
    container: &Container,
    number: u64,
) -> Result<Answer<'a>> {
    let of = format!("{}/docs/{}", container.link, items::id(number));
    let call = Call {
        verb: Verb::Get,
        kind: "docs",
        operation: "Read",
        link: &of,
        under: "/",
        headers: &[
            ("x-ms-cosmos-intended-collection-rid", &container.rid),
            ("x-ms-documentdb-partitionkey", &items::header(&items::partition(number))),
        ],
        body: b"",
    };
    link.send(&call).await
}

/// Reads items.
struct Reader(Choice);

impl Worker<Link> for Reader {
    async fn step(&mut self, link: &mut Link) -> Result<()> {
        let number = self.0.number();
        let answer = get(link, &self.0.container, number).await?.accepted()?;
        if answer.body.is_empty() {
            return Err(Error::Answer(format!("item {number} is empty")));
        }
        Ok(())
    }
}

/// Measures uniform reads.
pub(super) async fn read(target: &mut Target, plan: Plan, settings: &Settings) -> Result<Figures> {
    let choice = Choice::shared(target, settings).await?;
    closed_loop::run(target, plan, |worker| Reader(choice(worker))).await
}

/// Replaces items.
struct Writer {
    choice: Choice,
    body: String,
}

impl Worker<Link> for Writer {
    async fn step(&mut self, link: &mut Link) -> Result<()> {
        let number = self.choice.number();
        let partition = items::partition(number);
        let (body, rng) = (&mut self.body, &mut self.choice.rng);
        body.clear();
        items::write(body, &items::id(number), &partition, None, rng);
        load::upsert(link, &self.choice.container, &partition, body).await.map(|_| ())
    }
}

/// Measures uniform upserts of items that are there.
pub(super) async fn upsert(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let choice = Choice::shared(target, settings).await?;
    let worker = |worker| Writer { choice: choice(worker), body: String::with_capacity(2048) };
    let figures = closed_loop::run(target, plan, worker).await?;
    target.rest().await;
    Ok(figures)
}
