//! A server under test behind the REST API: where it is, its key, its process, the items it has.

use super::{
    call::Call,
    container::Container,
    items::Life,
    key::Key,
    limits::FIRST_ANSWER,
    link::Link,
    load::{self, Stock},
    url::Url,
};
use crate::{
    closed_loop::Subject,
    error::{Error, Result},
    limits::{REST, REST_BETWEEN},
    pause, process,
};

/// The container that most workloads share.
const ITEMS: &str = "items";
/// Status for a wrong signature.
const UNAUTHORIZED: i32 = 401;
/// Status for a key that may not do this.
const FORBIDDEN: i32 = 403;

/// A server under test.
#[derive(Debug)]
pub(crate) struct Target {
    /// What reports call it.
    pub(crate) label: String,
    /// Its process, where its CPU time and memory are read.
    pub(crate) pid: Option<u32>,
    /// Bytes it had resident before anything was asked of it but its name.
    pub(crate) at_rest: Option<u64>,
    url: Url,
    key: Key,
    /// The shared container, once it is filled.
    items: Option<Container>,
}

impl Target {
    /// Returns a server that answers and accepts the key. It fails after [`FIRST_ANSWER`]. Its memory at
    /// rest is read here, before any data is loaded.
    pub(crate) async fn reach(label: &str, url: Url, key: Key, pid: Option<u32>) -> Result<Self> {
        let label = label.to_owned();
        let mut target = Self { label, pid, at_rest: None, url, key, items: None };
        let greeting = tokio::time::timeout(FIRST_ANSWER, target.greet()).await;
        greeting.unwrap_or_else(|_| {
            let doing = format!("waiting {} s for {}", FIRST_ANSWER.as_secs(), target.url);
            Err(Error::io(doing)(std::io::ErrorKind::TimedOut.into()))
        })?;
        if let Some(pid) = pid {
            pause::pause(REST).await;
            target.at_rest = Some(process::resident(pid)?);
        }
        Ok(target)
    }

    /// Reads the account and the list of databases, as an SDK does first. A refusal means that the key is
    /// wrong, which is the user's to mend.
    async fn greet(&self) -> Result<()> {
        let mut link = self.connect().await?;
        let databases = Call { kind: "dbs", operation: "ReadFeed", under: "dbs", ..Call::ROOT };
        for call in [Call::ROOT, databases] {
            match link.call(&call).await {
                Ok(answer) => answer.json().map(|_| ()),
                Err(Error::Server { code: UNAUTHORIZED | FORBIDDEN, message }) => {
                    Err(Error::Usage(format!("{} does not accept the key: {message}", self.url)))
                }
                Err(error) => Err(error),
            }?;
        }
        Ok(())
    }

    /// Opens a connection of its own.
    pub(crate) async fn connect(&self) -> Result<Link> {
        Link::open(&self.url, &self.key).await
    }

    /// Returns the container of 1 KB items that most workloads share; the first that needs it has it
    /// filled.
    pub(crate) async fn need(&mut self, count: u64) -> Result<Container> {
        if let Some(items) = &self.items {
            return Ok(items.clone());
        }
        let items = self.create(ITEMS, None).await?;
        load::load(self, &items, Stock { count, first: 0, step: 1, life: Life::Default }).await?;
        self.rest().await;
        self.items = Some(items.clone());
        Ok(items)
    }

    /// Makes an empty container in place of any of that name.
    pub(crate) async fn create(&self, name: &str, ttl: Option<i64>) -> Result<Container> {
        Container::create(&mut self.connect().await?, name, ttl).await
    }

    /// Deletes a container.
    pub(crate) async fn delete(&self, name: &str) -> Result<()> {
        Container::delete(&mut self.connect().await?, name).await
    }

    /// Deletes all data.
    pub(crate) async fn forget(&mut self) -> Result<()> {
        self.items = None;
        Container::delete_all(&mut self.connect().await?).await
    }

    /// Leaves the machine alone for a moment: what the server still does by itself shall not be
    /// measured with the next work.
    pub(crate) async fn rest(&self) {
        pause::pause(REST_BETWEEN).await;
    }
}

impl Subject for Target {
    type Link = Link;

    fn label(&self) -> &str {
        &self.label
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn open(&self) -> impl Future<Output = Result<Link>> {
        self.connect()
    }
}
