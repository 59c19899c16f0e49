//! The error labels of commands in transactions, by which drivers repeat a transaction or its
//! commit.

use document::{DocBuf, DocBuilder, Number, Value, ValueRef};

use crate::{
    errors::{
        LockTimeout, NoSuchTransaction, PreparedTransactionInProgress, SnapshotTooOld,
        SnapshotUnavailable, WriteConflict,
    },
    retry_label::may_repeat,
};

/// The label on which drivers repeat a transaction from its beginning.
const TRANSIENT: &str = "TransientTransactionError";
/// The label on which drivers repeat a commit or an abort.
const RETRYABLE: &str = "RetryableWriteError";

/// Returns whether a transaction that failed with this code may succeed if it is repeated.
pub(crate) fn is_transient(code: i32) -> bool {
    [
        WriteConflict,
        LockTimeout,
        SnapshotUnavailable,
        SnapshotTooOld,
        NoSuchTransaction,
        PreparedTransactionInProgress,
    ]
    .contains(&code)
}

/// Adds the label to a failed command of a transaction; `ends` is whether the command commits or
/// aborts it. Labels set by a fail point are kept unchanged.
pub(crate) fn with_label(reply: DocBuf, ends: bool) -> DocBuf {
    let code = |value: Option<ValueRef<'_>>| {
        let code = value.and_then(Number::of).and_then(Number::to_i64_exact);
        code.and_then(|code| i32::try_from(code).ok())
    };
    let concern = reply.get("writeConcernError").and_then(ValueRef::as_document);
    let error = code(reply.get("code"));
    let concern_error = code(concern.and_then(|error| error.get("code")));
    let label = match (error, concern_error) {
        _ if reply.get("errorLabels").is_some() => None,
        (Some(code), None) if is_transient(code) => Some(TRANSIENT),
        (Some(code), _) if may_repeat(code) => Some(if ends { RETRYABLE } else { TRANSIENT }),
        (None, Some(code)) if ends && may_repeat(code) => Some(RETRYABLE),
        _ => None,
    };
    let Some(label) = label else { return reply };
    let mut builder = DocBuilder::new();
    for (name, value) in reply.as_ref().iter() {
        builder.append(name, value);
    }
    builder.append("errorLabels", Value::Array(vec![label.into()]).as_ref());
    builder.finish()
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    #[test]
    fn labels_depend_on_the_command() {
        let label = |code: i32, ends| {
            let reply = with_label(doc! { "ok": 0, "code": code }.to_buf(), ends);
            match reply.get("errorLabels") {
                Some(ValueRef::Array(labels)) => {
                    labels.iter().next().and_then(|label| label.as_str().map(str::to_owned))
                }
                _ => None,
            }
        };
        for (code, statement, end) in [
            (112, Some(TRANSIENT), Some(TRANSIENT)),
            (246, Some(TRANSIENT), Some(TRANSIENT)),
            (251, Some(TRANSIENT), Some(TRANSIENT)),
            (91, Some(TRANSIENT), Some(RETRYABLE)),
            (225, None, None),
            (256, None, None),
            (263, None, None),
            (11_000, None, None),
            (50, None, None),
        ] {
            assert_eq!(label(code, false).as_deref(), statement, "{code}");
            assert_eq!(label(code, true).as_deref(), end, "{code}");
        }
        let concern = doc! { "ok": 1, "writeConcernError": doc! { "code": 91 } }.to_buf();
        assert!(with_label(concern.clone(), true).get("errorLabels").is_some());
        assert!(with_label(concern, false).get("errorLabels").is_none());
    }
}
