//! How large a document may become on its way from stage to stage. What is known to be too large is
//! refused before it is built.

use document::{DocBuf, DocBuilder, ValueRef};
use evaluation::{Error, Holding, limits::MAX_MADE_BYTES, too_large};
use memory::Share;

/// Bytes of a document that is made without asking for memory.
const FREE: usize = 1 << 20;

/// Takes the memory of a document of so many bytes that is about to be made, until the share is
/// dropped. A document between two stages may be several times as large as a stored one.
pub(super) fn room_for(bytes: usize, holding: &Holding) -> Result<Share, Error> {
    check_len(bytes)?;
    let mut share = holding.share();
    if FREE < bytes {
        share.grow(bytes)?;
    }
    Ok(share)
}

/// Appends a field that a stage has computed. One that would make the document too large is refused
/// before it is written: it may be as large as all that a stage may hold, and would be there twice.
pub(super) fn append_checked(
    builder: &mut DocBuilder,
    name: &str,
    value: ValueRef<'_>,
) -> Result<(), Error> {
    check_len(builder.len().saturating_add(name.len() + 2).saturating_add(value.encoded_len()))?;
    builder.append(name, value);
    Ok(())
}

/// Fails when a document of so many bytes is larger than one may become on its way.
pub(super) fn check_len(bytes: usize) -> Result<(), Error> {
    if MAX_MADE_BYTES < bytes {
        return Err(too_large(bytes));
    }
    Ok(())
}

/// A document that a stage made, if it is not too large for the stages behind.
pub(super) fn checked_size(document: DocBuf) -> Result<DocBuf, Error> {
    check_len(document.bytes().len())?;
    Ok(document)
}
