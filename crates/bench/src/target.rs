//! A server under test, with its process and the loaded data.

use std::{path::PathBuf, sync::Arc};

use crate::{
    address::Address,
    closed_loop::LoadTarget,
    commands,
    connection::Connection,
    error::{Error, Result},
    inserts,
    keys::Keys,
    limits, pause, records,
};

/// The data of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dataset {
    /// Records as in the YCSB benchmark.
    Users,
    /// Orders with an index on customer and date.
    Orders,
    /// Sales records, which the workload sums.
    Sales,
    /// Events with an index on `shuffled` and one on `lot`.
    Events,
}

impl Dataset {
    /// Returns the name of the dataset's collection.
    pub(crate) const fn collection_name(self) -> &'static str {
        match self {
            Self::Users => "usertable",
            Self::Orders => "orders",
            Self::Sales => "sales",
            Self::Events => "events",
        }
    }
}

/// MongoDB's error code for a collection that does not exist.
const NAMESPACE_NOT_FOUND: i32 = 26;

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) label: String,
    pub(crate) address: Address,
    /// Process id of the server, to read its CPU time and memory.
    pub(crate) pid: Option<u32>,
    /// Data directory of the server, whose size is read.
    pub(crate) data_dir: Option<PathBuf>,
    /// Numbers of the existing YCSB records, to which inserting workloads add.
    pub(crate) users: Arc<Keys>,
    /// Loaded datasets, which workloads share.
    loaded: Vec<Dataset>,
}

impl Target {
    /// Creates a target for a server, without loaded data; does not connect.
    pub(crate) fn new(
        label: &str,
        address: Address,
        pid: Option<u32>,
        data_dir: Option<PathBuf>,
    ) -> Self {
        let label = label.to_owned();
        Self { label, address, pid, data_dir, users: Arc::default(), loaded: Vec::new() }
    }

    pub(crate) async fn connect_link(&self) -> Result<Connection> {
        Connection::open_connection(&self.address).await
    }

    /// Drops a collection if it exists.
    pub(crate) async fn drop_collection(&self, collection: &str) -> Result<()> {
        let mut link = self.connect_link().await?;
        match link.call_command(commands::collection_command("drop", collection)).await {
            Err(Error::Server { code: NAMESPACE_NOT_FOUND, .. }) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    pub(crate) async fn remove_data(&mut self) -> Result<()> {
        for dataset in self.loaded.drain(..).collect::<Vec<_>>() {
            self.drop_collection(dataset.collection_name()).await?;
        }
        Ok(())
    }

    /// Loads the dataset unless this target has loaded it before. The collection of an earlier run
    /// is dropped first.
    pub(crate) async fn need_dataset(&mut self, dataset: Dataset, count: u64) -> Result<()> {
        if self.loaded.contains(&dataset) {
            return Ok(());
        }
        let collection = dataset.collection_name();
        self.drop_collection(collection).await?;
        match dataset {
            Dataset::Users => {
                inserts::insert_documents(self, collection, count, records::user_record).await?;
                self.users = Arc::new(Keys::new(count));
            }
            Dataset::Orders => {
                let keys = [("customer", 1), ("at", -1)];
                let mut link = self.connect_link().await?;
                link.call_command(commands::create_index(collection, &keys, None)).await?;
                inserts::insert_documents(self, collection, count, records::make_order).await?;
            }
            Dataset::Sales => {
                inserts::insert_documents(self, collection, limits::SALES, records::make_sale)
                    .await?;
            }
            Dataset::Events => {
                let mut link = self.connect_link().await?;
                for keys in [[("shuffled", 1)], [("lot", 1)]] {
                    let index = commands::create_index(collection, &keys, None);
                    link.call_command(index).await?;
                }
                let make = move |number, rng: &mut _| records::make_event(number, count, rng);
                inserts::insert_documents(self, collection, count, make).await?;
            }
        }
        self.wait_until_idle().await?;
        self.loaded.push(dataset);
        Ok(())
    }

    /// Requests the server to flush its data (`fsync`), so that a measurement does not include work
    /// for the preceding load. If the server refuses the command, that is ignored.
    pub(crate) async fn settle_server(&self) -> Result<()> {
        let mut link = self.connect_link().await?;
        match link.call_command(commands::admin_command("fsync", &[])).await {
            Err(error) if !error.is_refusal() => Err(error),
            _ => Ok(()),
        }
    }

    /// Flushes the server's data and waits, so that background work of the server does not affect
    /// the next workload, on this or another server.
    pub(crate) async fn wait_until_idle(&self) -> Result<()> {
        self.settle_server().await?;
        pause::pause_for(limits::REST_BETWEEN).await;
        Ok(())
    }
}

impl LoadTarget for Target {
    type Link = Connection;

    fn label(&self) -> &str {
        &self.label
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn open_link(&self) -> impl Future<Output = Result<Connection>> {
        self.connect_link()
    }
}
