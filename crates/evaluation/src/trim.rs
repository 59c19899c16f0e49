//! Trims characters from the ends of a text, for `$trim` and TRIM.

use std::collections::HashSet;

use crate::{budget::Budget, error::Error};

/// Units of work charged per byte of the set of characters to trim.
const ONE: usize = 32;

/// The ends of a text to trim.
#[derive(Clone, Copy, Debug)]
pub struct TrimEnds {
    /// Whether to trim the start.
    pub left: bool,
    /// Whether to trim the end.
    pub right: bool,
}

impl TrimEnds {
    /// Trims the start of the text only.
    pub const LEFT: Self = Self { left: true, right: false };
    /// Trims the end of the text only.
    pub const RIGHT: Self = Self { left: false, right: true };
    /// Trims both ends of the text.
    pub const BOTH: Self = Self { left: true, right: true };
}

/// Removes characters at these ends for which `goes` is true.
pub fn trim_ends(text: &str, ends: TrimEnds, goes: impl Fn(char) -> bool) -> &str {
    let text = if ends.left { text.trim_start_matches(&goes) } else { text };
    if ends.right { text.trim_end_matches(&goes) } else { text }
}

/// Removes the characters of `chars` at these ends. Both texts may have millions of characters, so
/// a hash set is used instead of comparing each with each.
///
/// Fails if the work exceeds the budget of the evaluation.
pub fn trim_chars<'t>(
    text: &'t str,
    ends: TrimEnds,
    chars: &str,
    budget: &Budget,
) -> Result<&'t str, Error> {
    budget.spend_bounded(chars.len().saturating_mul(ONE))?;
    let chars: HashSet<char> = chars.chars().collect();
    Ok(trim_ends(text, ends, |c| chars.contains(&c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millions_of_characters_are_taken_off_at_once() {
        // Takes hours if characters are compared one by one.
        let (text, chars) = ("a".repeat(2_000_000), format!("{}a", "b".repeat(2_000_000)));
        assert_eq!(trim_chars(&text, TrimEnds::BOTH, &chars, &Budget::default()).unwrap(), "");
        let trimmed = |ends| trim_chars("xaxbx", ends, "xy", &Budget::default()).unwrap();
        let all = (trimmed(TrimEnds::BOTH), trimmed(TrimEnds::LEFT), trimmed(TrimEnds::RIGHT));
        assert_eq!(all, ("axb", "axbx", "xaxb"));
    }
}
