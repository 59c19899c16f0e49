//! The path of a request to the replicas and of its reply back. Each step has its own delay, or is
//! lost.

use fastrand::Rng;

use super::{
    checker::{Checked, Checker},
    faults::{Faults, MS, happens},
    replicas::{Heard, Name, REPLICAS, Replicas},
};
use crate::{
    outbox::{LedgerResult, OutgoingRequest, Token},
    request::{EntryPart, Reply, Request, Unanswered},
};

#[derive(Debug)]
pub(super) struct Operation {
    /// The sending node and the number of its process.
    pub(super) from: (usize, u64),
    pub(super) token: Token,
    request: Request,
    quorum: [usize; 2],
    heard: Vec<Heard>,
    /// Number of replicas that have each part of a write.
    written: Vec<u32>,
    answered: bool,
}

/// A step of an operation.
#[derive(Debug)]
pub(super) enum Step {
    /// The request reaches the ledger.
    Arrive(usize),
    /// The outcome of a compare-and-swap is decided.
    Swap(usize),
    /// A replica answers a read.
    Hear(usize, usize),
    /// A replica stores a part of a write.
    Write(usize, usize, usize),
    /// A replica receives a newer version of a record.
    Learn(Name, usize, usize),
    /// A reply reaches the sender.
    Answer((usize, u64), Token, LedgerResult),
}

/// A reply with the receiving node and the number of its process.
pub(super) type Arrived = ((usize, u64), Token, LedgerResult);

/// The network and the replicas.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) replicas: Replicas,
    pub(super) faults: Faults,
    operations: Vec<Operation>,
    /// Steps that are still to be scheduled, each with its delay.
    pub(super) steps: Vec<(u64, Step)>,
}

impl Network {
    pub(super) fn new(replicas: Replicas, faults: Faults) -> Self {
        Self { replicas, faults, operations: Vec::new(), steps: Vec::new() }
    }

    /// Sends a request of a node.
    pub(super) fn ask(&mut self, rng: &mut Rng, from: (usize, u64), ask: OutgoingRequest) {
        let twice = happens(rng, self.faults.repeated);
        for _ in 0..1 + u32::from(twice) {
            if happens(rng, self.faults.lost) {
                continue;
            }
            let (token, request) = (ask.token, ask.request.clone());
            let (quorum, heard, written, answered) = ([0, 0], Vec::new(), Vec::new(), false);
            self.operations.push(Operation {
                from,
                token,
                request,
                quorum,
                heard,
                written,
                answered,
            });
            let delay = self.delay(rng);
            self.steps.push((delay, Step::Arrive(self.operations.len() - 1)));
        }
    }

    fn delay(&self, rng: &mut Rng) -> u64 {
        rng.u64(MS / 10..self.faults.delay)
    }

    /// Returns the delay of a swap or a write at the replicas, which may be long.
    fn late(&self, rng: &mut Rng) -> u64 {
        let late = if happens(rng, self.faults.late) { rng.u64(..500 * MS) } else { 0 };
        late + self.delay(rng)
    }

    /// Executes a step. Returns a reply that has reached its node.
    pub(super) fn step(
        &mut self,
        rng: &mut Rng,
        step: Step,
        checker: &mut Checker,
    ) -> Result<Option<Arrived>, String> {
        match step {
            Step::Arrive(at) => self.arrive(rng, at),
            Step::Swap(at) => self.swap(rng, at),
            Step::Hear(at, replica) => self.hear(rng, at, replica),
            Step::Write(at, replica, part) => self.write(rng, at, replica, part, checker)?,
            // A replica that is down gets the write, too; it answers only once it is up.
            Step::Learn(name, replica, version) => self.replicas.learn(name, replica, version),
            Step::Answer(from, token, answer) => return Ok(Some((from, token, answer))),
        }
        Ok(None)
    }

