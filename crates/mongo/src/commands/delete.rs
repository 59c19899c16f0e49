//! `delete`: a list of statements, each for one document or for all that match.
//!
//! ```text
//! {delete: "c", deletes: [{q: {..}, limit: 0}], ordered: true}
//! => {n: 3, writeErrors: [{index: 0, code: .., errmsg: ..}], ok: 1}
//! ```

use std::sync::Arc;

use document::{DocBuf, DocRef, doc};
use engine::{Find, Namespace, Store};
use evaluation::Context;

use super::{
    insert::bypass_need,
    statements::{
        RunStatement, check_batch, check_one, ends_command, open_book, push_errors, run_statements,
    },
};
use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    counters::Counters,
    errors::{Error, Result},
    numbered::{Book, Done, Place},
    parsers::statements::{check_delete, deletes_many, parse_search},
    replies::{numbers::saturated_int, ok},
    rights::{Asked, Need},
};

/// What it asks of its sender: to remove documents, and for the right that leaves out their validation,
/// which removing does not need and mongod asks for nevertheless.
pub(super) fn needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    let remove = Need::of(Action::Remove, asked.collection()?);
    Ok(std::iter::once(remove).chain(bypass_need(asked)?).collect())
}

/// Runs `delete`. The reply counts what was removed, failures are in `writeErrors`.
///
/// Errors of the command: 16 for too many statements or none, 40414 without a limit, 9 for another
/// one than 0 and 1.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let statements = call.listed_documents("deletes")?;
    check_batch(statements.len())?;
    statements.iter().try_for_each(|it| check_delete(&Args::new("delete.deletes", *it)))?;
    Counters::add(&call.connection.counters.delete, statements.len() as u64);
    call.args().lax_bool("bypassDocumentValidation")?;
    let ordered = call.args().bool("ordered")?.unwrap_or(true);
    call.args().document("let")?;
    let context = call.evaluation_context().await;
    let book = open_book(call, statements.len()).await?;
    let mut run = Run { call, namespace, book: book.as_ref(), removed: 0 };
    let errors = run_statements(statements, ordered, context, &mut run).await?;
    let mut reply = doc! { "n": saturated_int(run.removed) };
    push_errors(&mut reply, &errors);
    if let Some(book) = &book {
        book.finish(!errors.is_empty()).await?;
        book.push_repeated(&mut reply);
    }
    ok(reply)
}

/// A `delete` under way, and how many documents its statements removed so far.
struct Run<'a, S: Store> {
    call: &'a Call<'a, S>,
    namespace: Namespace,
    book: Option<&'a Book<'a, S>>,
    removed: usize,
}

impl<S: Store> RunStatement for Run<'_, S> {
    fn ends_command(&self, error: &Error) -> bool {
        ends_command(self.call, error)
    }

    async fn run_statement(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<()> {
        let args = Args::new("delete.deletes", statement);
        let find = parse_search(&args, "q")?;
        let many = deletes_many(&args)?;
        let place = self.book.map(|book| Place { book, at });
        self.removed +=
            remove_documents(self.call, &self.namespace, &find, many, context, place).await?;
        Ok(())
    }
}

/// Removes what is found, one document or all (`many`), and returns how many that were. A
/// collection that is not there has nothing to remove.
pub(super) async fn remove_documents<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    find: &Find,
    many: bool,
    context: &Arc<Context>,
    place: Option<Place<'_, S>>,
) -> Result<usize> {
    check_one(place, many, "limit=0")?;
    if let Some(Place { book, at }) = place
        && let Some(done) = book.find(at).await?
    {
        return Ok(usize::from(done.hit));
    }
    let engine = &call.door.engine;
    loop {
        let Some(collection) = call.find_collection(namespace) else {
            note_unwritten(place, 0);
            return Ok(0);
        };
        let removed = match place {
            Some(place) => {
                let receipts = Some(place.begin(&[0]));
                let removed = engine.find_and_remove_with(&collection, find, context, receipts);
                removed.await.map(|removed| usize::from(removed.is_some()))
            }
            None => engine.remove(&collection, find, many, context).await.map(|it| it.count),
        };
        if !Call::<S>::came_late(&removed) {
            let count = removed?;
            note_unwritten(place, count);
            Counters::add(&call.connection.counters.deleted, count as u64);
            return Ok(count);
        }
    }
}

/// Notes in the receipts of a numbered delete that it removed nothing, where that is so.
fn note_unwritten<S: Store>(place: Option<Place<'_, S>>, removed: usize) {
    if let Some(Place { book, at }) = place
        && removed == 0
    {
        book.note_unwritten(at, &Done::default(), None);
    }
}
