//! A place in a text that is read as a date: what stands there, and what is passed over.

use evaluation::Error;

use crate::failure::invalid_request;

/// A text and how far it was read, in bytes.
pub(super) struct Cursor<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    /// Bytes of it that were read.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    /// What was not read yet.
    pub(super) fn rest_of_text(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character.
    pub(super) fn peek_char(&self) -> Option<char> {
        self.rest_of_text().chars().next()
    }

    /// Passes over a character if it stands here.
    pub(super) fn skip_char(&mut self, c: char) -> bool {
        let found = self.peek_char() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// Passes over white space and commas.
    /// All of them are one byte long.
    pub(super) fn skip_blanks(&mut self) {
        let blank = |c: char| c == ',' || c.is_ascii_whitespace() || c == '\u{b}';
        while self.peek_char().is_some_and(blank) {
            self.at += 1;
        }
    }

    /// Reads at least `least` and at most `most` digits; returns their value and their number.
    /// It leaves everything where it was when there are too few.
    pub(super) fn read_digits(&mut self, least: usize, most: usize) -> Option<(i64, usize)> {
        let rest = self.rest_of_text();
        let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if count < least {
            return None;
        }
        self.at += count;
        Some((rest.get(..count)?.parse().ok()?, count))
    }

    /// Reads letters.
    /// Only ASCII letters; an empty text where none stands here.
    pub(super) fn read_word(&mut self) -> &'a str {
        let rest = self.rest_of_text();
        let count = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        self.at += count;
        rest.get(..count).unwrap_or_default()
    }

    /// The error that something else was expected here.
    /// At the end of the text a blank stands for what was found.
    pub(super) fn wrong_text(&self, reason: &str) -> Error {
        let (text, at) = (self.text, self.at);
        let found = self.peek_char().map_or_else(|| " ".to_owned(), |c| c.to_string());
        invalid_request(
            241,
            format!("Error parsing date string '{text}'; {at}: {reason} '{found}'"),
        )
    }
}
