//! Characters taken off the ends of a text, as `$trim` and TRIM do.

use std::collections::HashSet;

use crate::{budget::Budget, error::Error};

/// Work of one character of a set.
const ONE: usize = 32;

/// At which ends characters are taken off.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// At the start.
    pub left: bool,
    /// At the end.
    pub right: bool,
}

impl Ends {
    /// The start alone.
    pub const LEFT: Self = Self { left: true, right: false };
    /// The end alone.
    pub const RIGHT: Self = Self { left: false, right: true };
    /// Both ends.
    pub const BOTH: Self = Self { left: true, right: true };
}

/// The text without the characters that `goes` is true for at these ends.
pub fn trim_ends(text: &str, ends: Ends, goes: impl Fn(char) -> bool) -> &str {
    let text = if ends.left { text.trim_start_matches(&goes) } else { text };
    if ends.right { text.trim_end_matches(&goes) } else { text }
}

/// The text without the characters of `chars` at these ends. Both may have millions of characters, so
/// that no character of the one is compared with each of the other.
///
/// Fails when the work is more than an evaluation may do.
pub fn trim_chars<'t>(
    text: &'t str,
    ends: Ends,
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
        // Compared one by one this takes hours.
        let (text, chars) = ("a".repeat(2_000_000), format!("{}a", "b".repeat(2_000_000)));
        assert_eq!(trim_chars(&text, Ends::BOTH, &chars, &Budget::default()).unwrap(), "");
        let trimmed = |ends| trim_chars("xaxbx", ends, "xy", &Budget::default()).unwrap();
        let all = (trimmed(Ends::BOTH), trimmed(Ends::LEFT), trimmed(Ends::RIGHT));
        assert_eq!(all, ("axb", "axbx", "xaxb"));
    }
}
