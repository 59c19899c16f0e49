//! Parts of replies that several commands share. A command's own reply format is in its own file.

pub(crate) mod cluster_time;
pub(crate) mod collection;
/// Replies with batches, and the cursors that stay open after them.
pub(crate) mod cursor;
pub(crate) mod index;
/// Conversion of numbers to the types that clients expect.
pub(crate) mod numbers;

use document::{DocBuf, DocBuilder, Document, ValueRef};

use crate::errors::Result;

/// Returns a reply of these fields and `ok: 1`.
pub(crate) fn ok(mut fields: Document) -> Result<DocBuf> {
    fields.push("ok", 1.0);
    Ok(fields.to_buf())
}

/// Finishes a reply with `ok: 1`. Replies with many documents are built as bytes, not as a tree.
pub(crate) fn finish_reply(mut reply: DocBuilder) -> DocBuf {
    reply.append("ok", ValueRef::Double(1.0));
    reply.finish()
}
