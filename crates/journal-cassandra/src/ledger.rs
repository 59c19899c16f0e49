//! Implements the cluster's ledger on Cassandra: executes each kind of request.

use std::{collections::BTreeSet, pin::pin, time::Duration};

use cluster::{Ledger, NodeRecord, Reply, Request, Unanswered};
use futures_util::future::{Either, select, try_join_all};
use parking_lot::Mutex;
use scylla::{
    client::session::Session,
    statement::{Statement, prepared::PreparedStatement},
};
use store::Error;
use uuid::Uuid;

use crate::{
    connection::{self, Connection},
    entries,
    failure::{self, unanswered},
    options::{self, Options, Replication},
    pieces::{self, PieceKey},
    records, schema, settings, settings_reader,
    statements::Statements,
    swaps,
    written::{Segment, WrittenParts},
};

/// Timeout of a change of the schema, on which all Cassandra nodes have to agree.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(30);
/// Delay after which a list of the nodes counts as late.
const LATE_LIST: Duration = Duration::from_millis(150);
const MAKING_WHAT: &str = "cannot create the tables";

/// A ledger that stores records and entries in the tables of a Cassandra keyspace.
#[derive(Debug)]
pub struct CassandraLedger {
    connection: Connection,
    /// Written parts of entries whose append is incomplete.
    written: WrittenParts,
    /// Ids of the nodes that the last list of node records contained.
    nodes: Mutex<BTreeSet<Uuid>>,
}

impl CassandraLedger {
    /// Creates the keyspace and its tables if they are missing. The records are created by
    /// requests.
    pub async fn create(options: &Options, replication: &Replication) -> Result<(), Error> {
        options::check_keyspace(&options.keyspace)?;
        let statements = schema::statements(&options.keyspace, replication)?;
        let (session, _) = connection::session(options).await?;
        // A Cassandra node that has not received the schema of a keyspace just created at another
        // node would create it again, possibly with another replication.
        agree(&session).await?;
        for statement in statements {
            let mut statement = Statement::new(statement);
            statement.set_request_timeout(Some(SCHEMA_TIMEOUT));
            let made = session.query_unpaged(statement, ()).await;
            made.map_err(|error| failure::at_connect(MAKING_WHAT, error))?;
            // The driver waits for schema agreement, except if the reply says that nothing changed,
            // as happens when a slow statement is repeated on another node.
            agree(&session).await?;
        }
        Ok(())
    }

    /// Opens a ledger whose tables exist. Fails with `Refused` and the reason if Cassandra's
    /// configuration does not guarantee durability, a table is missing, or access is denied.
    pub async fn connect(options: &Options) -> Result<Self, Error> {
        options::check_keyspace(&options.keyspace)?;
        let (session, coordinators) = connection::session(options).await?;
        let facts = settings_reader::read_settings(&session, &options.keyspace).await?;
        settings::check(&facts, options.accept_unsynced)?;
        let statements = Statements::prepare(&session, &options.keyspace).await?;
        let connection = Connection { session, statements, coordinators, timeout: options.timeout };
        Ok(Self { connection, written: WrittenParts::default(), nodes: Mutex::default() })
    }

    /// Reads all node records. For a full-table read, Cassandra selects the fastest replicas and
    /// waits if one of them is silent, whereas a read of a single row is then sent to another
    /// replica. So if the list is late, the known records are read one by one. A new record appears
    /// in the next list.
    async fn nodes(&self) -> Result<Reply, Unanswered> {
        let mut list = pin!(self.list_nodes());
        let known: Vec<Uuid> = self.nodes.lock().iter().copied().collect();
        if known.is_empty() {
            return list.await.map(Reply::Nodes);
        }
        if let Ok(answer) = tokio::time::timeout(LATE_LIST, list.as_mut()).await {
            return answer.map(Reply::Nodes);
        }
        let single = pin!(self.each_node(&known));
        match select(list, single).await {
            Either::Left((Ok(nodes), _)) | Either::Right((Ok(nodes), _)) => Ok(Reply::Nodes(nodes)),
            Either::Left((Err(_), single)) => single.await.map(Reply::Nodes),
            Either::Right((Err(_), list)) => list.await.map(Reply::Nodes),
        }
    }

