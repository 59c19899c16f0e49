//! `configureFailPoint`: makes selected commands fail, so that applications can test their retries.
//! Each fail point has one setting at a time. While none is enabled a command pays one atomic load.
//!
//! ```text
//! {configureFailPoint: "failCommand", mode: {times: 2},
//!     data: {failCommands: ["insert"], errorCode: 91, errorLabels: ["RetryableWriteError"]}}
//! => {count: 0, ok: 1}
//! ```

use std::{sync::atomic::Ordering, time::Duration};

use document::{DocBuf, DocBuilder, DocRef, Document, Value, ValueRef, doc};

use crate::{
    call::Call,
    errors::{BadValue, Error, FailPointSetFailed, MaxTimeMSExpired, Result},
    fail_point::{FailCommand, Mode, WriteFailure, parse_error_code},
    replies::ok,
};

/// The effect of the enabled fail points on a command.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Go,
    /// The connection is closed without a reply.
    CloseConnection,
    /// The command fails with this error and does not run.
    Fail(Document),
}

/// Returns whether a fail point applies to this command and client. Aliases count as the same
/// command.
fn applies_to(point: &FailCommand, call: &Call<'_>) -> bool {
    let meets = |name: &String| {
        call.connection.app_name().as_ref() == Some(name)
            || introduced_name(call.body) == Some(name.as_str())
    };
    let commands = &call.api.commands;
    let called = commands.name_of(call.name);
    point.commands.iter().any(|name| commands.name_of(name) == called)
        && point.namespace.as_ref().is_none_or(|namespace| is_about(call, namespace))
        && point.app_name.as_ref().is_none_or(meets)
}

/// Returns whether the command is on the collection with this full name.
fn is_about(call: &Call<'_>, namespace: &str) -> bool {
    let argument = call.known.and_then(|known| known.row.collection_in).unwrap_or(call.name);
    let named = call.body.get(argument).and_then(ValueRef::as_str);
    named.is_some_and(|collection| namespace.split_once('.') == Some((call.database, collection)))
}

/// Returns the application name in this command's own client metadata, so that a fail point applies
/// to the first handshake, too.
fn introduced_name(body: DocRef<'_>) -> Option<&str> {
    let application = body.get("client")?.as_document()?.get("application")?;
    match application.as_document()?.get("name")? {
        ValueRef::String(name) => Some(name),
        _ => None,
    }
}

/// Returns the fail point's effect on a command, and a delay before it. `configureFailPoint` itself
/// is exempt, since otherwise it could not be disabled.
pub(super) fn check_command(call: &Call<'_>) -> (Option<Duration>, Action) {
    if !call.api.has_fail_point.load(Ordering::Relaxed) || call.name == "configureFailPoint" {
        return (None, Action::Go);
    }
    let struck = trigger(call, |point| point.concern_error.is_none() || point.code.is_some());
    struck.map_or((None, Action::Go), planned_action)
}

/// Returns the effect of a fail point that triggered. Closing the connection takes precedence over
/// an error; both follow the delay, as in mongod.
fn planned_action(point: FailCommand) -> (Option<Duration>, Action) {
    let action = match point.code {
        _ if point.close => Action::CloseConnection,
        Some(code) => {
            let message = "Failing command via 'failCommand' failpoint";
            let mut reply = Error::new(code, message).to_reply();
            if let Some(labels) = point.labels {
                reply.push("errorLabels", labels);
            }
            Action::Fail(reply)
        }
        None => Action::Go,
    };
    (point.block, action)
}

/// Adds a configured write concern error to a reply: the command has run, but its write is reported
/// as insufficiently replicated.
pub(super) fn add_concern_error(call: &Call<'_>, reply: DocBuf) -> DocBuf {
    if !call.api.has_fail_point.load(Ordering::Relaxed) {
        return reply;
    }
    let struck = trigger(call, |point| point.concern_error.is_some() && point.code.is_none());
    let Some((error, labels)) = struck.and_then(|point| Some((point.concern_error?, point.labels)))
    else {
        return reply;
    };
    let mut builder = DocBuilder::new();
    for (name, value) in reply.as_ref().iter() {
        builder.append(name, value);
    }
    builder.append("writeConcernError", Value::Document(error).as_ref());
    if let Some(labels) = labels {
        builder.append("errorLabels", labels.as_ref());
    }
    builder.finish()
}

/// Returns the setting of `failCommand` if it triggers now. To trigger it must be enabled, apply to
/// the command, and satisfy `has`.
fn trigger(call: &Call<'_>, has: impl Fn(&FailCommand) -> bool) -> Option<FailCommand> {
    let mut held = call.api.fail_points.lock();
    let point = held.fail_command.planned()?;
    if !applies_to(point, call) || !has(point) {
        return None;
    }
    let point = point.clone();
    held.fail_command.triggers().then_some(point)
}

