//! What the operations of a `bulkWrite` did, and its reply: totals, and a cursor over the outcomes.

use std::sync::Arc;

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::{Batch, BatchLimit, Namespace, Plan, Store, Updated};
use evaluation::Context;
use pipeline::{Expr, Filter, exec::Stage};

use crate::{
    call::Call,
    cursor_description::CursorDescription,
    cursors::NewCursor,
    errors::Result,
    query::begin_query,
    replies::{cursor::batch_limit, finish_reply, numbers::saturated_int},
    session,
};

/// The name of its cursor, in database `admin`.
const CURSOR: &str = "$cmd.bulkWrite";

/// What all operations did together, as the reply counts it.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) inserted: usize,
    pub(super) matched: usize,
    pub(super) modified: usize,
    pub(super) upserted: usize,
    pub(super) deleted: usize,
    pub(super) errors: usize,
}

/// What one operation did.
pub(super) enum Done {
    Inserted,
    Updated(Updated),
    Removed(usize),
}

impl Totals {
    /// Counts what an operation did. Returns what its outcome says beside its position.
    pub(super) fn count(&mut self, done: Done) -> Document {
        match done {
            Done::Inserted => {
                self.inserted += 1;
                doc! { "n": 1 }
            }
            Done::Updated(Updated { matched, modified, upserted }) => {
                self.matched += matched;
                self.modified += modified;
                self.upserted += usize::from(upserted.is_some());
                // An upsert counts as one document that was touched, as in `update`.
                let n = saturated_int(matched + usize::from(upserted.is_some()));
                let mut fields = doc! { "n": n, "nModified": saturated_int(modified) };
                if let Some(id) = upserted {
                    fields.push("upserted", doc! { "_id": id });
                }
                fields
            }
            Done::Removed(count) => {
                self.deleted += count;
                doc! { "n": saturated_int(count) }
            }
        }
    }
}

/// The outcome of one operation: whether it succeeded, its position, and what it did or why it
/// failed.
pub(super) fn outcome_entry(ok: f64, index: i32, fields: Document) -> Document {
    let mut entry = doc! { "ok": ok, "idx": index };
    for (name, value) in fields {
        entry.push(name, value);
    }
    entry
}

/// The first batch of outcomes; the others wait in a cursor.
pub(super) async fn reply_with_outcomes<S: Store>(
    call: &Call<'_, S>,
    results: Vec<Document>,
    totals: &Totals,
    repeated: Document,
    size: Option<u64>,
) -> Result<DocBuf> {
    let namespace = Namespace::new("admin", CURSOR);
    let results = Value::Array(results.into_iter().map(Value::Document).collect());
    let stages = vec![Stage::Documents(Expr::Literal(results))];
    let plan = Plan::new(Filter::always()).with_stages(stages);
    // The writes are done: their outcomes, which are small, are reported in any case.
    // Limits of time and memory would lose what the client has to know now.
    let context = Arc::new(Context::default());
    let mut cursor = begin_query(call, &namespace, plan, context)?;
    // A first batch of nothing is allowed, and still opens a cursor.
    let wanted = match size {
        Some(0) => BatchLimit { documents: 0, bytes: 0 },
        size => batch_limit(size, usize::MAX, &call.door.settings.memory),
    };
    let batch = cursor.next_batch(wanted).await?;
    let id = match batch.done {
        true => 0,
        false => {
            // The same as for a query's cursor, so that `currentOp` shows this one too.
            let mut about = CursorDescription::new(call.body, &cursor.explain());
            about.note_batch(batch.documents.len());
            let opened = NewCursor {
                cursor,
                keep: false,
                session: session::session_id(call.body),
                connection: call.connection.id,
                owner: call.connection.sender(),
                about,
            };
            call.door.cursors.open(namespace, opened, &call.operation)?
        }
    };
    Ok(build_reply(&batch, id, totals, &repeated))
}

/// The reply: a batch of outcomes and the totals.
fn build_reply(batch: &Batch, id: i64, totals: &Totals, repeated: &Document) -> DocBuf {
    let mut builder = document::DocBuilder::new();
    builder.document("cursor", |cursor| {
        cursor.append("id", ValueRef::Int64(id));
        cursor.array("firstBatch", |outcomes| {
            for outcome in &batch.documents {
                outcomes.push(ValueRef::Document(DocRef::Raw(outcome)));
            }
        });
        cursor.append("ns", ValueRef::String("admin.$cmd.bulkWrite"));
    });
    for (name, count) in [
        ("nErrors", totals.errors),
        ("nInserted", totals.inserted),
        ("nMatched", totals.matched),
        ("nModified", totals.modified),
        ("nUpserted", totals.upserted),
        ("nDeleted", totals.deleted),
    ] {
        builder.append(name, Value::Int32(saturated_int(count)).as_ref());
    }
    for (name, value) in repeated.fields() {
        builder.append(name, value.as_ref());
    }
    finish_reply(builder)
}
