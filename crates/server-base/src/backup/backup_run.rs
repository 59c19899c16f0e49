//! Takes a backup: selects its content, and runs the two threads that read and compress it.

use std::{
    io::Write,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
};

use backup::{Header, Kind, Stamp, Trailer, Writer};
use bytes::Bytes;
use clock::Checkpoint;
use engine::ReapHold;
use store_tree::{BaseReader, EntryReader, Images};
use uuid::Uuid;

use crate::{
    data_dir::Refused,
    failure::{Failure, failed},
};

/// Approximate size in bytes of a piece, the unit in which data are read and compressed.
const PIECE_BYTES: usize = 2 << 20;
/// Number of pieces that may wait to be compressed.
const WAITING: usize = 3;
/// Niceness of the backup threads.
const NICENESS: i32 = 10;

/// Kind of backup to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKind {
    /// Everything, as a snapshot of the store.
    Full,
    /// Entries after the last entry of a previous backup.
    After {
        /// Number of the previous backup's last entry.
        entry: u64,
        /// Stamp of the last commit in the previous backup's last entry.
        stamp: Stamp,
        /// Id of the database from which the previous backup was taken.
        lineage: Uuid,
    },
}

enum Pieces {
    Image(BaseReader),
    Entries(EntryReader),
}

impl Pieces {
    fn next_piece(&mut self) -> Result<Option<Bytes>, store::Error> {
        match self {
            Self::Image(reader) => reader.next_piece(PIECE_BYTES),
            Self::Entries(reader) => reader.next_piece(PIECE_BYTES),
        }
    }
}

fn refused(why: &str) -> Failure {
    Failure::Refused(Refused::Unusable(why.to_owned()))
}

/// A backup in progress, consistent as of one commit.
pub struct BackupRun {
    header: Header,
    pieces: Pieces,
    /// Prevents reaping from removing data while they are read, and keeps feed events consistent
    /// with rows.
    _hold: Option<ReapHold>,
}

impl std::fmt::Debug for BackupRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackupRun").field("header", &self.header).finish_non_exhaustive()
    }
}

impl BackupRun {
    /// Starts a backup of the data visible now. The caller has read `now` and taken `hold` before
    /// this call, so that everything acknowledged earlier is included.
    pub fn begin(
        images: &Images,
        wanted: BackupKind,
        lineage: Uuid,
        now: &Checkpoint,
        hold: Option<ReapHold>,
    ) -> Result<Self, Failure> {
        let (pieces, last_entry, last_stamp) = match wanted {
            BackupKind::Full => {
                let reader = images.base().map_err(failed)?;
                let (entry, stamp) = (reader.last_entry(), reader.last_stamp());
                (Pieces::Image(reader), entry, stamp)
            }
            BackupKind::After { lineage: of, .. } if of != lineage => {
                return Err(refused(
                    "the previous backup belongs to a different database: take a full backup",
                ));
            }
            BackupKind::After { entry, stamp, .. } => {
                let stamp = store::Stamp { seq: stamp.seq, at_ms: stamp.at_ms };
                let reader =
                    images.entries_after(entry, stamp).map_err(|error| match error.kind {
                        store::Kind::Refused => refused(&error.message),
                        _ => failed(error),
                    })?;
                let (entry, stamp) = (reader.last_entry(), reader.last_stamp());
                (Pieces::Entries(reader), entry, stamp)
            }
        };
        let (kind, after_entry, after_stamp) = match wanted {
            BackupKind::Full => (Kind::Full, 0, None),
            BackupKind::After { entry, stamp, .. } => (Kind::Incremental, entry, Some(stamp)),
        };
        let header = Header {
            kind,
            ebb: env!("CARGO_PKG_VERSION").to_owned(),
            id: Uuid::new_v4(),
            lineage,
            after_entry,
            after_stamp,
            last_entry,
            last_stamp: Stamp { seq: last_stamp.seq, at_ms: last_stamp.at_ms },
            clock: if now.manual { backup::Clock::Manual } else { backup::Clock::System },
            began_ms: now.ms,
        };
        Ok(Self { header, pieces, _hold: hold })
    }

    /// Writes the backup. `clock` and `switches` are read last, so that nothing in the backup is
    /// later than the clock stored in it. `goes_on` is polled between pieces. A failure is also
    /// recorded in the stream.
    pub fn write(
        self,
        out: impl Write,
        clock: impl FnOnce() -> Checkpoint,
        switches: impl FnOnce() -> Result<Option<Vec<u8>>, Failure>,
        goes_on: impl Fn() -> bool,
        tell: &mut dyn FnMut(&Header, u64),
    ) -> Result<Trailer, Failure> {
        give_way_to_others();
        let Self { header, mut pieces, _hold } = self;
        let mut writer = Writer::begin(out, &header).map_err(failed)?;
        let packed = std::thread::scope(|scope| {
            let (sender, read) = sync_channel(WAITING);
            scope.spawn(move || read_pieces(&mut pieces, &sender));
            pack(&mut writer, header.kind, read, &goes_on, &mut |bytes| tell(&header, bytes))
        });
        let ended = packed.and_then(|()| switches());
        match ended {
            Ok(switches) => {
                let finished = writer.finish(&clock().encode(), switches.as_deref());
                finished.map(|(_, trailer)| trailer).map_err(failed)
            }
            Err(failure) => {
                // If the client has disconnected, it needs no error.
                let _ = writer.fail(&failure.to_string());
                Err(failure)
            }
        }
    }
}

/// Reads all pieces and passes them on, until the receiver is dropped.
fn read_pieces(reader: &mut Pieces, pieces: &SyncSender<Result<Bytes, store::Error>>) {
    give_way_to_others();
    loop {
        let piece = reader.next_piece();
        let Some(piece) = piece.transpose() else { return };
        let is_last = piece.is_err();
        if pieces.send(piece).is_err() || is_last {
            return;
        }
    }
}

fn pack<W: Write>(
    writer: &mut Writer<W>,
    kind: Kind,
    pieces: Receiver<Result<Bytes, store::Error>>,
    goes_on: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    for piece in pieces {
        let piece = piece.map_err(failed)?;
        let written = match kind {
            Kind::Full => writer.piece(&piece),
            Kind::Incremental => writer.entries(&piece),
        };
        written.map_err(failed)?;
        tell(writer.bytes().0);
        if !goes_on() {
            return Err(Failure::Failed("the server is stopping".to_owned()));
        }
    }
    Ok(())
}

/// Lowers this thread's priority below that of the threads that serve clients. Failure is ignored.
pub(crate) fn give_way_to_others() {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
}