    fn arrive(&mut self, rng: &mut Rng, at: usize) {
        match &self.operations[at].request {
            Request::ReadNodes | Request::ReadShard { .. } | Request::ReadEntries { .. } => {
                let Some(quorum) = self.replicas.quorum(rng) else { return };
                self.operations[at].quorum = quorum;
                for which in 0..2 {
                    let delay = self.delay(rng);
                    self.steps.push((delay, Step::Hear(at, which)));
                }
            }
            Request::Append { parts, .. } => {
                let parts = parts.len();
                self.operations[at].written = vec![0; parts];
                for part in 0..parts {
                    for replica in 0..REPLICAS {
                        if !happens(rng, self.faults.lost) {
                            let delay = self.late(rng);
                            self.steps.push((delay, Step::Write(at, replica, part)));
                        }
                    }
                }
            }
            _ => {
                let delay = self.late(rng);
                self.steps.push((delay, Step::Swap(at)));
            }
        }
    }

    /// Records a replica's answer to a read; the reply is sent when both replicas have answered.
    fn hear(&mut self, rng: &mut Rng, at: usize, which: usize) {
        let operation = &mut self.operations[at];
        let replica = operation.quorum[which];
        if !self.replicas.up[replica] {
            return;
        }
        operation.heard.push(self.replicas.hear(replica, &operation.request));
        if operation.heard.len() < 2 {
            return;
        }
        let Ok(heard) = <[Heard; 2]>::try_from(std::mem::take(&mut operation.heard)) else {
            return;
        };
        let repair = happens(rng, self.faults.repaired);
        let (request, quorum) = (operation.request.clone(), operation.quorum);
        let reply = self.replicas.merge(&request, quorum, heard, repair);
        self.reply(rng, at, Ok(reply), 0);
    }

    fn write(
        &mut self,
        rng: &mut Rng,
        at: usize,
        replica: usize,
        part: usize,
        checker: &mut Checker,
    ) -> Checked {
        let operation = &mut self.operations[at];
        let Request::Append { epoch, segment, parts, .. } = &operation.request else {
            return Ok(());
        };
        if !self.replicas.up[replica] {
            return Ok(());
        }
        let written: &EntryPart = &parts[part];
        checker.written(*epoch, written)?;
        self.replicas.put(replica, *epoch, *segment, written.clone());
        operation.written[part] += 1;
        if !operation.answered && operation.written.iter().all(|replicas| 2 <= *replicas) {
            operation.answered = true;
            self.reply(rng, at, Ok(Reply::Written), 0);
        }
        Ok(())
    }

    fn swap(&mut self, rng: &mut Rng, at: usize) {
        let Some(quorum) = self.replicas.quorum(rng) else { return };
        let (version, reply) = self.replicas.swap(&self.operations[at].request, quorum);
        let Some((name, version)) = version else { return self.reply(rng, at, Ok(reply), 0) };
        let torn = happens(rng, self.faults.torn);
        let mut known = 0;
        for replica in 0..REPLICAS {
            if !quorum.contains(&replica) || torn {
                if rng.bool() {
                    let delay = rng.u64(..150 * MS);
                    self.steps.push((delay, Step::Learn(name, replica, version)));
                }
                continue;
            }
            // The reply waits for the two replicas of the quorum, even if they go down before they
            // reply.
            let delay = self.delay(rng);
            known = delay.max(known);
            self.steps.push((delay, Step::Learn(name, replica, version)));
        }
        if !torn {
            self.reply(rng, at, Ok(reply), known + 1);
        } else if rng.bool() {
            self.reply(rng, at, Err(Unanswered("torn".into())), 0);
        }
    }

    fn reply(&mut self, rng: &mut Rng, at: usize, answer: LedgerResult, after: u64) {
        if !happens(rng, self.faults.lost) {
            let delay = after + self.delay(rng);
            let operation = &self.operations[at];
            self.steps.push((delay, Step::Answer(operation.from, operation.token, answer)));
        }
    }
}
