//! Laws of bases, the copies of a shard's data in pieces: a piece is read as written, and deleted
//! pieces and segments do not reappear when they are written again.

use super::{noise, reply};
use crate::request::{EntryPart, Ledger, Reply, Request};

const SHARD: u32 = 4;

pub(super) async fn check(ledger: &impl Ledger) {
    pieces_are_read_as_they_were_written(ledger).await;
    what_is_dropped_stays_away(ledger).await;
}

async fn piece(ledger: &impl Ledger, base: u64, piece: u32) -> Option<bytes::Bytes> {
    match reply(ledger, Request::LoadPiece { shard: SHARD, base, piece }).await {
        Reply::Piece(body) => body,
        other => panic!("{other:?} is no piece"),
    }
}

async fn written(ledger: &impl Ledger, request: Request) {
    assert_eq!(reply(ledger, request).await, Reply::Written);
}

async fn pieces_are_read_as_they_were_written(ledger: &impl Ledger) {
    let sizes = [0, 1, 1000, 300 << 10, 2 << 20];
    assert_eq!(piece(ledger, 7, 0).await, None);
    for (at, size) in (0..).zip(sizes) {
        let body = noise(size, size);
        let put = Request::PutPiece { shard: SHARD, base: 7, piece: at, body };
        // The piece is written twice, as after a lost reply.
        written(ledger, put.clone()).await;
        written(ledger, put).await;
    }
    for (at, size) in (0..).zip(sizes) {
        assert_eq!(piece(ledger, 7, at).await, Some(noise(size, size)), "{size} bytes");
    }
    assert_eq!(piece(ledger, 8, 0).await, None, "another base");
}

async fn what_is_dropped_stays_away(ledger: &impl Ledger) {
    let put = |piece| Request::PutPiece { shard: SHARD, base: 9, piece, body: noise(500, 3) };
    for at in [0, 1] {
        written(ledger, put(at)).await;
    }
    written(ledger, Request::DropPiece { shard: SHARD, base: 9, piece: 0 }).await;
    assert_eq!(piece(ledger, 9, 0).await, None);
    written(ledger, put(0)).await;
    assert_eq!(piece(ledger, 9, 0).await, None, "a late write");
    assert_eq!(piece(ledger, 9, 1).await, Some(noise(500, 3)));
    let part = |n| EntryPart { n, part: 0, body: noise(100, 5) };
    let append =
        |segment, n| Request::Append { shard: SHARD, epoch: 2, segment, parts: vec![part(n)] };
    let read = async |segment| {
        let (shard, epoch, after, limit) = (SHARD, 2, 0, 1 << 20);
        reply(ledger, Request::ReadEntries { shard, epoch, segment, after, limit }).await
    };
    for (segment, n) in [(0, 1), (0, 2), (1, 3)] {
        written(ledger, append(segment, n)).await;
    }
    written(ledger, Request::DropSegment { shard: SHARD, epoch: 2, segment: 0 }).await;
    assert_eq!(read(0).await, Reply::Parts(Vec::new()));
    written(ledger, append(0, 2)).await;
    assert_eq!(read(0).await, Reply::Parts(Vec::new()), "a late write");
    assert_eq!(read(1).await, Reply::Parts(vec![part(3)]));
}
