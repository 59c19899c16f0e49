//! The driver's state of one shard: pending commits, events for its feeder, and the schedule of
//! bases.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, mpsc},
};

use bytes::Bytes;
use cluster::{Ledger, Member, Owner, Settings, ShardEvent};
use tokio::{sync::mpsc::UnboundedSender, task::AbortHandle};

use crate::{
    bases::{self, BaseOutcome, BaseSchedule},
    feeder::FeederTask,
    outstanding::Outstanding,
    replicator::{Committed, moved},
    shard_clock::NodeClock,
};

pub(crate) struct ShardDriver {
    number: u32,
    pub(crate) clock: Arc<dyn NodeClock>,
    tasks: UnboundedSender<FeederTask>,
    /// Entries that were sent to the feeder and are not applied to the tree yet.
    pub(crate) outstanding: Arc<Outstanding>,
    /// The task that is loading a base, if any.
    loading: Option<AbortHandle>,
    pub(crate) due: BaseSchedule,
    /// Bodies of appended entries that the owner's state machine has not accepted yet.
    pub(crate) queue: VecDeque<(Bytes, mpsc::Sender<Committed>)>,
    /// Senders of pending commits by entry number.
    waiting: HashMap<u64, mpsc::Sender<Committed>>,
}

impl ShardDriver {
    /// Creates the state of a shard, whose feeder receives tasks through `tasks`.
    pub(crate) fn new(
        number: u32,
        clock: Arc<dyn NodeClock>,
        tasks: UnboundedSender<FeederTask>,
        outstanding: Arc<Outstanding>,
    ) -> Self {
        Self {
            number,
            clock,
            tasks,
            outstanding,
            loading: None,
            due: BaseSchedule::default(),
            queue: VecDeque::new(),
            waiting: HashMap::new(),
        }
    }

    /// Sends a task to the shard's feeder.
    pub(crate) fn send_task(&self, task: FeederTask) {
        let _ = self.tasks.send(task);
    }

    /// Appends queued entries as far as the owner's state machine accepts them; drops all queued
    /// entries if this node is not the owner.
    pub(crate) fn append_queued(&mut self, member: &mut Member, now: u64) {
        if member.owner(self.number).is_none() {
            return self.queue.clear();
        }
        while member.owner(self.number).is_some_and(Owner::has_room)
            && let Some((body, done)) = self.queue.pop_front()
        {
            if let Some(n) = member.append(self.number, body, now) {
                self.waiting.insert(n, done);
            }
        }
    }

    /// Starts to write a base if one is due.
    pub(crate) fn make_base<L: Ledger>(
        &mut self,
        member: &Member,
        ledger: &Arc<L>,
        settings: &Settings,
        bases: &UnboundedSender<BaseOutcome>,
    ) {
        let Some(owner) = member.owner(self.number).filter(|owner| owner.serves()) else { return };
        if !self.due.is_due(owner.position().n, member.base(self.number), settings) {
            return;
        }
        let (made, making) = tokio::sync::mpsc::channel(1);
        self.send_task(FeederTask::MakeBase(made, settings.piece_bytes));
        let (number, bases) = (self.number, bases.clone());
        let put = bases::put(Arc::clone(ledger), number, making);
        tokio::spawn(async move { bases.send((number, put.await)) });
    }

    /// Handles an event of the shard's state machine.
    pub(crate) fn act<L: Ledger>(&mut self, event: ShardEvent, ledger: &Arc<L>) {
        if let ShardEvent::Apply { entry, .. } = &event {
            self.due.count_bytes(entry.body.len() as u64);
        }
        let task = match event {
            ShardEvent::Load(base) => {
                let load = bases::load(Arc::clone(ledger), self.number, base, self.tasks.clone());
                let loading = tokio::spawn(load);
                // Aborts an earlier load, so that its pieces do not mix with the new ones.
                if let Some(before) = self.loading.replace(loading.abort_handle()) {
                    before.abort();
                }
                return;
            }
            ShardEvent::Apply { entry, position } => match self.waiting.remove(&entry.n) {
                Some(done) => {
                    let _ = done.send(Ok(position));
                    return;
                }
                None => {
                    self.outstanding.add(&entry);
                    FeederTask::Apply(entry, position)
                }
            },
            ShardEvent::Opened { epoch, lower_bounds } => FeederTask::Opened(epoch, lower_bounds),
            ShardEvent::Serving { .. } => FeederTask::Serving,
            ShardEvent::TermEnded { .. } => {
                // The clock ends here, not in the feeder, which may be busy applying entries.
                self.clock.end();
                self.end_waiting();
                FeederTask::Ended
            }
            ShardEvent::Resumed => FeederTask::Resumed,
            ShardEvent::Missing(missing) => FeederTask::Failed(missing.to_string()),
            ShardEvent::Diverged(error) => FeederTask::CopyFailed(error),
            ShardEvent::Damaged(error) => FeederTask::Failed(error.to_string()),
        };
        self.send_task(task);
    }

    /// Fails all pending commits, because another node may be the owner.
    pub(crate) fn end_waiting(&mut self) {
        self.queue.clear();
        for (_, done) in self.waiting.drain() {
            let _ = done.send(Err(moved()));
        }
    }
}
