//! The thread that runs a node's part in the protocol: it carries questions to the ledger and answers
//! back, lets time pass, and says what has come to be. Of all shards, as the node has one lease.

use std::{sync::Arc, time::Duration};

use cluster::{Answer, Fact, Ledger, Member, Settings, Token, Unanswered, View};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender},
    watch,
};

use crate::{
    bases::MadeBase,
    feeder::Step,
    node_host::NodeHost,
    replicator::{Command, ToDriver},
    shard_driver::ShardDriver,
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
    /// By the numbers of their shards.
    pub(crate) shards: Vec<ShardDriver>,
    /// Until when the lease went at the last look.
    pub(crate) until: u64,
    pub(crate) boot_clock: BootClock,
    pub(crate) commands: UnboundedReceiver<ToDriver>,
    pub(crate) settings: Settings,
    /// What is seen of the cluster.
    pub(crate) view: watch::Sender<View>,
}

impl<L: Ledger> Driver<L> {
    /// Runs until it is told to stop, or nobody has a way to it any more.
    pub(crate) async fn run(mut self) {
        let mut host = NodeHost::of(&self.shards);
        let (answers, mut answered) = tokio::sync::mpsc::unbounded_channel::<(Token, Answer)>();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (bases, mut based) = tokio::sync::mpsc::unbounded_channel::<MadeBase>();
        let mut looks = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    looks += 1;
                    if looks.is_multiple_of(LOOKS_BETWEEN_NOTES) {
                        self.shards.iter().for_each(|shard| shard.tell(Step::Note));
                    }
                    if looks.is_multiple_of(LOOKS_BETWEEN_VIEWS) {
                        self.view.send_replace(self.member.view());
                    }
                }
                command = self.commands.recv() => match command {
                    Some(ToDriver::Of(shard, command)) => self.obey(shard, command, &mut host),
                    Some(ToDriver::Stop) | None => {
                        return self.shards.iter_mut().for_each(ShardDriver::end_waiting);
                    }
                },
                Some((shard, base)) = based.recv() => {
                    if let Some(shard) = self.shard(shard) {
                        shard.due.note_made(base);
                    }
                }
                Some((token, answer)) = answered.recv() => {
                    let now = (self.boot_clock)();
                    self.member.answer(token, answer, now, &mut host);
                    self.note_renewed();
                }
            }
            self.go_on(&answers, &mut host, &bases);
        }
    }

    /// Does what is due after something has come to be.
    fn go_on(
        &mut self,
        answers: &UnboundedSender<(Token, Answer)>,
        host: &mut NodeHost,
        bases: &UnboundedSender<MadeBase>,
    ) {
        let now = (self.boot_clock)();
        if self.shards.iter().any(|shard| shard.clock.has_news()) {
            self.member.hurry(now);
        }
        for shard in &mut self.shards {
            shard.append_queued(&mut self.member, now);
        }
        self.member.tick((self.boot_clock)(), host);
        for ask in self.member.asks() {
            let (ledger, answers) = (Arc::clone(&self.ledger), answers.clone());
            tokio::spawn(async move {
                let asked = tokio::time::timeout(PATIENCE, ledger.execute(ask.request)).await;
                let answer =
                    asked.unwrap_or_else(|_| Err(Unanswered("no answer came in time".to_owned())));
                let _ = answers.send((ask.token, answer));
            });
        }
        for (shard, fact) in self.member.facts() {
            self.act(shard, fact);
        }
        let changed = {
            let seen = self.view.borrow();
            !self.member.shard_owners().eq(seen.shards.iter().map(|shard| shard.owner))
        };
        if changed {
            self.view.send_replace(self.member.view());
        }
        for shard in &mut self.shards {
            shard.make_base(&self.member, &self.ledger, &self.settings, bases);
        }
    }

    fn shard(&mut self, shard: u32) -> Option<&mut ShardDriver> {
        self.shards.get_mut(usize::try_from(shard).ok()?)
    }

    fn act(&mut self, number: u32, fact: Fact) {
        let ledger = Arc::clone(&self.ledger);
        if let Some(shard) = self.shard(number) {
            shard.act(fact, &ledger);
        }
    }

    /// Does what it is told of a shard.
    fn obey(&mut self, number: u32, command: Command, host: &mut NodeHost) {
        let now = (self.boot_clock)();
        let member = &mut self.member;
        match command {
            Command::CopyFailed(error) => {
                member.stand_down(number, now, host);
                if let Some(shard) = self.shard(number) {
                    shard.tell(Step::CopyFailed(error));
                }
            }
            Command::StandDown => member.stand_down(number, now, host),
            Command::FollowFrom(place, unsure) => member.go_on(number, place, unsure),
            Command::HandOver => member.hand_over(number),
            Command::Look => member.look(number, now),
            Command::GoFirst => member.go_first(number, now),
            Command::HoldBack(time) => {
                let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
                member.hold_back(number, now.saturating_add(time));
            }
            Command::Append { body, done } => {
                if let Some(shard) = self.shard(number) {
                    shard.queue.push_back((body, done));
                }
            }
            Command::MakeBase(wanted) => {
                // Who asks another node hears that it is none.
                let Some(committed) = member.owner(number).map(|owner| owner.place().n) else {
                    return;
                };
                let entry = wanted.entry.unwrap_or(committed);
                let _ = wanted.told.send(entry);
                if let Some(shard) = self.shard(number) {
                    shard.due.want(entry, wanted.done);
                }
            }
        }
    }

    /// A beat that was applied makes the lease longer, and the checkpoints in it durable.
    fn note_renewed(&mut self) {
        let until = self.member.lease().until();
        if self.until < until {
            self.shards.iter().for_each(|shard| shard.clock.note_renewed());
        }
        self.until = until;
    }
}
