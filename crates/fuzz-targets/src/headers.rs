//! Fuzz targets of request heads of the NoSQL API: verb, path, headers, and the texts in them that
//! have a syntax of their own.

/// Parses a head given as lines: verb, path, then headers, each with a colon.
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

/// Parses a text as a resource id, an ETag, a session token, a partition key, a range of keys, a
/// continuation token and the path of a permission. Each parser refuses it, or the value survives a
/// round trip.
pub(crate) fn tokens(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        cosmos::fuzzing::read_tokens(text);
    }
}
