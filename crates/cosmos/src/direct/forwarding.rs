//! Requests that are passed to another node as the frames that they are. That node authorizes them,
//! so a frame and its body are not trusted here.

use std::io;

use bytes::Bytes;
use futures_util::FutureExt;
use memory::{Account, Share};
use rntbd::{AnswerHead, AnswerToken, ClientContext, FrameWriter, HEAD_BYTES, RequestHead, Tokens};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{
    executor::ForwardLimits,
    frame_request::{ClientInfo, FrameRequest},
    reply_frame::ReturnAddress,
};
use crate::{
    exchange::count_bytes,
    failure::{Failure, Fault, Result},
    homes::Home,
    limits::{MAX_ANSWER_BYTES, MAX_HEAD_BYTES, TRUSTED_BYTES},
    operation::{Access, Operation},
};

/// Status of the answer to a request that a node did not execute, because it does not own the data.
const GONE: u32 = 410;

/// A request for another process.
pub(crate) struct OutgoingFrame {
    client: ClientInfo,
    home: Home,
    head: RequestHead,
    tokens: Bytes,
    /// The body, once it has arrived; `None` if the frame has none.
    body: Option<Bytes>,
    has_body: bool,
    /// Whether the request changes nothing, so that it may be sent again.
    only_reads: bool,
    pub(super) max_body_bytes: usize,
    held: Share,
    pub(super) to: ReturnAddress,
}

/// The answer to a forwarded request, and the return address for a failure.
pub(crate) struct ForwardedAnswer {
    pub(super) to: ReturnAddress,
    pub(super) outcome: Outcome,
}

/// The outcome of a forwarded request.
pub(crate) enum Outcome {
    /// A frame without its body, and the body.
    Answered {
        status: u32,
        frame: Vec<u8>,
        body: Bytes,
    },
    Failed(Failure),
}

/// Why a node did not answer a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The node did not execute the request, or the request may be executed again.
    Repeatable,
    Unknown,
}

impl ForwardedAnswer {
    /// Returns whether the owner of the data must have identified the sender of the request.
    pub(super) fn shows_known_sender(&self) -> bool {
        matches!(self.outcome, Outcome::Answered { status: 200..400 | 404 | 409 | 412, .. })
    }
}

impl OutgoingFrame {
    /// Creates a request that may not have a body yet, with the bytes of its tokens.
    pub(super) fn new(
        client: ClientInfo,
        home: Home,
        head: RequestHead,
        tokens: Bytes,
        to: ReturnAddress,
    ) -> Self {
        Self {
            client,
            home,
            head,
            tokens,
            body: None,
            has_body: false,
            only_reads: true,
            max_body_bytes: 0,
            held: Share::default(),
            to,
        }
    }

    /// Sets the limits of the request, and what its frame says about its body and its effect. Fails
    /// if there is not enough memory for it.
    pub(super) fn limited(self, limits: ForwardLimits, frame: &FrameRequest) -> Result<Self> {
        let ForwardLimits { held, max_body_bytes } = limits;
        let only_reads = frame.parts.as_ref().is_ok_and(|(method, link, headers)| {
            Operation::decide(method, link, headers).row().access == Access::Reads
        });
        let mut limited =
            Self { held, max_body_bytes, only_reads, has_body: frame.has_body, ..self };
        limited.reserve_body(0)?;
        Ok(limited)
    }

    /// Reserves memory for the body that arrives, and for the tokens: once as received and once as
    /// sent.
    pub(super) fn reserve_body(&mut self, bytes: usize) -> Result<(), memory::InsufficientMemory> {
        self.held.set(bytes.saturating_add(2 * self.tokens.len()))
    }

    pub(super) fn with_body(self, body: Bytes) -> Self {
        Self { body: Some(body).filter(|_| self.has_body), ..self }
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Returns the answer of another node, or the failure with which this one answers.
    pub(crate) fn end(&self, outcome: Result<Outcome, Unanswered>) -> ForwardedAnswer {
        let outcome = outcome.unwrap_or_else(|unanswered| {
            Outcome::Failed(match unanswered {
                // Clients read the addresses and send the request again.
                Unanswered::Repeatable => Failure::new(
                    Fault::Elsewhere,
                    "Cannot reach a node that owns the data of this database.",
                ),
                Unanswered::Unknown => Failure::new(
                    Fault::Timeout,
                    "The outcome of the request is unknown: the node that executed it does not \
                     answer.",
                ),
            })
        });
        ForwardedAnswer { to: self.to, outcome }
    }

    /// Returns whether the request may be repeated if the node that received it does not answer.
    pub(crate) fn unanswered(&self) -> Unanswered {
        match self.only_reads {
            true => Unanswered::Repeatable,
            false => Unanswered::Unknown,
        }
    }

    /// Returns the frame without its body.
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_BYTES + self.tokens.len() + 4);
        let RequestHead { resource, operation, activity, .. } = self.head;
        let mut frame = FrameWriter::request(&mut out, resource, operation, activity);
        frame.push_encoded(&self.tokens);
        frame.finish(self.body.as_ref().map(Bytes::len));
        out
    }
}

