//! Admin routes of the database clock: reading it, moving a manual clock, accepting a step of the
//! wall clock.

use ::clock::{Clock, ClockMode, ClockRefusal, Instant};
use axum::{Json, body::Bytes, extract::State};
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};

/// Formats milliseconds since 1970 as RFC 3339, or as milliseconds if out of its range.
pub(super) fn time_text(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map_or_else(|_| format!("{ms} ms"), |time| format!("{time:.3}"))
}

/// Returns the state of the clock, for `/status` and `/_ebb/clock`. Times are milliseconds since
/// 1970; `now` is RFC 3339, or milliseconds if out of its range; `offset_ms` is the wall clock
/// minus database time.
///
/// ```text
/// {"mode": "manual", "now": "2027-01-01T00:00:00.000Z", "now_ms": 1798761600000, "offset_ms": 0,
///  "unconfirmed": null, "reap_until_ms": null, "running": true, "keeps_pace": true}
/// ```
pub(super) fn clock_json(clock: &Clock) -> Value {
    let status = clock.status();
    json!({
        "mode": match status.mode { ClockMode::System => "system", ClockMode::Manual => "manual" },
        "now": time_text(status.now.ms),
        "now_ms": status.now.ms,
        "offset_ms": status.offset_ms,
        "unconfirmed": status.unconfirmed,
        "reap_until_ms": status.reap_until.map(|until| until.ms),
        "running": status.running,
        "keeps_pace": status.keeps_pace,
    })
}

pub(crate) async fn get_clock(State(shared): State<Shared>) -> Json<Value> {
    Json(clock_json(shared.engine.clock()))
}

/// Handles `POST /_ebb/clock` with either `advance_seconds` (a number, may have a fraction) or
/// `set` (a time in RFC 3339). On return the move is durable and documents expired by it are
/// invisible. 409 for a system clock and for a move backwards.
pub(crate) async fn move_clock(
    State(shared): State<Shared>,
    request: Bytes,
) -> Result<Json<Value>> {
    let request: Value = serde_json::from_slice(&request)
        .map_err(|error| Error::bad_request(format!("the body is not JSON: {error}")))?;
    let clock = shared.engine.clock();
    let _turn = shared.engine.clock_turn().await;
    let fields = request.as_object().map_or(0, serde_json::Map::len);
    let to = match (request.get("advance_seconds"), request.get("set")) {
        (Some(seconds), None) if fields == 1 => {
            // The bound keeps the product below within an i64 of milliseconds.
            let seconds = seconds.as_f64().filter(|seconds| seconds.abs() < 1e15);
            let seconds = seconds
                .ok_or_else(|| Error::bad_request("advance_seconds must be a number of seconds"))?;
            clock.last_used().plus_ms((seconds * 1000.0).round() as i64)
        }
        (None, Some(set)) if fields == 1 => {
            let text = set.as_str().unwrap_or_default();
            let at: jiff::Timestamp = text.parse().map_err(|_| {
                Error::bad_request("set must be a time such as 2027-01-01T00:00:00Z")
            })?;
            Instant::from_ms(at.as_millisecond())
        }
        _ => return Err(Error::bad_request("specify either advance_seconds or set")),
    };
    shared.engine.move_clock(to).await.map_err(|refused| match refused {
        ClockRefusal::SystemClock => {
            Error::conflict("the clock can only be moved on a server started with --clock manual")
        }
        ClockRefusal::Backwards { now } => {
            let now = time_text(now.ms);
            Error::conflict(format!("the clock never goes back; it stands at {now}"))
        }
        ClockRefusal::OtherMode => Error::conflict("wrong clock mode"),
        ClockRefusal::NotDurable => {
            Error::failed("the move of the clock could not be made durable")
        }
    })?;
    Ok(Json(clock_json(shared.engine.clock())))
}

/// Handles `POST /_ebb/clock/accept`: accepts a pending step of the wall clock, and allows
/// documents that a jump of time expired to be reaped.
pub(crate) async fn accept_clock(State(shared): State<Shared>) -> Json<Value> {
    shared.engine.clock().accept_jump();
    Json(clock_json(shared.engine.clock()))
}
