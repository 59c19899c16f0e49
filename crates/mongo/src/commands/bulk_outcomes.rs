//! The outcomes of the operations of a `bulkWrite`, and its reply: totals, and a cursor over the
//! outcomes.

use std::sync::Arc;

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::{Batch, BatchLimit, Namespace, Plan, Updated};
use evaluation::Context;
use pipeline::{Expr, Filter, exec::Stage};

use crate::{
    any_cursor::AnyCursor,
    call::Call,
    cursor_description::CursorDescription,
    errors::Result,
    query::begin_query,
    replies::{
        cursor::{batch_limit, open_cursor},
        finish_reply,
        numbers::saturated_int,
    },
};

/// The namespace of the cursor over the outcomes, in database `admin`.
const CURSOR: &str = "$cmd.bulkWrite";

/// The numbers of affected documents that the reply of `bulkWrite` reports.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) inserted: usize,
    pub(super) matched: usize,
    pub(super) modified: usize,
    pub(super) upserted: usize,
    pub(super) deleted: usize,
    pub(super) errors: usize,
}

/// The result of one operation of a `bulkWrite`.
pub(super) enum OperationResult {
    Inserted,
    Updated(Updated),
    Removed(usize),
}

impl Totals {
    /// Adds the result of an operation to the totals. Returns the fields of its outcome.
    pub(super) fn count(&mut self, done: OperationResult) -> Document {
        match done {
            OperationResult::Inserted => {
                self.inserted += 1;
                doc! { "n": 1 }
            }
            OperationResult::Updated(Updated { matched, modified, upserted }) => {
                self.matched += matched;
                self.modified += modified;
                self.upserted += usize::from(upserted.is_some());
                // An upsert counts as one matched document, as in `update`.
                let n = saturated_int(matched + usize::from(upserted.is_some()));
                let mut fields = doc! { "n": n, "nModified": saturated_int(modified) };
                if let Some(id) = upserted {
                    fields.push("upserted", doc! { "_id": id });
                }
                fields
            }
            OperationResult::Removed(count) => {
                self.deleted += count;
                doc! { "n": saturated_int(count) }
            }
        }
    }
}

/// Returns the outcome of one operation: `ok`, its position, and its result or error.
pub(super) fn outcome_entry(ok: f64, index: i32, fields: Document) -> Document {
    let mut entry = doc! { "ok": ok, "idx": index };
    for (name, value) in fields {
        entry.push(name, value);
    }
    entry
}

/// Replies with the first batch of outcomes and a cursor over the rest.
pub(super) async fn reply_with_outcomes(
    call: &Call<'_>,
    results: Vec<Document>,
    totals: &Totals,
    repeated: Document,
    size: Option<u64>,
) -> Result<DocBuf> {
    let namespace = Namespace::new("admin", CURSOR);
    let results = Value::Array(results.into_iter().map(Value::Document).collect());
    let stages = vec![Stage::Documents(Expr::Literal(results))];
    let plan = Plan::new(Filter::always()).with_stages(stages);
    // Without limits of time and memory: the writes are done, and the client must get their small
    // outcomes.
    let context = Arc::new(Context::default());
    let mut cursor =
        begin_query(call, &namespace, call.find_collection(&namespace), plan, context)?;
    // An empty first batch is allowed and still opens a cursor.
    let wanted = match size {
        Some(0) => BatchLimit { documents: 0, bytes: 0 },
        size => batch_limit(size, usize::MAX, &call.api.settings.memory),
    };
    let batch = cursor.next_batch(wanted).await?;
    let id = match batch.done {
        true => 0,
        false => {
            let mut about = CursorDescription::new(call.body, &cursor.explain());
            about.record_batch(batch.documents.len());
            open_cursor(call, &namespace, AnyCursor::Query(Box::new(cursor)), about, false)?
        }
    };
    Ok(build_reply(&batch, id, totals, &repeated))
}

/// Returns the reply: a batch of outcomes and the totals.
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
