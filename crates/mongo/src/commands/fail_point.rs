//! `configureFailPoint`: makes chosen commands fail, so that applications can test their retries.
//! Each fail point has one setting at a time. While none is on a command pays for a look at an atomic.
//!
//! ```text
//! {configureFailPoint: "failCommand", mode: {times: 2},
//!     data: {failCommands: ["insert"], errorCode: 91, errorLabels: ["RetryableWriteError"]}}
//! => {count: 0, ok: 1}
//! ```

use std::{sync::atomic::Ordering, time::Duration};

use document::{DocBuf, DocBuilder, DocRef, Value, ValueRef, doc};
use engine::Store;

use crate::{
    call::Call,
    errors::{BadValue, Error, FailPointSetFailed, MaxTimeMSExpired, Result},
    fail_point::{FailCommand, Mode},
    replies::ok,
};

/// What becomes of a command.
pub(super) enum Action {
    /// It runs.
    Go,
    /// The connection is closed without a reply.
    CloseConnection,
    /// It gets this error and does not run.
    Fail(DocBuf),
    /// It runs after this time.
    Block(Duration),
}

/// Whether a fail point is about this command of this client.
fn is_meant<S: Store>(point: &FailCommand, call: &Call<'_, S>) -> bool {
    let meets = |name: &String| {
        call.connection.app_name().as_ref() == Some(name)
            || introduced_name(call.body) == Some(name.as_str())
    };
    // Old names differ from new ones in case only: `isMaster` means `ismaster` too, as in mongod.
    point.commands.iter().any(|name| name.eq_ignore_ascii_case(call.name))
        && point.app_name.as_ref().is_none_or(meets)
}

/// The name of the application that this very command introduces: the first handshake is struck
/// too.
fn introduced_name(body: DocRef<'_>) -> Option<&str> {
    let application = body.get("client")?.as_document()?.get("application")?;
    match application.as_document()?.get("name")? {
        ValueRef::String(name) => Some(name),
        _ => None,
    }
}

/// What becomes of the command that is called now. `configureFailPoint` itself is never struck,
/// else nobody could turn it off.
pub(super) fn check_command<S: Store>(call: &Call<'_, S>) -> Action {
    if !call.door.has_fail_point.load(Ordering::Relaxed) || call.name == "configureFailPoint" {
        return Action::Go;
    }
    let Some(point) = strike(call, |point| point.concern_error.is_none() || point.code.is_some())
    else {
        return Action::Go;
    };
    if point.close {
        return Action::CloseConnection;
    }
    match (point.code, point.block) {
        (Some(code), _) => {
            let message = "Failing command via 'failCommand' failpoint";
            let mut reply = Error::new(code, message).to_reply();
            if let Some(labels) = point.labels {
                reply.push("errorLabels", labels);
            }
            Action::Fail(reply.to_buf())
        }
        (None, Some(time)) => Action::Block(time),
        (None, None) => Action::Go,
    }
}

/// Adds a planned write concern error to a reply: the command has run, and its write is said not to
/// be on enough servers.
pub(super) fn add_concern_error<S: Store>(call: &Call<'_, S>, reply: DocBuf) -> DocBuf {
    if !call.door.has_fail_point.load(Ordering::Relaxed) {
        return reply;
    }
    let struck = strike(call, |point| point.concern_error.is_some() && point.code.is_none());
    let Some(error) = struck.and_then(|point| point.concern_error) else { return reply };
    let mut builder = DocBuilder::new();
    for (name, value) in reply.as_ref().iter() {
        builder.append(name, value);
    }
    builder.append("writeConcernError", Value::Document(error).as_ref());
    builder.finish()
}

/// Returns what `failCommand` does to a command, where it is on, means the command, does what `has`
/// looks for, and strikes now.
fn strike<S: Store>(call: &Call<'_, S>, has: impl Fn(&FailCommand) -> bool) -> Option<FailCommand> {
    let mut held = call.door.fail_points.lock();
    let point = held.fail_command.planned()?;
    if !is_meant(point, call) || !has(point) {
        return None;
    }
    let point = point.clone();
    held.fail_command.strikes().then_some(point)
}

/// What the fail points say of an operation's time limit: whether it counts. Fails with 50 where it
/// is to be over at once; then nothing has been done.
pub(super) fn check_time_limit<S: Store>(call: &Call<'_, S>) -> Result<bool> {
    if !call.door.has_fail_point.load(Ordering::Relaxed) || call.name == "configureFailPoint" {
        return Ok(true);
    }
    let mut held = call.door.fail_points.lock();
    if held.never_time_out.strikes() {
        return Ok(false);
    }
    if held.always_time_out.strikes() {
        return Err(Error::new(MaxTimeMSExpired, "operation exceeded time limit"));
    }
    Ok(true)
}

/// Runs `configureFailPoint`. The reply counts how often this fail point has struck.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    let name = args.need_str("configureFailPoint")?;
    if !matches!(name, "failCommand" | "maxTimeAlwaysTimeOut" | "maxTimeNeverTimeOut") {
        let message = format!(
            "{name} not found: there are failCommand, maxTimeAlwaysTimeOut and maxTimeNeverTimeOut"
        );
        return Err(Error::new(FailPointSetFailed, message));
    }
    let mode = args.get("mode").ok_or_else(|| Error::new(BadValue, "'mode' is missing"))?;
    let (mode, data) = (Mode::parse(mode)?, args.document("data")?);
    let planned = match mode {
        Some(mode) if name == "failCommand" => Some((mode, FailCommand::parse(data)?)),
        _ => None,
    };
    let without_data = mode.map(|mode| (mode, ()));
    let mut held = call.door.fail_points.lock();
    let total = match name {
        "failCommand" => held.fail_command.set(planned),
        "maxTimeAlwaysTimeOut" => held.always_time_out.set(without_data),
        _ => held.never_time_out.set(without_data),
    };
    call.door.has_fail_point.store(held.is_any_on(), Ordering::Relaxed);
    drop(held);
    ok(doc! { "count": i64::try_from(total).unwrap_or(i64::MAX) })
}
