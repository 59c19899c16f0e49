//! `configureFailPoint`: makes chosen commands fail, so that applications can test their retries.

use std::{sync::atomic::Ordering, time::Duration};

use document::{DocBuf, DocBuilder, DocRef, Document, Value, ValueRef, doc};
use engine::Store;

use super::{Call, ok};
use crate::{
    args::Args,
    door::lock,
    errors::{BadValue, Error, Result},
};

/// A `failCommand` that is set.
#[derive(Clone, Debug)]
pub(crate) struct FailPoint {
    commands: Vec<String>,
    app_name: Option<String>,
    code: Option<i32>,
    close: bool,
    block: Option<Duration>,
    labels: Option<Value>,
    concern_error: Option<Document>,
    /// How often it still fails; `None`: always.
    times: Option<u64>,
    skip: u64,
    total: u64,
}

/// What becomes of a command.
pub(super) enum Verdict {
    Go,
    Hang,
    Fail(DocBuf),
    Block(Duration),
}

impl FailPoint {
    fn parse(mode: ValueRef<'_>, data: Option<DocRef<'_>>) -> Result<Option<Self>> {
        let (times, skip) = match mode {
            ValueRef::String("off") => return Ok(None),
            ValueRef::String("alwaysOn") => (None, 0),
            ValueRef::Document(mode) => {
                let args = Args::new("mode", mode);
                args.only(&["times", "skip"])?;
                (args.count("times")?, args.count("skip")?.unwrap_or(0))
            }
            _ => {
                return Err(Error::new(BadValue, "'mode' must be 'off', 'alwaysOn' or a document"));
            }
        };
        let data = data.ok_or_else(|| Error::new(BadValue, "failCommand needs 'data'"))?;
        let args = Args::new("data", data);
        args.only(&[
            "failCommands",
            "errorCode",
            "closeConnection",
            "errorLabels",
            "writeConcernError",
            "blockConnection",
            "blockTimeMS",
            "appName",
            "failInternalCommands",
            "namespace",
        ])?;
        let commands = args.need_array("failCommands")?;
        let block = args.lax_bool("blockConnection")?.unwrap_or(false);
        let code = args.int("errorCode")?.and_then(|code| i32::try_from(code).ok());
        Ok(Some(Self {
            commands: commands.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect(),
            app_name: args.str("appName")?.map(str::to_owned),
            code,
            close: args.lax_bool("closeConnection")?.unwrap_or(false),
            block: match args.count("blockTimeMS")? {
                Some(ms) if block => Some(Duration::from_millis(ms.min(600_000))),
                _ => None,
            },
            labels: args.array("errorLabels")?.map(|labels| Value::Array(labels.to_values())),
            concern_error: args.document("writeConcernError")?.map(DocRef::to_tree),
            times,
            skip,
            total: 0,
        }))
    }

    fn means<S: Store>(&self, call: &Call<'_, S>) -> bool {
        let meets = |name: &String| {
            call.connection.app_name().as_ref() == Some(name)
                || introduced(call.body) == Some(name.as_str())
        };
        self.commands.iter().any(|name| name == call.name)
            && self.app_name.as_ref().is_none_or(meets)
    }
}

/// The name of the application that this very command introduces.
fn introduced(body: DocRef<'_>) -> Option<&str> {
    let application = body.get("client")?.as_document()?.get("application")?;
    match application.as_document()?.get("name")? {
        ValueRef::String(name) => Some(name),
        _ => None,
    }
}

/// Whether the command that is called fails now.
pub(super) fn check<S: Store>(call: &Call<'_, S>) -> Verdict {
    if !call.door.has_fail_point.load(Ordering::Relaxed) || call.name == "configureFailPoint" {
        return Verdict::Go;
    }
    let mut held = lock(&call.door.fail_point);
    let Some(point) = held.as_mut().filter(|point| point.means(call)) else { return Verdict::Go };
    if point.concern_error.is_some() && point.code.is_none() {
        return Verdict::Go;
    }
    if !spend(point) {
        return Verdict::Go;
    }
    if point.close {
        return Verdict::Hang;
    }
    match (point.code, point.block) {
        (Some(code), _) => {
            let message = "Failing command via 'failCommand' failpoint";
            let mut reply = Error::new(code, message).reply();
            if let Some(labels) = &point.labels {
                reply.push("errorLabels", labels.clone());
            }
            Verdict::Fail(reply.to_buf())
        }
        (None, Some(time)) => Verdict::Block(time),
        (None, None) => Verdict::Go,
    }
}

fn spend(point: &mut FailPoint) -> bool {
    if 0 < point.skip {
        point.skip -= 1;
        return false;
    }
    if let Some(times) = &mut point.times {
        if *times == 0 {
            return false;
        }
        *times -= 1;
    }
    point.total += 1;
    true
}

/// Adds a planned write concern error to a reply.
pub(super) fn decorate<S: Store>(call: &Call<'_, S>, reply: DocBuf) -> DocBuf {
    if !call.door.has_fail_point.load(Ordering::Relaxed) {
        return reply;
    }
    let mut held = lock(&call.door.fail_point);
    let Some(point) = held.as_mut().filter(|point| point.means(call)) else { return reply };
    let Some(error) = point.concern_error.clone().filter(|_| point.code.is_none()) else {
        return reply;
    };
    if !spend(point) {
        return reply;
    }
    let mut builder = DocBuilder::new();
    for (name, value) in reply.as_ref().iter() {
        builder.append(name, value);
    }
    builder.append("writeConcernError", Value::Document(error).as_ref());
    builder.finish()
}

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
    let total = lock(&call.door.fail_point).as_ref().map_or(0, |point| point.total);
    call.door.has_fail_point.store(point.is_some(), Ordering::Relaxed);
    *lock(&call.door.fail_point) = point;
    ok(doc! { "count": i64::try_from(total).unwrap_or(i64::MAX) })
}
