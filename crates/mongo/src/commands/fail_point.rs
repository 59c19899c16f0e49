//! `configureFailPoint`: makes chosen commands fail, so that applications can test their retries.
//! There is one fail point at a time. Without one a command pays for a look at an atomic.
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
    errors::{BadValue, Error, Result},
    fail_point::FailPoint,
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
fn is_meant<S: Store>(point: &FailPoint, call: &Call<'_, S>) -> bool {
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
    let mut held = call.door.fail_point.lock();
    let Some(point) = held.as_mut().filter(|point| is_meant(point, call)) else {
        return Action::Go;
    };
    if point.concern_error.is_some() && point.code.is_none() {
        return Action::Go;
    }
    if !point.strikes() {
        return Action::Go;
    }
    if point.close {
        return Action::CloseConnection;
    }
    match (point.code, point.block) {
        (Some(code), _) => {
            let message = "Failing command via 'failCommand' failpoint";
            let mut reply = Error::new(code, message).to_reply();
            if let Some(labels) = &point.labels {
                reply.push("errorLabels", labels.clone());
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
    let mut held = call.door.fail_point.lock();
    let Some(point) = held.as_mut().filter(|point| is_meant(point, call)) else { return reply };
    let Some(error) = point.concern_error.clone().filter(|_| point.code.is_none()) else {
        return reply;
    };
    if !point.strikes() {
        return reply;
    }
    let mut builder = DocBuilder::new();
    for (name, value) in reply.as_ref().iter() {
        builder.append(name, value);
    }
    builder.append("writeConcernError", Value::Document(error).as_ref());
    builder.finish()
}

/// Runs `configureFailPoint`. The reply counts how often the one before has struck.
pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    match args.need_str("configureFailPoint")? {
        "failCommand" => {}
        other => {
            let message = format!("fail point '{other}' is not supported, only 'failCommand' is");
            return Err(Error::new(BadValue, message));
        }
    }
    let mode = args.get("mode").ok_or_else(|| Error::new(BadValue, "'mode' is missing"))?;
    let point = FailPoint::parse(mode, args.document("data")?)?;
    let total = call.door.fail_point.lock().as_ref().map_or(0, |point| point.total);
    call.door.has_fail_point.store(point.is_some(), Ordering::Relaxed);
    *call.door.fail_point.lock() = point;
    ok(doc! { "count": i64::try_from(total).unwrap_or(i64::MAX) })
}
