//! Incremental parser of an HTTP/1.1 response whose body has a length, is chunked, or extends to
//! the end of the connection. It does no I/O.
//!
//! ```text
//! Head ─┬─ content-length, 204, 304 ─→ Whole ────────────────────────→ Done
//!       ├─ chunked ─→ ChunkSize ⇄ Chunk; size 0 ─→ Trailer ──────────→ Done
//!       └─ neither ─→ UntilEnd ── the server closes the connection ──→ Done
//! ```

use std::ops::Range;

use crate::error::{Error, Result};

/// Maximum size of a status line and headers.
const HEAD_MAX: usize = 64 * 1024;
/// Maximum size of a body.
const BODY_MAX: usize = 256 * 1024 * 1024;

/// Parser state of a response. The caller keeps all received bytes.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    stage: Stage,
    at: usize,
    head: Head,
    /// Range of the body in the received bytes, unless it is chunked.
    whole: Range<usize>,
    /// Decoded contents of the chunks received so far.
    chunks: Vec<u8>,
}

/// The status line and the relevant headers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// Whether the server closes the connection afterwards.
    pub(crate) closes: bool,
    /// Continuation token of a feed.
    pub(crate) continuation: Option<String>,
    length: Option<usize>,
    /// Whether the body is chunked.
    chunked: bool,
}

/// The next element of the response to parse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    Whole,
    UntilEnd,
    ChunkSize,
    Chunk(usize),
    Trailer,
    Done,
}

impl Parser {
    /// Resets the parser for the next response and keeps the chunk buffer.
    pub(crate) fn clear_answer(&mut self) {
        self.chunks.clear();
        let chunks = std::mem::take(&mut self.chunks);
        *self = Self { chunks, ..Self::default() };
    }

    /// Parses all received bytes; returns whether the response is complete. Bytes after the
    /// response are an error, because nothing else was requested.
    pub(crate) fn feed_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        if 2 * BODY_MAX < bytes.len() {
            return Err(too_large());
        }
        while self.take_step(bytes)? {}
        if self.stage == Stage::Done && self.at < bytes.len() {
            return Err(protocol_error("more than one answer"));
        }
        Ok(self.stage == Stage::Done)
    }

    /// Handles the end of the stream. It is an error unless the end of the stream is the end of the
    /// response.
    pub(crate) fn end_stream(&mut self, bytes: &[u8]) -> Result<()> {
        if self.stage != Stage::UntilEnd {
            let source = std::io::ErrorKind::UnexpectedEof.into();
            return Err(Error::io_error("the server closed the connection")(source));
        }
        self.whole = self.at..bytes.len();
        self.head.closes = true;
        self.stage = Stage::Done;
        Ok(())
    }

    /// Returns the number of bytes that are still missing, so that the buffer grows only once; 0 if
    /// the number is unknown.
    pub(crate) fn missing_bytes(&self, bytes: &[u8]) -> usize {
        match self.stage {
            Stage::Whole => self.whole.end.saturating_sub(bytes.len()),
            _ => 0,
        }
    }

    /// Returns status and headers of a complete response.
    pub(crate) fn answer_head(&self) -> &Head {
        &self.head
    }

    /// Returns the body of a complete response.
    pub(crate) fn answer_body<'a>(&'a self, bytes: &'a [u8]) -> &'a [u8] {
        if self.head.chunked { &self.chunks } else { bytes.get(self.whole.clone()).unwrap_or(&[]) }
    }

    /// Parses the next element of the response. Returns false if more bytes are needed or the
    /// response is complete.
    fn take_step(&mut self, bytes: &[u8]) -> Result<bool> {
        match self.stage {
            Stage::Head => self.read_head(bytes),
            Stage::Whole if self.whole.end <= bytes.len() => {
                self.at = self.whole.end;
                self.stage = Stage::Done;
                Ok(true)
            }
            Stage::UntilEnd if BODY_MAX < bytes.len() - self.at => Err(too_large()),
            Stage::ChunkSize => {
                let Some(line) = self.next_line(bytes)? else { return Ok(false) };
                let size = chunk_size(line).ok_or_else(|| protocol_error("a chunk has no size"))?;
                if BODY_MAX - self.chunks.len() < size {
                    return Err(too_large());
                }
                self.stage = if size == 0 { Stage::Trailer } else { Stage::Chunk(size) };
                Ok(true)
            }
            Stage::Chunk(size) => {
                let Some(chunk) = bytes.get(self.at..self.at + size + 2) else { return Ok(false) };
                let Some(data) = chunk.strip_suffix(b"\r\n") else {
                    return Err(protocol_error("a chunk is longer than its size"));
                };
                self.chunks.extend_from_slice(data);
                self.at += chunk.len();
                self.stage = Stage::ChunkSize;
                Ok(true)
            }
            Stage::Trailer => {
                let Some(line) = self.next_line(bytes)? else { return Ok(false) };
                if line.is_empty() {
                    self.stage = Stage::Done;
                }
                Ok(true)
            }
            Stage::Whole | Stage::UntilEnd | Stage::Done => Ok(false),
        }
    }

    /// Parses status line and headers once they are complete, and selects how the body is read.
    fn read_head(&mut self, bytes: &[u8]) -> Result<bool> {
        if !b"HTTP/1.".starts_with(bytes.get(..7).unwrap_or(bytes)) {
            return Err(protocol_error("it does not speak HTTP/1.1"));
        }
        // The end of the headers may have started in the bytes scanned before.
        let from = self.at.saturating_sub(3);
        let Some(end) = find_pattern(&bytes[from..], b"\r\n\r\n").map(|end| from + end) else {
            self.at = bytes.len();
            return if HEAD_MAX < self.at {
                Err(protocol_error("headers too long"))
            } else {
                Ok(false)
            };
        };
        self.head = parse_head(&bytes[..end])?;
        self.at = end + 4;
        let bodiless = matches!(self.head.status, 204 | 304);
        self.stage = match self.head.length {
            _ if bodiless => Stage::Whole,
            _ if self.head.chunked => Stage::ChunkSize,
            Some(length) if BODY_MAX < length => return Err(too_large()),
            Some(_) => Stage::Whole,
            None => Stage::UntilEnd,
        };
        let length = if bodiless { 0 } else { self.head.length.unwrap_or(0) };
        self.whole = self.at..self.at + length;
        Ok(true)
    }

    /// Returns the next complete line, without its end.
    fn next_line<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>> {
        let rest = bytes.get(self.at..).unwrap_or(&[]);
        let Some(end) = find_pattern(rest.get(..HEAD_MAX).unwrap_or(rest), b"\r\n") else {
            return if HEAD_MAX <= rest.len() {
                Err(protocol_error("line too long"))
            } else {
                Ok(None)
            };
        };
        self.at += end + 2;
        Ok(rest.get(..end))
    }
}

