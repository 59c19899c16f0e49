//! Copies a cluster's data into a store: the base and the journal after it, read from the ledger
//! only. It contacts no node and changes nothing, and works while an owner is writing.

use std::time::Duration;

use bytes::Bytes;
use cluster::{
    BaseRecord, JournalReader, Ledger, NodeRecord, Position, Reply, Request, ShardRecord,
    TermRecord,
};
use journal::EncodedEntry;
use store::{Error, Kind};
use store_tree::{TreeOptions, TreeStore};
use uuid::Uuid;

use crate::requests::{all_nodes, pause, send_request, shard_of};

/// Number of times that the copy restarts because the base being read was deleted.
const ATTEMPTS: u32 = 3;
/// Maximum number of retries at a gap, [`GAP_PAUSE`] apart: an owner usually fills a gap
/// immediately.
const GAP_RETRIES: u32 = 40;
/// Maximum number of retries while the shard is taken over, [`GAP_PAUSE`] apart.
const TAKEOVER_RETRIES: u32 = 400;
const GAP_PAUSE: Duration = Duration::from_millis(50);

/// The shard of a cluster to copy, and the target.
#[derive(Clone, Debug)]
pub struct CopyOptions {
    /// Id of the cluster that is copied.
    pub cluster: Uuid,
    /// Number of the shard to copy.
    pub shard: u32,
    /// The store to create; its directory has to be empty and used by nothing else.
    pub tree: TreeOptions,
    /// Number of the last entry that the copied store may contain; `None` copies all that was
    /// acknowledged before the start.
    pub until: Option<u64>,
}

/// The result of a copy.
#[derive(Debug)]
pub struct CopyResult {
    /// The store; it accepts no commits.
    pub tree: TreeStore,
    /// The shard record after the last entry was read.
    pub record: ShardRecord,
    /// All node records when the copy was complete.
    pub nodes: Vec<NodeRecord>,
    /// Number of the last entry read from the cluster's journal.
    pub entries: u64,
}

/// Opens the store of a stopped node for reading.
pub fn open_stopped(tree: &TreeOptions) -> Result<TreeStore, Error> {
    TreeStore::open_without_commits(tree, tree.journal_of_copy())
}

/// Reason why an attempt to copy ended early.
enum AttemptError {
    /// The data being read was deleted, because the shard has newer bases.
    Gone,
    Failed(Error),
}

