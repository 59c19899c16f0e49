//! The thread that runs a node's part in the protocol: it carries questions to the ledger and answers
//! back, lets time pass, and says what has come to be.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, mpsc},
    time::Duration,
};

use bytes::Bytes;
use cluster::{Answer, BaseRecord, Fact, Ledger, Member, Settings, Token, Unanswered, View};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender},
        watch,
    },
    task::AbortHandle,
};

use crate::{
    bases::{self, BaseDue},
    feeder::Step,
    node_clock::{NodeClock, NodeHost},
    outstanding::Outstanding,
    replicator::{Command, Committed, moved},
};

/// Between two looks at the time.
const TICK: Duration = Duration::from_millis(5);
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Looks between two tellings of what is seen of the cluster, when nothing else makes one.
const LOOKS_BETWEEN_VIEWS: u32 = 50;
/// Looks between two notes of the place.
const LOOKS_BETWEEN_NOTES: u32 = 200;

/// A reading of the boot clock, nanoseconds.
pub(crate) type BootClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The thread's own state.
pub(crate) struct Driver<L> {
    pub(crate) member: Member,
    pub(crate) ledger: Arc<L>,
    pub(crate) clock: Arc<dyn NodeClock>,
    /// Until when the lease went at the last look.
    pub(crate) until: u64,
    pub(crate) boot_clock: BootClock,
    pub(crate) commands: UnboundedReceiver<Command>,
    pub(crate) steps: UnboundedSender<Step>,
    /// How many of those are entries that the tree does not have yet.
    pub(crate) outstanding: Arc<Outstanding>,
    /// Whose journal.
    pub(crate) settings: Settings,
    /// What loads a base.
    pub(crate) loading: Option<AbortHandle>,
    /// When a base is due.
    pub(crate) due: BaseDue,
    /// Bodies that wait for room.
    pub(crate) queue: VecDeque<(Bytes, mpsc::Sender<Committed>)>,
    /// Who waits for which entry.
    pub(crate) waiting: HashMap<u64, mpsc::Sender<Committed>>,
    /// What is seen of the cluster.
    pub(crate) view: watch::Sender<View>,
}

