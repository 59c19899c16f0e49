//! The form that messages of both directions share: `letter=value`, separated by commas. What an
//! attribute means is decided where a message is read.

use super::malformed::Malformed;
use crate::limits::MAX_SCRAM_BYTES;

/// Returns a message as a text, if it is one and not too large.
pub(super) fn text_of(payload: &[u8]) -> Result<&str, Malformed> {
    if MAX_SCRAM_BYTES < payload.len() {
        return Err(Malformed("the message is too long"));
    }
    let text = std::str::from_utf8(payload);
    let text = text.map_err(|_| Malformed("the message is not UTF-8"))?;
    if text.contains('\0') {
        return Err(Malformed("the message contains a zero byte"));
    }
    Ok(text)
}

/// Takes an attribute off the front of a list and returns its value and the list behind it, which is
/// empty at the end; `what` is the error where it is not this one.
pub(super) fn take<'a>(
    list: &'a str,
    prefix: &str,
    what: Malformed,
) -> Result<(&'a str, Option<&'a str>), Malformed> {
    let list = list.strip_prefix(prefix).ok_or(what)?;
    Ok(list.split_once(',').map_or((list, None), |(value, rest)| (value, Some(rest))))
}

/// Checks the attributes behind those that were expected. Unknown ones are ignored, as RFC 5802 asks
/// for, but they have to be attributes; `m` is an extension that must be understood, and none is. An
/// attribute that has a meaning of its own elsewhere is refused.
pub(super) fn check_extensions(list: Option<&str>) -> Result<(), Malformed> {
    for attribute in list.into_iter().flat_map(|list| list.split(',')) {
        let (name, value) =
            attribute.split_once('=').ok_or(Malformed("an extension is no attribute"))?;
        match name.as_bytes() {
            [b'm'] => return Err(NO_EXTENSION),
            [b'a' | b'n' | b'r' | b'c' | b's' | b'i' | b'p' | b'v' | b'e'] => {
                return Err(Malformed("an attribute is out of place"));
            }
            [letter] if letter.is_ascii_alphabetic() && !value.is_empty() => {}
            _ => return Err(Malformed("an extension is no attribute")),
        }
    }
    Ok(())
}

/// A mandatory extension, wherever it stands.
pub(super) const NO_EXTENSION: Malformed = Malformed("a mandatory extension is not supported");
