//! Which errors say that a write may be sent again: drivers look for a label in the reply and at no
//! code. Only replies to numbered writes have it, since no other write can be repeated safely.

use document::{DocBuf, DocBuilder, Number, Value, ValueRef};

/// The label by which drivers repeat a write.
const LABEL: &str = "RetryableWriteError";

/// Codes after which the same write may be sent again, here or to another node: the server ends or
/// is not the one that writes any more, or could not be reached, or was too slow.
const CODES: [i32; 12] = [6, 7, 89, 91, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436];

/// Whether a write that failed with this code may be sent again.
pub(crate) fn may_repeat(code: i32) -> bool {
    CODES.contains(&code)
}

/// The reply to a numbered write, with the label where its error or its `writeConcernError` asks for
/// one. Labels that it has already stay as they are: a fail point says what they are.
pub(crate) fn with_label(reply: DocBuf) -> DocBuf {
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
    builder.append("errorLabels", Value::Array(vec![LABEL.into()]).as_ref());
    builder.finish()
}

#[cfg(test)]
mod tests {
    use document::{array, doc};

    use super::*;

    #[test]
    fn labels_are_where_drivers_may_repeat() {
        let concern = |code: i32| doc! { "ok": 1, "writeConcernError": doc! { "code": code } };
        for (reply, labels) in [
            (doc! { "ok": 0, "code": 91 }, Some(1)),
            (doc! { "ok": 0, "code": 13_436 }, Some(1)),
            (doc! { "ok": 0, "code": 11_000 }, None),
            (doc! { "ok": 0, "code": 225 }, None),
            (doc! { "ok": 1, "n": 91 }, None),
            (concern(91), Some(1)),
            (concern(100), None),
            (doc! { "ok": 0, "code": 91, "errorLabels": array![] }, Some(0)),
        ] {
            let labelled = with_label(reply.to_buf());
            let held = labelled.get("errorLabels").map(|held| match held {
                ValueRef::Array(labels) => labels.iter().count(),
                _ => usize::MAX,
            });
            assert_eq!(held, labels, "{reply:?}");
        }
    }
}
