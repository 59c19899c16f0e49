//! What the rewriting of a pattern reads from and writes to, with all that is read the same way
//! wherever it stands: characters, escapes of characters, and classes.
//!
//! ```text
//! [\d-x]     ->   [0-9\-x]        no range can begin with a class
//! \x41\101   ->   \x41\x{41}      octal digits are written as hexadecimal ones
//! \Q.+\E     ->   \.\+            everything between the two stands for itself
//! ```

use std::iter::Peekable;
use std::str::Chars;

use crate::{
    error::{Error, Kind},
    numbers::PATTERN_REFUSED,
};

/// The error of a pattern that is wrong.
pub(super) fn invalid(what: &str) -> Error {
    Error::new(Kind::Invalid, PATTERN_REFUSED, format!("Regular expression is invalid: {what}"))
}

/// The text of a pattern on its way from Perl's syntax to the engine's.
pub(super) struct Text<'a> {
    /// What was not read yet.
    pub(super) rest: Peekable<Chars<'a>>,
    /// What was written.
    pub(super) out: String,
}

impl<'a> Text<'a> {
    /// The text of a pattern, with nothing written yet.
    pub(super) fn new(source: &'a str) -> Self {
        Self { rest: source.chars().peekable(), out: String::with_capacity(64) }
    }

    /// Whether this text comes next.
    pub(super) fn starts_with(&self, text: &str) -> bool {
        let mut rest = self.rest.clone();
        text.chars().all(|wanted| rest.next() == Some(wanted))
    }

    /// Passes over so many characters.
    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.rest.next();
        }
    }

    /// Whether two more octal digits follow: three of them are a character, not a reference.
    pub(super) fn is_octal(&self) -> bool {
        self.rest.clone().take(2).filter(|c| c.is_digit(8)).count() == 2
    }

    /// Writes a character given by up to three octal digits.
    pub(super) fn octal(&mut self, first: char) {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(8)) else { break };
            code = code * 8 + digit;
            self.skip(1);
        }
        self.out.push_str(&format!("\\x{{{code:x}}}"));
    }

    /// Escapes that mean the same inside and outside of classes.
    pub(super) fn plain_escape(&mut self, next: char) {
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

    /// Writes a character that stands for itself.
    fn literal(&mut self, next: char) {
        if next == '<' || next == '>' || next.is_alphanumeric() || !next.is_ascii() {
            self.out.push(next);
        } else if next.is_ascii_punctuation() {
            self.out.extend(['\\', next]);
        } else {
            self.out.push_str(&format!("\\x{{{:x}}}", u32::from(next)));
        }
    }

    /// Writes everything up to `\E` as it stands.
    pub(super) fn quoted(&mut self) {
        while let Some(next) = self.rest.next() {
            if next == '\\' && self.rest.peek() == Some(&'E') {
                self.skip(1);
                return;
            }
            self.literal(next);
        }
    }

    /// Rewrites a class up to its `]`. A bracket that stands first is one of the class; the
    /// engine's own operators on classes (`&&`, `~~`, nested brackets) are escaped, as Perl has
    /// none.
    pub(super) fn class(&mut self) -> Result<(), Error> {
        self.out.push('[');
        if self.rest.peek() == Some(&'^') {
            self.skip(1);
            self.out.push('^');
        }
        let mut first = true;
        while let Some(next) = self.rest.next() {
            match next {
                // The first bracket does not close the class.
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

    /// Writes white space in a class, which the engine would leave out in extended mode.
    fn literal_space(&mut self, next: char) {
        self.out.push_str(&format!("\\x{{{:x}}}", u32::from(next)));
    }

    /// Writes a class such as `[:alpha:]` inside a class as it is.
    fn posix_class(&mut self) {
        self.out.push('[');
        for next in self.rest.by_ref() {
            self.out.push(next);
            if next == ']' {
                break;
            }
        }
    }

    /// Rewrites an escape inside a class. After a class such as `\d` a `-` stands for itself.
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
        // No range can begin with a class.
        if self.rest.peek() == Some(&'-') {
            self.skip(1);
            self.out.push_str("\\-");
        }
        Ok(())
    }
}