/// Returns whether the operation's time limit applies. The fail point `maxTimeNeverTimeOut`
/// suspends it. With `maxTimeAlwaysTimeOut`, fails with 50 before the command has done anything.
pub(super) fn check_time_limit(call: &Call<'_>) -> Result<bool> {
    if !call.api.has_fail_point.load(Ordering::Relaxed) || call.name == "configureFailPoint" {
        return Ok(true);
    }
    let mut held = call.api.fail_points.lock();
    if held.never_time_out.triggers() {
        return Ok(false);
    }
    if held.always_time_out.triggers() {
        return Err(Error::new(MaxTimeMSExpired, "operation exceeded time limit"));
    }
    Ok(true)
}

/// Fails a `getMore` that has taken its cursor if `failGetMoreAfterCursorCheckout` triggers.
pub(super) fn check_get_more(call: &Call<'_>) -> Result<()> {
    if !call.api.has_fail_point.load(Ordering::Relaxed) {
        return Ok(());
    }
    match call.api.fail_points.lock().get_more.triggered() {
        Some(Some(code)) => {
            let message = "Hit 'failGetMoreAfterCursorCheckout' failpoint";
            Err(Error::new(*code, message))
        }
        Some(None) | None => Ok(()),
    }
}

/// The fail points that may be set.
const NAMES: [&str; 5] = [
    "failCommand",
    "maxTimeAlwaysTimeOut",
    "maxTimeNeverTimeOut",
    "onPrimaryTransactionalWrite",
    "failGetMoreAfterCursorCheckout",
];

/// Runs `configureFailPoint`. The reply has the number of times that this fail point triggered.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let name = args.need_str("configureFailPoint")?;
    if !NAMES.contains(&name) {
        let message = format!("{name} not found: the fail points are {}", NAMES.join(", "));
        return Err(Error::new(FailPointSetFailed, message));
    }
    let mode = args.get("mode").ok_or_else(|| Error::new(BadValue, "'mode' is missing"))?;
    let (mode, data) = (Mode::parse(mode)?, args.document("data")?);
    let mut held = call.api.fail_points.lock();
    let total = match (name, mode) {
        ("failCommand", Some(mode)) => {
            let planned = FailCommand::parse(data)?;
            held.fail_command.set(Some((mode, planned)))
        }
        ("failCommand", None) => held.fail_command.set(None),
        ("maxTimeAlwaysTimeOut", mode) => held.always_time_out.set(mode.map(|mode| (mode, ()))),
        ("maxTimeNeverTimeOut", mode) => held.never_time_out.set(mode.map(|mode| (mode, ()))),
        ("onPrimaryTransactionalWrite", Some(mode)) => {
            let failure = WriteFailure::parse(data)?;
            held.retryable_write.set(Some((mode, failure)))
        }
        ("onPrimaryTransactionalWrite", None) => held.retryable_write.set(None),
        (_, Some(mode)) => {
            let code = parse_error_code(data)?;
            held.get_more.set(Some((mode, code)))
        }
        (_, None) => held.get_more.set(None),
    };
    call.api.has_fail_point.store(held.is_any_on(), Ordering::Relaxed);
    drop(held);
    ok(doc! { "count": i64::try_from(total).unwrap_or(i64::MAX) })
}

#[cfg(test)]
mod tests {
    use document::array;

    use super::*;

    /// Returns the effect of a fail point with this data on a command.
    fn planned(data: Document) -> (Option<Duration>, Action) {
        planned_action(FailCommand::parse(Some(DocRef::Tree(&data))).unwrap())
    }

    #[test]
    fn a_command_waits_before_it_fails_or_its_connection_is_closed() {
        let wait = |data: Document| {
            let mut data = data;
            data.push("blockConnection", true);
            data.push("blockTimeMS", 7_000);
            data
        };
        let seven = Some(Duration::from_secs(7));
        let error = doc! { "errorCode": 91, "errorLabels": array!["a"] };
        let (none, failed) = planned(error.clone());
        let Action::Fail(reply) = &failed else { panic!("{failed:?}") };
        assert_eq!((none, reply.get("code")), (None, Some(&91.into())));
        assert_eq!(reply.get("errorLabels"), Some(&array!["a"]));
        assert_eq!(planned(wait(error)), (seven, failed));
        let close = doc! { "closeConnection": true, "errorCode": 91 };
        assert_eq!(planned(close.clone()), (None, Action::CloseConnection));
        assert_eq!(planned(wait(close)), (seven, Action::CloseConnection));
        assert_eq!(planned(wait(doc! {})), (seven, Action::Go));
        let without = doc! { "blockTimeMS": 7_000, "errorCode": 91 };
        assert_eq!(planned(without).0, None, "it waits only where it is blocked");
    }
}
