//! Splits a JSON file into texts of one document each: its lines, or the elements of an array. It
//! determines the positions of the texts and does not parse them. Only the start of a text is kept
//! if the text is too long.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom},
    path::Path,
};

mod elements;
mod lines;

use elements::Elements;
use lines::Lines;

/// Maximum length of an input line. A document of 16 MiB takes at most six times that in Extended
/// JSON, if all its bytes are control characters.
pub(crate) const MAX_LINE_BYTES: usize = 128 * 1024 * 1024;
/// Maximum length of a refused line in the refusals file.
pub(crate) const KEPT_LINE_BYTES: usize = 64 * 1024;

/// A position in a file between two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilePosition {
    pub(crate) offset: u64,
    /// Line number at the offset, from 1.
    pub(crate) line: u64,
}

impl FilePosition {
    /// The start of a file.
    pub(crate) const START: Self = Self { offset: 0, line: 1 };
}

/// The text of one document.
#[derive(Debug)]
pub(crate) struct Text {
    /// Line number at the start of the text, from 1.
    pub(crate) line: u64,
    /// Start of the next text.
    pub(crate) next: FilePosition,
    pub(crate) bytes: Vec<u8>,
    /// Whether `bytes` has the whole text; a text that is too long is truncated.
    pub(crate) is_complete: bool,
}

pub(crate) enum Texts {
    Lines(Lines),
    /// An array of documents: the file's first non-space byte is `[`, unlike that of a document.
    Elements(Elements),
}

/// A buffered input with its position.
struct Bytes {
    input: BufReader<Box<dyn Read>>,
    at: FilePosition,
}

impl Texts {
    /// Opens a file at a position; standard input if there is no path.
    pub(crate) fn open(path: Option<&Path>, from: FilePosition) -> Result<Self, String> {
        let mut bytes = Bytes::open(path, FilePosition::START)?;
        bytes.skip_mark()?;
        let is_array = bytes.next_of_text()? == Some(b'[');
        if from != FilePosition::START {
            bytes = Bytes::open(path, from)?;
        }
        Ok(match is_array {
            true if from == FilePosition::START => {
                bytes.take(1);
                Self::Elements(Elements::at_first(bytes))
            }
            true => Self::Elements(Elements::behind_one(bytes)),
            false => Self::Lines(Lines::new(bytes)),
        })
    }

    /// Returns the next text; after an error reading cannot continue.
    pub(crate) fn next_text(&mut self) -> Result<Option<Text>, String> {
        match self {
            Self::Lines(lines) => lines.next_text(),
            Self::Elements(elements) => elements.next_text(),
        }
    }
}

/// Opens a file at an offset; standard input if there is no path.
pub(crate) fn open_at(path: Option<&Path>, offset: u64) -> Result<Box<dyn Read>, String> {
    let Some(path) = path else { return Ok(Box::new(io::stdin())) };
    let open = || {
        let mut file = File::open(path)?;
        if file.metadata()?.len() < offset {
            return Err(io::Error::other("it is shorter than the part that was imported"));
        }
        file.seek(SeekFrom::Start(offset))?;
        Ok(file)
    };
    let file = open().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(Box::new(file))
}

impl Bytes {
    fn open(path: Option<&Path>, at: FilePosition) -> Result<Self, String> {
        Ok(Self { input: BufReader::with_capacity(1 << 18, open_at(path, at.offset)?), at })
    }

    /// Returns the buffered bytes after reading if necessary; empty at the end.
    fn ahead(&mut self) -> Result<&[u8], String> {
        self.input.fill_buf().map_err(|error| format!("the input: {error}"))
    }

    fn take(&mut self, count: usize) {
        let taken = self.input.buffer().get(..count).unwrap_or_default();
        let lines = taken.iter().filter(|byte| **byte == b'\n').count();
        self.at.line += lines as u64;
        self.at.offset += count as u64;
        self.input.consume(count);
    }

    /// Skips a byte order mark.
    fn skip_mark(&mut self) -> Result<(), String> {
        if self.ahead()?.starts_with(b"\xef\xbb\xbf") {
            self.take(3);
        }
        Ok(())
    }

