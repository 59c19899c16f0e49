//! Perl's pattern syntax rewritten for an engine without backtracking: same meaning for what both
//! have, a named refusal for what only a backtracking engine can do.
//!
//! The two syntaxes look alike and differ in many small ways: `$` matches before a final line
//! break, `\d` and `\w` mean ASCII, braces that are not a count stand for themselves, `\v` is a
//! class, three octal digits are a character. The text is read once from left to right, and what
//! the engine would read in another way is written so that it reads it right.
//!
//! ```text
//! a{,3}$        ->   a\{,3\}(?:\n?\z)
//! \d+\Q.\E      ->   [0-9]+\.
//! (?=x)a        ->   (?P<__ahead_0>)a       with x as a pattern of its own, where look-ahead may be
//! ```

use crate::{
    error::{Error, Kind},
    numbers::PATTERN_REFUSED,
    pattern::text::{Text, invalid},
};

/// The options of a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) extended: bool,
}

/// A look-ahead that was taken out of a pattern.
#[derive(Debug)]
pub(super) struct Ahead {
    /// It has to be met, or must not be.
    pub(super) wanted: bool,
    /// Rewritten.
    pub(super) pattern: String,
}

/// What stands in a rewritten pattern for a look-ahead, in front of its number: an empty group.
const AHEAD: &str = "__ahead_";

/// The number of the look-ahead that a group of this name stands for.
pub(super) fn ahead_of(group: &str) -> Option<usize> {
    group.strip_prefix(AHEAD)?.parse().ok()
}

/// Rewrites a pattern; look-ahead in it is refused.
pub(super) fn translate(source: &str, flags: Flags) -> Result<String, Error> {
    Rewrite::new(source, flags, None).whole().map(|(out, _)| out)
}

/// Rewrites a pattern with look-aheads in it; those inside of others come before them.
pub(super) fn translate_aheads(source: &str, flags: Flags) -> Result<(String, Vec<Ahead>), Error> {
    Rewrite::new(source, flags, Some(Vec::new())).whole()
}

/// The refusal of what a pattern uses, by name.
fn unsupported(what: &str) -> Error {
    let text = format!("Regular expression is not supported: it uses {what}");
    Error::new(Kind::Unsupported, PATTERN_REFUSED, text)
}

/// A pattern while it is rewritten.
struct Rewrite<'a> {
    /// What is read and what was written.
    text: Text<'a>,
    flags: Flags,
    /// Look-aheads so far, where they are taken out.
    aheads: Option<Vec<Ahead>>,
    /// Some of the pattern has flags of its own.
    has_flags: bool,
}

impl<'a> Rewrite<'a> {
    fn new(source: &'a str, flags: Flags, aheads: Option<Vec<Ahead>>) -> Self {
        Self { text: Text::new(source), flags, aheads, has_flags: false }
    }

    /// Rewrites all of the pattern.
    fn whole(mut self) -> Result<(String, Vec<Ahead>), Error> {
        while let Some(next) = self.text.rest.next() {
            self.outside(next)?;
        }
        let aheads = self.aheads.unwrap_or_default();
        // A look-ahead is compiled for itself, with the flags of the whole: it would not know those
        // around it.
        if self.has_flags && !aheads.is_empty() {
            return Err(unsupported("look-ahead beside flags inside of the pattern"));
        }
        Ok((self.text.out, aheads))
    }

    /// Writes the end of the text, or the line break before it. With look-ahead in the pattern that
    /// is a look-ahead itself: the line break is not part of the match.
    fn end(&mut self) -> Result<(), Error> {
        match self.aheads {
            Some(_) => self.stand(true, r"\n?\z".to_owned()),
            None => {
                self.text.out.push_str(r"(?:\n?\z)");
                Ok(())
            }
        }
    }

    /// Writes that a look-ahead stands here, and keeps its pattern.
    fn stand(&mut self, wanted: bool, pattern: String) -> Result<(), Error> {
        let Some(aheads) = &mut self.aheads else { return Err(unsupported("look-ahead")) };
        self.text.out.push_str(&format!("(?P<{AHEAD}{}>)", aheads.len()));
        aheads.push(Ahead { wanted, pattern });
        Ok(())
    }

    /// Takes out a look-ahead whose beginning was read, up to its closing parenthesis. Those inside
    /// it are taken out first, so that each knows only look-aheads before it in the list.
    fn ahead(&mut self, wanted: bool) -> Result<(), Error> {
        // What is written until the closing parenthesis is the look-ahead's pattern.
        let around = std::mem::take(&mut self.text.out);
        let mut depth = 0_usize;
        loop {
            match self.text.rest.next() {
                None => return Err(invalid("missing closing parenthesis")),
                Some(')') if depth == 0 => break,
                Some(')') => {
                    depth -= 1;
                    self.text.out.push(')');
                }
                Some('(') => depth += usize::from(self.group()?),
                Some(other) => self.outside(other)?,
            }
        }
        let pattern = std::mem::replace(&mut self.text.out, around);
        self.stand(wanted, pattern)
    }

