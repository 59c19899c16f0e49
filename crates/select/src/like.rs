//! LIKE: `%` matches any text, `_` one character, `[a-z]` and `[^a-z]` one character of a set.
//!
//! A pattern is split at its `%` into pieces. The first piece must be a prefix of the text and the
//! last one a suffix; each piece between them is matched at its first occurrence. No backtracking
//! is needed: if a match exists, one exists with every middle piece as far to the left as possible.
//! So the length of the text times that of the longest piece bounds the work.
//!
//! ```text
//! a%b_d%z   ->   pieces  [a]  [b, any, d]  [z]
//!                prefix       first found  suffix
//! ```

use evaluation::{Budget, Error};

/// Units of work charged for comparing one character.
const ONE: usize = 16;

/// A test of one character.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CharTest {
    /// Any single character, written as `_`.
    Any,
    /// Exactly this character and no other.
    This(char),
    /// A character in one of these inclusive ranges, or outside all of them if `negated`. Ranges
    /// are sorted and do not overlap, for a binary search: a set can be as long as the pattern, and
    /// is searched for every character of the text.
    Set { ranges: Vec<(char, char)>, negated: bool },
}

impl CharTest {
    /// Returns whether the character passes.
    fn matches_char(&self, c: char) -> bool {
        match self {
            Self::Any => true,
            Self::This(this) => *this == c,
            Self::Set { ranges, negated } => {
                let after = ranges.partition_point(|(from, _)| *from <= c);
                let last = after.checked_sub(1).and_then(|at| ranges.get(at));
                last.is_some_and(|(_, to)| c <= *to) != *negated
            }
        }
    }
}

/// The pattern between two `%`: literal text, for which there is a fast search, or one test per
/// character.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Ones(Vec<CharTest>),
}

/// A compiled pattern of LIKE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Like {
    /// Parts of the pattern between `%`; a single part has to match the whole text.
    pieces: Vec<Piece>,
}

impl Like {
    /// Parses a pattern. The character after `escape` is literal. A `[` without a matching `]` is
    /// literal too, so that every text is a valid pattern.
    pub fn new(pattern: &str, escape: Option<char>) -> Self {
        let mut pieces = Vec::new();
        let mut ones = Vec::new();
        let mut rest = pattern.chars();
        // Once a search for a `]` has failed, no later `[` searches again: a pattern of a million
        // `[` would otherwise take quadratic time.
        let mut may_close = true;
        while let Some(c) = rest.next() {
            if Some(c) == escape {
                ones.push(CharTest::This(rest.next().unwrap_or(c)));
                continue;
            }
            match c {
                '%' => pieces.push(into_piece(std::mem::take(&mut ones))),
                '_' => ones.push(CharTest::Any),
                '[' if may_close => match parse_set(rest.as_str()) {
                    SetText::Complete(one, after) => {
                        ones.push(one);
                        rest = after.chars();
                    }
                    SetText::Empty => ones.push(CharTest::This(c)),
                    SetText::Open => {
                        may_close = false;
                        ones.push(CharTest::This(c));
                    }
                },
                c => ones.push(CharTest::This(c)),
            }
        }
        pieces.push(into_piece(ones));
        Self { pieces }
    }

    /// Returns the prefix of every match, and whether a prefix match suffices (`abc%`). An index
    /// scans for the prefix.
    pub fn required_prefix(&self) -> (String, bool) {
        let Some(first) = self.pieces.first() else { return (String::new(), false) };
        let nothing = Piece::Text(String::new());
        match first {
            Piece::Text(text) => (text.clone(), self.pieces.get(1..) == Some(&[nothing])),
            Piece::Ones(ones) => {
                let fixed = ones.iter().map_while(|one| match one {
                    CharTest::This(c) => Some(*c),
                    _ => None,
                });
                (fixed.collect(), false)
            }
        }
    }

