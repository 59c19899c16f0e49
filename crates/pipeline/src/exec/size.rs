//! Size limits of documents between stages. A document known to be too large is refused before it
//! is built.

use document::{DocBuf, DocBuilder, ValueRef};
use evaluation::{Error, MAX_MADE_BYTES, OperationMemory, too_large};
use memory::Share;

/// Maximum size of a document that is built without reserving memory.
const FREE: usize = 1 << 20;

/// Reserves the memory for building a document of this size, until the share is dropped. A document
/// between two stages may be several times as large as a stored one.
pub(super) fn room_for(bytes: usize, operation_memory: &OperationMemory) -> Result<Share, Error> {
    check_len(bytes)?;
    let mut share = operation_memory.share();
    if FREE < bytes {
        share.grow(bytes)?;
    }
    Ok(share)
}

/// Appends a computed field. Fails before writing if the document would become too large: the value
/// may be as large as a stage's memory, and would exist twice.
pub(super) fn append_checked(
    builder: &mut DocBuilder,
    name: &str,
    value: ValueRef<'_>,
) -> Result<(), Error> {
    check_len(builder.len().saturating_add(name.len() + 2).saturating_add(value.encoded_len()))?;
    builder.append(name, value);
    Ok(())
}

/// Fails if a size exceeds the maximum of a document between stages.
pub(super) fn check_len(bytes: usize) -> Result<(), Error> {
    if MAX_MADE_BYTES < bytes {
        return Err(too_large(bytes));
    }
    Ok(())
}

/// Returns a document if it does not exceed the maximum size between stages.
pub(super) fn checked_size(document: DocBuf) -> Result<DocBuf, Error> {
    check_len(document.bytes().len())?;
    Ok(document)
}
