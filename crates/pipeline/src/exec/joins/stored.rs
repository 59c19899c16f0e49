//! Where a row came from, as bytes, while the row waits in a temporary file. Stages and operations,
//! which cannot become bytes, are kept beside the file, each once; the bytes say which one it is.
//!
//! ```text
//! source   origin? | 0, or steps + 1 | base | step | step | ...
//! join     0 | path | 1 if one element matters | document | sources of the elements
//! each     1 | which of those kept
//! take     2 | index + 1 | step + 1 | which of those kept
//! ```

use std::sync::Arc;

use document::{DocBuf, Path, Value, ValueRef};
use evaluation::{Context, memory_of};

use super::{Join, Joins, RowStep, Source, Unwind, set_at_path, value_at};
use crate::exec::{
    Stage,
    spilling::bytes::{RecordBytes, put_bytes, put_number, put_optional},
};

/// How many of those kept last are looked at for one that is the same.
/// A pipeline has a few stages, and its operation is one: they come again and again.
const LOOKED_AT: usize = 16;

/// A join, in the bytes of a step.
const JOIN: u8 = 0;
/// A stage that keeps one document one document.
const EACH: u8 = 1;
/// An element that was taken out of an array.
const TAKE: u8 = 2;

/// What rows in a temporary file share. It lives as long as the file is read.
/// Positions in it stand in the file's records, so that nothing is ever taken out.
#[derive(Debug, Default)]
pub(in crate::exec) struct Shared(Vec<Kept>);

/// What cannot become bytes.
#[derive(Debug)]
enum Kept {
    /// A stage of a pipeline, and its operation.
    Each(Arc<[Stage]>, usize, Arc<Context>),
    /// The unwinding of an array, and its operation.
    Take(Arc<Unwind>, Arc<Context>),
}

impl Kept {
    /// Whether both are the very same, by their places in memory.
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

    /// About the bytes that it holds: the operation may be there for this row alone.
    fn weight_of_kept(&self) -> usize {
        let (Self::Each(_, _, context) | Self::Take(_, context)) = self;
        let constants = context.constants.fields().iter();
        let held = constants.map(|(name, value)| name.len() + memory_of(value.as_ref()));
        size_of::<Self>() + size_of::<Context>() + held.sum::<usize>()
    }
}

impl Shared {
    /// Adds a source's bytes to `out`; returns by how many bytes it holds more itself.
    /// The caller counts those bytes with what the stage holds.
    pub(in crate::exec) fn write_source(&mut self, source: &Source, out: &mut Vec<u8>) -> usize {
        put_optional(source.origin.as_deref(), out);
        let Some(joins) = &source.joins else {
            put_number(0, out);
            return 0;
        };
        // One more than there are: 0 says that nothing was joined.
        put_number(joins.steps.len() + 1, out);
        put_bytes(joins.base.bytes(), out);
        joins.steps.iter().map(|step| self.write_step(step, out)).sum()
    }

    /// Writes a step; returns the bytes that it keeps beside the file.
    fn write_step(&mut self, step: &RowStep, out: &mut Vec<u8>) -> usize {
        match step {
            RowStep::Join(join) => {
                out.push(JOIN);
                self.write_join(join, out)
            }
            RowStep::Each(stages, at, context) => {
                out.push(EACH);
                self.write_kept(Kept::Each(Arc::clone(stages), *at, Arc::clone(context)), out)
            }
            RowStep::Take { unwind, at, of, context } => {
                out.push(TAKE);
                // The position is the original one: the row's index field was made of it.
                put_place(*at, out);
                put_place(*of, out);
                self.write_kept(Kept::Take(Arc::clone(unwind), Arc::clone(context)), out)
            }
        }
    }

    /// Where only one element matters, the others are not written: they are those of other rows.
    /// The element then stands alone in an otherwise empty document.
    fn write_join(&mut self, join: &Join, out: &mut Vec<u8>) -> usize {
        put_bytes(join.path.as_str().as_bytes(), out);
        // The one element that matters is the only one written, so it stands first.
        put_place(join.only.map(|_| 0), out);
        match join.only.and_then(|only| only_element(join, only)) {
            // Where the element cannot be put apart, the whole array is written.
            Some(joined) => put_bytes(joined.bytes(), out),
            None => put_bytes(join.joined.bytes(), out),
        }
        put_number(join.relevant_sources().count(), out);
        join.relevant_sources().map(|(_, source)| self.write_source(source, out)).sum()
    }

