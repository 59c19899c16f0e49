//! What is known about a connected client, and what it is doing. Its bytes are read and written in
//! `connection`; commands of others (`currentOp`, `killOp`) look at it from their own threads, so
//! what changes is kept in locks and atomics.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    time::Duration,
};

use memory::Share;
use parking_lot::Mutex;

use crate::{
    access::UserName,
    counters::Counters,
    login::{KnownUser, Logins},
    namespace_work::LastWork,
    operation::{Operation, Running, StopReason},
    peer::Peer,
    wire::Compressor,
};

/// What is known about a client. There is one for each socket, and one for each command that is
/// relayed.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its number since the start of the server, shown as `connectionId`.
    pub(crate) id: i32,
    /// The client's address, as `currentOp` and logs show it.
    pub(crate) peer: String,
    /// The subject of the certificate that the client has shown, by which it may log in.
    pub(crate) certificate_subject: Option<String>,
    /// The server's own address of it.
    pub(crate) reached_at: Option<IpAddr>,
    /// Whether it has to log in whatever this server asks of its own clients.
    pub(crate) has_to_log_in: bool,
    /// What it counts. Only its own task writes to it.
    pub(crate) counters: Counters,
    /// Compressors that both sides know, in the client's order; empty before the handshake.
    pub(crate) compressors: Mutex<Vec<Compressor>>,
    /// Whether it has said who it is. It may do so once: 186 after that.
    pub(crate) introduced: AtomicBool,
    /// The application's name as its driver gave it in the first handshake.
    pub(crate) app_name: Mutex<Option<String>>,
    /// The number that the next reply gets as its request id.
    replies: AtomicI32,
    /// Memory of the reply that is being made or sent. It is given back when the last byte is
    /// written, not when the command returns.
    answer: Mutex<Share>,
    /// The command under way, for `currentOp` and `killOp`.
    running: Mutex<Option<Running>>,
    /// Who sends its commands, if it came by another way than a socket of its own.
    pub(crate) relayed_sender: Option<RelayedSender>,
    /// Who is logged in, and who is about to be.
    pub(crate) logins: Mutex<Logins>,
    /// The collection that its last command was about, as its work is counted.
    pub(crate) last_work: LastWork,
}

/// Whose commands a connection's are, by which cursors are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) relayed: Option<RelayedSender>,
    /// The user who is logged in.
    pub(crate) user: Option<UserName>,
}

impl Sender {
    /// Whether a sender may go on with what this one has opened.
    ///
    /// One that was relayed and may write has the account's key, and so may go on with everything.
    pub(crate) fn admits(&self, other: &Self) -> bool {
        match other.relayed {
            Some(relayed) => relayed.writes || self.relayed == other.relayed,
            None => self.user == other.user,
        }
    }
}

/// The sender of a command that came through the portal. Each of its commands has a connection of
/// its own, so cursors and rights hang on this instead of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RelayedSender {
    /// Whether it may change things.
    pub(crate) writes: bool,
    /// What all its commands have in common. A sender who may only read finds only the cursors of
    /// its own session.
    pub(crate) session: [u8; 32],
}

/// Marks a command as under way; the mark is taken off when this is dropped, also if the command is
/// cancelled in the middle.
pub(crate) struct RunningGuard<'a>(&'a Connection);

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        *self.0.running.lock() = None;
    }
}

impl Connection {
    /// A client that has just come and has said nothing yet.
    pub(crate) fn new(id: i32, peer: Peer, relayed_sender: Option<RelayedSender>) -> Self {
        Self {
            id,
            peer: peer.address,
            certificate_subject: peer.certificate_subject,
            reached_at: peer.reached_at,
            has_to_log_in: peer.has_to_log_in,
            counters: Counters::default(),
            compressors: Mutex::default(),
            introduced: AtomicBool::new(false),
            app_name: Mutex::default(),
            replies: AtomicI32::new(1),
            answer: Mutex::default(),
            running: Mutex::default(),
            relayed_sender,
            logins: Mutex::default(),
            last_work: LastWork::default(),
        }
    }

    /// The address that the client comes from; none of one that is not a socket's.
    pub(crate) fn peer_address(&self) -> Option<IpAddr> {
        self.peer.parse().ok().map(|peer: SocketAddr| peer.ip().to_canonical())
    }

    /// Whose commands its commands are.
    pub(crate) fn sender(&self) -> Sender {
        let logins = self.logins.lock();
        let current = logins.current.as_ref().map(|login| login.name.clone());
        let user = current.or_else(|| logins.known.as_ref().map(KnownUser::name));
        Sender { relayed: self.relayed_sender, user }
    }

    /// The application's name, if the client gave one.
    pub(crate) fn app_name(&self) -> Option<String> {
        self.app_name.lock().clone()
    }

    /// The number of the next reply. Each reply gets another one, since exhaust replies refer to
    /// the one before.
    pub(crate) fn reply_id(&self) -> i32 {
        self.replies.fetch_add(1, Ordering::Relaxed)
    }

    /// Holds the memory of a reply until it is sent.
    pub(crate) fn hold_reply_memory(&self, share: Share) {
        *self.answer.lock() = share;
    }

    /// Gives back the memory of the reply, which is sent. It is dropped without the lock.
    pub(crate) fn release_reply_memory(&self) {
        // Taken first and dropped afterwards: giving memory back may wake others.
        let sent = std::mem::take(&mut *self.answer.lock());
        drop(sent);
    }

    /// Notes that a command begins.
    pub(crate) fn begin_command(&self, running: Running) -> RunningGuard<'_> {
        *self.running.lock() = Some(running);
        RunningGuard(self)
    }

    /// The command under way, a `getMore`, goes on with the operation that opened the cursor: its
    /// time limit and its stops are those of the operation from now on.
    pub(crate) fn resume_operation(&self, cursor: i64, operation: &Arc<Operation>, now: Duration) {
        // In this order: what stopped the request so far is carried over to the operation it goes
        // on with.
        if let Some(running) = &mut *self.running.lock() {
            operation.resume_for(now, &running.operation);
            running.cursor = Some(cursor);
            running.operation = Arc::clone(operation);
        }
    }

    /// What it is doing, if it is doing something.
    pub(crate) fn running_command(&self) -> Option<Running> {
        self.running.lock().clone()
    }

    /// Tells the command under way to stop, if its number is `id`; `None` means any. Returns
    /// whether there was such a command. It stops at its next look, not at once.
    pub(crate) fn stop_command(&self, id: Option<i32>, why: StopReason) -> bool {
        let running = self.running.lock();
        let meant = running.as_ref().filter(|running| id.is_none_or(|id| id == running.id));
        meant.inspect(|running| running.operation.tell_to_stop(why)).is_some()
    }
}