/// A connection to another node for the frames of one client, one request at a time.
pub(crate) struct FrameLink<T> {
    io: T,
}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> FrameLink<T> {
    /// Sends the client's context. Returns `None` if the node does not accept it.
    pub(crate) async fn open(mut io: T, frame: &OutgoingFrame) -> Option<Self> {
        let ClientInfo { version, agent } = &frame.client;
        let context = ClientContext {
            client_version: version.to_str().ok()?,
            user_agent: agent.to_str().ok()?,
        };
        let mut out = Vec::new();
        context.write(&mut out, frame.head.activity);
        io.write_all(&out).await.ok()?;
        io.flush().await.ok()?;
        let mut link = Self { io };
        let (head, _) = link.read_head().await.ok()?;
        (head.status == 200).then_some(link)
    }

    /// Returns whether the node has closed the connection. Nothing is received between requests.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.io.read(&mut [0]).now_or_never().is_some()
    }

    /// Sends a request and returns its answer. Memory for the answer is reserved from `memory`.
    pub(crate) async fn exchange(
        &mut self,
        request: &OutgoingFrame,
        memory: &Account,
    ) -> Result<Outcome, Unanswered> {
        // A frame that is not written completely cannot be executed.
        self.io.write_all(&request.encode()).await.map_err(|_| Unanswered::Repeatable)?;
        if let Some(body) = &request.body {
            self.io.write_all(body).await.map_err(|_| Unanswered::Repeatable)?;
        }
        let unanswered = request.unanswered();
        let read = async {
            self.io.flush().await?;
            self.read_answer(request.only_reads, memory).await
        };
        match read.await {
            Ok(Some(outcome)) => Ok(outcome),
            Ok(None) => Err(Unanswered::Repeatable),
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                Ok(Outcome::Failed(Failure::out_of_memory()))
            }
            Err(_) => Err(unanswered),
        }
    }

    /// Reads an answer; `None` if the request was not executed.
    async fn read_answer(
        &mut self,
        only_reads: bool,
        memory: &Account,
    ) -> io::Result<Option<Outcome>> {
        let (head, mut frame) = self.read_head().await?;
        let (mut has_body, mut has_cause) = (false, false);
        for token in Tokens::new(frame.get(HEAD_BYTES..).unwrap_or_default()) {
            let token = token.map_err(io::Error::other)?;
            if token.id == AnswerToken::PayloadPresent.id() {
                has_body = token.value != [0];
            }
            has_cause |= token.id == AnswerToken::SubStatus.id();
        }
        let mut body = Vec::new();
        let mut held = memory.share();
        if has_body {
            let mut len = [0; 4];
            self.io.read_exact(&mut len).await?;
            frame.extend_from_slice(&len);
            let len = u32::from_le_bytes(len) as usize;
            if MAX_ANSWER_BYTES < len {
                return Err(io::Error::other("an answer is too long"));
            }
            body.reserve(len.min(TRUSTED_BYTES));
            while body.len() < len {
                let rest = (len - body.len()) as u64;
                if (&mut self.io).take(rest).read_buf(&mut body).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                // Only a read fails if memory is exhausted. A write has been executed, and a client
                // that got an error would repeat it and write twice.
                if held.set(body.capacity()).is_err() && only_reads {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
            }
        }
        if head.status == GONE && !has_cause {
            return Ok(None);
        }
        let body = count_bytes(body, held);
        Ok(Some(Outcome::Answered { status: head.status, frame, body }))
    }

    /// Reads the head and the tokens of an answer. Returns also their bytes.
    async fn read_head(&mut self) -> io::Result<(AnswerHead, Vec<u8>)> {
        let mut bytes = [0; HEAD_BYTES];
        self.io.read_exact(&mut bytes).await?;
        let head = AnswerHead::read(&bytes, MAX_HEAD_BYTES).map_err(io::Error::other)?;
        let mut frame = vec![0; HEAD_BYTES + head.tokens_len];
        let (first, tokens) = frame.split_at_mut(HEAD_BYTES);
        first.copy_from_slice(&bytes);
        self.io.read_exact(tokens).await?;
        Ok((head, frame))
    }
}
