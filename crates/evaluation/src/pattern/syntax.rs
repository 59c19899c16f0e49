//! Perl's pattern syntax rewritten for an engine without backtracking: same meaning for what both
//! have, a named refusal for what only a backtracking engine can do.

use std::iter::Peekable;
use std::str::Chars;

use crate::{
    error::{Error, Kind},
    numbers::PATTERN_REFUSED,
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

/// Rewrites a pattern.
pub(super) fn translate(source: &str, flags: Flags) -> Result<String, Error> {
    Rewrite::new(source, flags, None).whole().map(|(out, _)| out)
}

/// Rewrites a pattern with look-aheads in it; those inside of others come before them.
pub(super) fn translate_aheads(source: &str, flags: Flags) -> Result<(String, Vec<Ahead>), Error> {
    Rewrite::new(source, flags, Some(Vec::new())).whole()
}

fn unsupported(what: &str) -> Error {
    let text = format!("Regular expression is not supported: it uses {what}");
    Error::new(Kind::Unsupported, PATTERN_REFUSED, text)
}

fn invalid(what: &str) -> Error {
    Error::new(Kind::Invalid, PATTERN_REFUSED, format!("Regular expression is invalid: {what}"))
}

struct Rewrite<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    flags: Flags,
    /// Look-aheads so far, where they are taken out.
    aheads: Option<Vec<Ahead>>,
    /// Some of the pattern has flags of its own.
    has_flags: bool,
}

impl<'a> Rewrite<'a> {
    fn new(source: &'a str, flags: Flags, aheads: Option<Vec<Ahead>>) -> Self {
        let out = String::with_capacity(64);
        Self { rest: source.chars().peekable(), out, flags, aheads, has_flags: false }
    }

    fn whole(mut self) -> Result<(String, Vec<Ahead>), Error> {
        while let Some(next) = self.rest.next() {
            self.outside(next)?;
        }
        let aheads = self.aheads.unwrap_or_default();
        if self.has_flags && !aheads.is_empty() {
            return Err(unsupported("look-ahead beside flags inside of the pattern"));
        }
        Ok((self.out, aheads))
    }

    /// The end of the text, or the line break before it: that is read where nothing can look ahead.
    fn end(&mut self) -> Result<(), Error> {
        match self.aheads {
            Some(_) => self.stand(true, r"\n?\z".to_owned()),
            None => {
                self.out.push_str(r"(?:\n?\z)");
                Ok(())
            }
        }
    }

    /// A look-ahead stands here.
    fn stand(&mut self, wanted: bool, pattern: String) -> Result<(), Error> {
        let Some(aheads) = &mut self.aheads else { return Err(unsupported("look-ahead")) };
        self.out.push_str(&format!("(?P<{AHEAD}{}>)", aheads.len()));
        aheads.push(Ahead { wanted, pattern });
        Ok(())
    }

    /// Takes out a look-ahead whose beginning was read.
    fn ahead(&mut self, wanted: bool) -> Result<(), Error> {
        let around = std::mem::take(&mut self.out);
        let mut depth = 0_usize;
        loop {
            match self.rest.next() {
                None => return Err(invalid("missing closing parenthesis")),
                Some(')') if depth == 0 => break,
                Some(')') => {
                    depth -= 1;
                    self.out.push(')');
                }
                Some('(') => depth += usize::from(self.group()?),
                Some(other) => self.outside(other)?,
            }
        }
        let pattern = std::mem::replace(&mut self.out, around);
        self.stand(wanted, pattern)
    }

