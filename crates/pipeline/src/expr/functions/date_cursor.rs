//! A read position in a text that is parsed as a date.

use evaluation::Error;

use crate::invalid_request;

/// A text and the read position.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    /// Number of bytes of the text that were read.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn rest_of_text(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the next character without consuming it.
    pub(super) fn peek_char(&self) -> Option<char> {
        self.rest_of_text().chars().next()
    }

    /// Skips this character if it is next; returns whether it was.
    pub(super) fn skip_char(&mut self, c: char) -> bool {
        let found = self.peek_char() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// Skips white space and commas, which are single bytes.
    pub(super) fn skip_blanks(&mut self) {
        let blank = |c: char| c == ',' || c.is_ascii_whitespace() || c == '\u{b}';
        while self.peek_char().is_some_and(blank) {
            self.at += 1;
        }
    }

    /// Reads at least `least` and at most `most` digits; returns their value and count. If there
    /// are too few, nothing is consumed.
    pub(super) fn read_digits(&mut self, least: usize, most: usize) -> Option<(i64, usize)> {
        let rest = self.rest_of_text();
        let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if count < least {
            return None;
        }
        self.at += count;
        Some((rest.get(..count)?.parse().ok()?, count))
    }

    /// Reads ASCII letters; empty if there are none.
    pub(super) fn read_word(&mut self) -> &'a str {
        let rest = self.rest_of_text();
        let count = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        self.at += count;
        rest.get(..count).unwrap_or_default()
    }

    /// Returns the error for an unexpected character at this position; at the end of the text it is
    /// shown as a blank.
    pub(super) fn wrong_text(&self, reason: &str) -> Error {
        let (text, at) = (self.text, self.at);
        let found = self.peek_char().map_or_else(|| " ".to_owned(), |c| c.to_string());
        invalid_request(
            241,
            format!("Error parsing date string '{text}'; {at}: {reason} '{found}'"),
        )
    }
}
