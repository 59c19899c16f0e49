//! Laws of entries: entries are read in the order of their numbers, over any number of pages and
//! with all their parts, and reading one segment returns no entries of another.

use super::{noise, reply};
use crate::request::{EntryPart, Ledger, Reply, Request};

type Position = (u32, u64, u64);

const PLACE: Position = (3, 5, 7);

pub(super) async fn check(ledger: &impl Ledger) {
    what_is_written_is_read_in_order(ledger).await;
    segments_are_apart(ledger).await;
    holes_are_left_as_they_are(ledger).await;
    large_parts_go_there_and_back(ledger).await;
    nothing_is_read_after_the_largest_number(ledger).await;
}

async fn write(ledger: &impl Ledger, position: Position, parts: Vec<EntryPart>) {
    let (shard, epoch, segment) = position;
    let append = Request::Append { shard, epoch, segment, parts };
    assert_eq!(reply(ledger, append).await, Reply::Written);
}

async fn read(
    ledger: &impl Ledger,
    position: Position,
    after: u64,
    limit: usize,
) -> Vec<EntryPart> {
    let (shard, epoch, segment) = position;
    let request = Request::ReadEntries { shard, epoch, segment, after, limit };
    match reply(ledger, request).await {
        Reply::Parts(parts) => parts,
        other => panic!("{other:?} answers a reading of entries"),
    }
}

/// Returns an entry of `parts` parts of `length` bytes each, different from every other entry.
fn entry(n: u64, parts: u32, length: usize) -> Vec<EntryPart> {
    let seed = usize::try_from(n).unwrap_or(0);
    let part = |part| EntryPart { n, part, body: noise(length, seed + 7 * part as usize) };
    (0..parts).map(part).collect()
}

async fn what_is_written_is_read_in_order(ledger: &impl Ledger) {
    assert_eq!(read(ledger, PLACE, 0, 1000).await, []);
    // Every third entry has three parts; the entries are written in groups, the last group first,
    // and one entry is written twice.
    let parts_of = |n: u64| if n.is_multiple_of(3) { 3 } else { 1 };
    let entries: Vec<Vec<EntryPart>> = (1..=300).map(|n| entry(n, parts_of(n), 100)).collect();
    for together in entries.chunks(20).rev() {
        write(ledger, PLACE, together.concat()).await;
    }
    write(ledger, PLACE, entries[17].clone()).await;
    let all = entries.concat();
    // Limits that end a page before, in and after an entry, and one that fits everything.
    for limit in [0, 150, 2_000, 12_345, 1 << 20] {
        let mut found = Vec::new();
        let mut pages = 0;
        loop {
            let after = found.last().map_or(0, |part: &EntryPart| part.n);
            let page = read(ledger, PLACE, after, limit).await;
            if page.is_empty() {
                break;
            }
            // A page may exceed the limit only by its last entry.
            let last = page.last().map_or(0, |part| part.n);
            let before = page.iter().filter(|part| part.n != last);
            let bytes: usize = before.map(|part| part.body.len()).sum();
            assert!(bytes <= limit, "{bytes} bytes before the last entry, of {limit}");
            found.extend(page);
            pages += 1;
            // Reading all of it entry by entry takes long and tests nothing new.
            if limit == 0 && pages == 12 {
                break;
            }
        }
        assert_eq!(found, all[..found.len()], "pages of {limit} bytes");
        assert!(limit == 0 || found.len() == all.len());
    }
    assert_eq!(read(ledger, PLACE, 298, 1 << 20).await, entries[298..].concat());
    assert_eq!(read(ledger, PLACE, 300, 1 << 20).await, []);
}

async fn segments_are_apart(ledger: &impl Ledger) {
    let (shard, epoch, segment) = PLACE;
    let places =
        [(shard + 1, epoch, segment), (shard, epoch + 1, segment), (shard, epoch, segment + 1)];
    for position in places {
        assert_eq!(read(ledger, position, 0, 1000).await, []);
    }
    for (seed, position) in (1..).zip(places) {
        write(ledger, position, entry(seed, 1, 10)).await;
    }
    for (seed, position) in (1..).zip(places) {
        assert_eq!(read(ledger, position, 0, 1000).await, entry(seed, 1, 10));
    }
}

async fn holes_are_left_as_they_are(ledger: &impl Ledger) {
    let position = (4, 1, 0);
    let mut torn = entry(4, 3, 20);
    torn.remove(1);
    let written = [entry(2, 1, 20), torn, entry(9, 2, 0)].concat();
    write(ledger, position, written.clone()).await;
    assert_eq!(read(ledger, position, 0, 1000).await, written);
    assert_eq!(read(ledger, position, 2, 1000).await, written[1..]);
    assert_eq!(read(ledger, position, 3, 0).await, written[1..3]);
}

async fn large_parts_go_there_and_back(ledger: &impl Ledger) {
    let position = (5, 1, 0);
    let entries = [entry(1, 4, 256 << 10), entry(2, 1, 1), entry(3, 9, 256 << 10)];
    for parts in &entries {
        write(ledger, position, parts.clone()).await;
    }
    assert_eq!(read(ledger, position, 0, 1).await, entries[0]);
    assert_eq!(read(ledger, position, 1, 100).await, entries[1..].concat());
    assert_eq!(read(ledger, position, 0, 16 << 20).await, entries.concat());
}

async fn nothing_is_read_after_the_largest_number(ledger: &impl Ledger) {
    assert_eq!(read(ledger, PLACE, u64::MAX, 1000).await, []);
}
