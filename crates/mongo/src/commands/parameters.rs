//! `getParameter` and `setParameter`: the settings that tools and tests ask for. None of them
//! changes what a client gets; tests of applications set those of the TTL monitor to wait less, and
//! here nothing waits for a monitor.
//!
//! ```text
//! {getParameter: 1, ttlMonitorSleepSecs: 1}  => {ttlMonitorSleepSecs: 60, ok: 1}
//! {setParameter: 1, ttlMonitorSleepSecs: 1}  => {was: 60, ok: 1}
//! ```
//!
//! Values live as long as the server: nothing is stored.

use document::{DocBuf, Document, Value, ValueRef, doc};
use engine::Store;

use crate::{
    arguments::GENERIC,
    call::Call,
    errors::{BadValue, Error, InvalidOptions, Result},
    replies::ok,
};

/// A name, its value at the start, and whether it may be set.
type Known = (&'static str, fn() -> Value, bool);

/// Names with their values at the start, and whether they may be set.
const KNOWN: &[Known] = &[
    ("ttlMonitorEnabled", || Value::Bool(true), true),
    ("ttlMonitorSleepSecs", || Value::Int32(60), true),
    ("ttlMonitorBatchDeletes", || Value::Bool(true), true),
    ("ttlMonitorSubPassTargetSecs", || Value::Int32(60), true),
    ("ttlIndexDeleteTargetTimeMS", || Value::Int64(1000), true),
    ("ttlIndexDeleteTargetDocs", || Value::Int64(50_000), true),
    // There are fail points.
    ("enableTestCommands", || Value::Bool(true), false),
    ("authenticationMechanisms", || Value::Array(Vec::new()), false),
    ("authSchemaVersion", || Value::Int32(5), false),
    ("quiet", || Value::Bool(false), true),
    ("logLevel", || Value::Int32(0), true),
    ("notablescan", || Value::Bool(false), false),
    ("transactionLifetimeLimitSeconds", || Value::Int32(60), true),
    ("cursorTimeoutMillis", || Value::Int64(600_000), false),
    ("internalQueryMaxBlockingSortMemoryUsageBytes", || Value::Int32(104_857_600), false),
];

/// The names again, as arguments of the two commands: every parameter is a field of its own.
pub(super) const NAMES: &[&str] = &[
    "ttlMonitorEnabled",
    "ttlMonitorSleepSecs",
    "ttlMonitorBatchDeletes",
    "ttlMonitorSubPassTargetSecs",
    "ttlIndexDeleteTargetTimeMS",
    "ttlIndexDeleteTargetDocs",
    "enableTestCommands",
    "authenticationMechanisms",
    "authSchemaVersion",
    "quiet",
    "logLevel",
    "notablescan",
    "transactionLifetimeLimitSeconds",
    "cursorTimeoutMillis",
    "internalQueryMaxBlockingSortMemoryUsageBytes",
    "featureCompatibilityVersion",
    "allParameters",
    "showDetails",
];

/// The value of a parameter now.
fn value_of<S: Store>(call: &Call<'_, S>, name: &str, start: fn() -> Value) -> Value {
    call.door.parameters.lock().get(name).cloned().unwrap_or_else(start)
}

/// Runs `getParameter` for the parameters that are named, or for all.
pub(super) async fn get_parameters<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let wanted = call.body.get("getParameter");
    let all = match wanted {
        Some(ValueRef::String("*")) => true,
        Some(ValueRef::Document(options)) => {
            options.get("allParameters").is_some_and(ValueRef::is_truthy)
        }
        _ => call.args().lax_bool("allParameters")?.unwrap_or(false),
    };
    let mut reply = Document::new();
    let compatibility = || Value::Document(doc! { "version": "7.0" });
    for (name, start, _) in KNOWN {
        if all || call.body.get(name).is_some() {
            reply.push(*name, value_of(call, name, *start));
        }
    }
    if all || call.body.get("featureCompatibilityVersion").is_some() {
        reply.push("featureCompatibilityVersion", compatibility());
    }
    if reply.is_empty() {
        return Err(Error::new(InvalidOptions, "no option found to get"));
    }
    ok(reply)
}

/// Runs `setParameter`; returns the last old value. A value has to be of the kind that the
/// parameter has, where all numbers are one kind.
pub(super) async fn set_parameters<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let mut was = None;
    let given = call.body.iter().skip(1).filter(|(name, _)| !GENERIC.contains(name));
    for (name, value) in given {
        let row = KNOWN.iter().find(|(known, ..)| *known == name);
        let Some((_, start, true)) = row else {
            let message = format!("not allowed to change [{name}] at runtime");
            return Err(Error::new(crate::errors::IllegalOperation, message));
        };
        let positive = name != "ttlMonitorSleepSecs"
            || document::Number::of(value).is_some_and(|number| 0.0 < number.to_f64());
        let fits =
            value.kind() == start().kind() || value.is_number() && start().as_ref().is_number();
        if !positive || !fits {
            let message = format!(
                "Invalid value for parameter {name}: {} is not allowed",
                document::shell(value)
            );
            return Err(Error::new(BadValue, message));
        }
        was = Some(value_of(call, name, *start));
        call.door.parameters.lock().insert(name.to_owned(), value.to_value());
    }
    match was {
        Some(was) => ok(doc! { "was": was }),
        None => {
            Err(Error::new(InvalidOptions, "no option found to set, use help:true to see options "))
        }
    }
}

/// Runs `getDefaultRWConcern`.
pub(super) async fn default_concerns<S: Store>(_: &Call<'_, S>) -> Result<DocBuf> {
    ok(doc! {
        "defaultReadConcern": doc! { "level": "local" },
        "defaultWriteConcern": doc! { "w": "majority", "wtimeout": 0 },
        "defaultWriteConcernSource": "implicit",
        "defaultReadConcernSource": "implicit",
    })
}

/// Runs `setFeatureCompatibilityVersion`, which upgrade scripts call: accepted, and nothing
/// changes.
pub(super) async fn set_compatibility<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    call.args().need_str(call.name)?;
    call.args().lax_bool("confirm")?;
    ok(doc! {})
}
