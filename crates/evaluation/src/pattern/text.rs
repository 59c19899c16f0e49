//! Reading a pattern in Perl's syntax and writing it in that of the engine: characters, literal
//! text, and sets of characters.

use std::{fmt::Write, iter::Peekable, str::Chars};

use regex_syntax::hir::ClassUnicode;

use crate::{
    error::{Error, Kind},
    numbers::PATTERN_REFUSED,
};

/// Longest rewritten pattern, bytes. The sets of a longer one would not compile within the limits
/// either.
const MAX_WRITTEN: usize = 1 << 20;

/// The error of a pattern that is wrong.
pub(super) fn invalid(what: &str) -> Error {
    Error::new(Kind::Invalid, PATTERN_REFUSED, format!("Regular expression is invalid: {what}"))
}

/// The refusal of a construct that a pattern uses, by name.
pub(super) fn unsupported(what: &str) -> Error {
    let text = format!("Regular expression is not supported: it uses {what}");
    Error::new(Kind::Unsupported, PATTERN_REFUSED, text)
}

/// The text of a pattern on its way from Perl's syntax to the engine's.
pub(super) struct Text<'a> {
    /// The part that has not been read yet.
    pub(super) rest: Peekable<Chars<'a>>,
    /// The part that has been written.
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

    /// Reads this text, if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.skip(text.chars().count());
        }
        found
    }

    /// Reads the characters up to this one, which is read too; `None` where it does not follow.
    pub(super) fn up_to(&mut self, end: char) -> Option<String> {
        let mut found = String::new();
        loop {
            match self.rest.next()? {
                next if next == end => return Some(found),
                next => found.push(next),
            }
        }
    }

    /// Reads up to `most` digits of this base.
    pub(super) fn digits(&mut self, base: u32, most: usize) -> String {
        let mut found = String::new();
        while found.len() < most
            && let Some(digit) = self.rest.next_if(|c| c.is_digit(base))
        {
            found.push(digit);
        }
        found
    }

    /// Writes a character that stands for itself outside of classes.
    pub(super) fn literal(&mut self, next: char) {
        if next == '<' || next == '>' || next.is_alphanumeric() || !next.is_ascii() {
            self.out.push(next);
        } else if next.is_ascii_punctuation() {
            self.out.extend(['\\', next]);
        } else {
            _ = write!(self.out, "\\x{{{:x}}}", u32::from(next));
        }
    }

    /// Writes a set of characters. Letters of the other case are in it already where they belong to
    /// it, so that the engine must not add any.
    pub(super) fn set(&mut self, set: &ClassUnicode) -> Result<(), Error> {
        self.out.push_str("(?-i:[");
        for range in set.ranges() {
            let (start, end) = (u32::from(range.start()), u32::from(range.end()));
            _ = write!(self.out, "\\x{{{start:x}}}-\\x{{{end:x}}}");
        }
        if set.ranges().is_empty() {
            // A set without characters, which matches nothing.
            self.out.push_str(r"^\x{0}-\x{10ffff}");
        }
        self.out.push_str("])");
        if MAX_WRITTEN < self.out.len() {
            let text = "Regular expression is invalid: regular expression is too large";
            return Err(Error::new(Kind::TooLarge, PATTERN_REFUSED, text));
        }
        Ok(())
    }
}
