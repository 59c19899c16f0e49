//! The syntax of SCRAM messages: attributes `letter=value`, separated by commas. The parser of each
//! message interprets its attributes.

use super::Malformed;

/// Maximum size of a SCRAM message in bytes.
pub(super) const MAX_SCRAM_BYTES: usize = 4096;

/// Returns a message as text, if it is valid UTF-8 without zero bytes and not too long.
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

/// Takes an attribute off the front of a list. Returns its value and the rest of the list, `None`
/// at the end; `what` is the error if the list starts with a different attribute.
pub(super) fn take<'a>(
    list: &'a str,
    prefix: &str,
    what: Malformed,
) -> Result<(&'a str, Option<&'a str>), Malformed> {
    let list = list.strip_prefix(prefix).ok_or(what)?;
    Ok(list.split_once(',').map_or((list, None), |(value, rest)| (value, Some(rest))))
}

/// Checks the attributes after the expected ones. Unknown ones are ignored, as RFC 5802 requires,
/// but must be well formed. `m`, an extension that must be supported, is refused, and so is an
/// attribute defined for another position.
pub(super) fn check_extensions(list: Option<&str>) -> Result<(), Malformed> {
    for attribute in list.into_iter().flat_map(|list| list.split(',')) {
        let (name, value) =
            attribute.split_once('=').ok_or(Malformed("an extension is not an attribute"))?;
        match name.as_bytes() {
            [b'm'] => return Err(NO_EXTENSION),
            [b'a' | b'n' | b'r' | b'c' | b's' | b'i' | b'p' | b'v' | b'e'] => {
                return Err(Malformed("an attribute is out of place"));
            }
            [letter] if letter.is_ascii_alphabetic() && !value.is_empty() => {}
            _ => return Err(Malformed("an extension is not an attribute")),
        }
    }
    Ok(())
}

/// The error for a mandatory extension, wherever it occurs in the message.
pub(super) const NO_EXTENSION: Malformed = Malformed("a mandatory extension is not supported");
