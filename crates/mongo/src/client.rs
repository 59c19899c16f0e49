//! What is known about a connected client, and what it is doing. Its bytes are read and written in
//! `connection`.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    time::Duration,
};

use memory::Share;

use crate::{
    counters::Counters,
    lock::lock,
    operation::{Operation, Running, StopReason},
    wire::Compressor,
};

/// What is known about a client.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: i32,
    pub(crate) peer: String,
    pub(crate) counters: Counters,
    /// Compressors both sides know.
    pub(crate) compressors: Mutex<Vec<Compressor>>,
    /// It has said who it is; it may do so once.
    pub(crate) introduced: AtomicBool,
    pub(crate) app_name: Mutex<Option<String>>,
    replies: AtomicI32,
    /// What the answer holds that is being made or sent.
    answer: Mutex<Share>,
    running: Mutex<Option<Running>>,
    /// Who it is, if it came by another way than a socket of its own.
    pub(crate) relayed_sender: Option<RelayedSender>,
}

/// A sender whose commands somebody else received, each on a connection of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RelayedSender {
    /// It may change things.
    pub(crate) writes: bool,
    /// What all its commands have in common.
    pub(crate) session: [u8; 32],
}

/// The command under way; it ends with this.
pub(crate) struct RunningGuard<'a>(&'a Connection);

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.0.running) = None;
    }
}

impl Connection {
    pub(crate) fn new(id: i32, peer: String, relayed_sender: Option<RelayedSender>) -> Self {
        Self {
            id,
            peer,
            counters: Counters::default(),
            compressors: Mutex::default(),
            introduced: AtomicBool::new(false),
            app_name: Mutex::default(),
            replies: AtomicI32::new(1),
            answer: Mutex::default(),
            running: Mutex::default(),
            relayed_sender,
        }
    }

    /// The application's name as its driver gave it.
    pub(crate) fn app_name(&self) -> Option<String> {
        lock(&self.app_name).clone()
    }

    /// The number of the next reply.
    pub(crate) fn reply_id(&self) -> i32 {
        self.replies.fetch_add(1, Ordering::Relaxed)
    }

    /// The answer holds so much until it is sent.
    pub(crate) fn hold_reply_memory(&self, share: Share) {
        *lock(&self.answer) = share;
    }

    /// The answer is sent.
    pub(crate) fn release_reply_memory(&self) {
        let sent = std::mem::take(&mut *lock(&self.answer));
        drop(sent);
    }

    /// A command begins.
    pub(crate) fn begin_command(&self, running: Running) -> RunningGuard<'_> {
        *lock(&self.running) = Some(running);
        RunningGuard(self)
    }

    /// The command under way goes on with the operation that left a cursor behind.
    pub(crate) fn resume_operation(&self, cursor: i64, operation: &Arc<Operation>, now: Duration) {
        if let Some(running) = &mut *lock(&self.running) {
            operation.resume_for(now, &running.operation);
            running.cursor = Some(cursor);
            running.operation = Arc::clone(operation);
        }
    }

    /// What it is doing.
    pub(crate) fn running_command(&self) -> Option<Running> {
        lock(&self.running).clone()
    }

    /// Tells what it is doing to stop, if it is this operation; `None` means any.
    pub(crate) fn stop_command(&self, id: Option<i32>, why: StopReason) -> bool {
        let running = lock(&self.running);
        let meant = running.as_ref().filter(|running| id.is_none_or(|id| id == running.id));
        meant.inspect(|running| running.operation.tell_to_stop(why)).is_some()
    }
}
