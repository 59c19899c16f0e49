//! A simulated node: its state machine, a tree that may lose its last entries in a crash, a boot
//! clock that never stops, and an inaccurate wall clock.

use std::collections::BTreeSet;

use bytes::Bytes;
use uuid::Uuid;

use super::checker::{Checked, Checker};
use crate::{
    event::ShardEvent,
    host::{ClockLowerBounds, Host},
    member::Member,
    outbox::{LedgerResult, Token},
    position::Position,
    settings::Settings,
};

/// The simulated machine of a node: the shard's clock, the wall clock, and a source of claim ids.
#[derive(Debug)]
pub(super) struct Machine {
    /// For a running clock, the instant at which it was started, and the reading of the boot clock
    /// then.
    began: Option<(u64, u64)>,
    /// Time by which the wall clock is ahead of the boot clock.
    wall_ahead: u64,
    lease: u64,
    node: u64,
    claims: u64,
}

fn instant(clock: &Bytes) -> Option<u64> {
    clock.as_ref().try_into().ok().map(u64::from_le_bytes)
}

impl Machine {
    fn begin_at(&self, lower_bounds: &ClockLowerBounds, now: u64) -> u64 {
        let least = instant(&lower_bounds.least).unwrap_or(0);
        // After a release, the final instant in the shard record counts, not the last heartbeat.
        let beat = lower_bounds.beat.as_ref().filter(|_| !lower_bounds.released);
        let of_beat = beat.and_then(|(term, noted)| Some((instant(&term.clock)?, *noted)));
        let start = match of_beat {
            Some((at, noted)) if lower_bounds.seen_alive => at + (now - noted).max(self.lease),
            // The preceding owner may have been down, so time continues as after a reboot.
            Some((at, _)) => (now + self.wall_ahead).max(at + self.lease),
            None => now + self.wall_ahead,
        };
        start.max(least)
    }

    fn now(&self, now: u64) -> u64 {
        self.began.map_or(0, |(start, at)| start + (now - at))
    }
}

impl Host for Machine {
    fn begin(&mut self, _: u32, lower_bounds: &ClockLowerBounds, now: u64) -> Bytes {
        Bytes::copy_from_slice(&self.begin_at(lower_bounds, now).to_le_bytes())
    }

    fn checkpoint(&mut self, _: u32, now: u64) -> Bytes {
        Bytes::copy_from_slice(&self.now(now).to_le_bytes())
    }

    fn finish(&mut self, _: u32, now: u64) -> Bytes {
        self.checkpoint(0, now)
    }

    fn claim(&mut self) -> Uuid {
        self.claims += 1;
        Uuid::from_u64_pair(self.node, self.claims)
    }
}

#[derive(Debug)]
pub(super) struct Node {
    settings: Settings,
    /// `None` while the process is down.
    pub(super) member: Option<Member>,
    /// Number of processes that the node has had so far.
    pub(super) life: u64,
    boots: u64,
    pub(super) machine: Machine,
    /// The simulated tree: for each entry applied to it, the journal position after that entry.
    pub(super) tree: Vec<Position>,
    /// Own entries whose clients wait for an acknowledgement.
    waiting: BTreeSet<(u64, u64)>,
    /// Whether the process is suspended. Replies to it are kept in `held`.
    pub(super) paused: bool,
    pub(super) held: Vec<(Token, LedgerResult)>,
    /// Whether the tree rejects entries.
    pub(super) tree_fails: bool,
    /// Whether the node's requests and the ledger's replies are lost.
    pub(super) cut: bool,
    /// Whether the node's compare-and-set requests are lost.
    pub(super) cut_swaps: bool,
    /// The boot clock: its start, and its rate in millionths.
    boot_start: u64,
    pace: u64,
}

impl Node {
    pub(super) fn new(
        settings: Settings,
        number: u64,
        boot_start: u64,
        pace: u64,
        wall: u64,
    ) -> Self {
        let lease = settings.lease;
        let machine = Machine { began: None, wall_ahead: wall, lease, node: number, claims: 0 };
        Self {
            settings,
            member: None,
            life: 0,
            boots: 0,
            machine,
            tree: Vec::new(),
            waiting: BTreeSet::new(),
            paused: false,
            held: Vec::new(),
            tree_fails: false,
            cut: false,
            cut_swaps: false,
            boot_start,
            pace,
        }
    }

