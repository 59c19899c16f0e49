//! One row an element of an array.

use std::sync::Arc;

use document::{DocBuf, DocBuilder, DocRef, Path, Reader, Value, ValueRef};

use super::{
    Fields, Row,
    operator::{Operator, Poll},
    sized,
};
use crate::{Context, Error, Expr};

/// Which array, and what else is kept.
#[derive(Clone, Debug)]
pub struct Unwind {
    /// Where the array is.
    pub path: Path,
    /// Where its positions go.
    pub index: Option<Path>,
    /// Whether rows without elements are kept.
    pub keep_empty: bool,
}

/// The array of a row, taken apart.
#[derive(Debug)]
pub(super) struct Unwinding {
    unwind: Unwind,
    row: Option<(Row, usize)>,
    ended: bool,
}

impl Unwinding {
    pub(super) fn new(unwind: Unwind) -> Self {
        Self { unwind, row: None, ended: false }
    }

    /// The row of the element at a position; `None` behind the last one.
    fn element(&self, row: &Row, at: usize, context: &Context) -> Result<Option<Row>, Error> {
        let document = row.document.as_ref();
        let held = value_at(document, &self.unwind.path);
        let (document, position) = match held {
            Some(ValueRef::Array(values)) => match values.get(at) {
                Some(value) => (with(document, &self.unwind.path, Some(value)), Some(at)),
                None if at == 0 && self.unwind.keep_empty => {
                    (with(document, &self.unwind.path, None), None)
                }
                None => return Ok(None),
            },
            _ if at > 0 => return Ok(None),
            Some(value) if !value.is_nullish() => (row.document.clone(), None),
            _ if self.unwind.keep_empty => (row.document.clone(), None),
            _ => return Ok(None),
        };
        let document = match &self.unwind.index {
            Some(path) => indexed(&document, path, position, context)?,
            None => document,
        };
        Ok(Some(Row { document: sized(document)?, origin: row.origin.clone() }))
    }
}

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
    let _ = fields.set(&path.parts().collect::<Vec<_>>(), Expr::Literal(value));
    fields.apply(document.as_ref(), context)
}

/// The value at a path that leads through documents only.
fn value_at<'a>(document: DocRef<'a>, path: &Path) -> Option<ValueRef<'a>> {
    let mut value = ValueRef::Document(document);
    for part in path.parts() {
        value = value.as_document()?.get(part)?;
    }
    Some(value)
}

/// The document with another value at a path that exists, or without it.
fn with(document: DocRef<'_>, path: &Path, value: Option<ValueRef<'_>>) -> DocBuf {
    let mut builder = DocBuilder::new();
    write(&mut builder, document, path, 0, value);
    builder.finish()
}

fn write(
    builder: &mut DocBuilder,
    document: DocRef<'_>,
    path: &Path,
    at: usize,
    value: Option<ValueRef<'_>>,
) {
    let DocRef::Raw(bytes) = document else { return };
    for element in Reader::new(bytes) {
        if element.name != path.part(at).as_bytes() {
            builder.append_raw(element.name, element.kind, element.value);
        } else if at + 1 == path.len() {
            if let Some(value) = value {
                builder.append(path.part(at), value);
            }
        } else if let Some(ValueRef::Document(below)) = element.decode() {
            builder.document(path.part(at), |builder| write(builder, below, path, at + 1, value));
        } else {
            builder.append_raw(element.name, element.kind, element.value);
        }
    }
}

impl Operator for Unwinding {
    fn accept(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        self.row = Some((row, 0));
        Ok(())
    }

    fn end(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.ended = true;
        Ok(())
    }

    fn poll(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        if let Some((row, at)) = self.row.take()
            && let Some(made) = self.element(&row, at, context)?
        {
            self.row = Some((row, at + 1));
            return Ok(Poll::Row(made));
        }
        Ok(if self.ended { Poll::Done } else { Poll::Need })
    }
}
