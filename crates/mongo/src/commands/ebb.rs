//! EbbDB's own commands: the database clock, and expiry forecasts of a collection. The field names
//! of their replies are part of the product's interface and must not change.
//!
//! ```text
//! {ebbClock: 1, advanceSeconds: 60}    => {mode: "manual", now: ISODate(..), ok: 1}
//! {ebbExpiry: "c"}
//! => {default: 3600, live: {documents: 10, bytes: 400},
//!     dies_within: {hour: {..}, day: {..}, week: {..}}, unreaped_estimate: {..}, exact: true, ok: 1}
//! {ebbExpiry: "c", ids: [1]}
//! => {default: 3600, documents: [{_id: 1, written: .., class: "inherit", diesAt: .., by: ..}], ok: 1}
//! {ebbExpiry: "c", next: 100, after: null}
//! => {default: 3600, documents: [..], after: "1700000000000-0a", ok: 1}
//! ```
//!
//! `by` is the rule that decides the expiry: `default`, `ttl`, or the name of a TTL index.

use std::sync::Arc;

use clock::{ClockMode, ClockRefusal, Instant};
use document::{DocBuf, DocRef, Document, Number, Value, ValueRef, doc};
use engine::{
    Amount, Class, Collection, DefaultTtl, DocumentExpiries, DocumentExpiry, ExpiryPosition,
    ExpiryReason, HorizonAmounts,
};
use evaluation::calendar::DateParts;

use crate::{
    access::Action,
    arguments::OF_SHARD,
    call::Call,
    errors::{BadValue, Error, IllegalOperation, OperationFailed, Result, TypeMismatch},
    limits::MAX_EXPIRY_IDS,
    replies::ok,
    rights::{CommandRequest, Object, Requirement},
};

/// Returns whether an `ebbClock` moves the clock instead of only reading it.
pub(super) fn moves_clock(command: DocRef<'_>) -> bool {
    command.get("advanceSeconds").is_some() || command.get("set").is_some()
}

/// Returns the rights that `ebbClock` requires: one to move the clock, none to read it.
pub(super) fn clock_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let moves = moves_clock(request.body);
    Ok(moves.then(|| Requirement::of(Action::EbbClock, Object::Server)).into_iter().collect())
}

/// Runs `ebbClock`, with `advanceSeconds` (a number, may be fractional), `set` (a date), or
/// neither, which only reads. The reply has the clock's mode and time.
pub(super) async fn run_clock(call: &Call<'_>) -> Result<DocBuf> {
    let clock = call.api.engine.clock();
    let advance = call.body.get("advanceSeconds");
    let _turn = match advance {
        Some(_) => Some(call.api.engine.clock_turn().await),
        None => None,
    };
    let set = call.body.get("set");
    let to = match (advance, set) {
        (Some(_), Some(_)) => {
            return Err(Error::new(BadValue, "give advanceSeconds or set, not both"));
        }
        (Some(value), None) => {
            let number = Number::of(value).filter(|number| number.to_f64().is_finite());
            let number = number.ok_or_else(|| {
                Error::new(TypeMismatch, "advanceSeconds must be a number of seconds")
            })?;
            Some(clock.last_used().plus_ms((number.to_f64() * 1000.0).round() as i64))
        }
        (None, Some(ValueRef::DateTime(ms))) => Some(Instant::from_ms(ms)),
        (None, Some(_)) => return Err(Error::new(TypeMismatch, "set must be a date")),
        (None, None) => None,
    };
    if let Some(to) = to {
        if let Some(other_shards) = call.other_shards() {
            // The other shards first: if one of them cannot be reached, a retry sets the same time.
            let set = doc! { "ebbClock": 1, "set": Value::DateTime(to.ms) };
            other_shards.ask(set, &call.api.settings.memory).await?;
        }
        match call.api.engine.move_clock(to).await {
            // Another shard's clock may already be past that time.
            Err(ClockRefusal::Backwards { .. }) if call.body.get(OF_SHARD).is_some() => {}
            moved => drop(moved.map_err(clock_refusal)?),
        }
    }
    let status = call.api.engine.clock().status();
    ok(doc! {
        "mode": match status.mode { ClockMode::System => "system", ClockMode::Manual => "manual" },
        "now": Value::DateTime(status.now.ms),
    })
}

/// Returns a date as `2027-01-01T00:00:00.000Z`, for error messages.
fn date_text(ms: i64) -> String {
    let at = DateParts::parts_of(ms);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second, at.millisecond
    )
}

/// Returns the error of a clock that refuses to move.
fn clock_refusal(refused: ClockRefusal) -> Error {
    let (code, message) = match refused {
        ClockRefusal::SystemClock => (
            IllegalOperation,
            "the clock can only be moved on a server started with --clock manual".to_owned(),
        ),
        ClockRefusal::Backwards { now } => {
            let now = date_text(now.ms);
            (IllegalOperation, format!("the clock never goes back; it stands at {now}"))
        }
        ClockRefusal::OtherMode => {
            (IllegalOperation, "the data directory belongs to the other kind of clock".to_owned())
        }
        ClockRefusal::NotDurable => {
            (OperationFailed, "the move of the clock could not be made durable".to_owned())
        }
    };
    Error::new(code, message)
}

fn amount_fields(amount: Amount) -> Document {
    doc! { "documents": amount.documents, "bytes": amount.bytes }
}

fn horizon_fields(within: &HorizonAmounts) -> Document {
    doc! {
        "hour": amount_fields(within.hour),
        "day": amount_fields(within.day),
        "week": amount_fields(within.week),
    }
}

/// Returns a collection's default time to live: null, -1 or seconds.
fn default_of(default: DefaultTtl) -> Value {
    match default {
        DefaultTtl::Off => Value::Null,
        DefaultTtl::Infinite => Value::Int32(-1),
        DefaultTtl::Seconds(n) => Value::Int64(n),
    }
}