    fn starts_with(&self, text: &str) -> bool {
        let mut rest = self.rest.clone();
        text.chars().all(|wanted| rest.next() == Some(wanted))
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.rest.next();
        }
    }

    fn outside(&mut self, next: char) -> Result<(), Error> {
        match next {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => drop(self.group()?),
            '^' if self.flags.multi_line && self.aheads.is_some() => {
                // Behind the last line break no line begins.
                self.out.push_str(r"(?:\A|^");
                self.stand(false, r"\z".to_owned())?;
                self.out.push(')');
            }
            '$' if self.flags.multi_line => self.out.push('$'),
            '$' => self.end()?,
            '*' | '+' | '?' => self.repeat(next)?,
            '{' if self.is_count() => {
                self.out.push('{');
                while self.rest.peek().is_some_and(|c| *c != '}') {
                    self.out.extend(self.rest.next());
                }
                self.skip(1);
                self.repeat('}')?;
            }
            '{' | '}' => self.out.extend(['\\', next]),
            '#' if self.flags.extended => while self.rest.next().is_some_and(|c| c != '\n') {},
            other => self.out.push(other),
        }
        Ok(())
    }

    /// A repetition sign; a `+` behind it would make it possessive.
    fn repeat(&mut self, sign: char) -> Result<(), Error> {
        self.out.push(sign);
        match self.rest.peek() {
            Some('+') => Err(unsupported("a possessive quantifier")),
            Some('?') => {
                self.skip(1);
                self.out.push('?');
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether a `{` that was just read opens a repetition count.
    fn is_count(&self) -> bool {
        let body: String = self.rest.clone().take_while(|c| *c != '}').collect();
        let closed = self.rest.clone().any(|c| c == '}');
        let (low, high) = body.split_once(',').unwrap_or((&body, ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        closed && !low.is_empty() && digits(low) && digits(high)
    }

    /// Reads what a bracket opens; answers whether it is still open.
    fn group(&mut self) -> Result<bool, Error> {
        if self.starts_with("?#") {
            while self.rest.next().is_some_and(|c| c != ')') {}
            return Ok(false);
        }
        for (text, wanted) in [("?=", true), ("?!", false)] {
            if self.aheads.is_some() && self.starts_with(text) {
                self.skip(2);
                self.ahead(wanted)?;
                return Ok(false);
            }
        }
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
        if let Some((_, what)) = refused.iter().find(|(text, _)| self.starts_with(text)) {
            return Err(unsupported(what));
        }
        self.out.push('(');
        if self.starts_with("?'") {
            self.skip(2);
            let name: String = self.rest.by_ref().take_while(|c| *c != '\'').collect();
            self.out.push_str(&format!("?P<{name}>"));
        } else if self.starts_with("*") {
            return Err(unsupported("a backtracking verb"));
        } else if self.starts_with("?") {
            self.skip(1);
            self.out.push('?');
            self.has_flags |= self.rest.peek().is_some_and(|c| c.is_ascii_lowercase() || *c == '-');
        }
        Ok(true)
    }

    fn escape(&mut self) -> Result<(), Error> {
        let Some(next) = self.rest.next() else { return Err(invalid("\\ at end of pattern")) };
        match next {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("[0-9A-Za-z_]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            's' => self.out.push_str(r"[\t\n\x0B\f\r\x20]"),
            'S' => self.out.push_str(r"[^\t\n\x0B\f\r\x20]"),
            'h' => self.out.push_str(r"[\t\x20\u{A0}\u{1680}\u{2000}-\u{200A}\u{202F}\u{3000}]"),
            'v' => self.out.push_str(r"[\n\x0B\f\r\u{85}\u{2028}\u{2029}]"),
            'N' => self.out.push_str(r"[^\n]"),
            'R' => self.out.push_str(r"(?:\r\n|[\n\x0B\f\r\u{85}\u{2028}\u{2029}])"),
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' if self.aheads.is_some() => self.stand(false, r"(?-u:\b)".to_owned())?,
            'B' => self.out.push_str(r"\B"),
            'Z' => self.end()?,
            'Q' => self.quoted(),
            'E' => {}
            'K' | 'G' | 'X' | 'C' => return Err(unsupported(&format!("\\{next}"))),
            '1'..='7' if self.is_octal() => self.octal(next),
            'k' | 'g' | '1'..='9' => return Err(unsupported("a reference back")),
            other => self.plain_escape(other),
        }
        Ok(())
    }

    /// Whether two more octal digits follow: three of them are a character, not a reference.
    fn is_octal(&self) -> bool {
        self.rest.clone().take(2).filter(|c| c.is_digit(8)).count() == 2
    }

    fn octal(&mut self, first: char) {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(8)) else { break };
            code = code * 8 + digit;
            self.skip(1);
        }
        self.out.push_str(&format!("\\x{{{code:x}}}"));
    }

    /// Escapes that mean the same inside and outside of classes.
    fn plain_escape(&mut self, next: char) {
        match next {
            'e' => self.out.push_str(r"\x1B"),
            '0' => self.out.push_str(r"\x00"),
            'c' => {
                let control =
                    self.rest.next().map_or(0, |c| u32::from(c.to_ascii_uppercase()) ^ 64);
                self.out.push_str(&format!("\\x{{{control:x}}}"));
            }
            'p' | 'P' => {
                self.out.extend(['\\', next]);
                if self.rest.peek() == Some(&'{') {
                    self.out.extend(self.rest.by_ref().take_while(|c| *c != '}'));
                    self.out.push('}');
                }
            }
            'x' | 'A' | 'z' | 't' | 'n' | 'r' | 'f' | 'a' => {
                self.out.extend(['\\', next]);
            }
            other => self.literal(other),
        }
    }

    fn literal(&mut self, next: char) {
        if next == '<' || next == '>' || next.is_alphanumeric() || !next.is_ascii() {
            self.out.push(next);
        } else if next.is_ascii_punctuation() {
            self.out.extend(['\\', next]);
        } else {
            self.out.push_str(&format!("\\x{{{:x}}}", u32::from(next)));
        }
    }

    fn quoted(&mut self) {
        while let Some(next) = self.rest.next() {
            if next == '\\' && self.rest.peek() == Some(&'E') {
                self.skip(1);
                return;
            }
            self.literal(next);
        }
    }

    fn class(&mut self) -> Result<(), Error> {
        self.out.push('[');
        if self.rest.peek() == Some(&'^') {
            self.skip(1);
            self.out.push('^');
        }
        let mut first = true;
        while let Some(next) = self.rest.next() {
            match next {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' if self.rest.peek() == Some(&':') => self.posix_class(),
                '\\' => self.class_escape()?,
                '-' => self.out.push('-'),
                '[' | ']' | '&' | '~' | '^' | '#' => self.out.extend(['\\', next]),
                other if other.is_whitespace() => self.literal_space(other),
                other => self.out.push(other),
            }
            first = false;
        }
        Err(invalid("missing terminating ] for character class"))
    }

    fn literal_space(&mut self, next: char) {
        self.out.push_str(&format!("\\x{{{:x}}}", u32::from(next)));
    }

    fn posix_class(&mut self) {
        self.out.push('[');
        for next in self.rest.by_ref() {
            self.out.push(next);
            if next == ']' {
                break;
            }
        }
    }

    fn class_escape(&mut self) -> Result<(), Error> {
        let Some(next) = self.rest.next() else { return Err(invalid("\\ at end of pattern")) };
        match next {
            'd' => self.out.push_str("0-9"),
            'w' => self.out.push_str("0-9A-Za-z_"),
            's' => self.out.push_str(r"\t\n\x0B\f\r\x20"),
            'D' => self.out.push_str("[^0-9]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            'S' => self.out.push_str(r"[^\t\n\x0B\f\r\x20]"),
            'h' => self.out.push_str(r"\t\x20\u{A0}"),
            'v' => self.out.push_str(r"\n\x0B\f\r\u{85}\u{2028}\u{2029}"),
            'b' => {
                self.out.push_str(r"\x08");
                return Ok(());
            }
            '1'..='7' => {
                self.octal(next);
                return Ok(());
            }
            other => {
                self.plain_escape(other);
                return Ok(());
            }
        }
        if self.rest.peek() == Some(&'-') {
            self.skip(1);
            self.out.push_str("\\-");
        }
        Ok(())
    }
}
