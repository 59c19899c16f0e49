//! Reads a file with one document per line; empty lines are skipped.

use super::{Bounded, Bytes, Text};

pub(crate) struct Lines {
    bytes: Bytes,
}

impl Lines {
    pub(super) const fn new(bytes: Bytes) -> Self {
        Self { bytes }
    }

    pub(super) fn next_text(&mut self) -> Result<Option<Text>, String> {
        loop {
            let line = self.bytes.at.line;
            let Some(text) = self.next_line()? else { return Ok(None) };
            let is_complete = text.is_complete();
            if !is_complete || !text.bytes.trim_ascii().is_empty() {
                return Ok(Some(Text {
                    line,
                    next: self.bytes.at,
                    bytes: text.bytes,
                    is_complete,
                }));
            }
        }
    }

    /// Returns the next line without its line break.
    fn next_line(&mut self) -> Result<Option<Bounded>, String> {
        let mut text = Bounded::default();
        let mut is_empty = true;
        loop {
            let ahead = self.bytes.ahead()?;
            if ahead.is_empty() {
                return Ok(Some(text).filter(|_| !is_empty));
            }
            is_empty = false;
            let end = ahead.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(ahead.len());
            text.push(ahead.get(..length).unwrap_or_default());
            self.bytes.take(length + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(text));
            }
        }
    }
}
