//! Compares two copies of a store byte for byte: all keys and values of all spaces. Expired rows
//! may be missing from either, since each copy is compacted independently; no other difference is
//! allowed.

use std::{collections::BTreeSet, iter::Peekable, sync::Arc, vec};

use bytes::Bytes;
use clock::Instant;
use store::{KeyRange, Snapshot, Space, Store};

use crate::{
    catalog::{ReapFloors, Record, decode_record},
    differences::Differences,
    error::Error,
    keys,
    view::Pages,
};

/// The result of comparing two copies of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyComparison {
    /// Number of keys that both copies have, in all spaces.
    pub rows: u64,
    /// Number of expired rows that one copy still stores and the other has removed.
    pub expired: u64,
    /// Inconsistencies between the two copies.
    pub differences: Differences,
}

/// Compares two copies of a store, both of the same moment. Rows that have expired at `at` may be
/// missing from either, so `at` must be no earlier than any time that an owner's clock has reached.
pub async fn compare_copies(
    copy: &dyn Store,
    other: &dyn Store,
    at: Instant,
) -> Result<CopyComparison, Error> {
    let (copy, other) = (Side::of(copy), Side::of(other));
    let mut found = CopyComparison::default();
    let records = copy.records().await?;
    for space in copy.spaces.union(&other.spaces).copied() {
        if !copy.spaces.contains(&space) || !other.spaces.contains(&space) {
            let who = if copy.spaces.contains(&space) { "the copy" } else { "the other copy" };
            found.differences.note(format!("space {}: exists only in {who}", space.name()));
            continue;
        }
        let record = match space {
            Space::Rows(id) | Space::Index(id) => records.iter().find(|record| record.id == id),
            Space::Catalog | Space::Counts => None,
        };
        let floors = record.map(|record| expired_at(record, at));
        compare_space(space, &copy, &other, floors.as_ref(), &mut found).await?;
    }
    Ok(found)
}

/// Returns the bounds of the data that a copy of the collection may have dropped up to an instant.
fn expired_at(record: &Record, at: Instant) -> ReapFloors {
    let feed = record.running_feed();
    ReapFloors {
        floors: record.settings.floors_at(at),
        dropped: record.dropped.clone(),
        events_before_s: feed.map_or(i64::MIN, |(feed, _)| feed.kept_from(at)),
    }
}

/// One of the two copies that are compared.
struct Side {
    snapshot: Arc<dyn Snapshot>,
    spaces: BTreeSet<Space>,
}

impl Side {
    fn of(store: &dyn Store) -> Self {
        Self { snapshot: store.snapshot(), spaces: store.all_spaces().into_iter().collect() }
    }

    async fn records(&self) -> Result<Vec<Record>, Error> {
        let mut rows = Rows::of(self, Space::Catalog, KeyRange::with_prefix(keys::RECORDS));
        let mut records = Vec::new();
        while let Some((_, value)) = rows.next().await? {
            records.push(decode_record(&value)?);
        }
        Ok(records)
    }
}

/// Iterates over the keys and values of a range.
struct Rows<'a> {
    side: &'a Side,
    space: Space,
    pages: Pages,
    page: Peekable<vec::IntoIter<(Bytes, Bytes)>>,
}

impl<'a> Rows<'a> {
    fn of(side: &'a Side, space: Space, range: KeyRange) -> Self {
        Self { side, space, pages: Pages::of(range), page: Vec::new().into_iter().peekable() }
    }

    async fn peek(&mut self) -> Result<Option<&(Bytes, Bytes)>, Error> {
        while self.page.peek().is_none() {
            match self.pages.next_page(&*self.side.snapshot, self.space).await? {
                Some(page) => self.page = page.rows.into_iter().peekable(),
                None => break,
            }
        }
        Ok(self.page.peek())
    }

    async fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, Error> {
        self.peek().await?;
        Ok(self.page.next())
    }
}

async fn compare_space(
    space: Space,
    copy: &Side,
    other: &Side,
    floors: Option<&ReapFloors>,
    found: &mut CopyComparison,
) -> Result<(), Error> {
    let mut ours = Rows::of(copy, space, KeyRange::all());
    let mut theirs = Rows::of(other, space, KeyRange::all());
    let has_expired = |(key, value): &(Bytes, Bytes)| {
        floors.is_some_and(|floors| floors.drops(space, key, value))
    };
    let note = |found: &mut CopyComparison, row: &(Bytes, Bytes), what: &str| {
        if has_expired(row) {
            found.expired += 1;
        } else {
            let (name, key) = (space.name(), row.0.escape_ascii());
            found.differences.note(format!("space {name}, key {key}: {what}"));
        }
    };
    loop {
        let (left, right) = (ours.peek().await?, theirs.peek().await?);
        let order = match (left, right) {
            (None, None) => return Ok(()),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((left, _)), Some((right, _))) => left.cmp(right),
        };
        let left = if order.is_le() { ours.next().await? } else { None };
        let right = if order.is_ge() { theirs.next().await? } else { None };
        match (left, right) {
            (Some(left), Some(right)) if left == right => found.rows += 1,
            (Some(left), Some(_)) => note(found, &left, "the values differ"),
            (Some(left), None) => note(found, &left, "exists only in the copy"),
            (None, Some(right)) => note(found, &right, "missing from the copy"),
            (None, None) => return Ok(()),
        }
    }
}
