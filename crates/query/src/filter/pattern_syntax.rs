//! Perl's pattern syntax rewritten for an engine without backtracking: same meaning for what both
//! have, a named refusal for what only a backtracking engine can do.

use std::iter::Peekable;
use std::str::Chars;

use crate::{Error, Kind};

/// The options of a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) extended: bool,
}

/// Rewrites a pattern.
pub(super) fn translate(source: &str, flags: Flags) -> Result<String, Error> {
    let mut rewrite =
        Rewrite { rest: source.chars().peekable(), out: String::with_capacity(64), flags };
    while let Some(next) = rewrite.rest.next() {
        rewrite.outside(next)?;
    }
    Ok(rewrite.out)
}

fn unsupported(what: &str) -> Error {
    let text = format!("Regular expression is not supported: it uses {what}");
    Error::new(Kind::Unsupported, 51091, text)
}

fn invalid(what: &str) -> Error {
    Error::new(Kind::Invalid, 51091, format!("Regular expression is invalid: {what}"))
}

struct Rewrite<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    flags: Flags,
}

impl Rewrite<'_> {
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
            '(' => self.group()?,
            '$' if self.flags.multi_line => self.out.push('$'),
            '$' => self.out.push_str(r"(?:\n?\z)"),
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

    fn group(&mut self) -> Result<(), Error> {
        if self.starts_with("?#") {
            while self.rest.next().is_some_and(|c| c != ')') {}
            return Ok(());
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
        }
        Ok(())
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
            'B' => self.out.push_str(r"\B"),
            'Z' => self.out.push_str(r"(?:\n?\z)"),
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
