//! The input and output of rewriting a pattern: parses Perl's syntax and writes characters, literal
//! text and sets of characters in the engine's syntax.

use std::{fmt::Write, iter::Peekable, str::Chars};

use regex_syntax::hir::ClassUnicode;

use crate::error::{Error, Kind, numbers::PATTERN_REFUSED};

/// Maximum length of a rewritten pattern, in bytes. A longer one would exceed the limits of
/// compilation anyway.
const MAX_WRITTEN: usize = 1 << 20;

/// Returns the error for an invalid pattern.
pub(super) fn invalid(what: &str) -> Error {
    Error::new(Kind::Invalid, PATTERN_REFUSED, format!("Regular expression is invalid: {what}"))
}

/// Returns the error for an unsupported construct, with its name.
pub(super) fn unsupported(what: &str) -> Error {
    let text = format!("Regular expression is not supported: it uses {what}");
    Error::new(Kind::Unsupported, PATTERN_REFUSED, text)
}

/// Returns the error for a pattern that is too large.
pub(super) fn too_large() -> Error {
    let text = "Regular expression is invalid: regular expression is too large";
    Error::new(Kind::TooLarge, PATTERN_REFUSED, text)
}

/// The state of rewriting: remaining input and output.
pub(super) struct Text<'a> {
    pub(super) rest: Peekable<Chars<'a>>,
    pub(super) out: String,
}

impl<'a> Text<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { rest: source.chars().peekable(), out: String::with_capacity(64) }
    }

    /// Returns whether the input continues with this text.
    pub(super) fn starts_with(&self, text: &str) -> bool {
        let mut rest = self.rest.clone();
        text.chars().all(|wanted| rest.next() == Some(wanted))
    }

    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.rest.next();
        }
    }

    /// Consumes this text if the input continues with it, and returns whether it did.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.skip(text.chars().count());
        }
        found
    }

    /// Reads up to and including this character and returns the text before it; `None` if it does
    /// not occur.
    pub(super) fn up_to(&mut self, end: char) -> Option<String> {
        let mut found = String::new();
        loop {
            match self.rest.next()? {
                next if next == end => return Some(found),
                next => found.push(next),
            }
        }
    }

    /// Reads up to `most` digits of this number base.
    pub(super) fn digits(&mut self, base: u32, most: usize) -> String {
        let mut found = String::new();
        while found.len() < most
            && let Some(digit) = self.rest.next_if(|c| c.is_digit(base))
        {
            found.push(digit);
        }
        found
    }

    /// Writes a literal character outside of classes.
    pub(super) fn literal(&mut self, next: char) {
        if next == '<' || next == '>' || next.is_alphanumeric() || !next.is_ascii() {
            self.out.push(next);
        } else if next.is_ascii_punctuation() {
            self.out.extend(['\\', next]);
        } else {
            _ = write!(self.out, "\\x{{{:x}}}", u32::from(next));
        }
    }

    /// Writes a set of characters. It already contains the letters of the other case that belong to
    /// it, so the engine must not add any.
    pub(super) fn set(&mut self, set: &ClassUnicode) -> Result<(), Error> {
        self.out.push_str("(?-i:[");
        for range in set.ranges() {
            let (start, end) = (u32::from(range.start()), u32::from(range.end()));
            _ = write!(self.out, "\\x{{{start:x}}}-\\x{{{end:x}}}");
        }
        if set.ranges().is_empty() {
            // The empty set, which matches nothing.
            self.out.push_str(r"^\x{0}-\x{10ffff}");
        }
        self.out.push_str("])");
        if MAX_WRITTEN < self.out.len() {
            return Err(too_large());
        }
        Ok(())
    }
}
