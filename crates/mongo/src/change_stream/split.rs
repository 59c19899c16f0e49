//! Events that are too large for a document, and their fragments.

use document::{DocBuf, DocBuilder, ValueRef};
use evaluation::MAX_RETURNED_BYTES;

use super::token::{EventToken, Token};
use crate::errors::{Error, Result};

/// The stage that splits large events.
pub(super) const SPLIT_STAGE: &str = "$changeStreamSplitLargeEvent";

/// Room for the token and the field `splitEvent` of a fragment.
const FRAGMENT_ROOM: usize = 16 * 1024;

/// Returns the error (10334) of an event that is too large.
fn too_large(bytes: usize) -> Error {
    let message = format!(
        "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and \
         {MAX_RETURNED_BYTES}(16MB). The event of a change stream is too large; \
         {SPLIT_STAGE} as the last stage splits it"
    );
    Error::new(10334, message)
}

/// Returns an event with its token. A large one becomes several fragments if `splits`; each contains
/// some of the event's fields, and its own token.
///
/// Fails with 10334 if an event, or a field of it, is too large for a document.
pub(super) fn fragments_of(
    event: DocBuf,
    token: (&EventToken, DocBuf),
    splits: bool,
) -> Result<Vec<(DocBuf, DocBuf)>> {
    let bytes = event.bytes().len();
    if bytes <= MAX_RETURNED_BYTES {
        return Ok(vec![(event, token.1)]);
    }
    if !splits {
        return Err(too_large(bytes));
    }
    let room = MAX_RETURNED_BYTES - FRAGMENT_ROOM;
    let mut groups: Vec<Vec<(&str, ValueRef<'_>)>> = vec![Vec::new()];
    let mut filled = 0;
    for (name, value) in event.as_ref().iter().filter(|(name, _)| *name != "_id") {
        let size = name.len() + 2 + value.encoded_len();
        if room < size {
            return Err(too_large(size));
        }
        if room < filled + size {
            groups.push(Vec::new());
            filled = 0;
        }
        filled += size;
        groups.last_mut().into_iter().for_each(|group| group.push((name, value)));
    }
    let of = i32::try_from(groups.len()).unwrap_or(i32::MAX);
    let fragments = (1_u32..).zip(groups).map(|(number, group)| {
        let token = EventToken { fragment: Some(number - 1), ..token.0.clone() };
        let token = Token::Event(token).to_document();
        let mut out = DocBuilder::new();
        out.append("_id", ValueRef::Document(token.as_ref()));
        out.document("splitEvent", |split| {
            split.append("fragment", ValueRef::Int32(i32::try_from(number).unwrap_or(i32::MAX)));
            split.append("of", ValueRef::Int32(of));
        });
        group.into_iter().for_each(|(name, value)| out.append(name, value));
        (out.finish(), token)
    });
    Ok(fragments.collect())
}
