//! Questions of a machine: requests with a token by which the answer finds back. A machine asks and
//! goes on; each question is answered in the end, by a reply or by [`Unanswered`] after a while.

use crate::request::{Reply, Request, Unanswered};

/// Which question of which machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    machine: u64,
    number: u64,
}

impl Token {
    /// The machine that asked, by the number it was made with.
    pub(crate) fn machine(self) -> u64 {
        self.machine
    }
}

/// A request to be executed; its answer goes to the machine with the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Goes with the answer.
    pub token: Token,
    /// What is asked.
    pub request: Request,
}

/// What came of a question.
pub type Answer = Result<Reply, Unanswered>;

/// The questions of one machine that nobody has carried away yet.
#[derive(Debug)]
pub(crate) struct Asks {
    machine: u64,
    number: u64,
    out: Vec<Ask>,
}

impl Asks {
    /// For the machine of this number, which no other may have.
    pub(crate) fn new(machine: u64) -> Self {
        Self { machine, number: 0, out: Vec::new() }
    }

    /// The machine's number.
    pub(crate) fn machine(&self) -> u64 {
        self.machine
    }

    /// Asks.
    pub(crate) fn ask(&mut self, request: Request) -> Token {
        self.number += 1;
        let token = Token { machine: self.machine, number: self.number };
        self.out.push(Ask { token, request });
        token
    }

    /// Questions since the last call.
    pub(crate) fn take(&mut self) -> Vec<Ask> {
        std::mem::take(&mut self.out)
    }
}
