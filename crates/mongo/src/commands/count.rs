//! `count`: without a filter from the collection's counters, otherwise by reading documents, or
//! only index entries where these decide the filter.
//!
//! ```text
//! {count: "c", query: {..}, skip: n, limit: n, hint: ..}  => {n: 12, ok: 1}
//! ```

use document::{DocBuf, DocRef, Number, doc, shell};
use engine::{BatchLimit, Hint, Plan};
use pipeline::{Filter, exec::Stage};

use crate::{
    arguments::Args,
    call::{Call, default_collation},
    counters::Counters,
    errors::{BadValue, Error, FailedToParse, Result},
    parsers::{
        collation::{GivenCollation, parse_collation},
        hint::{covers_all, parse_hint},
    },
    query::begin_query,
    replies::{numbers::int_or_long, ok},
    stored_view::is_view,
};

/// Arguments of `count`. `fields` and `queryHash` have no effect.
pub(super) const FIELDS: &[&str] =
    &["query", "limit", "skip", "hint", "collation", "fields", "queryHash"];

/// The parsed arguments of a count.
struct Counted {
    filter: Filter,
    hint: Hint,
    collation: GivenCollation,
    skip: u64,
    limit: Option<u64>,
}

impl Counted {
    /// Reads the arguments. A negative `limit` counts as its absolute value, as in mongod.
    fn parse(args: &Args<'_>) -> Result<Self> {
        let collation = parse_collation(args)?;
        let filter = match args.document("query")? {
            Some(filter) => mongo_query::filter::parse(filter)?,
            None => Filter::always(),
        };
        let skip = args.count("skip")?.unwrap_or(0);
        let limit = match args.get_or_null("limit").map(|value| (value, Number::of(value))) {
            None => 0,
            Some((_, None)) => {
                return Err(Error::new(BadValue, "limit value is not a valid number"));
            }
            Some((value, Some(number))) => number.to_i64_exact().ok_or_else(|| {
                let message = format!("Expected an integer: limit: {}", shell(value));
                Error::new(FailedToParse, message)
            })?,
        };
        let limit = Some(limit.unsigned_abs()).filter(|limit| 0 < *limit);
        Ok(Self { filter, hint: parse_hint(args)?, collation, skip, limit })
    }

    /// Returns the count as a query of one row. `skip`, `limit` and the count are stages, so that
    /// the whole query reads at one instant.
    fn into_plan(self) -> Plan {
        let mut stages = Vec::new();
        if 0 < self.skip {
            stages.push(Stage::Skip(self.skip));
        }
        stages.extend(self.limit.map(Stage::Limit));
        stages.push(Stage::Count(COUNT_FIELD.to_owned()));
        Plan { hint: self.hint, ..Plan::new(self.filter).with_stages(stages) }
    }
}

/// Name of the field that contains the count in the result row.
const COUNT_FIELD: &str = "n";

/// Returns the plan of a count that has to read documents or index entries.
pub(super) fn parse_plan(args: &Args<'_>) -> Result<Plan> {
    Ok(Counted::parse(args)?.into_plan())
}

/// Returns the count in the row that a count's plan returned; 0 without a row, which means that no
/// documents match.
pub(super) fn counted_of(row: Option<&[u8]>) -> u64 {
    let counted = row.and_then(|row| DocRef::Raw(row).get(COUNT_FIELD));
    let n = counted.and_then(document::Number::of).and_then(document::Number::to_i64_exact);
    u64::try_from(n.unwrap_or(0)).unwrap_or(0)
}

/// Runs `count`. On a collection, without a filter, and without a hint or with one that covers all
/// documents, it reads no document; otherwise it is a query.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    Counters::add(&call.connection.counters.query, 1);
    let namespace = call.namespace_of_documents()?;
    let counted = Counted::parse(&call.args())?;
    let Some(collection) = call.find_collection(&namespace) else { return ok(doc! { "n": 0 }) };
    if !is_view(&collection) && counted.filter.is_always() && covers_all(&counted.hint) {
        let live = call.api.engine.live_amount(&collection).await?;
        let n = u64::try_from(live.documents).unwrap_or(0).saturating_sub(counted.skip);
        return count_reply(counted.limit.map_or(n, |limit| n.min(limit)));
    }
    let default = default_collation(Some(&collection));
    let context = call.context_with(counted.collation.clone().or_default(default)).await?;
    let plan = counted.into_plan();
    let mut cursor = begin_query(call, &namespace, Some(collection), plan, context)?;
    let batch = cursor.next_batch(BatchLimit { documents: 1, bytes: usize::MAX }).await?;
    count_reply(counted_of(batch.documents.first().map(|row| &row[..])))
}

/// Returns the reply. The number is a 32-bit integer if it fits.
fn count_reply(n: u64) -> Result<DocBuf> {
    let n = i64::try_from(n).map_err(|_| Error::new(BadValue, "the count exceeds 64 bits"))?;
    ok(doc! { "n": int_or_long(n) })
}
