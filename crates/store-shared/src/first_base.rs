//! The first base of a cluster: the data of a stand-alone server's store. It counts as the state
//! after the single entry of an epoch without an owner; the following epoch is opened and released,
//! so that the first node claims the shard as after any other owner.
//!
//! An interrupted attempt is followed by another, which starts from scratch and deletes what the
//! first has left. The caller marks the cluster's record as unfinished, so that no node joins.

use bytes::Bytes;
use cluster::{BaseRecord, Ledger, Reply, Request, Settings, ShardRecord, Swapped};
use store::{Error, Kind, Space, Stamp};
use store_tree::{BaseReader, TreeOptions, TreeStore};
use uuid::Uuid;

use crate::requests::{send_request, shard_of, swap, written};

/// Number of the last journal entry in the first base.
const ENTRY: u64 = 1;

/// The initial data of a cluster.
#[derive(Debug)]
pub struct FirstBase {
    reader: BaseReader,
    /// Kept open until the reader has read everything.
    _tree: TreeStore,
}

impl FirstBase {
    /// Opens the store of a stand-alone server for reading.
    pub fn open(options: &TreeOptions) -> Result<Self, Error> {
        let tree = TreeStore::open_without_commits(options, options.journal_folder())?;
        Ok(Self { reader: tree.base()?, _tree: tree })
    }

    /// Returns the stamp of the last commit in the base.
    pub fn last_stamp(&self) -> Stamp {
        self.reader.last_stamp()
    }

    /// Makes the base contain this value of a key instead of the store's; `None` leaves the key
    /// out.
    pub fn replacing(self, space: Space, key: Bytes, value: Option<Bytes>) -> Self {
        Self { reader: self.reader.replacing(space, key, value), ..self }
    }

    /// Writes the base to the ledger as the data of shard 0 of this cluster, whose clock continues
    /// after this checkpoint. `report` receives the number of pieces and bytes after each piece.
    pub async fn put<L: Ledger>(
        mut self,
        ledger: &L,
        cluster: Uuid,
        clock: Bytes,
        report: &mut (dyn FnMut(u32, u64) + Send),
    ) -> Result<(), Error> {
        let making = BaseCreation { ledger, shard: 0 };
        let before = making.clear().await?;
        let id = Uuid::new_v4().as_u64_pair().0.max(1);
        let epoch = before.epoch + 1;
        // The entry itself is not stored anywhere; its checksum only has to be the same for all
        // nodes.
        let (segment, n, checksum) = (0, ENTRY, crc32c_of(cluster));
        let mut base = BaseRecord { id, epoch, segment, n, checksum, pieces: 0, bytes: 0 };
        // The base is published before its pieces are written, so that another attempt finds and
        // deletes them if this one is interrupted.
        making.set_base(before.base(), base).await?;
        let size = Settings::new(cluster, making.shard, Uuid::nil(), Bytes::new()).piece_bytes;
        while let Some(body) = self.reader.next_piece(size)? {
            base.bytes += body.len() as u64;
            let piece = base.pieces;
            let put = Request::PutPiece { shard: making.shard, base: id, piece, body };
            send_request(ledger, put, written).await?;
            base.pieces += 1;
            report(base.pieces, base.bytes);
        }
        making.own(before.epoch, Vec::new(), None).await?;
        making.set_base(id, base).await?;
        making.own(epoch, vec![(epoch, ENTRY)], Some(clock)).await
    }
}

fn crc32c_of(cluster: Uuid) -> u32 {
    crc32c::crc32c(cluster.as_bytes())
}

/// Creates the records of a cluster's first base.
struct BaseCreation<'a, L> {
    ledger: &'a L,
    shard: u32,
}

impl<L: Ledger> BaseCreation<'_, L> {
    /// Deletes the data that an earlier attempt has left, and returns the shard record.
    async fn clear(&self) -> Result<ShardRecord, Error> {
        let shard = self.shard;
        swap(self.ledger, Request::MakeShard { shard }).await?;
        let record =
            send_request(self.ledger, Request::ReadShardSerial { shard }, shard_of).await?;
        for base in &record.bases {
            let mut piece = 0;
            while self.has_piece(base.id, piece).await? {
                piece += 1;
            }
            // Deletes backward, because an interrupted cleanup resumes by counting from piece 0.
            for piece in (0..piece).rev() {
                let drop = Request::DropPiece { shard, base: base.id, piece };
                send_request(self.ledger, drop, written).await?;
            }
        }
        Ok(record)
    }

    async fn has_piece(&self, base: u64, piece: u32) -> Result<bool, Error> {
        let request = Request::LoadPiece { shard: self.shard, base, piece };
        send_request(self.ledger, request, |reply| match reply {
            Reply::Piece(piece) => Some(piece.is_some()),
            _ => None,
        })
        .await
    }

    async fn set_base(&self, before: u64, base: BaseRecord) -> Result<(), Error> {
        // Called twice with the same id, first without pieces and then with all.
        self.done(Request::SetBase { shard: self.shard, before, bases: vec![base] }).await
    }

    /// Claims and opens the next epoch, records `ends` as the last entries of earlier epochs, and
    /// releases the shard if a clock is given.
    async fn own(
        &self,
        before: u64,
        ends: Vec<(u64, u64)>,
        clock: Option<Bytes>,
    ) -> Result<(), Error> {
        let (shard, claim, node) = (self.shard, Uuid::new_v4(), Uuid::nil());
        let (incarnation, least) = (0, clock.clone().unwrap_or_default());
        let claimed = Request::Claim { shard, before, claim, node, incarnation, clock: least };
        self.done(claimed).await?;
        self.done(Request::Open { shard, claim, epoch: before + 1, ends }).await?;
        match clock {
            Some(clock) => self.done(Request::Release { shard, claim, clock }).await,
            None => Ok(()),
        }
    }

    async fn done(&self, request: Request) -> Result<(), Error> {
        match swap(self.ledger, request).await? {
            Swapped::Done => Ok(()),
            Swapped::Refused(_) => {
                let text = "another process is creating a cluster in this keyspace";
                Err(Error::new(Kind::Refused, text))
            }
        }
    }
}
