//! The stage `$merge` of `aggregate`. Each document of the result is a statement: an upsert, an
//! insert, or an update that is followed by an insert. Documents written before an error remain.
//!
//! A `$merge` into a collection that the pipeline reads may see its own writes, as in MongoDB.

use std::sync::Arc;

use collation::Collation;
use document::{DocBuf, DocRef, Document, Value, ValueRef, array, doc};
use engine::{CollectionState, Cursor, Find, IndexSpec, Namespace, WriteGroup};
use evaluation::{Context, STEP, memory_of};
use mongo_query::pipeline::output::{Merge, WhenMatched, WhenNotMatched};
use pipeline::edit::Edit;

use super::{
    insert::{InsertChecks, insert_documents, stage_insert},
    output::BATCH,
    statements::{RunStatement, Staged, run_statements},
    update::{stage_update, update_documents},
};
use crate::{
    call::Call,
    document_writer::with_id,
    errors::{DuplicateKey, Error, Result},
    parsers::statements::UpdateStatement,
};

/// Error code: no unique index has exactly the fields of `on`.
const NO_UNIQUE_INDEX: i32 = 51183;
/// Error code: a document has no value of a field of `on`.
const NO_KEY: i32 = 51132;
/// Error code: a document has an array in a field of `on`.
const ARRAY_KEY: i32 = 51185;
/// Error code: a document is not in the target, and `whenNotMatched` is `fail`.
const NOT_MATCHED: i32 = 13113;

/// Maximum number of further attempts to merge a document while other clients insert and remove it.
const MAX_ATTEMPTS: usize = 3;

/// Checks that the fields of `on` identify a document of the target, whose record is `held`: they
/// are `_id`, or exactly the fields of a unique index that covers every document. An `_id` or index
/// that is named has the collation of the operation.
pub(super) fn check_key(
    merge: &Merge,
    held: Option<&CollectionState>,
    collation: Option<&Collation>,
) -> Result<()> {
    let Some(on) = &merge.on else { return Ok(()) };
    if *on == ["_id"] && held.is_none_or(|held| held.collation.as_deref() == collation) {
        return Ok(());
    }
    let indexes = held.map_or(&[][..], |held| &held.record.indexes);
    let covers = |index: &IndexSpec| {
        index.unique
            && index.ready
            && index.partial.is_none()
            && index.collation.as_deref() == collation
            && index.key.len() == on.len()
            && index.key.iter().all(|(path, _)| on.contains(path))
    };
    if indexes.iter().any(covers) {
        return Ok(());
    }
    let message = "Cannot find index to verify that join fields will be unique";
    Err(Error::new(NO_UNIQUE_INDEX, message))
}

/// Merges the result of a query into the collection `target`.
pub(super) async fn merge_documents(
    call: &Call<'_>,
    target: &Namespace,
    merge: &Merge,
    mut cursor: Cursor,
    context: Arc<Context>,
) -> Result<()> {
    loop {
        let batch = cursor.next_batch(BATCH).await?;
        let documents = batch.documents.iter().map(|document| DocRef::Raw(document)).collect();
        let mut run = MergeRun { call, target, merge };
        let context = Ok(Arc::clone(&context));
        let errors = run_statements(call, documents, true, context, None, &mut run).await?;
        if let Some((_, error)) = errors.into_iter().next() {
            return Err(error);
        }
        call.operation.check_running()?;
        if batch.done {
            return Ok(());
        }
    }
}

/// The merging of a batch; each document of the result is a statement.
struct MergeRun<'a> {
    call: &'a Call<'a>,
    target: &'a Namespace,
    merge: &'a Merge,
}