    async fn list_nodes(&self) -> Result<Vec<NodeRecord>, Unanswered> {
        let rows = self.connection.rows(&self.connection.statements.read_nodes, ()).await?;
        let rows = rows.rows::<records::NodeRow>().map_err(unanswered)?;
        let nodes = rows.map(|row| records::node(row.map_err(unanswered)?));
        let nodes: Vec<NodeRecord> = nodes.collect::<Result<_, _>>()?;
        *self.nodes.lock() = nodes.iter().map(|node| node.node).collect();
        Ok(nodes)
    }

    async fn each_node(&self, known: &[Uuid]) -> Result<Vec<NodeRecord>, Unanswered> {
        let read = known.iter().map(|node| async move {
            let row =
                self.connection.row(&self.connection.statements.look_at_node, (node,)).await?;
            row.map(records::node).transpose()
        });
        Ok(try_join_all(read).await?.into_iter().flatten().collect())
    }

    async fn shard(&self, statement: &PreparedStatement, shard: u32) -> Result<Reply, Unanswered> {
        let row = self.connection.row(statement, (shard.cast_signed(),)).await?;
        Ok(Reply::Shard(row.map(records::shard).transpose()?))
    }
}

/// Waits until all Cassandra nodes agree on the schema.
async fn agree(session: &Session) -> Result<(), Error> {
    let agreed = session.await_schema_agreement().await;
    agreed.map(drop).map_err(|error| failure::at_connect(MAKING_WHAT, error))
}

impl Ledger for CassandraLedger {
    async fn execute(&self, request: Request) -> Result<Reply, Unanswered> {
        let statements = &self.connection.statements;
        match request {
            Request::ReadCluster => {
                let row = self.connection.row(&statements.read_cluster, ()).await?;
                Ok(Reply::Cluster(row.map(records::cluster)))
            }
            Request::ReadNodes => self.nodes().await,
            Request::ReadShard { shard } => self.shard(&statements.read_shard, shard).await,
            Request::ReadShardSerial { shard } => {
                self.shard(&statements.read_shard_serial, shard).await
            }
            Request::Append { shard, epoch, segment, parts } => {
                let segment = Segment::new(shard, epoch, segment);
                entries::append(&self.connection, &self.written, segment, parts).await?;
                Ok(Reply::Written)
            }
            Request::ReadEntries { shard, epoch, segment, after, limit } => {
                let segment = Segment::new(shard, epoch, segment);
                Ok(Reply::Parts(entries::read(&self.connection, segment, after, limit).await?))
            }
            Request::PutPiece { shard, base, piece, body } => {
                pieces::put(&self.connection, PieceKey::new(shard, base, piece), &body).await?;
                Ok(Reply::Written)
            }
            Request::LoadPiece { shard, base, piece } => {
                let piece = PieceKey::new(shard, base, piece);
                Ok(Reply::Piece(pieces::load(&self.connection, piece).await?))
            }
            Request::DropPiece { shard, base, piece } => {
                pieces::forget(&self.connection, PieceKey::new(shard, base, piece)).await?;
                Ok(Reply::Written)
            }
            Request::DropSegment { shard, epoch, segment } => {
                pieces::forget_segment(&self.connection, shard, epoch, segment).await?;
                Ok(Reply::Written)
            }
            Request::MakeCluster(_)
            | Request::ReplaceCluster { .. }
            | Request::Enter { .. }
            | Request::Beat { .. }
            | Request::Fence { .. }
            | Request::Forget { .. }
            | Request::MakeShard { .. }
            | Request::Claim { .. }
            | Request::Confirm { .. }
            | Request::Open { .. }
            | Request::SetBase { .. }
            | Request::Release { .. } => {
                Ok(Reply::Swapped(swaps::swap(&self.connection, &request).await?))
            }
        }
    }
}
