//! Requests of a state machine to the ledger, each with a token that routes the reply back. The
//! state machine does not block; each request is eventually answered by a reply or by
//! [`Unanswered`].

use crate::request::{Reply, Request, Unanswered};

/// Identifies a request, and the state machine to which its reply belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    machine: u64,
    number: u64,
}

impl Token {
    /// Returns the number of the state machine that sent the request.
    pub(crate) fn machine(self) -> u64 {
        self.machine
    }
}

/// A request to execute. The caller passes the reply, together with the token, to the state machine
/// that made the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingRequest {
    /// Token that has to accompany the reply.
    pub token: Token,
    /// The request to send to the ledger.
    pub request: Request,
}

/// A reply of the ledger, or the lack of one.
pub type LedgerResult = Result<Reply, Unanswered>;

/// The outbox of one state machine.
#[derive(Debug)]
pub(crate) struct Outbox {
    machine: u64,
    number: u64,
    out: Vec<OutgoingRequest>,
}

impl Outbox {
    /// Creates the outbox of the state machine with this number, which has to be unique.
    pub(crate) fn new(machine: u64) -> Self {
        Self { machine, number: 0, out: Vec::new() }
    }

    pub(crate) fn machine(&self) -> u64 {
        self.machine
    }

    pub(crate) fn enqueue(&mut self, request: Request) -> Token {
        self.number += 1;
        let token = Token { machine: self.machine, number: self.number };
        self.out.push(OutgoingRequest { token, request });
        token
    }

    /// Removes and returns the requests enqueued since the last call.
    pub(crate) fn take(&mut self) -> Vec<OutgoingRequest> {
        std::mem::take(&mut self.out)
    }
}