impl MergeRun<'_> {
    /// Returns the update of the document that matches a document of the result, and its context.
    fn update_for(
        &self,
        document: DocRef<'_>,
        upsert: bool,
        context: &Arc<Context>,
    ) -> Result<(UpdateStatement, Arc<Context>)> {
        let find = Find::new(mongo_query::filter::parse(DocRef::Tree(&self.key_of(document)?))?);
        let mut bound = Arc::clone(context);
        let edit = match &self.merge.matched {
            WhenMatched::Replace => Edit::Replacement(document.to_tree()),
            WhenMatched::Merge => {
                let fields = doc! { "$literal": document.to_tree() };
                let merged = doc! { "$mergeObjects": array!["$$ROOT", fields] };
                let stages = array![doc! { "$replaceWith": merged }];
                mongo_query::update::parse(stages.as_ref(), None, false)?
            }
            WhenMatched::Pipeline(stages) => {
                bound = self.bind_variables(document, context)?;
                Edit::Pipeline(stages.clone())
            }
            // Nothing is changed; the update only looks for the document.
            WhenMatched::KeepExisting | WhenMatched::Fail => Edit::Pipeline(Vec::new()),
        };
        Ok((UpdateStatement { find, edit, many: false, upsert }, bound))
    }

    /// Returns the context of the stages of `whenMatched`, with the variables of `let` and `new`.
    fn bind_variables(&self, document: DocRef<'_>, context: &Arc<Context>) -> Result<Arc<Context>> {
        let mut bound = (**context).clone();
        context.budget.spend(STEP * (1 + bound.constants.len()))?;
        let env = pipeline::Env::new(document, context);
        let mut held = 0;
        for (name, expr) in &self.merge.variables {
            context.budget.spend(STEP)?;
            let value = expr.evaluate(&env.with_held(held)?)?.unwrap_or(Value::Undefined);
            held += memory_of(value.as_ref());
            bound.constants.insert(name.to_string(), value);
        }
        bound.constants.insert("new", Value::Document(document.to_tree()));
        Ok(Arc::new(bound))
    }

    /// Returns the filter that selects the document of the target.
    ///
    /// # Errors
    ///
    /// 51132 and 51185 for a field of `on` without a value that identifies a document.
    fn key_of(&self, document: DocRef<'_>) -> Result<Document> {
        let id = ["_id".to_owned()];
        let on = self.merge.on.as_deref().unwrap_or(&id);
        let mut filter = Document::new();
        for path in on {
            // Null is an `_id` like any other value.
            let is_key = |value: &ValueRef<'_>| path == "_id" || !value.is_nullish();
            let Some(value) = value_at(document, path)?.filter(is_key) else {
                let message = format!(
                    "$merge write error: 'on' field '{path}' cannot be missing, null or undefined"
                );
                return Err(Error::new(NO_KEY, message));
            };
            filter.push(path.as_str(), doc! { "$eq": value.to_value() });
        }
        Ok(filter)
    }

    /// Returns a document of the result with a new `_id`, if it needs one to be identified by it.
    fn with_new_id(&self, document: DocRef<'_>, context: &Context) -> Option<DocBuf> {
        let by_id = self.merge.on.as_ref().is_none_or(|on| on.iter().any(|path| path == "_id"));
        let is_needed = by_id && document.get("_id").is_none();
        is_needed.then(|| with_id(document, clock::Instant::from_ms(context.now_ms)))
    }

    /// Inserts a document of the result. Returns the error if another document has its `_id` or its
    /// value of a unique index.
    async fn insert(&self, document: DocRef<'_>, context: &Context) -> Result<Option<Error>> {
        let now = clock::Instant::from_ms(context.now_ms);
        let (writer, context) = (self.call.document_writer(now), self.call.insert_context(now));
        let checks = InsertChecks { writer: &writer, context: &context };
        let one = [document];
        let inserted = insert_documents(self.call, self.target, &one, true, checks, None);
        match inserted.await?.1.into_iter().next() {
            None => Ok(None),
            Some((_, error)) if error.code == DuplicateKey => Ok(Some(self.shown(error))),
            Some((_, error)) => Err(self.shown(error)),
        }
    }

    fn fails_if_matched(&self) -> bool {
        matches!(self.merge.matched, WhenMatched::Fail)
    }

    /// Returns an error of a write as the command reports it.
    fn shown(&self, error: Error) -> Error {
        let mut error = error.with_namespace(self.target);
        if error.code == DuplicateKey && self.fails_if_matched() {
            error.message = format!(
                "$merge failed due to a DuplicateKey error :: caused by :: {}",
                error.message
            );
        }
        error
    }
}

