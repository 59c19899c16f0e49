//! Writes and reads journal entries. An entry is divided into parts, which are rows of a segment's
//! partition, in order. Parts are written with a fixed timestamp, so that writing the same bytes
//! again changes nothing.

use bytes::Bytes;
use cluster::{EntryPart, Unanswered};
use futures_util::{StreamExt, stream};
use scylla::response::{PagingState, PagingStateResponse};

use crate::{
    connection::Connection,
    failure::unanswered,
    records::{count, number},
    written::{Segment, WrittenParts},
};

/// Maximum number of concurrent writes of one append.
const TOGETHER: usize = 8;
/// Number of rows of the first page; parts are up to about 256 KiB.
const FIRST_ROWS: usize = 16;
/// Maximum number of rows in a page of a read.
const MOST_ROWS: usize = 4_096;

/// Writes parts concurrently. If one write fails, others may succeed; a repeated append skips parts
/// that are known to be written.
pub(crate) async fn append(
    connection: &Connection,
    written: &WrittenParts,
    at: Segment,
    parts: Vec<EntryPart>,
) -> Result<(), Unanswered> {
    let Segment { shard, epoch, segment } = at;
    let missing = written.missing(at, &parts);
    let is_missing = |part: &&EntryPart| missing.contains(&(part.n, part.part));
    let missing: Vec<EntryPart> = parts.iter().filter(is_missing).cloned().collect();
    let writes = missing.into_iter().map(|EntryPart { n, part, body }| async move {
        let column = i32::try_from(part).map_err(unanswered)?;
        let values = (shard, epoch, segment, number(n), column, body);
        connection.run(&connection.statements.append, values).await?;
        written.record(at, n, part);
        Ok(())
    });
    let mut writes = stream::iter(writes).buffer_unordered(TOGETHER);
    let mut failed = None;
    // Continues after a failed part, since a repeated append skips the parts that are written.
    while let Some(result) = writes.next().await {
        failed = result.err().or(failed);
    }
    match failed {
        Some(failed) => Err(failed),
        None => {
            written.forget(at, &parts);
            Ok(())
        }
    }
}

/// Reads whole entries after entry `after`, as parts, until these have `limit` bytes.
pub(crate) async fn read(
    connection: &Connection,
    segment: Segment,
    after: u64,
    limit: usize,
) -> Result<Vec<EntryPart>, Unanswered> {
    let Segment { shard, epoch, segment } = segment;
    let mut statement = connection.statements.read_entries.clone();
    let values = (shard, epoch, segment, number(after));
    let mut page = Page::new(limit);
    let mut from = PagingState::start();
    loop {
        statement.set_page_size(i32::try_from(page.next_rows()).unwrap_or(1));
        let (answer, rest) = connection.page(&statement, values, &from).await?;
        let rows = answer.into_rows_result().map_err(unanswered)?;
        for row in rows.rows::<(i64, i32, Bytes)>().map_err(unanswered)? {
            let (n, part, body) = row.map_err(unanswered)?;
            let part = EntryPart { n: count(n), part: part.cast_unsigned(), body };
            if !page.takes(part) {
                return Ok(page.parts);
            }
        }
        match rest {
            PagingStateResponse::HasMorePages { state } => from = state,
            PagingStateResponse::NoMorePages => return Ok(page.parts),
        }
    }
}

struct Page {
    parts: Vec<EntryPart>,
    bytes: usize,
    limit: usize,
}

impl Page {
    fn new(limit: usize) -> Self {
        Self { parts: Vec::new(), bytes: 0, limit }
    }

    /// Adds a part. Returns false, without adding it, once the limit is reached and the part
    /// belongs to a further entry.
    fn takes(&mut self, part: EntryPart) -> bool {
        let another = self.parts.last().is_none_or(|last| last.n != part.n);
        if another && !self.parts.is_empty() && self.bytes >= self.limit {
            return false;
        }
        self.bytes += part.body.len();
        // Copied, because a slice would keep the whole response in memory.
        self.parts.push(EntryPart { body: Bytes::copy_from_slice(&part.body), ..part });
        true
    }

    /// Returns the number of rows of the next page: the bytes left up to the limit, divided by the
    /// average size of a row.
    fn next_rows(&self) -> usize {
        if self.parts.is_empty() {
            return FIRST_ROWS;
        }
        let average = (self.bytes / self.parts.len()).max(1);
        (self.limit.saturating_sub(self.bytes) / average + 1).clamp(2, MOST_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(limit: usize, parts: &[(u64, u32, usize)]) -> (usize, usize) {
        let mut page = Page::new(limit);
        let mut parts = parts.iter().map(|(n, part, length)| EntryPart {
            n: *n,
            part: *part,
            body: Bytes::from(vec![0; *length]),
        });
        while parts.next().is_some_and(|part| page.takes(part)) {}
        (page.parts.len(), page.next_rows())
    }

    #[test]
    fn a_page_ends_between_entries() {
        let parts = [(1, 0, 10), (2, 0, 10), (2, 1, 10), (3, 0, 10), (3, 1, 10)];
        for (limit, expected) in [(0, 1), (1, 1), (10, 1), (11, 3), (30, 3), (31, 5), (99, 5)] {
            assert_eq!(taken(limit, &parts).0, expected, "limit {limit}");
        }
    }

    #[test]
    fn as_many_rows_are_asked_for_as_are_wanted() {
        assert_eq!(taken(1_000, &[]).1, FIRST_ROWS);
        assert_eq!(taken(1_000, &[(1, 0, 100)]).1, 10);
        assert_eq!(taken(1 << 30, &[(1, 0, 100)]).1, MOST_ROWS);
        assert_eq!(taken(50, &[(1, 0, 100)]).1, 2);
        assert_eq!(taken(1 << 30, &[(1, 0, 0)]).1, MOST_ROWS);
    }
}
