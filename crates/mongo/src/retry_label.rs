//! The errors after which a write may be repeated. Drivers check a label in the reply, not the
//! code. Only replies to retryable writes have the label, since no other write can be repeated
//! safely.

use document::{DocBuf, DocBuilder, Number, Value, ValueRef};

/// The label on which drivers repeat a write.
const LABEL: &str = "RetryableWriteError";

/// The label of an attempt that has written nothing. A driver whose last attempt has it reports the
/// error of an earlier one, which may have written something.
const NOTHING_WRITTEN: &str = "NoWritesPerformed";

/// Codes after which the write may be repeated on any node: the server stops or is no longer the
/// primary, could not be reached, or timed out.
const CODES: [i32; 12] = [6, 7, 89, 91, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436];

/// Returns whether a write that failed with this code may be repeated.
pub(crate) fn may_repeat(code: i32) -> bool {
    CODES.contains(&code)
}

/// Adds the label to the reply of a retryable write if its error or its `writeConcernError` permits
/// a repeat, and another one if the write has failed and `wrote_nothing`. Labels set by a fail
/// point are kept unchanged.
pub(crate) fn with_label(reply: DocBuf, wrote_nothing: bool) -> DocBuf {
    let code = |value: Option<ValueRef<'_>>| {
        let code = value.and_then(Number::of).and_then(Number::to_i64_exact);
        code.and_then(|code| i32::try_from(code).ok())
    };
    let concern = reply.get("writeConcernError").and_then(ValueRef::as_document);
    let codes = [code(reply.get("code")), code(concern.and_then(|error| error.get("code")))];
    if !codes.into_iter().flatten().any(may_repeat) || reply.get("errorLabels").is_some() {
        return reply;
    }
    let mut builder = DocBuilder::new();
    for (name, value) in reply.as_ref().iter() {
        builder.append(name, value);
    }
    let mut labels = vec![LABEL.into()];
    if wrote_nothing && codes[0].is_some() {
        labels.push(NOTHING_WRITTEN.into());
    }
    builder.append("errorLabels", Value::Array(labels).as_ref());
    builder.finish()
}

#[cfg(test)]
mod tests {
    use document::{array, doc};

    use super::*;

    #[test]
    fn labels_are_where_drivers_may_repeat() {
        let concern = |code: i32| doc! { "ok": 1, "writeConcernError": doc! { "code": code } };
        for (reply, wrote_nothing, labels) in [
            (doc! { "ok": 0, "code": 91 }, false, Some(1)),
            (doc! { "ok": 0, "code": 91 }, true, Some(2)),
            (doc! { "ok": 0, "code": 13_436 }, false, Some(1)),
            (doc! { "ok": 0, "code": 11_000 }, true, None),
            (doc! { "ok": 0, "code": 225 }, true, None),
            (doc! { "ok": 1, "n": 91 }, true, None),
            (concern(91), true, Some(1)),
            (concern(100), false, None),
            (doc! { "ok": 0, "code": 91, "errorLabels": array![] }, true, Some(0)),
        ] {
            let labelled = with_label(reply.to_buf(), wrote_nothing);
            let held = labelled.get("errorLabels").map(|held| match held {
                ValueRef::Array(labels) => labels.iter().count(),
                _ => usize::MAX,
            });
            assert_eq!(held, labels, "{reply:?}");
        }
    }
}
