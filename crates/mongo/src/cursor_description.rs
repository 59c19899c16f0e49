//! The description of an open cursor: the command that opened it, its plan, and counts of the
//! documents returned so far. `currentOp`, `$currentOp` and the portal show it. Texts are
//! truncated, since a command may be as large as a message.

use std::{fmt::Write as _, time::Duration};

use bytes::Bytes;
use document::{DocBuf, DocRef, Document, Value, ValueRef, doc, shell};
use engine::{Explain, Namespace};

use crate::{client::Sender, limits::SHOWN_BYTES, session::SessionId};

/// A text of at most [`SHOWN_BYTES`]. Writing fails when it is full, which stops the formatting.
#[derive(Default)]
struct CutText(String);

impl std::fmt::Write for CutText {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        let room = SHOWN_BYTES.saturating_sub(self.0.len());
        if part.len() <= room {
            self.0.push_str(part);
            return Ok(());
        }
        let end = (0..=room).rev().find(|at| part.is_char_boundary(*at)).unwrap_or(0);
        self.0.push_str(part.get(..end).unwrap_or_default());
        Err(std::fmt::Error)
    }
}

/// Returns a command for display: in full up to `most` bytes, otherwise `{$truncated: <beginning>}`
/// as in mongod, and its comment if that is small.
pub(crate) fn shown_command(command: DocRef<'_>, most: usize) -> DocBuf {
    if let DocRef::Raw(bytes) = command
        && bytes.len() <= most
    {
        // A copy, so that a small command does not keep a large message in memory.
        return DocBuf::from_trusted(Bytes::copy_from_slice(bytes));
    }
    let mut text = CutText::default();
    // Writing fails if the text is truncated, which is intended.
    let _ = write!(text, "{}", shell(ValueRef::Document(command)));
    let mut cut = doc! { "$truncated": text.0 };
    if let Some(ValueRef::String(comment)) = command.get("comment")
        && comment.len() <= SHOWN_BYTES
    {
        cut.push("comment", comment);
    }
    cut.to_buf()
}

/// Returns MongoDB's short text for an access path: `IDHACK`, `IXSCAN {..}` or `COLLSCAN`.
pub(crate) fn plan_summary(explain: &Explain) -> String {
    match &explain.index {
        _ if explain.by_id => "IDHACK".to_owned(),
        Some(_) => {
            let mut text = CutText::default();
            let pattern = ValueRef::Document(DocRef::Tree(&explain.pattern));
            let _ = write!(text, "IXSCAN {}", shell(pattern));
            text.0
        }
        None if explain.branches.is_empty() => "COLLSCAN".to_owned(),
        None => {
            let mut text = CutText::default();
            let mut paths: Vec<String> = explain.branches.iter().map(plan_summary).collect();
            paths.dedup();
            let _ = write!(text, "{}", paths.join(", "));
            text.0
        }
    }
}

/// The origin of a cursor, and counts of the documents returned so far.
#[derive(Clone, Debug)]
pub(crate) struct CursorDescription {
    command: DocBuf,
    /// The cursor's plan, as `planSummary` shows it.
    summary: String,
    /// Time of opening, on the machine's monotonic clock.
    opened: Duration,
    /// Number of batches returned so far.
    batches: i64,
    /// Number of documents in all batches so far.
    documents: i64,
    /// Whether the cursor stays open at the end of a capped collection (`tailable`).
    follows: bool,
    /// Whether its `getMore` waits there for documents (`awaitData`).
    awaits: bool,
}

impl CursorDescription {
    /// Describes a cursor that this command is opening.
    pub(crate) fn new(command: DocRef<'_>, explain: &Explain) -> Self {
        let opened = clock::monotonic_time();
        let summary = plan_summary(explain);
        let is_set = |name| command.get(name).is_some_and(ValueRef::is_truthy);
        Self {
            command: shown_command(command, SHOWN_BYTES),
            summary,
            opened,
            batches: 0,
            documents: 0,
            follows: is_set("tailable"),
            awaits: is_set("awaitData"),
        }
    }

    /// Describes a change stream that this command is opening.
    pub(crate) fn of_stream(command: DocRef<'_>) -> Self {
        let (follows, awaits, summary) = (true, true, "CHANGE_STREAM".to_owned());
        Self { summary, follows, awaits, ..Self::new(command, &Explain::default()) }
    }

    /// Returns whether the cursor stays open at the end of a capped collection.
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// Returns whether the cursor's `getMore` waits for documents.
    pub(crate) fn awaits_data(&self) -> bool {
        self.follows && self.awaits
    }

    /// Records a batch of this many documents.
    pub(crate) fn record_batch(&mut self, documents: usize) {
        self.batches += 1;
        self.documents += i64::try_from(documents).unwrap_or(i64::MAX);
    }
}

