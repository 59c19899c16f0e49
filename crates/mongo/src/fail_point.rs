//! A `failCommand` fail point as it is set: which commands it means and what it does to them.
//! Applications and the test suites of drivers test their retries with it. Which command is struck
//! is decided in `commands/fail_point.rs`.

use std::time::Duration;

use document::{DocRef, Document, Value, ValueRef};

use crate::{
    arguments::Args,
    errors::{BadValue, Error, Result},
};

/// A `failCommand` that is set.
#[derive(Clone, Debug)]
pub(crate) struct FailPoint {
    /// The commands it means, by name.
    pub(crate) commands: Vec<String>,
    /// Only clients of this application, if it is given.
    pub(crate) app_name: Option<String>,
    /// The error that a command gets.
    pub(crate) code: Option<i32>,
    /// Whether the connection is closed instead of a reply.
    pub(crate) close: bool,
    /// How long a command waits before it runs.
    pub(crate) block: Option<Duration>,
    /// `errorLabels` of the error, which tell drivers what they may retry.
    pub(crate) labels: Option<Value>,
    /// Added to the reply of a command that has run, as `writeConcernError`.
    pub(crate) concern_error: Option<Document>,
    /// How often it still fails; `None`: always.
    times: Option<u64>,
    /// How many commands it lets pass first.
    skip: u64,
    /// How often it has failed a command.
    pub(crate) total: u64,
}

impl FailPoint {
    /// Reads `mode` (`off`, `alwaysOn`, `{times}` or `{skip}`) and `data`; `None` turns the fail
    /// point off.
    pub(crate) fn parse(mode: ValueRef<'_>, data: Option<DocRef<'_>>) -> Result<Option<Self>> {
        let (times, skip) = match mode {
            ValueRef::String("off") => return Ok(None),
            ValueRef::String("alwaysOn") => (None, 0),
            ValueRef::Document(mode) => {
                let args = Args::new("mode", mode);
                args.allow_only(&["times", "skip"])?;
                (args.count("times")?, args.count("skip")?.unwrap_or(0))
            }
            _ => {
                return Err(Error::new(BadValue, "'mode' must be 'off', 'alwaysOn' or a document"));
            }
        };
        let data = data.ok_or_else(|| Error::new(BadValue, "failCommand needs 'data'"))?;
        let args = Args::new("data", data);
        args.allow_only(&[
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
        // Without a list no command is meant.
        let commands =
            args.array("failCommands")?.map(|names| names.to_values()).unwrap_or_default();
        let block = args.lax_bool("blockConnection")?.unwrap_or(false);
        let code = args.int("errorCode")?.and_then(|code| i32::try_from(code).ok());
        Ok(Some(Self {
            commands: commands
                .iter()
                .filter_map(|name| Some(name.as_ref().as_str()?.to_owned()))
                .collect(),
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

    /// Whether the fail point strikes now; each command that it means counts down to that.
    pub(crate) fn strikes(&mut self) -> bool {
        if 0 < self.skip {
            self.skip -= 1;
            return false;
        }
        if let Some(times) = &mut self.times {
            if *times == 0 {
                return false;
            }
            *times -= 1;
        }
        self.total += 1;
        true
    }
}
