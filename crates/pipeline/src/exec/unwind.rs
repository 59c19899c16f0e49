//! Returns one row per element of an array (`$unwind`). The array is not copied: the next element
//! is found by its offset in the raw bytes, and each row is written from the document and one
//! element.

use std::sync::Arc;

use document::{ArrayRef, DocBuf, DocBuilder, DocRef, Path, Reader, Value, ValueRef, element_at};
use evaluation::{Context, Error, OperationMemory};

use super::{
    Fields, Meter, Row,
    operator::{Operator, Poll},
    size::checked_size,
};
use crate::expr::Expr;

/// The `$unwind` stage of a plan.
#[derive(Clone, Debug)]
pub struct Unwind {
    /// The path of the array.
    pub path: Path,
    /// The path that receives the index of the element.
    pub index: Option<Path>,
    /// Whether rows without elements are kept (`preserveNullAndEmptyArrays`): those with null,
    /// missing or an empty array. Any other value that is no array counts as its own only element.
    pub keep_empty: bool,
}

/// Offset of the first element of a raw array, after its length.
const FIRST: usize = 4;

#[derive(Debug)]
pub(super) struct UnwindOperator {
    unwind: Arc<Unwind>,
    /// The row whose elements are being returned.
    row: Option<UnwoundRow>,
    /// Whether the input has ended.
    ended: bool,
    /// Memory of the row whose elements are being returned, which later stages may still process.
    meter: Meter,
}

/// A row whose array is being unwound. The byte offset avoids counting elements from the start each
/// time.
#[derive(Debug)]
struct UnwoundRow {
    row: Row,
    /// The index of the next element.
    at: usize,
    /// The offset in the array's bytes of the next element.
    offset: usize,
    /// The index of the join step that made the array, if any.
    of: Option<usize>,
}

impl UnwindOperator {
    pub(super) fn new(unwind: Unwind, operation_memory: &OperationMemory) -> Self {
        let meter = Meter::new("$unwind", operation_memory);
        Self { unwind: Arc::new(unwind), row: None, ended: false, meter }
    }

    /// Returns the row of the next element; `None` after the last one, or if the element's row is
    /// dropped. A row without an array, or with an empty one, is processed once, without an
    /// element.
    fn next_element(
        &self,
        unwound_row: &mut UnwoundRow,
        context: &Arc<Context>,
    ) -> Result<Option<Row>, Error> {
        let UnwoundRow { row, at, offset, of } = unwound_row;
        // The array is found again for each element, since a row cannot borrow from itself.
        let next = match value_at(row.document.as_ref(), &self.unwind.path) {
            Some(ValueRef::Array(ArrayRef::Raw(values))) => element_at(values, *offset),
            _ => None,
        };
        // A row without elements is processed once, at position 0.
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

/// Returns the document with an element in place of the array, `position` being its index. Without
/// an element the document is kept or dropped as the stage specifies. Also called when a row is
/// recomputed without expired documents.
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

/// Sets the index of the element at a path, as a 64-bit integer; null if there was no element.
fn indexed(
    document: &DocBuf,
    path: &Path,
    position: Option<usize>,
    context: &Context,
) -> Result<DocBuf, Error> {
    let position = position.and_then(|position| i64::try_from(position).ok());
    let value = position.map_or(Value::Null, Value::Int64);
    let mut fields = Fields::new();
    // A single path cannot conflict.
    let _ = fields.set_at(&path.parts().collect::<Vec<_>>(), Expr::Literal(value));
    fields.apply_to(document.as_ref(), context)
}

/// Returns the value at a path through documents only, since `$unwind` does not traverse arrays.
fn value_at<'a>(document: DocRef<'a>, path: &Path) -> Option<ValueRef<'a>> {
    let mut value = ValueRef::Document(document);
    for part in path.parts() {
        value = value.as_document()?.get(part)?;
    }
    Some(value)
}

/// Returns the document with another value at an existing path, or without it. Enclosing documents
/// remain, even if empty.
fn with_value_at(document: DocRef<'_>, path: &Path, value: Option<ValueRef<'_>>) -> DocBuf {
    let mut builder = DocBuilder::new();
    copy_with_value(&mut builder, document, path, 0, value);
    builder.finish()
}

/// Copies a document with the value replaced at the path. `at` is the part of the path for this
/// level.
fn copy_with_value(
    builder: &mut DocBuilder,
    document: DocRef<'_>,
    path: &Path,
    at: usize,
    value: Option<ValueRef<'_>>,
) {
    // Rows are always raw documents.
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

impl Operator for UnwindOperator {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        let of = row.source.array_at(row.document.as_ref(), &self.unwind.path);
        // All elements of the previous row have been returned.
        self.meter.clear_held();
        self.meter.add_bytes(row.memory_bytes())?;
        self.row = Some(UnwoundRow { row, at: 0, offset: FIRST, of });
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        if let Some(mut unwound_row) = self.row.take()
            && let Some(made) = self.next_element(&mut unwound_row, context)?
        {
            self.row = Some(unwound_row);
            return Ok(Poll::Row(made));
        }
        Ok(if self.ended { Poll::Done } else { Poll::Need })
    }
}
