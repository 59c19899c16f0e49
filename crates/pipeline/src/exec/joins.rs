//! Where a row came from: its own document, and documents of other collections that joins put into
//! it. A row that waits while some of those die is made again without them.
//!
//! A cursor may keep rows that it has made but not yet returned. When it goes on in a later view,
//! documents that they were made of may have expired. A row whose own document is dead is dropped.
//! A row with joined documents cannot simply be dropped, nor can the dead ones be cut out of it, as
//! later stages may have computed with them. So a row that a join touched carries how it was made:
//! the document before the first join, and every step since then (joins with their elements, stages
//! that keep one document one document, elements taken by `$unwind`). Running these steps again
//! without the dead gives the row as it would be now.
//!
//! ```text
//! base {a: 1} --Join l: [x, y]--> {a: 1, l: [x, y]} --Each $set--> ... --Take l: y--> row
//! x dies:  base {a: 1} --Join l: [y]--> ... the same steps ... --> row
//! y dies:  the element that the row is about is gone, and so is the row
//! ```
//!
//! Rows without joins carry nothing but their origin.

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

/// Where a document on its way came from; nothing for one that a stage made of others.
/// It is small for a row that no join touched, as most are.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Where it was stored, in the caller's own bytes.
    pub origin: Option<Box<[u8]>>,
    /// How the row was made, from the first join on.
    joins: Option<Box<Joins>>,
}

/// Where the elements of a joined array came from.
pub(super) type Sources = Arc<[Source]>;

/// How a row was made of a row and what was joined to it.
#[derive(Clone, Debug)]
struct Joins {
    /// Before the first join.
    base: DocBuf,
    /// What was done since, in order.
    steps: Vec<RowStep>,
}

/// What was done to a row, beginning with a join.
#[derive(Clone, Debug)]
enum RowStep {
    /// Documents of another collection were put at a path.
    Join(Join),
    /// A stage that keeps one document one document.
    /// The pipeline, the place in it, and the operation that the stage ran in.
    Each(Arc<[Stage]>, usize, Arc<Context>),
    /// An element was taken out of an array.
    Take {
        unwind: Arc<Unwind>,
        /// Which; none where there was no element.
        at: Option<usize>,
        /// It is an element of the array of this step, the only one that matters there.
        of: Option<usize>,
        context: Arc<Context>,
    },
}

/// One join: the array of joined documents as it was put, and which of its elements the row still
/// is about.
#[derive(Clone, Debug)]
struct Join {
    /// The row with the array of joined documents at the path.
    joined: DocBuf,
    /// Where the array is.
    path: Path,
    /// Where the elements came from.
    from: Sources,
    /// The one element that the row is about: without it there is no row.
    only: Option<usize>,
}

/// What became of a document when some that it was made of have died.
enum Revised {
    /// None of them has died that matters.
    Same,
    /// Without them there is no such row.
    Gone,
    /// It lacks what has died.
    Changed(DocBuf),
}

impl Source {
    /// The source of a stored document.
    pub fn stored_at(origin: Option<Box<[u8]>>) -> Self {
        Self { origin, joins: None }
    }

    /// Whether it came from anything that is stored.
    /// What is not known cannot expire, and is never made again.
    pub fn is_known(&self) -> bool {
        self.origin.is_some() || self.joins.is_some()
    }

    /// Calls `visit` with every origin: the row's own and those of what was joined to it.
    /// The caller asks the store for each whether it is live. An element that no longer matters is
    /// not visited.
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

    /// About the bytes that it holds.
    pub(super) fn weight_of_source(&self) -> usize {
        let own = self.origin.as_ref().map_or(0, |origin| origin.len());
        let Some(joins) = &self.joins else { return own };
        let step = |step: &RowStep| match step {
            // The joined document is the row's own, or other rows' too.
            RowStep::Join(Join { from, only: None, .. }) => {
                size_of_val(&**from) + from.iter().map(Self::weight_of_source).sum::<usize>()
            }
            _ => 0,
        };
        own + joins.steps.iter().map(|it| size_of_val(it) + step(it)).sum::<usize>()
    }

    /// Notes a step, if there was a join before it: without one there is nothing to make again.
    fn push_step(mut self, step: impl FnOnce() -> RowStep) -> Self {
        if let Some(joins) = &mut self.joins {
            joins.steps.push(step());
        }
        self
    }

    /// The source after a stage that keeps one document one document.
    pub(super) fn after_stage(
        self,
        stages: &Arc<[Stage]>,
        at: usize,
        context: &Arc<Context>,
    ) -> Self {
        self.push_step(|| RowStep::Each(Arc::clone(stages), at, Arc::clone(context)))
    }

    /// The source after a join, with the row before it, the row after it and where the elements
    /// came from. Joined documents that are not stored ones, of a collection without joins, need
    /// not be remembered.
    pub(super) fn after_join(
        mut self,
        base: &DocBuf,
        joined: &DocBuf,
        path: &Path,
        from: Sources,
    ) -> Self {
        if self.joins.is_some() || from.iter().any(Self::is_known) {
            // The block of the store that it came in shall not wait with it.
            // The first join begins the list: what was before it is the base.
            let empty = || Box::new(Joins { base: base.detached(), steps: Vec::new() });
            let (joined, path) = (joined.clone(), path.clone());
            let step = RowStep::Join(Join { joined, path, from, only: None });
            self.joins.get_or_insert_with(empty).steps.push(step);
        }
        self
    }

