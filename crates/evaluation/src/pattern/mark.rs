//! Marks: constructs that the syntax of the regex engine lacks, written as groups with reserved
//! names in a rewritten pattern. The engine's parser then handles the rest of the syntax.
//!
//! ```text
//! (?<=a)b(c)\1   ->   (?P<__behind_1>a)b(?P<__group_1>c)(?P<__reference_0>x)
//! ```

/// A construct of a pattern that is matched by backtracking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A capture group with its number, from 1.
    Group(usize),
    /// A look-ahead, positive or negative, around its pattern.
    Lookahead(bool),
    /// A look-behind, positive or negative, around its pattern.
    Lookbehind(bool),
    /// An atomic group around its pattern.
    Atomic,
    /// A reference back, with its index into the list of references. The group contains a
    /// character, since the parser would drop repetitions of an empty one.
    Reference(usize),
    /// `\K`: the match is reported to start here.
    Keep,
    /// `\G`: the position at which the search started.
    SearchStart,
}

impl Mark {
    /// Returns the name of the group that represents the mark. Names within a pattern have to be
    /// unique, so marks without a number of their own use `serial`.
    pub(super) fn group_name(self, serial: usize) -> String {
        let (kind, number) = match self {
            Self::Group(number) => ("group", number),
            Self::Lookahead(true) => ("ahead", serial),
            Self::Lookahead(false) => ("not_ahead", serial),
            Self::Lookbehind(true) => ("behind", serial),
            Self::Lookbehind(false) => ("not_behind", serial),
            Self::Atomic => ("atomic", serial),
            Self::Reference(index) => ("reference", index),
            Self::Keep => ("keep", serial),
            Self::SearchStart => ("search_start", serial),
        };
        format!("__{kind}_{number}")
    }

    /// Returns the mark that the group with this name represents; `None` for other names.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let (kind, number) = name.strip_prefix("__")?.rsplit_once('_')?;
        let number = number.parse().ok()?;
        Some(match kind {
            "group" => Self::Group(number),
            "ahead" => Self::Lookahead(true),
            "not_ahead" => Self::Lookahead(false),
            "behind" => Self::Lookbehind(true),
            "not_behind" => Self::Lookbehind(false),
            "atomic" => Self::Atomic,
            "reference" => Self::Reference(number),
            "keep" => Self::Keep,
            "search_start" => Self::SearchStart,
            _ => return None,
        })
    }
}
