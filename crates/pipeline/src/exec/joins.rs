//! The sources of a row: its own document, and documents of other collections that joins added. If
//! some of them expire while the row waits, it is recomputed without them.
//!
//! A cursor may buffer rows that it has not returned yet. When it continues in a later view,
//! the documents from which these rows were made may have expired. A row whose own document has
//! expired is dropped. A row with joined documents can neither be dropped nor have the expired ones
//! cut out, as later stages may have computed with them. So a row with joins records how it was
//! made: the document before the first join, and every step since then (joins with their elements,
//! stages that map one document to one document, elements taken by `$unwind`). Repeating these
//! steps without the expired documents yields the current row.
//!
//! ```text
//! base {a: 1} --Join l: [x, y]--> {a: 1, l: [x, y]} --Each $set--> ... --Take l: y--> row
//! x dies:  base {a: 1} --Join l: [y]--> ... the same steps ... --> row
//! y dies:  the row was made of this element, so it is dropped
//! ```
//!
//! Rows without joins record only their origin.

mod stored;

pub(super) use stored::Shared;

use std::{mem::size_of_val, sync::Arc};

use document::{DocBuf, DocRef, Document, Path, Value, ValueRef};
use evaluation::{Context, Error};

use super::{
    Fields, Row, Stage,
    each::{Change, apply_stage},
    size::check_len,
    unwind::{Unwind, unwound},
};
use crate::expr::Expr;

/// The source of a row; empty for a row that a stage made from others. It is small for a row
/// without joins, as most rows are.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The stored document from which the row starts, as an opaque key of the caller.
    pub origin: Option<Box<[u8]>>,
    /// The joins and other stages that made the row, from the first join on; `None` without a join.
    joins: Option<Box<Joins>>,
}

/// The stored documents from which each element of a joined array was made.
pub(super) type Sources = Arc<[Source]>;

/// The steps by which a row was made from an earlier row and joined documents.
#[derive(Clone, Debug)]
struct Joins {
    /// The document before the first join.
    base: DocBuf,
    /// The first join and the following steps, in order.
    steps: Vec<RowStep>,
}

/// One step by which a row was made; the first one is a join.
#[derive(Clone, Debug)]
enum RowStep {
    /// An array of documents of another collection was set at a path.
    Join(Join),
    /// A stage that maps one document to one: the pipeline, the position in it, and the context.
    Each(Arc<[Stage]>, usize, Arc<Context>),
    /// An `$unwind` took an element out of an array.
    Take {
        unwind: Arc<Unwind>,
        /// Index of the element in the array; `None` if the array was empty.
        at: Option<usize>,
        /// The index of the join step that made the array, if any.
        of: Option<usize>,
        context: Arc<Context>,
    },
}

/// A join: the array of joined documents, and which of its elements the row depends on.
#[derive(Clone, Debug)]
struct Join {
    /// The row after the join, including the array of joined documents.
    joined: DocBuf,
    /// The path of the array of joined documents.
    path: Path,
    /// The stored documents that the elements of the array come from.
    from: Sources,
    /// The only element that the row depends on: if it expires, so does the row.
    only: Option<usize>,
}

/// The result of recomputing a document after some of its sources expired.
enum Revised {
    /// No relevant source has expired.
    Same,
    /// The row must not be returned, since it depends on an expired document.
    Gone,
    /// The row as recomputed without the expired documents.
    Changed(DocBuf),
}

impl Source {
    /// Returns the source of a stored document.
    pub fn stored_at(origin: Option<Box<[u8]>>) -> Self {
        Self { origin, joins: None }
    }

    /// Returns whether a stored document is recorded as a source. Otherwise the row cannot expire
    /// and is never recomputed.
    pub fn is_known(&self) -> bool {
        self.origin.is_some() || self.joins.is_some()
    }

    /// Calls `visit` with every origin, the row's own and those of joined documents, for the caller
    /// to check whether it is live. Elements on which the row does not depend are not visited.
    pub fn visit_origins(&self, visit: &mut dyn FnMut(&[u8])) {
        if let Some(origin) = &self.origin {
            visit(origin);
        }
        for step in self.joins.iter().flat_map(|joins| &joins.steps) {
            if let RowStep::Join(join) = step {
                join.relevant_sources().for_each(|(_, source)| source.visit_origins(visit));
            }
        }
    }

    /// Returns the approximate memory of the source, in bytes.
    pub(super) fn weight_of_source(&self) -> usize {
        let own = self.origin.as_ref().map_or(0, |origin| origin.len());
        let Some(joins) = &self.joins else { return own };
        let step = |step: &RowStep| match step {
            // The joined document is not counted: it is the document of this row, or several rows
            // share it.
            RowStep::Join(Join { from, only: None, .. }) => {
                size_of_val(&**from) + from.iter().map(Self::weight_of_source).sum::<usize>()
            }
            _ => 0,
        };
        own + joins.steps.iter().map(|it| size_of_val(it) + step(it)).sum::<usize>()
    }