/// Runs `{ebbExpiry: "collection"}`: reports how many documents are live, how many expire within
/// given times, and how many have expired and are not reaped yet, each with their size.
///
/// `preview: {default: n}` reports these numbers as if the default were n. `ids: [id, ..]` reports
/// when these documents expire and by which rule. `next: n` lists the n documents that expire next;
/// `after` in the reply is the position from which the next request continues.
pub(super) async fn run_expiry(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let collection = call.expect_collection(&namespace)?;
    let engine = &call.api.engine;
    if let Some(ids) = call.args().array("ids")? {
        if call.args().get("preview").is_some() {
            return Err(Error::new(BadValue, "give ids or preview, not both"));
        }
        return list_expirations(call, &collection, &ids.iter().collect::<Vec<_>>()).await;
    }
    if let Some(limit) = call.args().get("next") {
        if call.args().get("preview").is_some() {
            return Err(Error::new(BadValue, "give next or preview, not both"));
        }
        return list_next(call, &collection, limit).await;
    }
    if let Some(preview) = call.args().document("preview")? {
        let default = match preview.get("default") {
            Some(ValueRef::Null) => DefaultTtl::Off,
            Some(value) => match Number::of(value).and_then(Number::to_i64_exact) {
                Some(-1) => DefaultTtl::Infinite,
                Some(n) if (1..=i64::from(i32::MAX)).contains(&n) => DefaultTtl::Seconds(n),
                _ => return Err(bad_default()),
            },
            None => return Err(bad_default()),
        };
        let preview = engine.preview_default(&collection, default).await?;
        return ok(doc! {
            "dies_now": amount_fields(preview.expires_now),
            "dies_within": horizon_fields(&preview.expires_within),
            "exact": true,
        });
    }
    let forecast = engine.forecast_collection(&collection).await?;
    let mut unreaped = amount_fields(forecast.unreaped.amount);
    unreaped.push("oldest_dead_seconds", forecast.unreaped.oldest_expired_seconds);
    ok(doc! {
        "default": default_of(forecast.default),
        "live": amount_fields(forecast.live),
        "dies_within": horizon_fields(&forecast.expires_within),
        "unreaped_estimate": unreaped,
        "exact": true,
    })
}

/// Reports when the documents with these ids expire, and by which rule. Missing documents are left
/// out.
async fn list_expirations(
    call: &Call<'_>,
    collection: &Arc<Collection>,
    ids: &[ValueRef<'_>],
) -> Result<DocBuf> {
    if MAX_EXPIRY_IDS < ids.len() {
        let message = format!("'ids' has {} values, more than {MAX_EXPIRY_IDS}", ids.len());
        return Err(Error::new(BadValue, message));
    }
    let context = call.evaluation_context().await?;
    let fates = call.api.engine.document_expiries(collection, ids, &context).await?;
    let documents = fates.documents.into_iter().map(|fate| Value::Document(expiration_entry(fate)));
    ok(doc! {
        "default": default_of(fates.default),
        "documents": Value::Array(documents.collect()),
    })
}

/// Lists the documents that expire next, the earliest first: at most `next` of them, from the
/// position in `after` of an earlier reply.
async fn list_next(
    call: &Call<'_>,
    collection: &Arc<Collection>,
    limit: ValueRef<'_>,
) -> Result<DocBuf> {
    let limit = Number::of(limit).and_then(Number::to_i64_exact);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.filter(|limit| (1..=MAX_EXPIRY_IDS).contains(limit)).ok_or_else(|| {
        Error::new(BadValue, format!("'next' must be a number from 1 to {MAX_EXPIRY_IDS}"))
    })?;
    let after = match call.args().get("after") {
        None | Some(ValueRef::Null) => None,
        Some(ValueRef::String(text)) => {
            Some(ExpiryPosition::parse(text).ok_or_else(invalid_position)?)
        }
        Some(_) => return Err(invalid_position()),
    };
    let context = call.evaluation_context().await?;
    let engine = &call.api.engine;
    let next = engine.next_to_expire(collection, "_id", after.as_ref(), limit, &context).await?;
    let DocumentExpiries { default, documents } = next.expiries;
    let documents = documents.into_iter().map(|fate| Value::Document(expiration_entry(fate)));
    ok(doc! {
        "default": default_of(default),
        "documents": Value::Array(documents.collect()),
        "after": next.after.map_or(Value::Null, |position| Value::String(position.to_text())),
    })
}

/// Returns the error for an invalid `after`, the position in a list of expiring documents.
fn invalid_position() -> Error {
    Error::new(BadValue, "'after' must be the value of an earlier reply")
}

/// Describes one document for the reply: its write time, whether and when it expires, and by which
/// rule.
fn expiration_entry(fate: DocumentExpiry) -> Document {
    let (dies_at, by) = match fate.expiry {
        None => (Value::Null, Value::Null),
        Some((at, ends)) => {
            let by = match ends {
                ExpiryReason::Default => "default".to_owned(),
                ExpiryReason::Own => "ttl".to_owned(),
                ExpiryReason::Index(name) => name,
            };
            (Value::DateTime(at.ms), Value::String(by))
        }
    };
    doc! {
        "_id": fate.id,
        "written": Value::DateTime(Instant::from_seconds(fate.written_s).ms),
        "class": match fate.class {
            Class::Inherit => "inherit",
            Class::Explicit { .. } => "explicit",
            Class::Never => "never",
        },
        "diesAt": dies_at,
        "by": by,
    }
}

/// Returns the error for an invalid default TTL of a preview.
fn bad_default() -> Error {
    Error::new(BadValue, "preview.default must be null, -1 or 1..2147483647")
}
