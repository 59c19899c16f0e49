//! Derives an item's entries in the index of one path: one per distinct value. Unlike the traversal
//! for a policy, it reads only that path.

use bytes::Bytes;
use document::{DocRef, ValueRef};
use select::sarg::PathStep;

use super::{
    DraftedEntries,
    items::{check_count, path_component},
};
use crate::{
    catalog::IndexSpec,
    entry::{NamedRow, naming_body},
    error::Error,
    keys,
};

/// Returns the index entries of an item for the values at one path.
pub(super) fn draft_by_path(
    index: &IndexSpec,
    steps: &[PathStep],
    document: DocRef<'_>,
    row: NamedRow<'_>,
) -> Result<DraftedEntries, Error> {
    let (prefix, body) = (keys::index_prefix(index.id), naming_body(row.key));
    let mut draft = PathDraft { index, prefix, row, body, entries: Vec::new() };
    draft.visit_values(ValueRef::Document(document), steps)?;
    let mut entries = draft.entries;
    entries.sort_unstable();
    entries.dedup();
    Ok(DraftedEntries { entries, multikey: false, date: None })
}

/// The entries of one item collected so far.
struct PathDraft<'a> {
    index: &'a IndexSpec,
    /// Prefix of the entries' keys.
    prefix: Vec<u8>,
    row: NamedRow<'a>,
    /// Body shared by all entries.
    body: Bytes,
    entries: Vec<(Bytes, Bytes)>,
}

impl PathDraft<'_> {
    /// Adds entries for the values at the end of the remaining steps.
    fn visit_values(&mut self, value: ValueRef<'_>, steps: &[PathStep]) -> Result<(), Error> {
        match (steps.split_first(), value) {
            (None, value) => self.enter_value(value),
            (Some((PathStep::Property(name), rest)), ValueRef::Document(fields)) => {
                match fields.get(name) {
                    Some(value) => self.visit_values(value, rest),
                    None => Ok(()),
                }
            }
            (Some((PathStep::Elements, rest)), ValueRef::Array(values)) => {
                values.iter().try_for_each(|value| self.visit_values(value, rest))
            }
            _ => Ok(()),
        }
    }

    fn enter_value(&mut self, value: ValueRef<'_>) -> Result<(), Error> {
        let mut key = Vec::with_capacity(self.prefix.len() + 56 + self.row.key.len());
        key.extend_from_slice(&self.prefix);
        path_component(value, &mut key);
        self.row.push_name(self.index, &mut key);
        self.entries.push((key.into(), self.body.clone()));
        check_count(&mut self.entries)
    }
}