    /// Returns the only text that matches, if the pattern has no wildcard: LIKE is an equality
    /// then.
    pub fn only_match(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns whether a text matches.
    pub fn matches_text(&self, text: &str, budget: &Budget) -> Result<bool, Error> {
        budget.spend_bounded(text.len())?;
        let Some((first, more)) = self.pieces.split_first() else { return Ok(text.is_empty()) };
        let Some(mut rest) = first.strip_prefix(text) else { return Ok(false) };
        let Some((last, middle)) = more.split_last() else { return Ok(rest.is_empty()) };
        for piece in middle {
            match piece.find_first(rest, budget)? {
                Some(after) => rest = after,
                None => return Ok(false),
            }
        }
        Ok(last.matches_end(rest))
    }
}

impl Piece {
    /// Returns the text after this part of the pattern, if the text starts with it.
    fn strip_prefix<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Text(this) => text.strip_prefix(this.as_str()),
            Self::Ones(ones) => {
                let mut rest = text.chars();
                let is = ones.iter().all(|one| rest.next().is_some_and(|c| one.matches_char(c)));
                is.then_some(rest.as_str())
            }
        }
    }

    /// Returns the text after the first occurrence of the piece. Each position of the text costs as
    /// much work as the piece has characters, which is counted before it is done.
    fn find_first<'t>(&self, text: &'t str, budget: &Budget) -> Result<Option<&'t str>, Error> {
        let ones = match self {
            Self::Text(this) => {
                let at = text.find(this.as_str()).map(|at| at + this.len());
                return Ok(at.and_then(|at| text.get(at..)));
            }
            Self::Ones(ones) => ones,
        };
        let mut rest = text;
        loop {
            budget.spend_bounded(ones.len().saturating_mul(ONE))?;
            if let Some(after) = self.strip_prefix(rest) {
                return Ok(Some(after));
            }
            let mut next = rest.chars();
            if next.next().is_none() {
                return Ok(None);
            }
            rest = next.as_str();
        }
    }

    /// Returns whether the end of the text matches this part of the pattern.
    fn matches_end(&self, text: &str) -> bool {
        match self {
            Self::Text(this) => text.ends_with(this.as_str()),
            Self::Ones(ones) => {
                let mut rest = text.chars().rev();
                ones.iter().rev().all(|one| rest.next().is_some_and(|c| one.matches_char(c)))
            }
        }
    }
}

/// Creates a piece from the tests of its characters: literal text if every test is for an exact
/// character.
fn into_piece(ones: Vec<CharTest>) -> Piece {
    let text = ones.iter().map(|one| match one {
        CharTest::This(c) => Some(*c),
        _ => None,
    });
    text.collect::<Option<String>>().map_or(Piece::Ones(ones), Piece::Text)
}

/// The result of parsing the text after a `[`.
enum SetText<'p> {
    /// A complete set, and the pattern's text after its `]`.
    Complete(CharTest, &'p str),
    /// A set without characters, `[]`.
    Empty,
    Open,
}

/// Parses a set of characters from after its `[`.
fn parse_set(text: &str) -> SetText<'_> {
    let (inner, negated) = match text.strip_prefix('^') {
        Some(inner) => (inner, true),
        None => (text, false),
    };
    let Some((inner, after)) = inner.split_once(']') else { return SetText::Open };
    let chars: Vec<char> = inner.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = chars.as_slice();
    loop {
        match rest {
            [from, '-', to, more @ ..] => {
                ranges.push((*from, *to));
                rest = more;
            }
            [one, more @ ..] => {
                ranges.push((*one, *one));
                rest = more;
            }
            [] => break,
        }
    }
    if ranges.is_empty() {
        return SetText::Empty;
    }
    SetText::Complete(CharTest::Set { ranges: joined(ranges), negated }, after)
}

