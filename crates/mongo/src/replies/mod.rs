//! Replies: what several commands put into them, and the forms they share. What one command alone
//! replies with stands in its own file.

/// Collections as they are shown.
pub(crate) mod collection;
/// Batches, and cursors that stay open.
pub(crate) mod cursor;
/// Indexes as they are shown.
pub(crate) mod index;
/// Numbers of the types that clients expect.
pub(crate) mod numbers;

use document::{DocBuf, DocBuilder, Document, ValueRef};

use crate::errors::Result;

/// A reply of these fields and `ok: 1`, which drivers look at first.
pub(crate) fn ok(mut fields: Document) -> Result<DocBuf> {
    fields.push("ok", 1.0);
    Ok(fields.to_buf())
}

/// Finishes a reply with `ok: 1`. Replies with many documents are built as bytes, not as a tree.
pub(crate) fn finish_reply(mut reply: DocBuilder) -> DocBuf {
    reply.append("ok", ValueRef::Double(1.0));
    reply.finish()
}
