//! The settings of fail points. Applications and drivers' test suites test their retries with them.
//! Whether a fail point applies to a command is decided in `commands/fail_point.rs`.
//!
//! ```text
//! failCommand                              the named commands fail, wait or lose their connection
//! maxTimeAlwaysTimeOut, maxTimeNeverTimeOut    time limits have always or never passed
//! onPrimaryTransactionalWrite              a retryable write fails, or loses its connection when done
//! failGetMoreAfterCursorCheckout           a `getMore` fails and closes its cursor
//! ```

use std::time::Duration;

use document::{DocRef, Document, Number, Value, ValueRef};

use crate::{
    arguments::Args,
    errors::{BadValue, Error, Result, TypeMismatch},
};

/// The fail points of a server.
#[derive(Debug, Default)]
pub(crate) struct FailPoints {
    pub(crate) fail_command: FailPoint<FailCommand>,
    /// Commands with a time limit fail as if the limit had passed.
    pub(crate) always_time_out: FailPoint<()>,
    /// Commands run as if they had no time limit.
    pub(crate) never_time_out: FailPoint<()>,
    /// Retryable writes fail before or after their commit.
    pub(crate) retryable_write: FailPoint<WriteFailure>,
    /// A `getMore` fails with this code, if there is one, after it has taken its cursor.
    pub(crate) get_more: FailPoint<Option<i32>>,
}

/// The failure of a commit of a retryable write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteFailure {
    /// Whether the connection is closed without a reply.
    pub(crate) closes: bool,
    /// The error with which the write fails before the commit, so that it is not made.
    pub(crate) before_commit: Option<i32>,
}

impl WriteFailure {
    /// Reads the argument `data` of `configureFailPoint`.
    pub(crate) fn parse(data: Option<DocRef<'_>>) -> Result<Self> {
        let Some(data) = data else { return Ok(Self { closes: true, before_commit: None }) };
        let args = Args::new("data", data);
        args.allow_only(&["closeConnection", "failBeforeCommitExceptionCode"])?;
        let code = args.int("failBeforeCommitExceptionCode")?;
        Ok(Self {
            closes: args.lax_bool("closeConnection")?.unwrap_or(true),
            before_commit: code.map(|code| i32::try_from(code).unwrap_or(BadValue)),
        })
    }
}

/// Reads `errorCode` from the argument `data` of `failGetMoreAfterCursorCheckout`.
pub(crate) fn parse_error_code(data: Option<DocRef<'_>>) -> Result<Option<i32>> {
    let Some(data) = data else { return Ok(None) };
    let args = Args::new("data", data);
    args.allow_only(&["errorCode", "closeConnection"])?;
    Ok(args.int("errorCode")?.and_then(|code| i32::try_from(code).ok()))
}

impl FailPoints {
    /// Returns whether any fail point is enabled.
    pub(crate) fn is_any_on(&self) -> bool {
        self.fail_command.set.is_some()
            || self.always_time_out.set.is_some()
            || self.never_time_out.set.is_some()
            || self.retryable_write.set.is_some()
            || self.get_more.set.is_some()
    }
}

/// A fail point, enabled or disabled.
#[derive(Debug)]
pub(crate) struct FailPoint<T> {
    set: Option<(Mode, T)>,
    /// Number of times that the fail point has triggered since the start of the server.
    total: u64,
}

impl<T> Default for FailPoint<T> {
    fn default() -> Self {
        Self { set: None, total: 0 }
    }
}

impl<T> FailPoint<T> {
    /// Enables or disables the fail point; returns how often it has triggered so far.
    pub(crate) fn set(&mut self, set: Option<(Mode, T)>) -> u64 {
        self.set = set;
        self.total
    }

    /// Returns the fail point's setting if it is enabled.
    pub(crate) fn planned(&self) -> Option<&T> {
        self.set.as_ref().map(|(_, planned)| planned)
    }

    /// Returns the setting if the fail point triggers now. Each call counts as in
    /// [`triggers`](Self::triggers).
    pub(crate) fn triggered(&mut self) -> Option<&T> {
        if self.triggers() { self.planned() } else { None }
    }

    /// Returns whether the fail point triggers now. Each call counts toward `times` and `skip`.
    pub(crate) fn triggers(&mut self) -> bool {
        let triggers = self.set.as_mut().is_some_and(|(mode, _)| mode.triggers());
        self.total += u64::from(triggers);
        triggers
    }
}

/// Condition under which an enabled fail point triggers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Number of times that the fail point still triggers; `None` without a limit.
    times: Option<u64>,
    /// Number of matching commands that are still skipped before the fail point triggers.
    skip: u64,
    /// Probability that the fail point triggers for a matching command, from 0 to 1.
    probability: f64,
}