/// Sorts ranges and merges overlapping ones. Drops empty ranges, whose end is less than their
/// start.
fn joined(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.retain(|(from, to)| from <= to);
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let overlaps = next.0 <= kept.1;
        if overlaps {
            kept.1 = kept.1.max(next.1);
        }
        overlaps
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        for (pattern, escape, yes, no) in [
            ("abc", None, &["abc"][..], &["", "ab", "abcd", "ABC"][..]),
            ("", None, &[""], &["a"]),
            ("%", None, &["", "a", "é\n"], &[]),
            ("a%", None, &["a", "ab", "a%"], &["", "ba"]),
            ("%a", None, &["a", "ba", "aa"], &["", "ab"]),
            ("%a%", None, &["a", "bab"], &["", "b"]),
            ("a%a", None, &["aa", "aba"], &["a", "ab"]),
            ("%ab%ba%", None, &["abba", "xabyba"], &["aba", "baab"]),
            ("_", None, &["a", "é", "😀"], &["", "ab"]),
            ("a_c%", None, &["abc", "axcd"], &["ac", "ab"]),
            ("%_b", None, &["ab", "xxb"], &["b", "a"]),
            ("%a_%b", None, &["axb", "aab", "aaxb"], &["ab", "a"]),
            ("[a-c]x", None, &["ax", "bx", "cx"], &["dx", "x", "-x"]),
            ("[^a-c]x", None, &["dx", "-x"], &["ax", "x"]),
            ("%[0-9]%", None, &["a1", "1", "x9y"], &["", "ab"]),
            ("[abc]", None, &["a", "b", "c"], &["d", "abc"]),
            ("[a-]", None, &["a", "-"], &["b"]),
            ("[x-za-mc-d0k-pb]", None, &["a", "b", "n", "p", "0", "y"], &["q", "w", "1", "{"]),
            ("[^x-za-mc-d]", None, &["n", "w"], &["a", "d", "m", "x", "z"]),
            ("[z-a]", None, &[], &["a", "m", "z", "-"]),
            ("[z-ab]", None, &["b"], &["a", "z"]),
            ("[^z-a]", None, &["a", "-"], &["", "ab"]),
            ("[][a][", None, &["[]a["], &["a", "[][a]["]),
            ("[", None, &["["], &["a"]),
            ("[]", None, &["[]"], &["", "a"]),
            ("10!%", Some('!'), &["10%"], &["10", "100"]),
            ("a!_b!!", Some('!'), &["a_b!"], &["axb!", "a_b"]),
            ("![a]", Some('!'), &["[a]"], &["a"]),
            ("a!", Some('!'), &["a!"], &["a"]),
        ] {
            let like = Like::new(pattern, escape);
            for (texts, want) in [(yes, true), (no, false)] {
                for text in texts {
                    let got = like.matches_text(text, &Budget::default()).unwrap();
                    assert_eq!(got, want, "{pattern:?} {text:?}");
                }
            }
        }
    }

    #[test]
    fn prefixes_are_known() {
        for (pattern, prefix, enough, exact) in [
            ("abc", "abc", false, Some("abc")),
            ("abc%", "abc", true, None),
            ("abc%d", "abc", false, None),
            ("ab_c%", "ab", false, None),
            ("%", "", true, None),
            ("_", "", false, None),
        ] {
            let like = Like::new(pattern, None);
            assert_eq!(like.required_prefix(), (prefix.to_owned(), enough), "{pattern}");
            assert_eq!(like.only_match(), exact, "{pattern}");
        }
    }

    #[test]
    fn patterns_match_as_regular_expressions_do() {
        let random = evaluation::Random::new(11);
        let some = |parts: &[&str], most: u64| {
            let count = random.next_number() % (most + 1);
            let part =
                |_| parts[usize::try_from(random.next_number() % parts.len() as u64).unwrap()];
            (0..count).map(part).collect::<String>()
        };
        let mut matched = 0;
        for _ in 0..5_000 {
            let pattern = some(&["%", "%", "_", "a", "b", "[ab]", "[^a]"], 7);
            let text = some(&["a", "b", "c"], 8);
            let regular = pattern.replace('%', ".*").replace('_', ".");
            let want = regex::Regex::new(&format!("^(?s:{regular})$")).unwrap().is_match(&text);
            let got = Like::new(&pattern, None).matches_text(&text, &Budget::default()).unwrap();
            assert_eq!(got, want, "{pattern:?} {text:?}");
            matched += usize::from(got);
        }
        assert!(500 < matched, "{matched}");
    }

    #[test]
    fn hard_patterns_take_bounded_work() {
        let text = "a".repeat(200_000);
        let pattern = format!("{}b", "%a".repeat(1_000));
        let budget = Budget::default();
        assert!(!Like::new(&pattern, None).matches_text(&text, &budget).unwrap());
        let pattern = format!("%{}b%", "_".repeat(100_000));
        assert!(Like::new(&pattern, None).matches_text(&text, &budget).is_err());
    }

    #[test]
    fn patterns_are_read_once_whatever_is_open() {
        // Took minutes each when every `[` searched for a `]` and every character searched the
        // whole set.
        let open = "[".repeat(2_000_000);
        assert_eq!(Like::new(&open, None).only_match(), Some(open.as_str()));
        let letters: String = ('\u{4e00}'..'\u{9e00}').collect();
        let text = "a".repeat(200_000);
        let like = Like::new(&format!("%[{}]%", letters.repeat(10)), None);
        assert!(!like.matches_text(&text, &Budget::default()).unwrap());
    }
}
