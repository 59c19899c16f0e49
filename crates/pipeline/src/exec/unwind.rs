//! One row an element of an array (`$unwind`). The array is not copied: the next element is found
//! by its offset in the raw bytes, and each row is written from the document and one element.

use std::sync::Arc;

use document::{ArrayRef, DocBuf, DocBuilder, DocRef, Path, Reader, Value, ValueRef, element_at};
use evaluation::{Context, Error, Holding};

use super::{
    Fields, Meter, Row,
    operator::{Operator, Poll},
    size::checked_size,
};
use crate::expr::Expr;

/// Which array, and what else is kept.
#[derive(Clone, Debug)]
pub struct Unwind {
    /// Where the array is.
    pub path: Path,
    /// Where its positions go.
    pub index: Option<Path>,
    /// Whether rows without elements are kept.
    /// Null, missing and an empty array count as without elements; any other value counts as its
    /// own only element.
    pub keep_empty: bool,
}

/// Where the first element of a raw array begins, after its length.
const FIRST: usize = 4;

/// The stage, running.
#[derive(Debug)]
pub(super) struct Unwinding {
    /// What is asked for.
    unwind: Arc<Unwind>,
    /// The row whose elements are being returned.
    row: Option<Apart>,
    /// Whether all rows have come.
    ended: bool,
    /// The row that is taken apart: it is there while what is behind takes its elements apart.
    meter: Meter,
}

/// A row whose array is being taken apart, and how far.
/// The offset spares counting elements from the start for each of them.
#[derive(Debug)]
struct Apart {
    /// The row as it came.
    row: Row,
    /// The position of the next element.
    at: usize,
    /// Where the next element begins in the array's bytes.
    offset: usize,
    /// The join that made the array.
    of: Option<usize>,
}

impl Unwinding {
    /// The stage before its first row.
    pub(super) fn new(unwind: Unwind, holding: &Holding) -> Self {
        let meter = Meter::new("$unwind", holding);
        Self { unwind: Arc::new(unwind), row: None, ended: false, meter }
    }

    /// The row of the next element; `None` after the last one. A row without an array, or with an
    /// empty one, has one turn without an element.
    /// Called again until it is `None`. An element that is dropped also ends the row.
    fn next_element(
        &self,
        apart: &mut Apart,
        context: &Arc<Context>,
    ) -> Result<Option<Row>, Error> {
        let Apart { row, at, offset, of } = apart;
        // The array is found again for each element, since a row cannot hold a borrow of itself.
        let next = match value_at(row.document.as_ref(), &self.unwind.path) {
            Some(ValueRef::Array(ArrayRef::Raw(values))) => element_at(values, *offset),
            _ => None,
        };
        // The array has come to its end. Without any element there is one turn.
        if next.is_none() && *at > 0 {
            return Ok(None);
        }
        let place = next.map(|_| *at);
        let value = next.and_then(|(element, _)| element.decode());
        let made = unwound(&self.unwind, &row.document, value, place, context)?;
        *at += 1;
        *offset = next.map_or(*offset, |(_, behind)| behind);
        let source = || row.source.clone().after_unwind(&self.unwind, place, *of, context);
        Ok(made.map(|document| Row { document, source: source() }))
    }
}

/// The document with an element of the array instead of it, shown as the one at `position`. Without
/// an element, what becomes of a document that has none: it stays when that is asked for, and is
/// dropped otherwise.
/// Also called when a row is made again without what has expired.
pub(super) fn unwound(
    unwind: &Unwind,
    document: &DocBuf,
    element: Option<ValueRef<'_>>,
    position: Option<usize>,
    context: &Context,
) -> Result<Option<DocBuf>, Error> {
    let fields = document.as_ref();
    let made = match (value_at(fields, &unwind.path), element) {
        (Some(ValueRef::Array(_)), Some(value)) => with_value_at(fields, &unwind.path, Some(value)),
        (Some(ValueRef::Array(values)), None) if values.is_empty() && unwind.keep_empty => {
            with_value_at(fields, &unwind.path, None)
        }
        (Some(ValueRef::Array(_)), None) | (_, Some(_)) => return Ok(None),
        (Some(value), None) if !value.is_nullish() => document.clone(),
        _ if unwind.keep_empty => document.clone(),
        _ => return Ok(None),
    };
    let made = match &unwind.index {
        Some(path) => indexed(&made, path, position, context)?,
        None => made,
    };
    Ok(Some(checked_size(made)?))
}

/// The document with the position of its element at a path; null where there was no element.
/// Counted from 0, as a 64-bit integer.
fn indexed(
    document: &DocBuf,
    path: &Path,
    position: Option<usize>,
    context: &Context,
) -> Result<DocBuf, Error> {
    let position = position.and_then(|position| i64::try_from(position).ok());
    let value = position.map_or(Value::Null, Value::Int64);
    let mut fields = Fields::new();
    // One path cannot be in conflict with another.
    let _ = fields.set_at(&path.parts().collect::<Vec<_>>(), Expr::Literal(value));
    fields.apply_to(document.as_ref(), context)
}

/// The value at a path that leads through documents only.
/// An array on the way leads nowhere: `$unwind` does not enter arrays.
fn value_at<'a>(document: DocRef<'a>, path: &Path) -> Option<ValueRef<'a>> {
    let mut value = ValueRef::Document(document);
    for part in path.parts() {
        value = value.as_document()?.get(part)?;
    }
    Some(value)
}

/// The document with another value at a path that exists, or without it.
/// Without it the fields around stay, also where they are empty then.
fn with_value_at(document: DocRef<'_>, path: &Path, value: Option<ValueRef<'_>>) -> DocBuf {
    let mut builder = DocBuilder::new();
    copy_with_value(&mut builder, document, path, 0, value);
    builder.finish()
}

/// Copies a document, with the value in place of the one at the path.
/// `at` is the part of the path that names of this level are compared with.
fn copy_with_value(
    builder: &mut DocBuilder,
    document: DocRef<'_>,
    path: &Path,
    at: usize,
    value: Option<ValueRef<'_>>,
) {
    // Rows are raw documents always.
    let DocRef::Raw(bytes) = document else { return };
    for element in Reader::new(bytes) {
        if element.name != path.part(at).as_bytes() {
            builder.append_raw(element.name, element.kind, element.value);
        } else if at + 1 == path.len() {
            if let Some(value) = value {
                builder.append(path.part(at), value);
            }
        } else if let Some(ValueRef::Document(below)) = element.decode() {
            builder.document(path.part(at), |builder| {
                copy_with_value(builder, below, path, at + 1, value)
            });
        } else {
            builder.append_raw(element.name, element.kind, element.value);
        }
    }
}

impl Operator for Unwinding {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        let of = row.source.array_at(row.document.as_ref(), &self.unwind.path);
        // The row before is done.
        self.meter.clear_held();
        self.meter.add_bytes(row.memory_bytes())?;
        self.row = Some(Apart { row, at: 0, offset: FIRST, of });
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        if let Some(mut apart) = self.row.take()
            && let Some(made) = self.next_element(&mut apart, context)?
        {
            self.row = Some(apart);
            return Ok(Poll::Row(made));
        }
        Ok(if self.ended { Poll::Done } else { Poll::Need })
    }
}