    /// The join that made the array at a path of a document.
    pub(super) fn array_at(&self, document: DocRef<'_>, path: &Path) -> Option<usize> {
        let array = value_at(document, path)?;
        let steps = &self.joins.as_ref()?.steps;
        let last = steps.len().checked_sub(1);
        // The array is the last step's if that is a join at this path. What an earlier join put
        // there may have been changed since, so its bytes are compared.
        let is = |(at, step): (usize, &RowStep)| match step {
            RowStep::Join(join) if Some(at) == last && join.path == *path => true,
            RowStep::Join(join) => is_same(array, value_at(join.joined.as_ref(), &join.path)),
            _ => false,
        };
        (0..steps.len()).rev().find(|at| steps.get(*at).is_some_and(|step| is((*at, step))))
    }

    /// The source after an element was taken out of an array, which a join made or not. For an
    /// array of a join, the element is from now on the only one that matters.
    /// `at` is the position of the element, `of` the step whose join made the array.
    pub(super) fn after_unwind(
        mut self,
        unwind: &Arc<Unwind>,
        at: Option<usize>,
        of: Option<usize>,
        context: &Arc<Context>,
    ) -> Self {
        let Some(joins) = &mut self.joins else { return self };
        // From here on the row is about this one element of the join.
        if let Some(RowStep::Join(join)) = of.and_then(|of| joins.steps.get_mut(of)) {
            join.only = at;
        }
        let (unwind, context) = (Arc::clone(unwind), Arc::clone(context));
        joins.steps.push(RowStep::Take { unwind, at, of, context });
        self
    }

    /// What becomes of the document when some documents are dead.
    /// A joined document may be made of joins itself, and is then revised in the same way.
    fn revise(&self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Revised, Error> {
        if self.origin.as_ref().is_some_and(|origin| dead(origin)) {
            return Ok(Revised::Gone);
        }
        // Most rows are touched by no death: then nothing is made again.
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
    /// The row without what is dead; none when it is gone with it.
    /// `dead` says of an origin whether its document has expired.
    pub fn without_dead(self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Option<Self>, Error> {
        Ok(match self.source.revise(dead)? {
            Revised::Same => Some(self),
            Revised::Gone => None,
            Revised::Changed(document) => Some(Self { document, source: self.source }),
        })
    }
}

impl Join {
    /// Where the elements that matter came from.
    fn relevant_sources(&self) -> impl Iterator<Item = (usize, &Source)> {
        let all = self.from.iter().enumerate();
        all.filter(|(at, _)| self.only.is_none_or(|only| only == *at))
    }

    /// The elements that are left; none when the only one that matters is gone. Elements that were
    /// made of joins themselves are revised too.
    fn elements_left(&self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Option<Vec<Value>>, Error> {
        let Some(ValueRef::Array(values)) = value_at(self.joined.as_ref(), &self.path) else {
            return Ok(Some(Vec::new()));
        };
        // Positions of elements and of their sources are the same.
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
    /// The row made again without what is dead: every step since the first join is done once more.
    fn rebuild_row(&self, dead: &dyn Fn(&[u8]) -> bool) -> Result<Option<DocBuf>, Error> {
        // Every step is done as it was done at first, in the context of its operation.
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
                    // Where only one element matters, it alone is there.
                    // The array was rebuilt with nothing but the element that matters, which is
                    // first in it now.
                    let place = if of.is_some() && at.is_some() { Some(0) } else { *at };
                    let value = value_at(document.as_ref(), &unwind.path);
                    let array = value.and_then(ValueRef::as_array);
                    let element = array.zip(place).and_then(|(values, at)| values.get(at));
                    // The element that the row was made of is gone.
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

/// A document with a value at a path. What is on the way and is no document is replaced by one, arrays
/// too, which stands last then.
pub(super) fn set_at_path(path: &Path, value: Value, document: &DocBuf) -> Result<DocBuf, Error> {
    // All rows that were joined may be several times as much as a document.
    check_len(value.as_ref().encoded_len())?;
    let parts: Vec<&str> = path.parts().collect();
    if let [_, _, ..] = parts.as_slice() {
        let mut tree = document.as_ref().to_tree();
        place_value(&mut tree, &parts, value);
        return Ok(tree.to_buf());
    }
    let mut fields = Fields::new();
    // One path cannot be in conflict with another.
    let _ = fields.set_at(&path.parts().collect::<Vec<_>>(), Expr::Literal(value));
    fields.apply_to(document.as_ref(), &Context::default())
}

/// Puts a value at a path of a tree; what is in the way and is not a document is replaced.
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

/// The value at a path that a join set: in every element of an array on the way it is the same.
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

/// Whether two arrays are the same bytes. Arrays in another form are taken for different ones.
fn is_same(value: ValueRef<'_>, other: Option<ValueRef<'_>>) -> bool {
    use document::ArrayRef::Raw;
    match (value, other) {
        (ValueRef::Array(Raw(a)), Some(ValueRef::Array(Raw(b)))) => a == b,
        _ => false,
    }
}