/// Parses the headers that matter; of all other headers only the form is checked.
fn parse_head(bytes: &[u8]) -> Result<Head> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| protocol_error("the headers are not text"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or("").split(' ');
    let version = words.next().unwrap_or("");
    let status = words.next().and_then(|status| status.parse().ok());
    let status = status.filter(|status| (200..600).contains(status));
    let status = status.ok_or_else(|| protocol_error("an answer has no final status"))?;
    let mut head = Head { status, closes: version != "HTTP/1.1", ..Head::default() };
    for line in lines {
        let (name, value) =
            line.split_once(':').ok_or_else(|| protocol_error("a header has no name"))?;
        let value = value.trim_matches([' ', '\t']);
        if name.eq_ignore_ascii_case("content-length") {
            let length =
                value.parse().map_err(|_| protocol_error("content-length is not a number"))?;
            head.length = Some(length);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            head.chunked = value.eq_ignore_ascii_case("chunked");
            if !head.chunked {
                return Err(protocol_error(&format!(
                    "transfer-encoding {value:?} was not asked for"
                )));
            }
        } else if name.eq_ignore_ascii_case("connection") {
            head.closes |= value.eq_ignore_ascii_case("close");
        } else if name.eq_ignore_ascii_case("x-ms-continuation") && !value.is_empty() {
            head.continuation = Some(value.to_owned());
        }
    }
    Ok(head)
}

/// Parses the size of a chunk; extensions after a semicolon are ignored.
fn chunk_size(line: &[u8]) -> Option<usize> {
    let line = std::str::from_utf8(line).ok()?;
    let digits = line.split(';').next()?.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    usize::from_str_radix(digits, 16).ok().filter(|size| plain && *size <= BODY_MAX)
}

