//! A server under test with the REST API.

use std::time::Duration;

use super::{
    call::Call,
    container::Container,
    items::Lifetime,
    key::Key,
    link::Link,
    load::{self, ItemRange},
    url::Url,
};
use crate::{
    closed_loop::LoadTarget,
    error::{Error, Result},
    limits::{REST, REST_BETWEEN},
    pause, process,
};

/// Timeout of a starting server's first answer.
const FIRST_ANSWER: Duration = Duration::from_secs(10);
/// The container that most workloads share.
const ITEMS: &str = "items";
/// Status of a wrong signature.
const UNAUTHORIZED: i32 = 401;
/// Status of a key without permission.
const FORBIDDEN: i32 = 403;

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) label: String,
    /// Process id of the server, to read its CPU time and memory.
    pub(crate) pid: Option<u32>,
    /// Resident memory in bytes before any load.
    pub(crate) at_rest: Option<u64>,
    url: Url,
    key: Key,
    /// The shared container, once it is filled.
    items: Option<Container>,
}

impl Target {
    /// Returns a target once its server has answered and accepted the key; fails after
    /// [`FIRST_ANSWER`]. Reads the server's memory at rest, before any data is loaded.
    pub(crate) async fn reach_server(
        label: &str,
        url: Url,
        key: Key,
        pid: Option<u32>,
    ) -> Result<Self> {
        let label = label.to_owned();
        let mut target = Self { label, pid, at_rest: None, url, key, items: None };
        let greeting = tokio::time::timeout(FIRST_ANSWER, target.check_account()).await;
        greeting.unwrap_or_else(|_| {
            let doing = format!("waiting {} s for {}", FIRST_ANSWER.as_secs(), target.url);
            Err(Error::io_error(doing)(std::io::ErrorKind::TimedOut.into()))
        })?;
        if let Some(pid) = pid {
            pause::pause_for(REST).await;
            target.at_rest = Some(process::resident_memory(pid)?);
        }
        Ok(target)
    }

    /// Reads the account and the list of databases, as an SDK does first. A refusal means that the
    /// key is wrong, so it is a usage error.
    async fn check_account(&self) -> Result<()> {
        let mut link = self.connect_link().await?;
        let databases = Call { kind: "dbs", operation: "ReadFeed", under: "dbs", ..Call::ROOT };
        for call in [Call::ROOT, databases] {
            match link.call_accepted(&call).await {
                Ok(answer) => answer.parse_json().map(|_| ()),
                Err(Error::Server { code: UNAUTHORIZED | FORBIDDEN, message }) => {
                    Err(Error::Usage(format!("{} rejects the key: {message}", self.url)))
                }
                Err(error) => Err(error),
            }?;
        }
        Ok(())
    }

    pub(crate) async fn connect_link(&self) -> Result<Link> {
        Link::open_connection(&self.url, &self.key).await
    }

    /// Returns the container of 1 KB items that most workloads share, filling it when it is first
    /// used.
    pub(crate) async fn need_items(&mut self, count: u64) -> Result<Container> {
        if let Some(items) = &self.items {
            return Ok(items.clone());
        }
        let items = self.create_container(ITEMS, None).await?;
        load::load_items(
            self,
            &items,
            ItemRange { count, first: 0, step: 1, life: Lifetime::Default },
        )
        .await?;
        self.wait_until_idle().await;
        self.items = Some(items.clone());
        Ok(items)
    }

    /// Creates an empty container. An existing container with this name is deleted first.
    pub(crate) async fn create_container(&self, name: &str, ttl: Option<i64>) -> Result<Container> {
        Container::create_container(&mut self.connect_link().await?, name, ttl).await
    }

    pub(crate) async fn delete_container(&self, name: &str) -> Result<()> {
        Container::delete_container(&mut self.connect_link().await?, name).await
    }

    pub(crate) async fn remove_data(&mut self) -> Result<()> {
        self.items = None;
        Container::delete_all(&mut self.connect_link().await?).await
    }

    /// Waits, so that background work of the server does not affect the following workload.
    pub(crate) async fn wait_until_idle(&self) {
        pause::pause_for(REST_BETWEEN).await;
    }
}

impl LoadTarget for Target {
    type Link = Link;

    fn label(&self) -> &str {
        &self.label
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn open_link(&self) -> impl Future<Output = Result<Link>> {
        self.connect_link()
    }
}