    /// Skips white space and returns the next byte without consuming it.
    fn next_of_text(&mut self) -> Result<Option<u8>, String> {
        loop {
            let ahead = self.ahead()?;
            let Some(length) = Some(ahead.len()).filter(|length| 0 < *length) else {
                return Ok(None);
            };
            match ahead.iter().position(|byte| !byte.is_ascii_whitespace()) {
                Some(at) => {
                    let found = ahead.get(at).copied();
                    self.take(at);
                    return Ok(found);
                }
                None => self.take(length),
            }
        }
    }
}

/// A text and its length; if the text is longer than [`MAX_LINE_BYTES`], only its start is kept.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    pub(super) bytes: Vec<u8>,
    length: usize,
}

impl Bounded {
    pub(super) fn push(&mut self, part: &[u8]) {
        if self.length + part.len() <= MAX_LINE_BYTES {
            self.bytes.extend_from_slice(part);
        } else if self.length <= MAX_LINE_BYTES {
            // The start of a text that is too long is kept for the error report only.
            self.bytes.truncate(KEPT_LINE_BYTES);
            self.bytes.shrink_to_fit();
        }
        self.length += part.len();
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.length <= MAX_LINE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line of a text, the text, and the position after it.
    type Seen = (u64, String, FilePosition);

    /// Returns the texts of a file from a position, and the error that ended it.
    fn texts(content: &[u8], from: FilePosition) -> (Vec<Seen>, Result<(), String>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let mut texts = Texts::open(Some(file.path()), from).unwrap();
        let mut found = Vec::new();
        loop {
            match texts.next_text() {
                Ok(Some(text)) => {
                    let shown = String::from_utf8_lossy(&text.bytes).into_owned();
                    found.push((text.line, shown, text.next));
                }
                ended => return (found, ended.map(|_| ())),
            }
        }
    }

    #[test]
    fn an_array_has_a_text_for_each_element() {
        let content = b"\xef\xbb\xbf \n[{\"a\":[1,{}],\"b\":\"]},\\\"\\\\\"},{\n\"c\":1}\n, 5,\"x,\" ,]x]\n\n";
        let (found, ended) = texts(content, FilePosition::START);
        let shown: Vec<(u64, &str)> = found.iter().map(|it| (it.0, it.1.as_str())).collect();
        let wanted = [
            (2, "{\"a\":[1,{}],\"b\":\"]},\\\"\\\\\"}"),
            (2, "{\n\"c\":1}"),
            (4, "5"),
            (4, "\"x,\""),
        ];
        assert_eq!(shown, wanted);
        assert_eq!(ended, Err("line 4: a document is missing".to_owned()));
        for (at, (.., next)) in found.iter().enumerate() {
            let (rest, end) = texts(content, *next);
            assert_eq!((&rest[..], end), (&found[at + 1..], ended.clone()), "behind {at}");
        }
    }

    #[test]
    fn what_is_wrong_between_elements_ends_the_file() {
        for (content, elements, ended) in [
            ("[]", 0, Ok(())),
            ("[ ]\n ", 0, Ok(())),
            ("[{}]", 1, Ok(())),
            ("[{}]]", 1, Err("line 1: trailing data after the array")),
            ("[{}]\n{}", 1, Err("line 2: trailing data after the array")),
            ("[", 0, Err("line 1: the array is not closed")),
            ("[{}", 1, Err("line 1: the array is not closed")),
            ("[{}\n,", 1, Err("line 2: the array is not closed")),
            ("[{\"a\":", 1, Err("line 1: the array is not closed")),
            ("[,{}]", 0, Err("line 1: a document is missing")),
            ("[{},]", 1, Err("line 1: a document is missing")),
            ("[{} {}]", 1, Err("line 1: a comma or the end of the array is missing")),
            ("[{}}]", 1, Err("line 1: a comma or the end of the array is missing")),
            ("[}]", 1, Ok(())),
        ] {
            let (found, was) = texts(content.as_bytes(), FilePosition::START);
            assert_eq!((found.len(), was), (elements, ended.map_err(str::to_owned)), "{content}");
        }
    }
}
