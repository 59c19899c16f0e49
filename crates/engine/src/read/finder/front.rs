//! The front of a finder: its next candidate, which can be compared with other finders' candidates,
//! taken, or skipped without reading its row.

use document::key::{Component, decode};
use evaluation::Context;
use pipeline::sort::{Sort, SortKey};

use super::{Candidate, Finder};
use crate::{
    access::AccessPath,
    catalog::IndexSpec,
    error::{Error, Halt},
    keys,
    limits::{FIRST_PAGE_ROWS, PAGE_ROWS, ROW_WORK},
    row::Row,
    view::LiveView,
    yielding::yield_if_due,
};

impl Finder {
    /// Returns the sort key of the next candidate of a scan in this order; `None` at the end. The
    /// candidate may still not match.
    pub(super) async fn peek_key(
        &mut self,
        view: &LiveView,
        context: &Context,
        order: &Sort,
    ) -> Result<Option<SortKey>, Halt> {
        while self.read_front(view, context, FIRST_PAGE_ROWS).await? {
            if let Some(key) = self.next_long_key() {
                return Ok(Some(key.clone()));
            }
            if let Some(row) = self.rows_ahead.front() {
                return Ok(Some(order.key_of(row.document(), context.collation())));
            }
            let key = match (self.ahead.front(), &self.chosen.access) {
                (Some(Candidate::Entry(entry)), AccessPath::Index { index, .. }) => {
                    key_of_entry(index, &entry.key, order)
                }
                (Some(Candidate::Id(id)), _) => key_of_id(id, order),
                _ => continue,
            };
            return match key {
                Some(key) => Ok(Some(key)),
                None => Err(Error::corrupt("an index key lacks the values of its fields").into()),
            };
        }
        Ok(None)
    }

    /// Reads ahead until there is a next candidate; returns false at the end.
    async fn read_front(
        &mut self,
        view: &LiveView,
        context: &Context,
        wanted: usize,
    ) -> Result<bool, Halt> {
        loop {
            if self.is_in_long() {
                return Ok(true);
            }
            if self.is_before_long() {
                self.gather_long(view, context).await?;
            } else if !self.rows_ahead.is_empty() || !self.ahead.is_empty() {
                return Ok(true);
            } else if !self.read_more(view, context, wanted).await? {
                return Ok(false);
            }
        }
    }

    /// Takes the next candidate, which must be read ahead; returns its row if it matches.
    pub(super) async fn take_front(
        &mut self,
        view: &LiveView,
        context: &Context,
    ) -> Result<Option<Row>, Halt> {
        if let Some(row) = self.next_long() {
            return Ok(Some(row));
        }
        if let Some(row) = self.rows_ahead.pop_front() {
            yield_if_due(context, ROW_WORK + row.body().len()).await?;
            self.last = Some(row.key.clone());
            return Ok(self.matches_residual(&row, context)?.then_some(row));
        }
        match self.ahead.pop_front() {
            Some(candidate) => self.look_at(candidate, view, context).await,
            None => Ok(None),
        }
    }

    /// Skips the next candidate without reading its row; the candidate must be read ahead and
    /// match. Returns false if there is no candidate.
    pub(super) fn pass_front(&mut self) -> bool {
        if self.next_long().is_some() {
            return true;
        }
        let key = match (self.rows_ahead.pop_front(), self.ahead.pop_front()) {
            (Some(row), _) => row.key,
            (None, Some(Candidate::Entry(entry))) => entry.key,
            (None, _) => return false,
        };
        self.keys_examined += 1;
        self.last = Some(key);
        true
    }

    /// Skips the planned number of leading rows by their keys.
    pub(super) async fn skip_rows(
        &mut self,
        view: &LiveView,
        context: &Context,
    ) -> Result<(), Halt> {
        while 0 < self.to_skip {
            let skipped = match &mut self.branches {
                Some(branches) => branches.skip_row(view, context).await?,
                None => {
                    let wanted = usize::try_from(self.to_skip).unwrap_or(PAGE_ROWS);
                    self.read_front(view, context, wanted).await? && self.pass_front()
                }
            };
            self.to_skip = if skipped { self.to_skip - 1 } else { 0 };
        }
        Ok(())
    }
}

/// Decodes the sort key of an index entry's document; `None` if the key lacks a field of the order
/// or a value is truncated.
fn key_of_entry(index: &IndexSpec, key: &[u8], order: &Sort) -> Option<SortKey> {
    let mut rest = key.get(keys::index_prefix(index.id).len()..)?;
    let mut values = Vec::with_capacity(index.key.len() + 1);
    let id = index.ends_with_id().then_some(("_id", false));
    let fields = index.key.iter().map(|(path, descending)| (path.as_str(), *descending));
    for (path, descending) in fields.chain(id) {
        let (component, behind) = decode(rest, descending)?;
        values.push((path, component));
        rest = behind;
    }
    let mut out = Vec::with_capacity(order.parts.len());
    for part in &order.parts {
        let path = part.path.as_str();
        match values.iter().find(|(at, _)| *at == path)? {
            (_, Component::Value(value)) => out.push(value.clone()),
            (_, Component::Cut) => return None,
        }
        // Ids are unique, so later parts of the order do not matter.
        if path == "_id" {
            break;
        }
    }
    Some(SortKey(out))
}

/// Decodes the sort key of an id, for an order that starts with `_id`; `None` if truncated.
fn key_of_id(id: &[u8], order: &Sort) -> Option<SortKey> {
    order.parts.first().filter(|part| part.path.as_str() == "_id")?;
    match decode(id, false)? {
        (Component::Value(id), _) => Some(SortKey(vec![id])),
        (Component::Cut, _) => None,
    }
}