    /// Appends a step if a join precedes it; without one there is nothing to recompute.
    fn push_step(mut self, step: impl FnOnce() -> RowStep) -> Self {
        if let Some(joins) = &mut self.joins {
            joins.steps.push(step());
        }
        self
    }

    /// Returns the row's source extended by a stage that maps one document to one.
    pub(super) fn after_stage(
        self,
        stages: &Arc<[Stage]>,
        at: usize,
        context: &Arc<Context>,
    ) -> Self {
        self.push_step(|| RowStep::Each(Arc::clone(stages), at, Arc::clone(context)))
    }

    /// Returns the row's source extended by a join, given the row before and after it and the
    /// sources of the elements. If no joined document comes from a stored one, nothing is recorded.
    pub(super) fn after_join(
        mut self,
        base: &DocBuf,
        joined: &DocBuf,
        path: &Path,
        from: Sources,
    ) -> Self {
        if self.joins.is_some() || from.iter().any(Self::is_known) {
            // The copy releases the store's block. The first join starts the list: the row before
            // it is the base.
            let empty = || Box::new(Joins { base: base.detached(), steps: Vec::new() });
            let (joined, path) = (joined.clone(), path.clone());
            let step = RowStep::Join(Join { joined, path, from, only: None });
            self.joins.get_or_insert_with(empty).steps.push(step);
        }
        self
    }

    /// Returns the index of the join step that made the array at a path of a document.
    pub(super) fn array_at(&self, document: DocRef<'_>, path: &Path) -> Option<usize> {
        let array = value_at(document, path)?;
        let steps = &self.joins.as_ref()?.steps;
        let last = steps.len().checked_sub(1);
        // If the last step is a join at this path, it made the array. The array of an earlier join
        // may have been changed since, so its bytes are compared.
        let is = |(at, step): (usize, &RowStep)| match step {
            RowStep::Join(join) if Some(at) == last && join.path == *path => true,
            RowStep::Join(join) => is_same(array, value_at(join.joined.as_ref(), &join.path)),
            _ => false,
        };
        (0..steps.len()).rev().find(|at| steps.get(*at).is_some_and(|step| is((*at, step))))
    }

    /// Returns the source of a row that `$unwind` made for one element of an array. `at` is the
    /// index of the element, and `of` is the index of the join step that made the array, if any. Among
    /// the documents of that join, the row then depends only on the document of this element.
    pub(super) fn after_unwind(
        mut self,
        unwind: &Arc<Unwind>,
        at: Option<usize>,
        of: Option<usize>,
        context: &Arc<Context>,
    ) -> Self {
        let Some(joins) = &mut self.joins else { return self };
        if let Some(RowStep::Join(join)) = of.and_then(|of| joins.steps.get_mut(of)) {
            join.only = at;
        }
        let (unwind, context) = (Arc::clone(unwind), Arc::clone(context));
        joins.steps.push(RowStep::Take { unwind, at, of, context });
        self
    }

    /// Recomputes the document without expired sources. Joined documents may have joins of their
    /// own, which are treated alike.
    fn revise(&self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Revised, Error> {
        if self.origin.as_ref().is_some_and(|origin| dead(origin)) {
            return Ok(Revised::Gone);
        }
        // Checked first, since most rows contain no expired document.
        let mut touched = false;
        self.visit_origins(&mut |origin| touched |= dead(origin));
        match &self.joins {
            Some(joins) if touched => Ok(match joins.rebuild_row(dead)? {
                Some(document) => Revised::Changed(document),
                None => Revised::Gone,
            }),
            _ => Ok(Revised::Same),
        }
    }
}

impl Row {
    /// Returns the row without its expired sources; `None` if the row must not be returned, since
    /// its own document or an element selected by `$unwind` has expired. `dead` returns whether the
    /// document of an origin has expired.
    pub fn without_dead(self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Option<Self>, Error> {
        Ok(match self.source.revise(dead)? {
            Revised::Same => Some(self),
            Revised::Gone => None,
            Revised::Changed(document) => Some(Self { document, source: self.source }),
        })
    }
}

impl Join {
    /// Returns the sources of those elements that the row depends on, with their indexes.
    fn relevant_sources(&self) -> impl Iterator<Item = (usize, &Source)> {
        let all = self.from.iter().enumerate();
        all.filter(|(at, _)| self.only.is_none_or(|only| only == *at))
    }

