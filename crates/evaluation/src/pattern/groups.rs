//! Parses the start of groups in Perl's syntax: names, flags, comments and look-around. An error
//! names the kind of an unsupported group.

use super::text::{Text, invalid, unsupported};
use crate::error::Error;

/// The options of a pattern or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// Flag `i`: letters match in either case.
    pub(super) ignore_case: bool,
    /// `m`: `^` and `$` match at every line.
    pub(super) multi_line: bool,
    /// `s`: `.` matches a line break, too.
    pub(super) dot_all: bool,
    /// `x`: white space and comments are ignored.
    pub(super) extended: bool,
    /// `U`: swaps greedy and lazy quantifiers.
    pub(super) swapped: bool,
}

impl Flags {
    /// Returns the flags that the regex engine applies, as written in a group: `i-U`. The
    /// translation applies the others.
    fn written(self) -> &'static str {
        match (self.ignore_case, self.swapped) {
            (true, true) => "iU",
            (true, false) => "i-U",
            (false, true) => "U-i",
            (false, false) => "-iU",
        }
    }

    /// Returns an inline directive that sets these flags for what follows.
    pub(super) fn as_directive(self) -> String {
        format!("(?{})", self.written())
    }

    /// Returns the start of a group with these flags, without its closing parenthesis.
    pub(super) fn as_group(self) -> String {
        format!("(?{}:", self.written())
    }

    /// Sets or clears a flag by its letter; returns whether the flag exists.
    pub(super) fn set(&mut self, letter: char, on: bool) -> bool {
        let flag = match letter {
            'i' => &mut self.ignore_case,
            'm' => &mut self.multi_line,
            's' => &mut self.dot_all,
            'x' => &mut self.extended,
            'U' => &mut self.swapped,
            _ => return false,
        };
        *flag = on;
        true
    }
}

/// The kind of a group, as its start states it. The parser has consumed the start; the caller
/// writes the start of the translated group to the output.
#[derive(Debug)]
pub(super) enum Opening {
    /// A comment, which has been skipped.
    Comment,
    /// A look-ahead: positive (true) or negative.
    Lookahead(bool),
    /// A look-behind: positive (true) or negative.
    Lookbehind(bool),
    /// An atomic group: once matched, the engine does not backtrack into it.
    Atomic,
    /// A back-reference to the group with this name, read up to its closing parenthesis.
    Reference(String),
    /// Flags for the rest of the enclosing group.
    Flags(Flags),
    /// A capture group, which may have a name.
    Capture(Option<String>),
    /// A group with flags that captures nothing.
    Group(Flags),
}

/// Starts of unsupported groups, and their names for the error.
const REFUSED: &[(&str, &str)] = &[
    ("?|", "a branch reset group"),
    ("?R", "recursion"),
    ("?&", "recursion"),
    ("?P>", "recursion"),
    ("?(", "a conditional group"),
    ("?C", "a callout"),
    ("?J", "duplicate group names"),
    ("?n", "non-capturing groups by default"),
];

/// Parses the start of a group, after its opening parenthesis.
pub(super) fn read_opening(text: &mut Text<'_>, flags: Flags) -> Result<Opening, Error> {
    if text.take("?#") {
        return match text.up_to(')') {
            Some(_) => Ok(Opening::Comment),
            None => Err(invalid("missing ) after (?# comment")),
        };
    }
    for (begin, opening) in [
        ("?=", Opening::Lookahead(true)),
        ("?!", Opening::Lookahead(false)),
        ("?<=", Opening::Lookbehind(true)),
        ("?<!", Opening::Lookbehind(false)),
        ("?>", Opening::Atomic),
    ] {
        if text.take(begin) {
            return Ok(opening);
        }
    }
    if text.take("?P=") {
        return group_name(text, ')').map(Opening::Reference);
    }
    if let Some((_, what)) = REFUSED.iter().find(|(begin, _)| text.starts_with(begin)) {
        return Err(unsupported(what));
    }
    if text.starts_with("*") {
        return Err(match text.rest.clone().nth(1) {
            Some(next) if next.is_ascii_alphabetic() || next == ':' => {
                unsupported("a backtracking control verb")
            }
            _ => invalid("quantifier does not follow a repeatable item"),
        });
    }
    if !text.take("?") {
        return Ok(Opening::Capture(None));
    }
    for (begin, end) in [("P<", '>'), ("<", '>'), ("'", '\'')] {
        if text.take(begin) {
            return group_name(text, end).map(|name| Opening::Capture(Some(name)));
        }
    }
    inner_flags(text, flags)
}

/// Parses the name of a group and its terminator.
pub(super) fn group_name(text: &mut Text<'_>, end: char) -> Result<String, Error> {
    let mut name = String::new();
    while let Some(next) = text.rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
        name.push(next);
    }
    if name.is_empty() {
        return Err(invalid("subpattern name expected"));
    }
    if name.starts_with(char::is_numeric) {
        return Err(invalid("subpattern name must start with a non-digit"));
    }
    if text.rest.next() != Some(end) {
        return Err(invalid("syntax error in subpattern name (missing terminator?)"));
    }
    Ok(name)
}

/// Parses the flags of a group up to its colon, or flags for the enclosing group up to a
/// parenthesis.
fn inner_flags(text: &mut Text<'_>, around: Flags) -> Result<Opening, Error> {
    let (mut flags, mut on) = (around, true);
    if text.take("^") {
        flags = Flags { swapped: around.swapped, ..Flags::default() };
    }
    loop {
        match text.rest.next() {
            Some(')') => return Ok(Opening::Flags(flags)),
            Some(':') => return Ok(Opening::Group(flags)),
            Some('-') if on => on = false,
            Some('0'..='9' | '+' | '-') => return Err(unsupported("recursion")),
            Some('x') if text.starts_with("x") => return Err(unsupported("the flag xx")),
            Some('J') => return Err(unsupported("duplicate group names")),
            Some('n') => return Err(unsupported("non-capturing groups by default")),
            Some(letter) if flags.set(letter, on) => {}
            _ => return Err(invalid("unrecognized character after (? or (?-")),
        }
    }
}