/// Returns the position of a short pattern.
fn find_pattern<const N: usize>(bytes: &[u8], pattern: &[u8; N]) -> Option<usize> {
    bytes.windows(N).position(|window| window == pattern)
}

/// Returns the error for a protocol violation.
fn protocol_error(what: &str) -> Error {
    Error::Protocol(what.to_owned())
}

fn too_large() -> Error {
    protocol_error("an answer is too large")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns status, body and whether the connection closes. The parser gets the text in pieces
    /// of `step` bytes.
    fn read(text: &str, step: usize) -> Result<(u16, String, bool)> {
        let mut parser = Parser::default();
        let bytes = text.as_bytes();
        let mut upto = 0;
        while upto < bytes.len() {
            upto = bytes.len().min(upto + step);
            if parser.feed_bytes(&bytes[..upto])? && upto < bytes.len() {
                return Err(protocol_error("done too early"));
            }
        }
        if parser.stage != Stage::Done {
            parser.end_stream(bytes)?;
        }
        let body = String::from_utf8(parser.answer_body(bytes).to_vec()).unwrap();
        Ok((parser.head.status, body, parser.head.closes))
    }

    #[test]
    fn answers_whole_and_in_pieces() {
        for (text, status, body, closes) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", false),
            ("HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, "", false),
            ("HTTP/1.1 201\r\nCONTENT-LENGTH:  2 \r\nConnection: Close\r\n\r\n{}", 201, "{}", true),
            ("HTTP/1.0 404 Not Found\r\nContent-Length: 1\r\n\r\nx", 404, "x", true),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", 204, "", false),
            ("HTTP/1.1 204 No Content\r\n\r\n", 204, "", false),
            ("HTTP/1.1 200 OK\r\n\r\nup to the end", 200, "up to the end", true),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                 5\r\nhello\r\n1;x=y\r\n \r\nA\r\n0123456789\r\n0\r\n\r\n",
                200,
                "hello 0123456789",
                false,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx-t: 1\r\nb: 2\r\n\r\n",
                200,
                "",
                false,
            ),
        ] {
            for step in [1, 2, 3, 7, text.len()] {
                let got = read(text, step).unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!(got, (status, body.to_owned(), closes), "{text} by {step}");
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(HEAD_MAX));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (text, want) in [
            ("\x10\0\0\0", "does not speak HTTP"),
            ("SSH-2.0-x\r\n", "does not speak HTTP"),
            ("HTTP/2 200\r\n\r\n", "does not speak HTTP"),
            ("HTTP/1.1\r\n\r\n", "no final status"),
            ("HTTP/1.1 abc\r\n\r\n", "no final status"),
            ("HTTP/1.1 100 Continue\r\n\r\n", "no final status"),
            ("HTTP/1.1 200 OK\r\nnothing\r\n\r\n", "no name"),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "not a number"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "too large"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "was not asked for"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", "more than one answer"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx", "closed the connection"),
            ("HTTP/1.1 200 OK\r\nContent-Le", "closed the connection"),
            ("", "closed the connection"),
            (&endless, "headers too long"),
            (&format!("{chunked}x\r\n"), "no size"),
            (&format!("{chunked}+1\r\n"), "no size"),
            (&format!("{chunked}\r\n"), "no size"),
            (&format!("{chunked}ffffffffffffffff\r\n"), "no size"),
            (&format!("{chunked}1\r\nab\r\n"), "longer than its size"),
            (&format!("{chunked}{}", "1".repeat(HEAD_MAX + 1)), "line too long"),
            (&format!("{chunked}5\r\nab"), "closed the connection"),
        ] {
            let error = read(text, text.len().max(1)).unwrap_err().to_string();
            assert!(error.contains(want), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_parser_is_used_again() {
        let mut parser = Parser::default();
        let first =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nx-ms-continuation: t\r\n\r\n\
                      1\r\na\r\n0\r\n\r\n";
        assert!(parser.feed_bytes(first).unwrap());
        assert_eq!(parser.answer_body(first), b"a");
        assert_eq!(parser.answer_head().continuation.as_deref(), Some("t"));
        parser.clear_answer();
        let second = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nb";
        assert!(!parser.feed_bytes(second).unwrap());
        assert_eq!(parser.missing_bytes(second), 9);
        assert_eq!(parser.answer_head().continuation, None);
    }
}
