//! One item by its id and partition key: read, or replaced.

use fastrand::Rng;

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
};
use crate::{
    closed_loop::{self, Plan, Worker},
    error::{Error, Result},
    figures::Figures,
};

/// Asks for one item.
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

struct Reader {
    container: Container,
    items: u64,
    rng: Rng,
}

impl Worker<Link> for Reader {
    async fn step(&mut self, link: &mut Link) -> Result<()> {
        let number = self.rng.u64(..self.items);
        let answer = get(link, &self.container, number).await?.accepted()?;
        if answer.body.is_empty() {
            return Err(Error::Answer(format!("item {number} is empty")));
        }
        Ok(())
    }
}

/// Uniform reads.
pub(super) async fn read(target: &mut Target, plan: Plan, settings: &Settings) -> Result<Figures> {
    let items = settings.items;
    let container = target.need(items).await?;
    let worker = |worker| Reader { container: container.clone(), items, rng: settings.rng(worker) };
    closed_loop::run(target, plan, worker).await
}

struct Writer {
    container: Container,
    items: u64,
    rng: Rng,
    body: String,
}

impl Worker<Link> for Writer {
    async fn step(&mut self, link: &mut Link) -> Result<()> {
        let number = self.rng.u64(..self.items);
        let partition = items::partition(number);
        self.body.clear();
        items::write(&mut self.body, &items::id(number), &partition, None, &mut self.rng);
        load::upsert(link, &self.container, &partition, &self.body).await.map(|_| ())
    }
}

/// Uniform upserts of items that are there.
pub(super) async fn upsert(
    target: &mut Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let items = settings.items;
    let container = target.need(items).await?;
    let worker = |worker| Writer {
        container: container.clone(),
        items,
        rng: settings.rng(worker),
        body: String::with_capacity(2048),
    };
    let figures = closed_loop::run(target, plan, worker).await?;
    target.rest().await;
    Ok(figures)
}