    /// Writes which one of those kept it is, and keeps it if it is new. Rows come in order, so that
    /// the same one is usually among the last.
    fn write_kept(&mut self, kept: Kept, out: &mut Vec<u8>) -> usize {
        // An operation made for one row only is never met again: looking through all of them would
        // be slow.
        let last = self.0.iter().enumerate().rev().take(LOOKED_AT);
        let same = last.into_iter().find(|(_, other)| other.is_same(&kept)).map(|(at, _)| at);
        put_number(same.unwrap_or(self.0.len()), out);
        if same.is_some() {
            return 0;
        }
        let weight = kept.weight_of_kept();
        self.0.push(kept);
        weight
    }

    /// The source that was written; none where the bytes are not one.
    /// Sources of elements are read by recursion, as deep as joins stood inside one another.
    pub(in crate::exec) fn read_source(&self, bytes: &mut RecordBytes<'_>) -> Option<Source> {
        let origin = bytes.read_optional()?.map(Into::into);
        let Some(count) = bytes.read_number()?.checked_sub(1) else {
            return Some(Source { origin, joins: None });
        };
        let base = read_document(bytes)?;
        let steps = (0..count).map(|_| self.read_step(bytes)).collect::<Option<_>>()?;
        Some(Source { origin, joins: Some(Box::new(Joins { base, steps })) })
    }

    /// The step that was written.
    fn read_step(&self, bytes: &mut RecordBytes<'_>) -> Option<RowStep> {
        match bytes.read_byte()? {
            JOIN => {
                let path = Path::new(std::str::from_utf8(bytes.read_bytes()?).ok()?);
                let (only, joined) = (read_place(bytes)?, read_document(bytes)?);
                let count = bytes.read_number()?;
                let from = (0..count).map(|_| self.read_source(bytes)).collect::<Option<_>>()?;
                Some(RowStep::Join(Join { joined, path, from, only }))
            }
            EACH => match self.0.get(bytes.read_number()?)? {
                Kept::Each(stages, at, context) => {
                    Some(RowStep::Each(Arc::clone(stages), *at, Arc::clone(context)))
                }
                // A number of the other sort: the record is not what was written.
                Kept::Take(..) => None,
            },
            TAKE => {
                let (at, of) = (read_place(bytes)?, read_place(bytes)?);
                match self.0.get(bytes.read_number()?)? {
                    Kept::Take(unwind, context) => {
                        let (unwind, context) = (Arc::clone(unwind), Arc::clone(context));
                        Some(RowStep::Take { unwind, at, of, context })
                    }
                    Kept::Each(..) => None,
                }
            }
            _ => None,
        }
    }
}

/// A document with nothing but the array at the join's path, and in it the one element that
/// matters.
fn only_element(join: &Join, only: usize) -> Option<DocBuf> {
    let array = value_at(join.joined.as_ref(), &join.path)?.as_array()?;
    let element = array.get(only).map(ValueRef::to_value);
    let empty = document::DocBuilder::new().finish();
    set_at_path(&join.path, Value::Array(element.into_iter().collect()), &empty).ok()
}

/// The document here.
/// A copy, since the record's memory is used again for the next one.
fn read_document(bytes: &mut RecordBytes<'_>) -> Option<DocBuf> {
    Some(DocBuf::from_trusted(bytes.read_bytes()?.to_vec()))
}

/// A place in an array; one more than it is, so that 0 is none.
fn put_place(place: Option<usize>, out: &mut Vec<u8>) {
    put_number(place.map_or(0, |place| place + 1), out);
}

/// The place here, if there is one.
fn read_place(bytes: &mut RecordBytes<'_>) -> Option<Option<usize>> {
    Some(bytes.read_number()?.checked_sub(1))
}
