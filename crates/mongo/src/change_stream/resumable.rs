//! The error labels by which drivers decide to resume a change stream. They check the label, not the
//! code.

use document::Value;

use crate::{
    errors::{
        ChangeStreamFatalError, ChangeStreamHistoryLost, Error, FailedToSatisfyReadPreference,
        RetryChangeStream, StaleConfig, StaleEpoch,
    },
    retry_label::may_repeat,
};

/// The label on which drivers open the stream again after its last event.
const LABEL: &str = "ResumableChangeStreamError";

/// The label of errors that a resumed stream would meet again.
const FINAL: &str = "NonResumableChangeStreamError";

/// Codes with the first label besides those after which a write may be repeated: no member can be read,
/// or a router knows outdated shards.
const CODES: [i32; 4] = [FailedToSatisfyReadPreference, StaleEpoch, RetryChangeStream, StaleConfig];

/// Adds to the error of a change stream a label that says whether the stream can be resumed after
/// it; errors that do not depend on the stream have none.
pub(crate) fn with_resumable_label(mut error: Error) -> Error {
    let code = error.code;
    let label = if may_repeat(code) || CODES.contains(&code) {
        LABEL
    } else if [ChangeStreamFatalError, ChangeStreamHistoryLost].contains(&code) {
        FINAL
    } else {
        return error;
    };
    error.details.push("errorLabels", Value::Array(vec![label.into()]));
    error
}