impl From<Error> for AttemptError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl CopyOptions {
    /// Runs the copy. `report` receives the progress: entries of the cluster's journal, bytes read
    /// so far.
    pub async fn run<L: Ledger>(
        &self,
        ledger: &L,
        report: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<CopyResult, Error> {
        for _ in 0..ATTEMPTS {
            match self.attempt(ledger, report).await {
                Ok(copied) => return Ok(copied),
                Err(AttemptError::Failed(error)) => return Err(error),
                Err(AttemptError::Gone) => {}
            }
            std::fs::remove_dir_all(&self.tree.path).map_err(|error| {
                let text = format!("remove {}: {error}", self.tree.path.display());
                Error::new(Kind::Unavailable, text)
            })?;
        }
        let text = "the cluster replaces its bases faster than one can be read: try again later";
        Err(Error::new(Kind::Unavailable, text))
    }

    async fn attempt<L: Ledger>(
        &self,
        ledger: &L,
        report: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<CopyResult, AttemptError> {
        let record = self.opened_shard(ledger).await?;
        if record.opened == 0 {
            let text = "no node has served the cluster yet: there is nothing to copy";
            return Err(Error::new(Kind::Refused, text).into());
        }
        let mut bytes = 0;
        let mut position = Position::default();
        if let Some(base) = record.newest_base() {
            bytes = self.load(ledger, base, report).await?;
            position = Position::from_base(base);
        }
        let copy = ShardCopy {
            options: self,
            tree: TreeStore::open_without_commits(&self.tree, self.tree.journal_folder())?,
            position,
            bytes,
        };
        copy.follow(ledger, record, report).await
    }

    async fn shard<L: Ledger>(&self, ledger: &L) -> Result<ShardRecord, Error> {
        let request = Request::ReadShardSerial { shard: self.shard };
        match send_request(ledger, request, |reply| match reply {
            Reply::Shard(record) => Some(record),
            _ => None,
        })
        .await?
        {
            Some(record) => Ok(record),
            None => Err(Error::new(Kind::Refused, "no node has joined the cluster yet")),
        }
    }

    /// Waits, for a limited time, until no node is taking the shard over, and returns the shard
    /// record. During a take-over the last entries of the closed epoch may turn out not to be part
    /// of the history.
    async fn opened_shard<L: Ledger>(&self, ledger: &L) -> Result<ShardRecord, Error> {
        for _ in 0..TAKEOVER_RETRIES {
            let record = self.shard(ledger).await?;
            if record.epoch == record.opened {
                return Ok(record);
            }
            pause(GAP_PAUSE).await;
        }
        let text = "a node is still taking over: try again later";
        Err(Error::new(Kind::Unavailable, text))
    }

    /// Stores all pieces of a base locally; returns their total size.
    async fn load<L: Ledger>(
        &self,
        ledger: &L,
        base: &BaseRecord,
        report: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<u64, AttemptError> {
        let mut bytes = 0;
        for number in 0..base.pieces {
            let request = Request::LoadPiece { shard: self.shard, base: base.id, piece: number };
            let piece = send_request(ledger, request, |reply| match reply {
                Reply::Piece(piece) => Some(piece),
                _ => None,
            });
            let Some(body) = piece.await? else {
                let shown = self.shard(ledger).await?;
                let is_kept = shown.bases.iter().any(|kept| kept.id == base.id);
                let text = format!("piece {number} of the base is missing in the cluster's ledger");
                let missing = AttemptError::Failed(Error::new(Kind::Refused, text));
                return Err(if is_kept { missing } else { AttemptError::Gone });
            };
            bytes += body.len() as u64;
            TreeStore::store_piece_in(&self.tree.path, number, &body)?;
            report(base.n, bytes);
        }
        TreeStore::begin_with_base(&self.tree.path, base.pieces)?;
        Ok(bytes)
    }
}

/// A copy in progress, which has read the journal up to a position.
struct ShardCopy<'a> {
    options: &'a CopyOptions,
    tree: TreeStore,
    position: Position,
    bytes: u64,
}

impl ShardCopy<'_> {
    /// Applies the entries of the journal from the current position to its end.
    async fn follow<L: Ledger>(
        mut self,
        ledger: &L,
        mut record: ShardRecord,
        report: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<CopyResult, AttemptError> {
        let cluster = self.options.cluster;
        let mut gaps = 0;
        'again: loop {
            let terms = terms_of(&all_nodes(ledger).await?);
            let mut reader = JournalReader::new(cluster, &record, &terms, self.position);
            loop {
                let parts = send_request(ledger, reader.request(), |reply| match reply {
                    Reply::Parts(parts) => Some(parts),
                    _ => None,
                });
                let parts = parts.await?;
                let more = match reader.read(&parts) {
                    Ok(more) => more,
                    Err(error) => return Err(self.why_missing(ledger, error).await),
                };
                let shown = self.options.shard(ledger).await?;
                if shown.epoch != record.epoch {
                    // A new owner: the end of the former epoch is, or will be, in the record.
                    record = self.options.opened_shard(ledger).await?;
                    continue 'again;
                }
                let has_all = self.apply(reader.take())?;
                report(self.position.n, self.bytes);
                if !more || has_all {
                    let nodes = all_nodes(ledger).await?;
                    let entries = self.position.n;
                    return Ok(CopyResult { tree: self.tree, record: shown, nodes, entries });
                }
                if reader.has_gap() && gaps < GAP_RETRIES {
                    gaps += 1;
                    pause(GAP_PAUSE).await;
                    continue 'again;
                }
            }
        }
    }

    /// Applies entries up to the requested one. Returns whether the requested entry was reached.
    fn apply(&mut self, entries: Vec<(cluster::Entry, Position)>) -> Result<bool, Error> {
        let known = self.tree.last_entry()?;
        let until = self.options.until.unwrap_or(u64::MAX);
        let mut wanted: Vec<EncodedEntry> = Vec::new();
        for (entry, position) in entries {
            self.position = position;
            self.bytes += entry.body.len() as u64;
            let own = entries_of(entry.body)?.into_iter();
            wanted.extend(own.filter(|one| known < one.n() && one.n() <= until));
        }
        let last = wanted.last().map_or(known, EncodedEntry::n);
        self.tree.follow(wanted)?;
        Ok(until <= last)
    }

    /// Determines why an entry is missing: the journal was truncated meantime, or is damaged.
    async fn why_missing<L: Ledger>(&self, ledger: &L, error: Error) -> AttemptError {
        match send_request(ledger, Request::ReadShardSerial { shard: self.options.shard }, shard_of)
            .await
        {
            Ok(ShardRecord { bases, .. }) => match bases.as_slice() {
                [first, _, ..] if self.position.n < first.n => AttemptError::Gone,
                _ => AttemptError::Failed(error),
            },
            Err(unanswered) => AttemptError::Failed(unanswered),
        }
    }
}

fn terms_of(nodes: &[NodeRecord]) -> Vec<TermRecord> {
    nodes.iter().flat_map(|node| node.terms.iter().cloned()).collect()
}

/// Splits the body of a cluster entry into journal entries; each starts with its length. Malformed
/// data is an error of the cluster's journal.
pub(crate) fn entries_of(body: Bytes) -> Result<Vec<EncodedEntry>, Error> {
    let mut entries = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let first = EncodedEntry::first_of(&rest);
        let (entry, behind) = first.map_err(|error| {
            let text = format!("the cluster's journal cannot be followed: {error}");
            Error::new(Kind::Refused, text)
        })?;
        entries.push(entry);
        rest = behind;
    }
    Ok(entries)
}