    /// Rewrites what a character outside of classes begins.
    fn outside(&mut self, next: char) -> Result<(), Error> {
        match next {
            '\\' => self.escape()?,
            '[' => self.text.class()?,
            '(' => drop(self.group()?),
            '^' if self.flags.multi_line && self.aheads.is_some() => {
                // Behind the last line break no line begins.
                self.text.out.push_str(r"(?:\A|^");
                self.stand(false, r"\z".to_owned())?;
                self.text.out.push(')');
            }
            '$' if self.flags.multi_line => self.text.out.push('$'),
            '$' => self.end()?,
            '*' | '+' | '?' => self.repeat(next)?,
            '{' if self.is_count() => {
                self.text.out.push('{');
                while self.text.rest.peek().is_some_and(|c| *c != '}') {
                    self.text.out.extend(self.text.rest.next());
                }
                self.text.skip(1);
                self.repeat('}')?;
            }
            // Not a count: a brace.
            '{' | '}' => self.text.out.extend(['\\', next]),
            // A comment up to the end of the line.
            '#' if self.flags.extended => while self.text.rest.next().is_some_and(|c| c != '\n') {},
            other => self.text.out.push(other),
        }
        Ok(())
    }

    /// Writes a repetition sign. A `+` after it would make it possessive, which needs backtracking;
    /// a `?` makes it lazy.
    fn repeat(&mut self, sign: char) -> Result<(), Error> {
        self.text.out.push(sign);
        match self.text.rest.peek() {
            Some('+') => Err(unsupported("a possessive quantifier")),
            Some('?') => {
                self.text.skip(1);
                self.text.out.push('?');
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether a `{` that was just read opens a repetition count.
    fn is_count(&self) -> bool {
        let body: String = self.text.rest.clone().take_while(|c| *c != '}').collect();
        let closed = self.text.rest.clone().any(|c| c == '}');
        let (low, high) = body.split_once(',').unwrap_or((&body, ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        closed && !low.is_empty() && digits(low) && digits(high)
    }

    /// Reads what an opening parenthesis begins; returns whether a group is open now. Comments and
    /// look-aheads are read to their ends.
    fn group(&mut self) -> Result<bool, Error> {
        if self.text.starts_with("?#") {
            while self.text.rest.next().is_some_and(|c| c != ')') {}
            return Ok(false);
        }
        for (text, wanted) in [("?=", true), ("?!", false)] {
            if self.aheads.is_some() && self.text.starts_with(text) {
                self.text.skip(2);
                self.ahead(wanted)?;
                return Ok(false);
            }
        }
        // Named groups `(?<` would be taken for look-behind, so that the longer beginnings are
        // asked for.
        let refused = [
            ("?=", "look-ahead"),
            ("?!", "look-ahead"),
            ("?<=", "look-behind"),
            ("?<!", "look-behind"),
            ("?>", "an atomic group"),
            ("?|", "a branch reset group"),
            ("?R", "recursion"),
            ("?&", "recursion"),
            ("?P>", "recursion"),
            ("?P=", "a reference back"),
            ("?(", "a conditional group"),
            ("?C", "a callout"),
        ];
        if let Some((_, what)) = refused.iter().find(|(text, _)| self.text.starts_with(text)) {
            return Err(unsupported(what));
        }
        self.text.out.push('(');
        // Another way to write a named group.
        if self.text.starts_with("?'") {
            self.text.skip(2);
            let name: String = self.text.rest.by_ref().take_while(|c| *c != '\'').collect();
            self.text.out.push_str(&format!("?P<{name}>"));
        } else if self.text.starts_with("*") {
            return Err(unsupported("a backtracking verb"));
        } else if self.text.starts_with("?") {
            self.text.skip(1);
            self.text.out.push('?');
            self.has_flags |=
                self.text.rest.peek().is_some_and(|c| c.is_ascii_lowercase() || *c == '-');
        }
        Ok(true)
    }

    /// Rewrites an escape outside of classes.
    fn escape(&mut self) -> Result<(), Error> {
        let Some(next) = self.text.rest.next() else { return Err(invalid("\\ at end of pattern")) };
        match next {
            'd' => self.text.out.push_str("[0-9]"),
            'D' => self.text.out.push_str("[^0-9]"),
            'w' => self.text.out.push_str("[0-9A-Za-z_]"),
            'W' => self.text.out.push_str("[^0-9A-Za-z_]"),
            's' => self.text.out.push_str(r"[\t\n\x0B\f\r\x20]"),
            'S' => self.text.out.push_str(r"[^\t\n\x0B\f\r\x20]"),
            'h' => {
                self.text.out.push_str(r"[\t\x20\u{A0}\u{1680}\u{2000}-\u{200A}\u{202F}\u{3000}]")
            }
            'v' => self.text.out.push_str(r"[\n\x0B\f\r\u{85}\u{2028}\u{2029}]"),
            'N' => self.text.out.push_str(r"[^\n]"),
            'R' => self.text.out.push_str(r"(?:\r\n|[\n\x0B\f\r\u{85}\u{2028}\u{2029}])"),
            // ASCII word boundaries, as `\w` is ASCII too.
            'b' => self.text.out.push_str(r"(?-u:\b)"),
            'B' if self.aheads.is_some() => self.stand(false, r"(?-u:\b)".to_owned())?,
            'B' => self.text.out.push_str(r"\B"),
            'Z' => self.end()?,
            'Q' => self.text.quoted(),
            'E' => {}
            'K' | 'G' | 'X' | 'C' => return Err(unsupported(&format!("\\{next}"))),
            '1'..='7' if self.text.is_octal() => self.text.octal(next),
            'k' | 'g' | '1'..='9' => return Err(unsupported("a reference back")),
            other => self.text.plain_escape(other),
        }
        Ok(())
    }
}
