//! Our own commands: the database clock, and what a collection's expiry will do.

use clock::{Instant, Mode, Refused};
use document::{DocBuf, Document, Number, Value, ValueRef, doc};
use engine::DefaultTtl as Default;
use engine::Store;
use engine::{Amount, Within};

use super::{Call, ok};
use crate::errors::{BadValue, Error, IllegalOperation, Result, TypeMismatch};

/// `{ebbClock: 1}`, with `advanceSeconds` or `set`.
pub(super) async fn clock<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let clock = call.door.engine.clock();
    let advance = call.body.get("advanceSeconds");
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
            Some(clock.last().plus_ms((number.to_f64() * 1000.0).round() as i64))
        }
        (None, Some(ValueRef::DateTime(ms))) => Some(Instant::from_ms(ms)),
        (None, Some(_)) => return Err(Error::new(TypeMismatch, "set must be a date")),
        (None, None) => None,
    };
    if let Some(to) = to {
        call.door.engine.move_clock(to).await.map_err(refused)?;
    }
    let status = call.door.engine.clock().status();
    ok(doc! {
        "mode": match status.mode { Mode::System => "system", Mode::Manual => "manual" },
        "now": Value::DateTime(status.now.ms),
    })
}

fn refused(refused: Refused) -> Error {
    let message = match refused {
        Refused::SystemClock => {
            "the clock can only be moved on a server started with --clock manual".to_owned()
        }
        Refused::Backwards { now } => format!("the clock never goes back; it stands at {now}"),
        Refused::OtherMode => "the data directory belongs to the other kind of clock".to_owned(),
    };
    Error::new(IllegalOperation, message)
}

fn amount(amount: Amount) -> Document {
    doc! { "documents": amount.documents, "bytes": amount.bytes }
}

fn within(within: &Within) -> Document {
    doc! {
        "hour": amount(within.hour),
        "day": amount(within.day),
        "week": amount(within.week),
    }
}

/// `{ebbExpiry: "collection"}`, with `preview: {default: n}`.
pub(super) async fn expiry<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let collection = call.expect(&namespace)?;
    let engine = &call.door.engine;
    if let Some(preview) = call.args().document("preview")? {
        let default = match preview.get("default") {
            Some(ValueRef::Null) => Default::Off,
            Some(value) => match Number::of(value).and_then(Number::to_i64_exact) {
                Some(-1) => Default::Infinite,
                Some(n) if (1..=i64::from(i32::MAX)).contains(&n) => Default::Seconds(n),
                _ => return Err(bad_default()),
            },
            None => return Err(bad_default()),
        };
        let preview = engine.preview(&collection, default).await?;
        return ok(doc! {
            "dies_now": amount(preview.dies_now),
            "dies_within": within(&preview.dies_within),
            "exact": preview.exact,
        });
    }
    let forecast = engine.forecast(&collection).await?;
    let mut unreaped = amount(forecast.unreaped.amount);
    unreaped.push("oldest_dead_seconds", forecast.unreaped.oldest_dead_seconds);
    ok(doc! {
        "default": match forecast.default {
            Default::Off => Value::Null,
            Default::Infinite => Value::Int32(-1),
            Default::Seconds(n) => Value::Int64(n),
        },
        "live": amount(forecast.live),
        "dies_within": within(&forecast.dies_within),
        "unreaped_estimate": unreaped,
        "exact": forecast.exact,
    })
}

fn bad_default() -> Error {
    Error::new(BadValue, "preview.default must be null, -1 or 1..2147483647")
}