impl<L: Ledger> Driver<L> {
    /// Runs until it is told to stop, or nobody has a way to it any more.
    pub(crate) async fn run(mut self) {
        let (clock, outstanding) = (Arc::clone(&self.clock), Arc::clone(&self.outstanding));
        let mut host = NodeHost { clock, outstanding };
        let (answers, mut answered) = tokio::sync::mpsc::unbounded_channel::<(Token, Answer)>();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (bases, mut based) = tokio::sync::mpsc::unbounded_channel::<Option<BaseRecord>>();
        let mut looks = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    looks += 1;
                    if looks.is_multiple_of(LOOKS_BETWEEN_NOTES) {
                        let _ = self.steps.send(Step::Note);
                    }
                    if looks.is_multiple_of(LOOKS_BETWEEN_VIEWS) {
                        self.view.send_replace(self.member.view());
                    }
                }
                command = self.commands.recv() => {
                    if !self.obey(command, &mut host) {
                        return self.end_waiting();
                    }
                }
                Some(base) = based.recv() => self.due.note_made(base),
                Some((token, answer)) = answered.recv() => {
                    let now = (self.boot_clock)();
                    self.member.answer(token, answer, now, &mut host);
                    self.note_renewed();
                }
            }
            if self.clock.has_news() {
                self.member.hurry((self.boot_clock)());
            }
            self.append_queued();
            self.member.tick((self.boot_clock)(), &mut host);
            for ask in self.member.asks() {
                let (ledger, answers) = (Arc::clone(&self.ledger), answers.clone());
                tokio::spawn(async move {
                    let asked = tokio::time::timeout(PATIENCE, ledger.execute(ask.request)).await;
                    let answer = asked
                        .unwrap_or_else(|_| Err(Unanswered("no answer came in time".to_owned())));
                    let _ = answers.send((ask.token, answer));
                });
            }
            for fact in self.member.facts() {
                self.act(fact);
            }
            let owner = self.member.shard_owner();
            if owner != self.view.borrow().owner {
                self.view.send_replace(self.member.view());
            }
            self.make_base(&bases);
        }
    }

    /// Does what it is told. False: it ends.
    fn obey(&mut self, command: Option<Command>, host: &mut NodeHost) -> bool {
        match command {
            Some(Command::Append { body, done }) => self.queue.push_back((body, done)),
            Some(Command::CopyFailed(error)) => {
                self.member.stand_down((self.boot_clock)(), host);
                let _ = self.steps.send(Step::CopyFailed(error));
            }
            Some(Command::StandDown) => {
                self.member.stand_down((self.boot_clock)(), host);
            }
            Some(Command::FollowFrom(place, unsure)) => self.member.go_on(place, unsure),
            Some(Command::HandOver) => self.member.hand_over(),
            Some(Command::MakeBase(wanted)) => {
                // Who asks another node hears that it is none.
                if let Some(owner) = self.member.owner() {
                    let entry = wanted.entry.unwrap_or(owner.place().n);
                    let _ = wanted.told.send(entry);
                    self.due.want(entry, wanted.done);
                }
            }
            Some(Command::Look) => self.member.look((self.boot_clock)()),
            Some(Command::GoFirst) => self.member.go_first((self.boot_clock)()),
            Some(Command::HoldBack(time)) => {
                let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
                self.member.hold_back((self.boot_clock)().saturating_add(time));
            }
            Some(Command::Stop) | None => return false,
        }
        true
    }

    /// Has a base made when the journal since the last one is long enough.
    fn make_base(&mut self, bases: &UnboundedSender<Option<BaseRecord>>) {
        let Some(owner) = self.member.owner().filter(|owner| owner.serves()) else { return };
        if !self.due.begins(owner.place().n, self.member.base_entry(), &self.settings) {
            return;
        }
        let (made, making) = tokio::sync::mpsc::channel(1);
        let _ = self.steps.send(Step::MakeBase(made, self.settings.piece_bytes));
        let (ledger, bases) = (Arc::clone(&self.ledger), bases.clone());
        let put = bases::put(ledger, self.settings.shard, making);
        tokio::spawn(async move { bases.send(put.await) });
    }

    /// Appends what waits, as far as there is room; none of it where this node is not the owner.
    fn append_queued(&mut self) {
        if self.member.owner().is_none() {
            return self.queue.clear();
        }
        while self.member.owner().is_some_and(cluster::Owner::has_room)
            && let Some((body, done)) = self.queue.pop_front()
        {
            if let Some(n) = self.member.append(body, (self.boot_clock)()) {
                self.waiting.insert(n, done);
            }
        }
    }

    fn act(&mut self, fact: Fact) {
        if let Fact::Apply { entry, .. } = &fact {
            self.due.note(entry.body.len() as u64);
        }
        let step = match fact {
            Fact::Load(base) => {
                let (ledger, steps) = (Arc::clone(&self.ledger), self.steps.clone());
                let loading = tokio::spawn(bases::load(ledger, self.settings.shard, base, steps));
                // Pieces of one that was begun before must not come between.
                if let Some(before) = self.loading.replace(loading.abort_handle()) {
                    before.abort();
                }
                return;
            }
            Fact::Apply { entry, place } => match self.waiting.remove(&entry.n) {
                Some(done) => {
                    let _ = done.send(Ok(place));
                    return;
                }
                None => {
                    self.outstanding.add(&entry);
                    Step::Apply(entry, place)
                }
            },
            Fact::Opened { epoch, heritage } => Step::Opened(epoch, heritage),
            Fact::Serving { .. } => Step::Serving,
            Fact::TermEnded { .. } => {
                // At once: the feeder may be busy with entries.
                self.clock.end();
                self.end_waiting();
                Step::Ended
            }
            Fact::WentOn => Step::WentOn,
            Fact::Missing(missing) => Step::Failed(missing.to_string()),
            Fact::Astray(error) => Step::CopyFailed(error),
            Fact::Damaged(error) => Step::Failed(error.to_string()),
        };
        let _ = self.steps.send(step);
    }

    /// A beat that was applied makes the lease longer, and its checkpoint durable.
    fn note_renewed(&mut self) {
        let until = self.member.lease().until();
        if self.until < until {
            self.clock.note_renewed();
        }
        self.until = until;
    }

    /// Tells all who wait that another may be the owner.
    fn end_waiting(&mut self) {
        self.queue.clear();
        for (_, done) in self.waiting.drain() {
            let _ = done.send(Err(moved()));
        }
    }
}
