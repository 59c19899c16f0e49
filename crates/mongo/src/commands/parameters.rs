//! `getParameter` and `setParameter`: the settings that tools and tests use. Two of them change
//! behavior: with `requireApiVersion` commands without `apiVersion` are refused, and
//! `transactionLifetimeLimitSeconds` limits how long a transaction may be open.
//! Application tests shorten the interval of the TTL monitor; that has no effect, since documents
//! expire exactly.
//!
//! ```text
//! {getParameter: 1, ttlMonitorSleepSecs: 1}  => {ttlMonitorSleepSecs: 60, ok: 1}
//! {setParameter: 1, ttlMonitorSleepSecs: 1}  => {was: 60, ok: 1}
//! ```
//!
//! Values are kept in memory until the server stops.

use std::sync::atomic::Ordering;

use document::{DocBuf, Document, Number, Value, ValueRef, array, doc};

use crate::{
    arguments::{Args, GENERIC},
    call::Call,
    errors::{BadValue, CommandNotSupported, Error, InvalidOptions, Result, TypeMismatch},
    limits::{COMPATIBILITY_VERSION, TRANSACTION_LIFETIME},
    replies::ok,
    topology::Topology,
};

/// Name and initial value of a parameter, and whether it may be set.
type Parameter = (&'static str, fn() -> Value, bool);

const PARAMETERS: &[Parameter] = &[
    ("ttlMonitorEnabled", || Value::Bool(true), true),
    ("ttlMonitorSleepSecs", || Value::Int32(60), true),
    ("ttlMonitorBatchDeletes", || Value::Bool(true), true),
    ("ttlMonitorSubPassTargetSecs", || Value::Int32(60), true),
    ("ttlIndexDeleteTargetTimeMS", || Value::Int64(1000), true),
    ("ttlIndexDeleteTargetDocs", || Value::Int64(50_000), true),
    // True, because fail points are available.
    ("enableTestCommands", || Value::Bool(true), false),
    ("authenticationMechanisms", || array!["MONGODB-X509", "SCRAM-SHA-1", "SCRAM-SHA-256"], false),
    // Drivers' test suites read these two before each test of the Stable API.
    (REQUIRE_API_VERSION, || Value::Bool(false), true),
    ("acceptApiVersion2", || Value::Bool(false), false),
    ("authSchemaVersion", || Value::Int32(5), false),
    ("automationServiceDescriptor", || Value::from(""), true),
    ("quiet", || Value::Bool(false), true),
    ("logLevel", || Value::Int32(0), true),
    ("notablescan", || Value::Bool(false), false),
    (TRANSACTION_LIFETIME, || Value::Int32(60), true),
    ("cursorTimeoutMillis", || Value::Int64(600_000), false),
    ("internalQueryMaxBlockingSortMemoryUsageBytes", || Value::Int32(104_857_600), false),
];

/// Whether commands of clients must declare the version of the Stable API.
const REQUIRE_API_VERSION: &str = "requireApiVersion";

/// The feature compatibility version, which is not a setting: it follows from the server's version.
const COMPATIBILITY: &str = "featureCompatibilityVersion";

/// Returns the current value of a parameter.
fn value_of(call: &Call<'_>, name: &str, start: fn() -> Value) -> Value {
    call.api.parameters.lock().get(name).cloned().unwrap_or_else(start)
}

/// Whether all parameters are requested besides the named ones, and the format of the reply.
#[derive(Clone, Copy, Debug)]
struct ParameterSelection {
    /// Whether the reply contains all parameters.
    all: bool,
    /// Whether the reply states for each parameter when it can be set.
    details: bool,
}

impl ParameterSelection {
    /// Parses the value of `getParameter`: `"*"`, or a document of options. Any other value
    /// requests nothing.
    fn parse(value: Option<ValueRef<'_>>) -> Result<Self> {
        let ValueRef::Document(options) = value.unwrap_or(ValueRef::Null) else {
            let all = matches!(value, Some(ValueRef::String("*")));
            return Ok(Self { all, details: false });
        };
        let options = Args::new("getParameter", options);
        options.allow_only(&["allParameters", "showDetails"])?;
        Ok(Self {
            all: options.lax_bool("allParameters")?.unwrap_or(false),
            details: options.lax_bool("showDetails")?.unwrap_or(false),
        })
    }

    /// Returns a parameter's value in the format that the client requested.
    fn shown(self, value: Value, settable: bool) -> Value {
        if !self.details {
            return value;
        }
        Value::Document(doc! {
            "value": value,
            "settableAtRuntime": settable,
            "settableAtStartup": false,
        })
    }
}

/// Runs `getParameter` for the named parameters, or for all. Unknown names are ignored if at least
/// one name is known.
pub(super) async fn get_parameters(call: &Call<'_>) -> Result<DocBuf> {
    let asked = ParameterSelection::parse(call.body.get("getParameter"))?;
    let is_named = |name: &str| call.body.iter().skip(1).any(|(given, _)| given == name);
    let mut reply = Document::new();
    for (name, start, settable) in PARAMETERS {
        if asked.all || is_named(name) {
            reply.push(*name, asked.shown(value_of(call, name, *start), *settable));
        }
    }
    if asked.all || is_named(COMPATIBILITY) {
        let version = Value::Document(doc! { "version": COMPATIBILITY_VERSION });
        reply.push(COMPATIBILITY, asked.shown(version, false));
    }
    if reply.is_empty() {
        return Err(Error::new(InvalidOptions, "no option found to get"));
    }
    ok(reply)
}

/// Runs `setParameter`; returns the old value of the last parameter. All are checked before the
/// first is set.
///
/// Fails with 72 if the name is unknown, 20 if the parameter is read-only, 2 or 14 if the value is
/// invalid, and 115 if the parameter is `requireApiVersion` and the cluster is sharded.
pub(super) async fn set_parameters(call: &Call<'_>) -> Result<DocBuf> {
    let given = call.body.iter().skip(1).filter(|(name, _)| !GENERIC.contains(name));
    let mut taken = Vec::new();
    for (name, value) in given {
        let Some((_, start, settable)) = PARAMETERS.iter().find(|(known, ..)| *known == name)
        else {
            let message = format!(
                "attempted to set unrecognized parameter [{name}], use help:true to see options "
            );
            return Err(Error::new(InvalidOptions, message));
        };
        if !settable {
            let message = format!("not allowed to change [{name}] at runtime");
            return Err(Error::new(crate::errors::IllegalOperation, message));
        }
        let value = taken_value(name, value, &start())?;
        check_unsharded(call, name, &value)?;
        taken.push((name, *start, value));
    }
    let mut was = None;
    // Locked until all are set, so that `requires_api_version` never differs from its parameter.
    let mut parameters = call.api.parameters.lock();
    for (name, start, value) in taken {
        if name == REQUIRE_API_VERSION {
            call.api.requires_api_version.store(value == Value::Bool(true), Ordering::Relaxed);
        }
        was = Some(parameters.insert(name.to_owned(), value).unwrap_or_else(start));
    }
    drop(parameters);
    match was {
        Some(was) => ok(doc! { "was": was }),
        None => {
            Err(Error::new(InvalidOptions, "no option found to set, use help:true to see options "))
        }
    }
}

/// Fails with 115 if a command would require an API version in a sharded cluster: only one of the
/// cluster's servers would then require it.
fn check_unsharded(call: &Call<'_>, name: &str, value: &Value) -> Result<()> {
    let is_sharded = call.api.settings.is_home.is_some();
    if name == REQUIRE_API_VERSION && is_sharded && *value == Value::Bool(true) {
        let message = "requireApiVersion is not supported in a sharded cluster";
        return Err(Error::new(CommandNotSupported, message));
    }
    Ok(())
}

/// Returns the value to which a parameter is set. A boolean parameter accepts any type, as in
/// mongod: null, false and 0 become false, everything else true. Other parameters accept values of
/// their own type; all number types count as one.
fn taken_value(name: &str, value: ValueRef<'_>, start: &Value) -> Result<Value> {
    let start = start.as_ref();
    if let ValueRef::Bool(_) = start {
        return Ok(Value::Bool(value.is_truthy()));
    }
    if let (ValueRef::String(_), false) = (start, value.kind() == start.kind()) {
        let message = format!("Value for parameter {name} must be of type 'string'");
        return Err(Error::new(TypeMismatch, message));
    }
    let fits = value.kind() == start.kind() || value.is_number() && start.is_number();
    let least = match name {
        "ttlMonitorSleepSecs" | TRANSACTION_LIFETIME => 1.0,
        _ => 0.0,
    };
    let is_small = Number::of(value).is_some_and(|number| number.to_f64() < least);
    if !fits || is_small {
        let message = format!("Invalid value for {name}: {name}: {}", document::shell(value));
        return Err(Error::new(BadValue, message));
    }
    Ok(value.to_value())
}

/// Runs `getDefaultRWConcern`. Only a cluster has default concerns: otherwise it fails with 51300,
/// as on a standalone mongod.
pub(super) async fn default_concerns(call: &Call<'_>) -> Result<DocBuf> {
    if call.api.settings.topology == Topology::Standalone {
        let message = "'getDefaultRWConcern' is not supported on standalone nodes.";
        return Err(Error::new(51300, message));
    }
    ok(doc! {
        "defaultReadConcern": doc! { "level": "local" },
        "defaultWriteConcern": doc! { "w": "majority", "wtimeout": 0 },
        "defaultWriteConcernSource": "implicit",
        "defaultReadConcernSource": "implicit",
    })
}

/// Runs `setFeatureCompatibilityVersion`, which upgrade scripts call. It has no effect.
pub(super) async fn set_compatibility(call: &Call<'_>) -> Result<DocBuf> {
    call.args().need_str(call.name)?;
    call.args().lax_bool("confirm")?;
    ok(doc! {})
}