impl Mode {
    /// Reads `mode`: `off`, `alwaysOn`, `{times}`, `{skip}` or `{activationProbability}`. Returns
    /// `None` for `off`.
    pub(crate) fn parse(mode: ValueRef<'_>) -> Result<Option<Self>> {
        let always = Self { times: None, skip: 0, probability: 1.0 };
        let mode = match mode {
            ValueRef::String("off") => return Ok(None),
            ValueRef::String("alwaysOn") => return Ok(Some(always)),
            ValueRef::String(other) => {
                return Err(Error::new(BadValue, format!("unknown mode: {other}")));
            }
            ValueRef::Document(mode) => mode,
            _ => {
                let message = "'mode' must be a string or JSON object";
                return Err(Error::new(TypeMismatch, message));
            }
        };
        let args = Args::new("mode", mode);
        args.allow_only(&["times", "skip", "activationProbability"])?;
        let read = |name: &str| match args.int(name)? {
            Some(number) => u64::try_from(number).map(Some).map_err(|_| {
                let message = format!("'{name}' option to 'mode' must be positive");
                Error::new(BadValue, message)
            }),
            None => Ok(None),
        };
        let (times, skip) = (read("times")?, read("skip")?);
        let probability = args.get("activationProbability").map(|value| {
            let number = Number::of(value).map(Number::to_f64);
            number.filter(|number| (0.0..=1.0).contains(number)).ok_or_else(|| {
                let message = "activationProbability must be a number between 0.0 and 1.0";
                Error::new(BadValue, message)
            })
        });
        let probability = probability.transpose()?;
        if times.is_none() && skip.is_none() && probability.is_none() {
            let message = "'mode' must be one of 'off', 'alwaysOn', '{times:n}', '{skip:n}' or \
                           '{activationProbability:p}'";
            return Err(Error::new(BadValue, message));
        }
        let (skip, probability) = (skip.unwrap_or(0), probability.unwrap_or(1.0));
        Ok(Some(Self { times, skip, probability }))
    }

    /// Counts a matching command, and returns whether the fail point triggers for it.
    fn triggers(&mut self) -> bool {
        if 0 < self.skip {
            self.skip -= 1;
            return false;
        }
        // The random number is in `0..1`, so 1 always triggers and 0 never.
        if self.probability <= fastrand::f64() {
            return false;
        }
        if let Some(times) = &mut self.times {
            if *times == 0 {
                return false;
            }
            *times -= 1;
        }
        true
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FailCommand {
    /// Names of the commands that the fail point applies to.
    pub(crate) commands: Vec<String>,
    /// Only commands on this collection fail; `None` for any collection.
    pub(crate) namespace: Option<String>,
    /// Only commands of clients with this application name fail; `None` for any client.
    pub(crate) app_name: Option<String>,
    /// The error code with which commands fail.
    pub(crate) code: Option<i32>,
    /// Whether the connection is closed without a reply.
    pub(crate) close: bool,
    /// Delay before the command runs or fails.
    pub(crate) block: Option<Duration>,
    /// `errorLabels` of the error, by which drivers decide to retry.
    pub(crate) labels: Option<Value>,
    /// Field `writeConcernError` that is added to the reply of a command that ran.
    pub(crate) concern_error: Option<Document>,
}

impl FailCommand {
    /// Reads the argument `data` of `configureFailPoint`.
    pub(crate) fn parse(data: Option<DocRef<'_>>) -> Result<Self> {
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
            "failLocalClients",
            "namespace",
        ])?;
        // Without the argument `failCommands` the fail point applies to no command.
        let commands =
            args.array("failCommands")?.map(|names| names.to_values()).unwrap_or_default();
        let block = args.lax_bool("blockConnection")?.unwrap_or(false);
        let code = args.int("errorCode")?.and_then(|code| i32::try_from(code).ok());
        Ok(Self {
            commands: commands
                .iter()
                .filter_map(|name| Some(name.as_ref().as_str()?.to_owned()))
                .collect(),
            namespace: args.str("namespace")?.map(str::to_owned),
            app_name: args.str("appName")?.map(str::to_owned),
            code,
            close: args.lax_bool("closeConnection")?.unwrap_or(false),
            block: match args.count("blockTimeMS")? {
                Some(ms) if block => Some(Duration::from_millis(ms.min(600_000))),
                _ => None,
            },
            labels: args.array("errorLabels")?.map(|labels| Value::Array(labels.to_values())),
            concern_error: args.document("writeConcernError")?.map(DocRef::to_tree),
        })
    }
}
