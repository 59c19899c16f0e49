//! Heads of requests to the NoSQL API: verb, path and headers, and the texts in them that have a form
//! of their own.

/// A head, as lines: verb, path, and headers each with a colon. It is refused, or says what is asked
/// for.
pub(crate) fn heads(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let (Some(verb), Some(path)) = (lines.next(), lines.next()) else { return };
    let Ok(path) = std::str::from_utf8(path) else { return };
    let headers = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at_checked(colon)?;
        Some((name, value.get(1..).unwrap_or_default()))
    });
    cosmos::fuzzing::read_head(verb, path, headers);
}

/// A resource id, an ETag, a session token, a partition key, a range of keys, a continuation token, a
/// path of a permission: each is refused, or says again what it said.
pub(crate) fn tokens(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        cosmos::fuzzing::read_tokens(text);
    }
}