/// Returns the value at a dotted path; fails with 51185 if it is an array or part of one.
fn value_at<'a>(document: DocRef<'a>, path: &str) -> Result<Option<ValueRef<'a>>> {
    let mut value = ValueRef::Document(document);
    for name in path.split('.') {
        let next = value.as_document().and_then(|inner| inner.get(name));
        let Some(next) = next else { return Ok(None) };
        if matches!(next, ValueRef::Array(_)) {
            let message = format!("$merge write error: 'on' field '{path}' cannot be an array");
            return Err(Error::new(ARRAY_KEY, message));
        }
        value = next;
    }
    Ok(Some(value))
}

impl RunStatement for MergeRun<'_> {
    type Outcome = ();

    async fn stage(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
        group: &mut WriteGroup<'_>,
    ) -> Result<Staged<()>> {
        let identified = self.with_new_id(statement, context);
        let document = identified.as_ref().map_or(statement, |made| made.as_ref());
        let upserts = matches!(self.merge.matched, WhenMatched::Replace | WhenMatched::Merge)
            && self.merge.not_matched == WhenNotMatched::Insert;
        if !matches!(self.merge.matched, WhenMatched::KeepExisting | WhenMatched::Fail) {
            let (update, bound) = self.update_for(document, upserts, context)?;
            let staged = stage_update(self.call, self.target, at, update, &bound, None, group);
            let staged = staged.await.map_err(|error| self.shown(error))?;
            match staged {
                Staged::Added(updated) if !upserts && updated.matched == 0 => {}
                other => return Ok(other.map(|_| ())),
            }
            match self.merge.not_matched {
                // An update that finds nothing adds no write, so the insert may follow.
                WhenNotMatched::Insert => {}
                WhenNotMatched::Discard => return Ok(Staged::Added(())),
                WhenNotMatched::Fail => return Ok(Staged::Left),
            }
        }
        let now = clock::Instant::from_ms(context.now_ms);
        let (writer, rule) = (self.call.document_writer(now), self.call.insert_context(now));
        let checks = InsertChecks { writer: &writer, context: &rule };
        let staged = stage_insert(self.call, self.target, at, document, checks, None, group).await;
        match staged {
            // Run alone, the statement finds out which document is in the way.
            Err(error) if error.code == DuplicateKey && !self.fails_if_matched() => {
                Ok(Staged::Left)
            }
            staged => staged.map_err(|error| self.shown(error)),
        }
    }

    fn record_staged(&mut self, _at: usize, _outcome: &()) {}

    async fn run_statement(
        &mut self,
        _at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<()> {
        let identified = self.with_new_id(statement, context);
        let document = identified.as_ref().map_or(statement, |made| made.as_ref());
        let mut attempts = 0;
        loop {
            if !self.fails_if_matched() {
                let (update, bound) = self.update_for(document, false, context)?;
                let updated = update_documents(self.call, self.target, update, &bound, None).await;
                if 0 < updated.map_err(|error| self.shown(error))?.matched {
                    return Ok(());
                }
            }
            match self.merge.not_matched {
                WhenNotMatched::Discard => return Ok(()),
                WhenNotMatched::Fail => {
                    let message = "$merge could not find a matching document in the target \
                                   collection for at least one document in the source collection";
                    return Err(Error::new(NOT_MATCHED, message));
                }
                WhenNotMatched::Insert => match self.insert(document, context).await? {
                    None => return Ok(()),
                    // Another client may have inserted the document between the update and the
                    // insert. If it is not found again, its value of another index is taken.
                    Some(taken) if self.fails_if_matched() || MAX_ATTEMPTS <= attempts => {
                        return Err(taken);
                    }
                    Some(_) => attempts += 1,
                },
            }
            self.call.operation.check_running()?;
        }
    }

    fn add_up(&mut self, _at: usize, _outcome: ()) {}
}
