//! Verifies a collection: rows against their index entries in both directions, and counters against
//! rows. Differences among expired documents are not damage; they are only counted.
//!
//! Everything is read in one view, so writers need not stop; changes made after the view was opened
//! are not checked.

use std::{collections::BTreeMap, sync::Arc};

use expiry::Header;
use store::KeyRange;

use crate::{
    catalog::{Collection, IndexShape},
    differences::Differences,
    engine::Engine,
    error::{Error, Halt},
    index::draft_entries,
    keys,
    retry::read_in_view,
    row::Row,
    view::{LiveView, Pages},
};

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Number of live rows that were checked.
    pub rows: u64,
    /// Number of live entries by index.
    pub entries: BTreeMap<u32, u64>,
    /// Number of entries of expired documents that are still stored.
    pub dead_entries: u64,
    /// Inconsistencies found by the verification.
    pub differences: Differences,
}

impl Engine {
    /// Compares a collection's rows, entries and counters in one view.
    pub async fn check_collection(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<CheckReport, Error> {
        Ok(read_in_view!(self, collection, |view| view.compare_all().await)?.0)
    }
}

impl LiveView {
    /// Compares rows with entries, entries with rows, and counters with rows.
    async fn compare_all(&self) -> Result<CheckReport, Halt> {
        let mut checked = CheckReport::default();
        let mut bytes = 0_i64;
        let mut pages = Pages::of(KeyRange::all());
        while let Some(page) = self.next_rows(&mut pages).await? {
            for row in &page.items {
                checked.rows += 1;
                bytes += i64::try_from(row.body().len()).unwrap_or(0);
                self.check_row(row, &mut checked).await?;
            }
        }
        self.check_entries(&mut checked).await?;
        // Counters are read at the same instant as the rows.
        let live = self.count_live().await?;
        let rows = i64::try_from(checked.rows).unwrap_or(i64::MAX);
        if (live.documents, live.bytes) != (rows, bytes) {
            checked.differences.note(format!(
                "the counters record {} documents and {} bytes, but the rows hold {rows} and \
                 {bytes}",
                live.documents, live.bytes
            ));
        }
        Ok(checked)
    }

    /// Checks that every entry of a row exists and agrees with the row's header.
    async fn check_row(&self, row: &Row, checked: &mut CheckReport) -> Result<(), Halt> {
        let Some(header) = row.header() else { return Ok(()) };
        let scope = self.state.record.partition_layout();
        for (index, partial) in self.state.record.indexes.iter().zip(&self.state.partial) {
            if !index.ready || !index.has_entries() {
                continue;
            }
            let drafted =
                draft_entries(index, partial.as_deref(), row.document(), row.named(), scope)?;
            let entries = drafted.into_iter().flat_map(|drafted| drafted.entries);
            let timed = (index.shape == IndexShape::Timeline).then(|| {
                let (expires_by, dates) = ((header.class, header.ts), header.dates.iter());
                self.state.record.timeline_keys(expires_by, dates, &row.key)
            });
            for key in entries.map(|(key, _)| key).chain(timed.into_iter().flatten()) {
                let stored = self.including_expired().entry(&key).await?;
                let agrees = stored.as_ref().is_some_and(|value| {
                    Header::split(value).is_ok_and(|(entry, _)| entry.same_expiry(&header))
                });
                if !agrees {
                    let id = row.document().get("_id").or_else(|| row.document().get("id"));
                    let id = id.map(document::shell);
                    checked
                        .differences
                        .note(format!("document {id:?} lacks its entry in index '{}'", index.name));
                }
            }
        }
        Ok(())
    }

    /// Checks that every live entry has its row.
    async fn check_entries(&self, checked: &mut CheckReport) -> Result<(), Halt> {
        let record = &self.state.record;
        let changes = record.items.map(|_| crate::item::changes_index());
        let indexes = record.indexes.iter().filter(|index| index.has_entries());
        for index in indexes.chain(&changes) {
            let mut pages = Pages::of(KeyRange::with_prefix(&keys::index_prefix(index.id)));
            while let Some(page) = self.next_entries(index, &mut pages).await? {
                checked.dead_entries += (page.examined - page.items.len()) as u64;
                for entry in &page.items {
                    *checked.entries.entry(index.id).or_default() += 1;
                    let row = self.get_row(&entry.row_key).await?;
                    if row.is_none_or(|row| row.stamp != entry.stamp) {
                        checked.differences.note(format!(
                            "an entry of index '{}' has no row with its stamp",
                            index.name
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}
