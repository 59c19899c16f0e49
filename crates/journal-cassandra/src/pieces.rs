//! Writes and reads pieces of bases (full copies of a shard): each is a partition whose rows have a
//! bounded size, written with a fixed timestamp like entries.

use bytes::Bytes;
use cluster::{EntryPart, Unanswered, join, split};
use futures_util::{StreamExt, TryStreamExt, stream};

use scylla::response::{PagingState, PagingStateResponse};

use crate::{connection::Connection, failure::unanswered, records::number};

/// Size of the rows into which a piece is divided, in bytes.
const ROW_BYTES: usize = 256 << 10;
/// Maximum number of concurrent writes of one piece.
const TOGETHER: usize = 8;

/// Primary key of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceKey {
    key: (i32, i64, i32),
}

impl PieceKey {
    pub(crate) fn new(shard: u32, base: u64, piece: u32) -> Self {
        Self { key: (shard.cast_signed(), base.cast_signed(), piece.cast_signed()) }
    }
}

pub(crate) async fn put(
    connection: &Connection,
    PieceKey { key: (shard, base, piece) }: PieceKey,
    body: &Bytes,
) -> Result<(), Unanswered> {
    let parts = split(0, body, ROW_BYTES).into_iter();
    let writes = parts.map(|EntryPart { part, body, .. }| async move {
        let values = (shard, base, piece, i32::try_from(part).map_err(unanswered)?, body);
        connection.run(&connection.statements.put_piece, values).await.map(drop)
    });
    stream::iter(writes).buffer_unordered(TOGETHER).try_collect().await
}

/// Reads a piece; `None` if it is not complete.
pub(crate) async fn load(
    connection: &Connection,
    piece: PieceKey,
) -> Result<Option<Bytes>, Unanswered> {
    let statement = &connection.statements.load_piece;
    let (mut parts, mut from) = (Vec::new(), PagingState::start());
    loop {
        let (rows, rest) = connection.page(statement, piece.key, &from).await?;
        let rows = rows.into_rows_result().map_err(unanswered)?;
        for row in rows.rows::<(i32, Bytes)>().map_err(unanswered)? {
            let (part, body) = row.map_err(unanswered)?;
            parts.push(EntryPart { n: 0, part: part.cast_unsigned(), body });
        }
        match rest {
            PagingStateResponse::HasMorePages { state } => from = state,
            PagingStateResponse::NoMorePages => break,
        }
    }
    Ok(join(&parts).into_iter().next().map(|(_, body)| body))
}

pub(crate) async fn forget(connection: &Connection, piece: PieceKey) -> Result<(), Unanswered> {
    connection.run(&connection.statements.drop_piece, piece.key).await.map(drop)
}

/// Deletes a segment of the journal.
pub(crate) async fn forget_segment(
    connection: &Connection,
    shard: u32,
    epoch: u64,
    segment: u64,
) -> Result<(), Unanswered> {
    let values = (shard.cast_signed(), number(epoch), number(segment));
    connection.run(&connection.statements.drop_segment, values).await.map(drop)
}