    /// Returns the joined elements that have not expired, recomputed if they have joins of their
    /// own. If `$unwind` has selected one element, the others are left out; `None` if that element
    /// has expired.
    fn elements_left(&self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Option<Vec<Value>>, Error> {
        let Some(ValueRef::Array(values)) = value_at(self.joined.as_ref(), &self.path) else {
            return Ok(Some(Vec::new()));
        };
        let values: Vec<_> = values.iter().collect();
        let mut left = Vec::new();
        for (at, source) in self.relevant_sources() {
            match (source.revise(dead)?, values.get(at)) {
                (Revised::Same, Some(value)) => left.push(value.to_value()),
                (Revised::Changed(document), _) => left.push(Value::from(document.as_ref())),
                (Revised::Gone, _) | (Revised::Same, None) => {}
            }
        }
        Ok(if self.only.is_some() && left.is_empty() { None } else { Some(left) })
    }
}

impl Joins {
    /// Repeats all steps from the first join on, without the documents for which `dead` is true.
    fn rebuild_row(&self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Option<DocBuf>, Error> {
        // Each step uses the context of its first execution.
        let mut document = self.base.clone();
        for step in &self.steps {
            let next = match step {
                RowStep::Join(join) => match join.elements_left(dead)? {
                    Some(left) => Some(set_at_path(&join.path, Value::Array(left), &document)?),
                    None => None,
                },
                RowStep::Each(stages, at, context) => match stages.get(*at) {
                    Some(stage) => match apply_stage(stage, document.as_ref(), context)? {
                        Change::Same => Some(document.clone()),
                        Change::To(made) => Some(made),
                        Change::Dropped => None,
                    },
                    None => Some(document.clone()),
                },
                RowStep::Take { unwind, at, of, context } => {
                    // After `$unwind` the rebuilt array contains only the selected element.
                    let place = if of.is_some() && at.is_some() { Some(0) } else { *at };
                    let value = value_at(document.as_ref(), &unwind.path);
                    let array = value.and_then(ValueRef::as_array);
                    let element = array.zip(place).and_then(|(values, at)| values.get(at));
                    // The element that the row was made for has expired.
                    if at.is_some() && element.is_none() {
                        return Ok(None);
                    }
                    unwound(unwind, &document, element, *at, context)?
                }
            };
            match next {
                Some(next) => document = next,
                None => return Ok(None),
            }
        }
        Ok(Some(document))
    }
}

/// Returns a document with a value at a path. Values on the way that are not documents, including
/// arrays, are replaced by documents, which are then last.
pub(super) fn set_at_path(path: &Path, value: Value, document: &DocBuf) -> Result<DocBuf, Error> {
    // The joined rows may exceed the size of a document many times.
    check_len(value.as_ref().encoded_len())?;
    let parts: Vec<&str> = path.parts().collect();
    if let [_, _, ..] = parts.as_slice() {
        let mut tree = document.as_ref().to_tree();
        place_value(&mut tree, &parts, value);
        return Ok(tree.to_buf());
    }
    let mut fields = Fields::new();
    // A single path cannot conflict.
    let _ = fields.set_at(&path.parts().collect::<Vec<_>>(), Expr::Literal(value));
    fields.apply_to(document.as_ref(), &Context::default())
}

/// Sets a value at a path of a tree. Values on the way that are not documents are replaced.
fn place_value(document: &mut Document, parts: &[&str], value: Value) {
    let Some((name, rest)) = parts.split_first() else { return };
    if rest.is_empty() {
        document.insert(*name, value);
        return;
    }
    if let Some(Value::Document(inner)) = document.get_mut(name) {
        return place_value(inner, rest, value);
    }
    document.remove(name);
    let mut inner = Document::new();
    place_value(&mut inner, rest, value);
    document.push(*name, Value::Document(inner));
}

/// Returns the value at a path that a join set; in every element of an array on the way it is the
/// same.
fn value_at<'a>(document: DocRef<'a>, path: &Path) -> Option<ValueRef<'a>> {
    let mut value = ValueRef::Document(document);
    for part in path.parts() {
        while let ValueRef::Array(values) = value {
            value = values.get(0)?;
        }
        value = value.as_document()?.get(part)?;
    }
    Some(value)
}

/// Returns whether two raw arrays have the same bytes. Decoded arrays count as different.
fn is_same(value: ValueRef<'_>, other: Option<ValueRef<'_>>) -> bool {
    use document::ArrayRef::Raw;
    match (value, other) {
        (ValueRef::Array(Raw(a)), Some(ValueRef::Array(Raw(b)))) => a == b,
        _ => false,
    }
}
