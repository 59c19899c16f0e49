//! Positions in a string in UTF-16 code units, as the language defines them; strings are stored as
//! UTF-8. A cut between the two code units of a character drops the character, so that every part
//! is well-formed. ASCII strings, for which all counts are equal, have a fast path.

/// Returns the length of a text in UTF-16 code units.
pub(super) fn utf16_length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Returns at most `count` UTF-16 code units of a text, from a position on.
pub(super) fn utf16_slice(text: &str, start: usize, count: usize) -> &str {
    let rest = text.get(at_or_after(text, start)..).unwrap_or_default();
    // If the position is inside a character, the dropped second unit counts towards `count`.
    let skipped = if text.is_ascii() { 0 } else { overshoot(text, start) };
    let end = at_or_before(rest, count.saturating_sub(skipped));
    rest.get(..end).unwrap_or_default()
}

/// Returns the byte offset of the first character that starts at or after this position.
pub(super) fn at_or_after(text: &str, position: usize) -> usize {
    if text.is_ascii() {
        return position.min(text.len());
    }
    let mut units = 0;
    for (byte, c) in text.char_indices() {
        if position <= units {
            return byte;
        }
        units += c.len_utf16();
    }
    text.len()
}

/// Returns the byte offset of the end of the last character that ends at or before this position.
pub(super) fn at_or_before(text: &str, position: usize) -> usize {
    if text.is_ascii() {
        return position.min(text.len());
    }
    let mut units = 0;
    for (byte, c) in text.char_indices() {
        units += c.len_utf16();
        if position < units {
            return byte;
        }
    }
    text.len()
}

/// Returns the number of code units from a position to the end of its character, if it is inside
/// one.
fn overshoot(text: &str, position: usize) -> usize {
    let before = text.get(..at_or_after(text, position)).unwrap_or_default();
    utf16_length(before).saturating_sub(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_and_halves_left_out() {
        for (text, count) in [("", 0), ("abc", 3), ("é", 1), ("\u{1f600}", 2), ("a\u{1f600}é", 4)]
        {
            assert_eq!(utf16_length(text), count, "{text}");
        }
        for (text, start, count, want) in [
            ("abc", 1, 1, "b"),
            ("abc", 1, 9, "bc"),
            ("abc", 9, 1, ""),
            ("äbc", 1, 1, "b"),
            ("a\u{1f600}b", 0, 1, "a"),
            ("a\u{1f600}b", 0, 2, "a"),
            ("a\u{1f600}b", 0, 3, "a\u{1f600}"),
            ("a\u{1f600}b", 1, 1, ""),
            ("a\u{1f600}b", 1, 2, "\u{1f600}"),
            ("a\u{1f600}b", 2, 1, ""),
            ("a\u{1f600}b", 2, 2, "b"),
            ("a\u{1f600}b", 3, 1, "b"),
            ("\u{1f600}\u{1f600}", 1, 2, ""),
            ("\u{1f600}\u{1f600}", 1, 3, "\u{1f600}"),
            ("a\u{1f600}", 0, usize::MAX, "a\u{1f600}"),
            ("a\u{1f600}", usize::MAX, usize::MAX, ""),
        ] {
            assert_eq!(utf16_slice(text, start, count), want, "{text} {start} {count}");
        }
    }
}
