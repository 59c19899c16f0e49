//! The encoding of a row's source for temporary files. A source describes how to compute the row's
//! document when it is needed: from a base document by steps, which add joined documents (`join`),
//! apply a stage (`each`) or replace an array by one of its elements (`take`, for `$unwind`).
//! Stages and contexts cannot be encoded: they stay in memory, each once, and the encoding refers
//! to them by number.
//!
//! ```text
//! source   origin? | 0, or number of steps + 1 | base | step | step | ...
//! join     0 | path | 1 if only one element is kept | document | sources of the elements
//! each     1 | number of the kept item
//! take     2 | index + 1 | step + 1 | number of the kept item
//! ```

use std::sync::Arc;

use document::{DocBuf, Path, Value, ValueRef};
use evaluation::{Context, memory_of};

use super::{Join, Joins, RowStep, Source, Unwind, set_at_path, value_at};
use crate::exec::{
    Stage,
    spilling::bytes::{RecordBytes, put_bytes, put_number, put_optional},
};

/// Number of the most recent stages and contexts with which a new one is compared, to store equal
/// ones once. That finds almost all, since a pipeline has few stages and one context.
const SEARCHED_ITEMS: usize = 16;

/// Record type of a step that is a join.
const JOIN: u8 = 0;
/// Record type of a step by a stage that maps one document to one.
const EACH: u8 = 1;
/// Record type of a step that takes an element out of an array.
const TAKE: u8 = 2;

/// The stages and contexts of the sources of rows in a temporary file, each once. Records refer to
/// them by index, so none is removed while the file is read.
#[derive(Debug, Default)]
pub(in crate::exec) struct Shared(Vec<SharedItem>);

/// A part of a row's source that is kept in memory, because it cannot be encoded.
#[derive(Debug)]
enum SharedItem {
    /// A stage of a pipeline, and its context.
    Each(Arc<[Stage]>, usize, Arc<Context>),
    /// An `$unwind`, and its context.
    Take(Arc<Unwind>, Arc<Context>),
}

impl SharedItem {
    /// Returns whether two stages, and their contexts, are the same objects in memory.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Each(stages, at, context), Self::Each(others, place, other)) => {
                at == place && Arc::ptr_eq(stages, others) && Arc::ptr_eq(context, other)
            }
            (Self::Take(unwind, context), Self::Take(others, other)) => {
                Arc::ptr_eq(unwind, others) && Arc::ptr_eq(context, other)
            }
            (Self::Each(..), Self::Take(..)) | (Self::Take(..), Self::Each(..)) => false,
        }
    }

    /// Returns the approximate memory of the stage and its context. The context is counted since it
    /// may exist for one row only.
    fn weight_of_kept(&self) -> usize {
        let (Self::Each(_, _, context) | Self::Take(_, context)) = self;
        let constants = context.constants.fields().iter();
        let held = constants.map(|(name, value)| name.len() + memory_of(value.as_ref()));
        size_of::<Self>() + size_of::<Context>() + held.sum::<usize>()
    }
}

impl Shared {
    /// Appends an encoded source to `out`. Returns by how many bytes the stages and contexts in
    /// memory have grown.
    pub(in crate::exec) fn write_source(&mut self, source: &Source, out: &mut Vec<u8>) -> usize {
        put_optional(source.origin.as_deref(), out);
        let Some(joins) = &source.joins else {
            put_number(0, out);
            return 0;
        };
        // 0 means that there are no joins.
        put_number(joins.steps.len() + 1, out);
        put_bytes(joins.base.bytes(), out);
        joins.steps.iter().map(|step| self.write_step(step, out)).sum()
    }

    /// Writes a step. Returns by how many bytes the stages and contexts in memory have grown.
    fn write_step(&mut self, step: &RowStep, out: &mut Vec<u8>) -> usize {
        match step {
            RowStep::Join(join) => {
                out.push(JOIN);
                self.write_join(join, out)
            }
            RowStep::Each(stages, at, context) => {
                out.push(EACH);
                self.write_kept(SharedItem::Each(Arc::clone(stages), *at, Arc::clone(context)), out)
            }
            RowStep::Take { unwind, at, of, context } => {
                out.push(TAKE);
                // The original index, since it was written to the row's index field.
                put_index(*at, out);
                put_index(*of, out);
                self.write_kept(SharedItem::Take(Arc::clone(unwind), Arc::clone(context)), out)
            }
        }
    }