    /// Returns the node's boot clock at this time of the simulation.
    pub(super) fn boot(&self, now: u64) -> u64 {
        self.boot_start + now / 1_000_000 * self.pace + now % 1_000_000 * self.pace / 1_000_000
    }

    /// Starts a process, in the same boot of the machine or after a reboot.
    pub(super) fn start(&mut self, same_boot: bool) {
        self.life += 1;
        self.boots += u64::from(!same_boot);
        self.settings.about = Bytes::from(format!("machine {}, {}", self.machine.node, self.boots));
        let tree = (self.position(), true);
        self.member = Some(Member::new(self.settings.clone(), &[tree]));
    }

    fn position(&self) -> Position {
        self.tree.last().copied().unwrap_or_default()
    }

    /// Kills the process; the last entries of the tree may not be on its disk.
    pub(super) fn kill(&mut self, kept: usize) {
        (self.member, self.machine.began) = (None, None);
        self.tree.truncate(kept);
        self.waiting.clear();
        self.held.clear();
        (self.paused, self.tree_fails) = (false, false);
    }

    /// The tree rejects all further entries.
    pub(super) fn fail_tree(&mut self, now: u64) {
        let boot = self.boot(now);
        if let Some(member) = &mut self.member {
            member.suspend(0, boot, &mut self.machine);
            self.tree_fails = true;
            self.waiting.clear();
        }
    }

    /// The tree resumes with its first `kept` entries.
    pub(super) fn mend_tree(&mut self, kept: usize) {
        self.tree.truncate(kept);
        let position = self.position();
        if let Some(member) = &mut self.member {
            member.resume(0, position, true);
        }
    }

    /// Appends a value if the node is an owner that accepts entries.
    pub(super) fn append(&mut self, now: u64, body: Bytes) {
        let boot = self.boot(now);
        let Some(member) = &mut self.member else { return };
        if let Some(n) = member.append(0, body, boot) {
            let epoch = member.owner(0).map_or(0, |owner| owner.epoch());
            self.waiting.insert((epoch, n));
        }
    }

    /// Reads the tree if this node may serve reads, and checks the result.
    pub(super) fn read(&self, now: u64, checker: &mut Checker) -> Checked {
        let boot = self.boot(now);
        let Some(member) = self.member.as_ref().filter(|member| member.may_read(0, boot)) else {
            return Ok(());
        };
        let epoch = member.owner(0).map_or(0, |owner| owner.epoch());
        checker.read(epoch, self.tree.len(), self.machine.now(boot))
    }

    /// Handles the events of the member.
    pub(super) fn act(&mut self, now: u64, checker: &mut Checker) -> Checked {
        let boot = self.boot(now);
        let events = self.member.as_mut().map(Member::take_events).unwrap_or_default();
        for (_, event) in events {
            match event {
                // Events before this one do not apply to the repaired tree.
                ShardEvent::Resumed => self.tree_fails = false,
                ShardEvent::Apply { .. } if self.tree_fails => {}
                ShardEvent::Apply { entry, position } => {
                    checker.applied(self.tree.len(), &entry)?;
                    self.tree.push(position);
                    if self.waiting.remove(&(entry.epoch, entry.n)) {
                        checker.acknowledged(entry.epoch, entry.n)?;
                    }
                }
                ShardEvent::Opened { epoch, lower_bounds } => {
                    checker.opened(epoch, self.tree.len())?;
                    self.machine.began = Some((self.machine.begin_at(&lower_bounds, boot), boot));
                }
                ShardEvent::Serving { .. } => {}
                ShardEvent::TermEnded { released, .. } => {
                    if released && !self.waiting.is_empty() {
                        return Err("a release before all entries were committed".into());
                    }
                    self.waiting.clear();
                    self.machine.began = None;
                }
                ShardEvent::Load(base) => return Err(format!("{base:?} was never made")),
                ShardEvent::Missing(missing) => return Err(format!("{missing:?}")),
                ShardEvent::Diverged(error) | ShardEvent::Damaged(error) => {
                    return Err(format!("damaged: {error}"));
                }
            }
        }
        Ok(())
    }
}
