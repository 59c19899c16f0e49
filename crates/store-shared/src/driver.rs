//! The thread that runs the protocol of a node: it passes the requests of the node's state machine
//! (`Member`) to the ledger and the replies to the state machine, ticks it, and dispatches its
//! events. One thread drives all shards, as the node has one lease.

use std::{sync::Arc, time::Duration};

use cluster::{Ledger, LedgerResult, Member, Settings, ShardEvent, Token, Unanswered, View};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender},
    watch,
};

use crate::{
    bases::BaseOutcome,
    feeder::FeederTask,
    node_host::NodeHost,
    replicator::{Command, DriverCommand},
    shard_driver::ShardDriver,
};

const TICK: Duration = Duration::from_millis(5);
/// Timeout of a request to the ledger.
const PATIENCE: Duration = Duration::from_secs(2);
/// Ticks between updates of the published view, if no event causes an update.
const LOOKS_BETWEEN_VIEWS: u32 = 50;
/// Ticks between saves of the position that each local copy has reached.
const LOOKS_BETWEEN_NOTES: u32 = 200;

/// Reads the boot clock in nanoseconds.
pub(crate) type BootClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The state of the driver thread.
pub(crate) struct Driver<L> {
    pub(crate) member: Member,
    pub(crate) ledger: Arc<L>,
    /// State of each shard, by shard number.
    pub(crate) shards: Vec<ShardDriver>,
    /// End of the lease at the last check.
    pub(crate) until: u64,
    pub(crate) boot_clock: BootClock,
    pub(crate) commands: UnboundedReceiver<DriverCommand>,
    pub(crate) settings: Settings,
    /// The published view of the cluster.
    pub(crate) view: watch::Sender<View>,
}

impl<L: Ledger> Driver<L> {
    /// Runs until it is stopped or all command senders are dropped.
    pub(crate) async fn run(mut self) {
        let mut host = NodeHost::of(&self.shards);
        let (answers, mut answered) =
            tokio::sync::mpsc::unbounded_channel::<(Token, LedgerResult)>();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (bases, mut based) = tokio::sync::mpsc::unbounded_channel::<BaseOutcome>();
        let mut looks = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    looks += 1;
                    if looks.is_multiple_of(LOOKS_BETWEEN_NOTES) {
                        self.shards.iter().for_each(|it| it.send_task(FeederTask::SavePosition));
                    }
                    if looks.is_multiple_of(LOOKS_BETWEEN_VIEWS) {
                        self.view.send_replace(self.member.view());
                    }
                }
                command = self.commands.recv() => match command {
                    Some(DriverCommand::Of(shard, command)) => {
                        self.execute_command(shard, command, &mut host);
                    }
                    Some(DriverCommand::Stop) | None => {
                        return self.shards.iter_mut().for_each(ShardDriver::end_waiting);
                    }
                },
                Some((shard, base)) = based.recv() => {
                    if let Some(shard) = self.shard(shard) {
                        shard.due.record_outcome(base);
                    }
                }
                Some((token, answer)) = answered.recv() => {
                    let now = (self.boot_clock)();
                    self.member.handle_reply(token, answer, now, &mut host);
                    self.handle_renewal();
                }
            }
            self.run_due_actions(&answers, &mut host, &bases);
        }
    }

    /// Ticks the state machine, and performs the actions that it returns.
    fn run_due_actions(
        &mut self,
        answers: &UnboundedSender<(Token, LedgerResult)>,
        host: &mut NodeHost,
        bases: &UnboundedSender<BaseOutcome>,
    ) {
        let now = (self.boot_clock)();
        if self.shards.iter().any(|shard| shard.clock.has_new_checkpoint()) {
            self.member.hurry(now);
        }
        for shard in &mut self.shards {
            shard.append_queued(&mut self.member, now);
        }
        self.member.tick((self.boot_clock)(), host);
        for ask in self.member.take_requests() {
            let (ledger, answers) = (Arc::clone(&self.ledger), answers.clone());
            tokio::spawn(async move {
                let asked = tokio::time::timeout(PATIENCE, ledger.execute(ask.request)).await;
                let answer = asked.unwrap_or_else(|_| {
                    Err(Unanswered("timed out waiting for an answer".to_owned()))
                });
                let _ = answers.send((ask.token, answer));
            });
        }
        for (shard, event) in self.member.take_events() {
            self.act(shard, event);
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

    fn act(&mut self, number: u32, event: ShardEvent) {
        let ledger = Arc::clone(&self.ledger);
        if let Some(shard) = self.shard(number) {
            shard.act(event, &ledger);
        }
    }

    /// Executes a command for a shard.
    fn execute_command(&mut self, number: u32, command: Command, host: &mut NodeHost) {
        let now = (self.boot_clock)();
        let member = &mut self.member;
        match command {
            Command::CopyFailed(error) => {
                member.suspend(number, now, host);
                if let Some(shard) = self.shard(number) {
                    shard.send_task(FeederTask::CopyFailed(error));
                }
            }
            Command::Suspend => member.suspend(number, now, host),
            Command::FollowFrom(position, may_have_diverged) => {
                member.resume(number, position, may_have_diverged)
            }
            Command::HandOver => member.hand_over(number),
            Command::Refresh => member.refresh(number, now),
            Command::ClaimFirst => member.claim_first(number, now),
            Command::DeferClaim(time) => {
                let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
                member.defer_claim(number, now.saturating_add(time));
            }
            Command::Append { body, done } => {
                if let Some(shard) = self.shard(number) {
                    shard.queue.push_back((body, done));
                }
            }
            Command::MakeBase(wanted) => {
                // The caller takes a dropped sender to mean that this node is not the owner.
                let Some(committed) = member.owner(number).map(|owner| owner.position().n) else {
                    return;
                };
                let entry = wanted.entry.unwrap_or(committed);
                let _ = wanted.accepted.send(entry);
                if let Some(shard) = self.shard(number) {
                    shard.due.request(entry, wanted.done);
                }
            }
        }
    }

    /// Extends the lease after an applied heartbeat, and reports the clock checkpoints in it as
    /// durable.
    fn handle_renewal(&mut self) {
        let until = self.member.lease().until();
        if self.until < until {
            self.shards.iter().for_each(|shard| shard.clock.confirm_checkpoint());
        }
        self.until = until;
    }
}
