//! Answers that wait to be sent.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

use super::reply_frame::{ReturnAddress, write_answer};
use crate::exchange::Answer;

/// Length up to which a body is copied behind its frame, so that both are sent at once.
const COPIED_BYTES: usize = 8 * 1024;

/// Bytes in the order in which they are sent.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Parts to which nothing is appended any more.
    parts: VecDeque<Bytes>,
    /// The last part, to which frames are appended.
    last: Vec<u8>,
    unsent: usize,
    /// Whether sent bytes have to be flushed.
    unflushed: bool,
}

impl Output {
    /// Returns whether all bytes are sent and flushed.
    pub(super) fn is_sent(&self) -> bool {
        self.unsent == 0 && !self.unflushed
    }

    /// Sends as much as the client takes.
    pub(super) fn send(
        &mut self,
        io: &mut (impl AsyncWrite + Unpin),
        context: &mut Context<'_>,
    ) -> io::Result<()> {
        loop {
            let bytes = self.front();
            if bytes.is_empty() {
                break;
            }
            match Pin::new(&mut *io).poll_write(context, bytes) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(sent)) => self.advance(sent),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(()),
            }
            self.unflushed = true;
        }
        if self.unflushed
            && let Poll::Ready(flushed) = Pin::new(io).poll_flush(context)
        {
            flushed?;
            self.unflushed = false;
        }
        Ok(())
    }

    /// Returns the number of unsent bytes.
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    pub(super) fn push(&mut self, answer: Answer, to: ReturnAddress) {
        self.write(|out| {
            let body = write_answer(answer, to, out);
            if body.len() <= COPIED_BYTES {
                out.extend_from_slice(&body);
                return Bytes::new();
            }
            body
        });
    }

    /// Appends what `write` writes, then the bytes that it returns.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Bytes) {
        let before = self.last.len();
        let body = write(&mut self.last);
        self.unsent += self.last.len() - before + body.len();
        if !body.is_empty() {
            self.parts.push_back(Bytes::from(std::mem::take(&mut self.last)));
            self.parts.push_back(body);
        }
    }

    /// Returns the bytes to send next; empty if everything is sent.
    fn front(&mut self) -> &[u8] {
        if self.parts.is_empty() && !self.last.is_empty() {
            self.parts.push_back(Bytes::from(std::mem::take(&mut self.last)));
        }
        self.parts.front().map_or(&[], |part| part)
    }

    /// Removes bytes that were sent.
    fn advance(&mut self, sent: usize) {
        self.unsent = self.unsent.saturating_sub(sent);
        if let Some(part) = self.parts.front_mut() {
            part.advance(sent.min(part.len()));
            if part.is_empty() {
                self.parts.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_sent_in_order() {
        let mut output = Output::default();
        let mut push = |head: &[u8], body: &'static [u8]| {
            output.write(|out| {
                out.extend_from_slice(head);
                Bytes::from_static(body)
            });
        };
        push(b"ab", b"");
        push(b"cd", b"efg");
        push(b"h", b"");
        assert_eq!(output.unsent(), 8);
        let mut sent = Vec::new();
        while !output.front().is_empty() {
            let part = output.front().len().min(2);
            sent.extend_from_slice(&output.front()[..part]);
            output.advance(part);
        }
        assert_eq!((sent.as_slice(), output.unsent()), (b"abcdefgh".as_slice(), 0));
    }
}