    /// Writes a join. If `$unwind` has selected one element, only that element is written, in an
    /// otherwise empty document. Returns by how many bytes the stages and contexts in memory have
    /// grown.
    fn write_join(&mut self, join: &Join, out: &mut Vec<u8>) -> usize {
        put_bytes(join.path.as_str().as_bytes(), out);
        // The only element written has index 0.
        put_index(join.only.map(|_| 0), out);
        match join.only.and_then(|only| only_element(join, only)) {
            // If the element cannot be extracted, the whole array is written.
            Some(joined) => put_bytes(joined.bytes(), out),
            None => put_bytes(join.joined.bytes(), out),
        }
        put_number(join.relevant_sources().count(), out);
        join.relevant_sources().map(|(_, source)| self.write_source(source, out)).sum()
    }

    /// Writes the index of a stage and its context among those in memory, and adds them if they are
    /// new. Returns by how many bytes they have grown.
    fn write_kept(&mut self, kept: SharedItem, out: &mut Vec<u8>) -> usize {
        // Contexts made for one row never repeat, so searching all items would be slow.
        let last = self.0.iter().enumerate().rev().take(SEARCHED_ITEMS);
        let same = last.into_iter().find(|(_, other)| other.is_same(&kept)).map(|(at, _)| at);
        put_number(same.unwrap_or(self.0.len()), out);
        if same.is_some() {
            return 0;
        }
        let weight = kept.weight_of_kept();
        self.0.push(kept);
        weight
    }

    /// Decodes a source; `None` if the bytes are invalid. Recurses for sources of joined elements,
    /// as deep as joins were nested.
    pub(in crate::exec) fn read_source(&self, bytes: &mut RecordBytes<'_>) -> Option<Source> {
        let origin = bytes.read_optional()?.map(Into::into);
        let Some(count) = bytes.read_number()?.checked_sub(1) else {
            return Some(Source { origin, joins: None });
        };
        let base = read_document(bytes)?;
        let steps = (0..count).map(|_| self.read_step(bytes)).collect::<Option<_>>()?;
        Some(Source { origin, joins: Some(Box::new(Joins { base, steps })) })
    }

    fn read_step(&self, bytes: &mut RecordBytes<'_>) -> Option<RowStep> {
        match bytes.read_byte()? {
            JOIN => {
                let path = Path::new(std::str::from_utf8(bytes.read_bytes()?).ok()?);
                let (only, joined) = (read_index(bytes)?, read_document(bytes)?);
                let count = bytes.read_number()?;
                let from = (0..count).map(|_| self.read_source(bytes)).collect::<Option<_>>()?;
                Some(RowStep::Join(Join { joined, path, from, only }))
            }
            EACH => match self.0.get(bytes.read_number()?)? {
                SharedItem::Each(stages, at, context) => {
                    Some(RowStep::Each(Arc::clone(stages), *at, Arc::clone(context)))
                }
                // An item of the other type: the record is damaged.
                SharedItem::Take(..) => None,
            },
            TAKE => {
                let (at, of) = (read_index(bytes)?, read_index(bytes)?);
                match self.0.get(bytes.read_number()?)? {
                    SharedItem::Take(unwind, context) => {
                        let (unwind, context) = (Arc::clone(unwind), Arc::clone(context));
                        Some(RowStep::Take { unwind, at, of, context })
                    }
                    SharedItem::Each(..) => None,
                }
            }
            _ => None,
        }
    }
}

/// Returns a document with only the array at the join's path, which contains only this element.
fn only_element(join: &Join, only: usize) -> Option<DocBuf> {
    let array = value_at(join.joined.as_ref(), &join.path)?.as_array()?;
    let element = array.get(only).map(ValueRef::to_value);
    let empty = document::DocBuilder::new().finish();
    set_at_path(&join.path, Value::Array(element.into_iter().collect()), &empty).ok()
}

/// Decodes a document; it is copied, since the record's buffer is reused.
fn read_document(bytes: &mut RecordBytes<'_>) -> Option<DocBuf> {
    Some(DocBuf::from_trusted(bytes.read_bytes()?.to_vec()))
}

/// Encodes an optional index as its value plus one; 0 is `None`.
fn put_index(index: Option<usize>, out: &mut Vec<u8>) {
    put_number(index.map_or(0, |index| index + 1), out);
}

fn read_index(bytes: &mut RecordBytes<'_>) -> Option<Option<usize>> {
    Some(bytes.read_number()?.checked_sub(1))
}
