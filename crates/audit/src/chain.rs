//! The hash chain of the lines, and the check of a file. A line is a JSON object. Its last field is
//! the SHA-256 of the line before that field, which includes the hash of the previous line.
//!
//! ```text
//! {"action":"dropUser",..,"previous":"5d41..","hash":"9f86.."}
//!  └──────────── hashed with the value of "previous" ┘
//! ```

use std::{
    fmt,
    io::{self, BufRead},
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Event;

/// Length of a hash in hexadecimal digits.
const DIGITS: usize = 64;
/// The value of `previous` in the first line of a chain.
pub(crate) const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Separates a line's fields from its hash.
const HASH: &str = ",\"hash\":\"";

/// The end of a chain of hashed lines, after which the next line is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the last line; 0 before the first.
    pub(crate) number: u64,
    /// The hash of the last line.
    pub(crate) hash: String,
}

impl Default for Place {
    fn default() -> Self {
        Self { number: 0, hash: FIRST.to_owned() }
    }
}

impl Place {
    /// Returns the next line of the chain, with its line feed, and the end of the chain after this
    /// line.
    pub(crate) fn next_line(&self, event: &Event<'_>, time: &str) -> (String, Self) {
        let number = self.number + 1;
        let mut fields = event.fields(number, time);
        fields.insert("previous".to_owned(), self.hash.as_str().into());
        let body = Value::Object(fields).to_string();
        // The closing brace follows the hash.
        let body = body.strip_suffix('}').unwrap_or(&body);
        let hash = hash_of(body);
        (format!("{body}{HASH}{hash}\"}}\n"), Self { number, hash })
    }

    /// Parses a line of the file. Returns the end of the chain after the line, and the value of
    /// `previous` in the line; `None` if the line's own hash is wrong.
    pub(crate) fn behind(line: &str) -> Option<(Self, String)> {
        let (body, hash) = line.split_once(HASH)?;
        let hash = hash.strip_suffix("\"}")?;
        if hash.len() != DIGITS || hash_of(body) != hash {
            return None;
        }
        let fields: Value = serde_json::from_str(line).ok()?;
        let number = fields.get("number")?.as_u64()?;
        let previous = fields.get("previous")?.as_str()?.to_owned();
        Some((Self { number, hash: hash.to_owned() }, previous))
    }
}

/// Returns the hash of a line, given its text before the hash field.
fn hash_of(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    digest.iter().fold(String::with_capacity(DIGITS), |mut text, byte| {
        use fmt::Write as _;
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The result of checking an intact file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Number of lines in the file.
    pub lines: u64,
    /// The previous hash in the first line: the last hash of an earlier file, or zeros if the chain
    /// starts in this file.
    pub begins_behind: String,
    /// The hash of the last line of the file.
    pub last: String,
}

/// The first line at which the chain of a file is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The number of the line in the file, starting at 1.
    pub line: u64,
    /// Reason why the line is invalid, for the report.
    pub why: &'static str,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// Checks the chain of a file. An unterminated last line is ignored: the server was stopped while
/// it wrote the line, and will truncate it at the next start.
///
/// # Errors
///
/// The outer error is a read error. The inner error describes the first line that breaks the chain.
pub fn check(mut file: impl BufRead) -> io::Result<Result<Checked, Broken>> {
    let mut checked = Checked { lines: 0, begins_behind: FIRST.to_owned(), last: FIRST.to_owned() };
    let mut number = None;
    let mut line = String::new();
    loop {
        line.clear();
        if file.read_line(&mut line)? == 0 || !line.ends_with('\n') {
            return Ok(Ok(checked));
        }
        let broken = |why| Ok(Err(Broken { line: checked.lines + 1, why }));
        let Some((place, previous)) = Place::behind(line.trim_end_matches('\n')) else {
            return broken("it was changed");
        };
        match number {
            None => checked.begins_behind = previous,
            Some(number) if previous != checked.last || place.number != number + 1 => {
                return broken(
                    "the preceding line was removed, or a line was inserted before this one",
                );
            }
            Some(_) => {}
        }
        number = Some(place.number);
        checked.lines += 1;
        checked.last = place.hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Api;

    fn file(lines: usize) -> String {
        let event = Event {
            api: Api::Mongo,
            action: "createUser",
            peer: "127.0.0.1:5",
            user: Some("a\"n\nn,\"hash\":\""),
            object: "shop",
            outcome: 0,
        };
        let mut place = Place::default();
        let mut text = String::new();
        for _ in 0..lines {
            let (line, next) = place.next_line(&event, "2026-01-01T00:00:00Z");
            assert_eq!(line.lines().count(), 1);
            text.push_str(&line);
            place = next;
        }
        text
    }

    fn found(text: &str) -> Result<Checked, Broken> {
        check(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_file_holds_together() {
        let text = file(5);
        let checked = found(&text).unwrap();
        assert_eq!((checked.lines, checked.begins_behind.as_str()), (5, FIRST));
        assert_eq!(found("").unwrap().lines, 0);
        let torn = text.get(..text.len() - 3).unwrap();
        assert_eq!(found(torn).unwrap().lines, 4, "a last line without an end");
        let later = text.split_once('\n').unwrap().1;
        let checked = found(later).unwrap();
        assert_eq!(checked.lines, 4, "a file that goes on after another");
        assert_ne!(checked.begins_behind, FIRST);
    }

    #[test]
    fn every_changed_byte_shows() {
        let text = file(3);
        for at in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            // The previous hash of the first line may have any value.
            let ok = found(&changed);
            assert!(ok.is_err(), "{at}: {ok:?}");
        }
    }

    #[test]
    fn lines_that_are_missing_or_moved_show() {
        let text = file(4);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (order, line) in [([0, 2, 3], 2), ([0, 2, 1], 2), ([0, 0, 1], 2), ([0, 1, 3], 3)] {
            let moved: String = order.iter().map(|at| lines[*at]).collect();
            let broken = found(&moved).unwrap_err();
            assert_eq!(
                (broken.line, broken.why),
                (line, "the preceding line was removed, or a line was inserted before this one")
            );
        }
    }
}