/// A copy of a cursor's state, so that no lock is held while a reply is built.
#[derive(Clone, Debug)]
pub(crate) struct CursorSnapshot {
    pub(crate) id: i64,
    pub(crate) namespace: Namespace,
    pub(crate) session: Option<SessionId>,
    /// Whether the cursor has no idle timeout.
    pub(crate) keep: bool,
    /// Time of the last use, on the machine's monotonic clock.
    pub(crate) used: Duration,
    pub(crate) owner: Sender,
    pub(crate) about: CursorDescription,
}

/// One moment on two clocks: milliseconds of the database clock, and the machine's monotonic clock.
/// With both, a past monotonic time can be shown as a date.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) now_ms: i64,
    pub(crate) monotonic: Duration,
}

impl Clocks {
    /// Converts a past monotonic time to a date of the database clock.
    pub(crate) fn date_of(self, at: Duration) -> Value {
        let ago = self.monotonic.saturating_sub(at).as_millis();
        Value::DateTime(self.now_ms.saturating_sub(i64::try_from(ago).unwrap_or(i64::MAX)))
    }
}

/// Returns the id of a session in the format of a command's `lsid`.
pub(crate) fn session_document(session: SessionId) -> Document {
    doc! { "id": Value::Binary { subtype: 4, bytes: session.to_vec() } }
}

impl CursorSnapshot {
    /// Returns the cursor's plan, as `planSummary` shows it.
    pub(crate) fn summary(&self) -> &str {
        &self.about.summary
    }

    /// Returns the description of the cursor as a document for `currentOp`. `user` is the id of the
    /// operation that uses the cursor; `None` for an idle cursor.
    pub(crate) fn cursor_document(&self, clocks: Clocks, user: Option<i32>) -> Document {
        let about = &self.about;
        let mut out = doc! {
            "cursorId": self.id,
            "createdDate": clocks.date_of(about.opened),
            "lastAccessDate": clocks.date_of(self.used),
            "nDocsReturned": about.documents,
            "nBatchesReturned": about.batches,
            "noCursorTimeout": self.keep,
            "tailable": about.follows,
            "awaitData": about.awaits,
            "originatingCommand": about.command.as_ref().to_tree(),
        };
        if let Some(user) = user {
            out.push("operationUsingCursorId", i64::from(user));
        }
        out
    }

    /// Returns the `currentOp` entry of an idle cursor, as `$currentOp` lists it if `idleCursors`
    /// is true.
    pub(crate) fn idle_entry(&self, host: &str, clocks: Clocks) -> Document {
        let mut out = doc! {
            "type": "idleCursor",
            "host": host,
            "ns": self.namespace.to_string(),
            "planSummary": self.summary(),
        };
        if let Some(session) = self.session {
            out.push("lsid", session_document(session));
        }
        out.push("cursor", self.cursor_document(clocks, None));
        out
    }
}

#[cfg(test)]
mod tests {
    use document::array;

    use super::*;

    #[test]
    fn a_large_command_is_cut() {
        let small = doc! { "find": "c", "filter": doc! { "a": 1 } };
        assert_eq!(shown_command(small.to_buf().as_ref(), SHOWN_BYTES).as_ref().to_tree(), small);
        let large = "ü".repeat(SHOWN_BYTES);
        let command = doc! { "find": "c", "filter": doc! { "a": large }, "comment": "mine" };
        let whole = shown_command(command.to_buf().as_ref(), 4 * SHOWN_BYTES);
        assert_eq!(whole.as_ref().to_tree(), command);
        let cut = shown_command(command.to_buf().as_ref(), SHOWN_BYTES);
        let text = cut.get("$truncated").and_then(|text| text.as_str()).unwrap();
        assert!(text.starts_with("{ find: \"c\", filter: { a: \"üü"), "{text}");
        assert!((SHOWN_BYTES - 1..=SHOWN_BYTES).contains(&text.len()), "{}", text.len());
        assert_eq!(cut.get("comment").and_then(ValueRef::as_str), Some("mine"));
        let command = doc! { "find": "c", "x": array![1], "comment": "c".repeat(2 * SHOWN_BYTES) };
        assert!(shown_command(command.to_buf().as_ref(), SHOWN_BYTES).get("comment").is_none());
    }

    #[test]
    fn a_path_has_a_short_text() {
        let index = Explain {
            index: Some("i".to_owned()),
            pattern: doc! { "a": 1, "b": -1 },
            ..Explain::default()
        };
        assert_eq!(plan_summary(&index), "IXSCAN { a: 1, b: -1 }");
        assert_eq!(plan_summary(&Explain::default()), "COLLSCAN");
        let by_id = Explain { by_id: true, ..Explain::default() };
        let branches = vec![index.clone(), index.clone(), by_id];
        let several = Explain { branches, ..Explain::default() };
        assert_eq!(plan_summary(&several), "IXSCAN { a: 1, b: -1 }, IDHACK");
        assert_eq!(plan_summary(&Explain { by_id: true, ..Explain::default() }), "IDHACK");
    }
}
