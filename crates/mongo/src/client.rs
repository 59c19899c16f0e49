//! The state of a connected client and its current command. `connection` reads and writes its
//! bytes; other clients' commands (`currentOp`, `killOp`) access this state from their own threads,
//! so its mutable fields are locks and atomics.

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

/// A client connection: one per socket, and one per command that the portal relays.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Sequence number since the start of the server, shown as `connectionId`.
    pub(crate) id: i32,
    /// The client's address, for `currentOp` and logs.
    pub(crate) peer: String,
    /// Subject of the client's TLS certificate, for X.509 logins.
    pub(crate) certificate_subject: Option<String>,
    /// The server's address on this connection, to which the client has connected.
    pub(crate) reached_at: Option<IpAddr>,
    /// The server name that the client sent in the TLS handshake.
    pub(crate) reached_name: Option<String>,
    /// Whether this connection requires a login even if the server's settings require none.
    pub(crate) has_to_log_in: bool,
    /// Counters of this connection. Only its own task writes to them.
    pub(crate) counters: Counters,
    /// Compressors that both sides support, in the client's order; empty before the handshake.
    pub(crate) compressors: Mutex<Vec<Compressor>>,
    /// Whether the client has sent its metadata. It may do so once; later attempts fail with 186.
    pub(crate) introduced: AtomicBool,
    /// The application name from the driver's first handshake.
    pub(crate) app_name: Mutex<Option<String>>,
    /// Request id of the next reply.
    replies: AtomicI32,
    /// Memory reserved by the reply that is being made or sent. It is released when the last byte
    /// is written, not when the command returns.
    answer: Mutex<Share>,
    /// The current command, for `currentOp` and `killOp`.
    running: Mutex<Option<Running>>,
    /// The sender of a relayed command; `None` for a socket.
    pub(crate) relayed_sender: Option<RelayedSender>,
    /// The logged-in user, and the state of a login that is not complete yet.
    pub(crate) logins: Mutex<Logins>,
    /// The work counters of the last command's collection, as a cache.
    pub(crate) last_work: LastWork,
    /// The last command on documents, if any.
    last_request: Mutex<Option<LastRequest>>,
}

/// A command on documents, for `getLastRequestStatistics`.
#[derive(Clone, Debug)]
pub(crate) struct LastRequest {
    /// The command's name, as the command table spells it.
    pub(crate) command: &'static str,
    pub(crate) took: Duration,
    /// The cost in hundredths of request units.
    pub(crate) charge: u64,
    /// Id of the session in which the command was sent; `None` without a session.
    pub(crate) session: Option<[u8; 16]>,
    /// Time at which the command ended, on the machine's monotonic clock.
    pub(crate) ended: Duration,
}

/// The identity that commands run under; it decides who may use a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) relayed: Option<RelayedSender>,
    pub(crate) user: Option<UserName>,
}

impl Sender {
    /// Returns whether `other` may use what this sender has opened, such as a cursor.
    ///
    /// A relayed sender that may write holds the account's key, and so may use everything.
    pub(crate) fn admits(&self, other: &Self) -> bool {
        match other.relayed {
            Some(relayed) => relayed.writes || self.relayed == other.relayed,
            None => self.user == other.user,
        }
    }
}

/// The sender of a command that came through the portal. Each of its commands has its own
/// connection, so cursors and rights belong to this sender instead of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RelayedSender {
    /// Whether the sender may send commands that change something.
    pub(crate) writes: bool,
    /// Id of the sender's portal session. All commands of a session have the same id. A read-only
    /// sender may use only the cursors of its own session.
    pub(crate) session: [u8; 32],
}

/// Registers a command as the connection's current one until dropped, also if the command is
/// cancelled.
pub(crate) struct RunningGuard<'a>(&'a Connection);

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        *self.0.running.lock() = None;
    }
}

impl Connection {
    /// Creates the state of a new connection whose client has sent nothing yet.
    pub(crate) fn new(id: i32, peer: Peer, relayed_sender: Option<RelayedSender>) -> Self {
        Self {
            id,
            peer: peer.address,
            certificate_subject: peer.certificate_subject,
            reached_at: peer.reached_at,
            reached_name: peer.reached_name,
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
            last_request: Mutex::default(),
        }
    }

    /// Returns the client's IP address; `None` for a relayed command.
    pub(crate) fn peer_address(&self) -> Option<IpAddr> {
        self.peer.parse().ok().map(|peer: SocketAddr| peer.ip().to_canonical())
    }

    /// Returns the identity under which this connection's commands run.
    pub(crate) fn sender(&self) -> Sender {
        let logins = self.logins.lock();
        let current = logins.current.as_ref().map(|login| login.name.clone());
        let user = current.or_else(|| logins.known.as_ref().map(KnownUser::name));
        Sender { relayed: self.relayed_sender, user }
    }

    /// Returns the application name that the client sent, if any.
    pub(crate) fn app_name(&self) -> Option<String> {
        self.app_name.lock().clone()
    }

    /// Returns the request id of the next reply. Ids must be unique, since each exhaust reply
    /// refers to the one before.
    pub(crate) fn reply_id(&self) -> i32 {
        self.replies.fetch_add(1, Ordering::Relaxed)
    }

    /// Keeps the memory reservation of a reply until it is sent.
    pub(crate) fn hold_reply_memory(&self, share: Share) {
        *self.answer.lock() = share;
    }

    /// Releases the memory reservation of a reply that was sent.
    pub(crate) fn release_reply_memory(&self) {
        // Dropped outside the lock: releasing memory may wake other tasks.
        let sent = std::mem::take(&mut *self.answer.lock());
        drop(sent);
    }

    /// Records a finished command on documents as the last one.
    pub(crate) fn record_request(&self, last: LastRequest) {
        *self.last_request.lock() = Some(last);
    }

    /// Returns the last command on documents; `None` if there was none.
    pub(crate) fn last_request(&self) -> Option<LastRequest> {
        self.last_request.lock().clone()
    }

    /// Registers a command as the connection's current one.
    pub(crate) fn begin_command(&self, running: Running) -> RunningGuard<'_> {
        *self.running.lock() = Some(running);
        RunningGuard(self)
    }

    /// Makes the current command, a `getMore`, continue the operation that opened the cursor, with
    /// that operation's time limit and stop requests.
    pub(crate) fn resume_operation(&self, cursor: i64, operation: &Arc<Operation>, now: Duration) {
        // The order matters: a stop request that reached the `getMore` so far is carried over to
        // the operation that it continues.
        if let Some(running) = &mut *self.running.lock() {
            operation.resume_for(now, &running.operation);
            running.cursor = Some(cursor);
            running.operation = Arc::clone(operation);
        }
    }

    /// Returns the current command, if any.
    pub(crate) fn running_command(&self) -> Option<Running> {
        self.running.lock().clone()
    }

    /// Cancels the current command if its id is `id`, or any current command if `id` is `None`.
    /// Returns whether there was such a command. The command stops at its next check, not
    /// immediately.
    pub(crate) fn stop_command(&self, id: Option<i32>, why: StopReason) -> bool {
        let running = self.running.lock();
        let meant = running.as_ref().filter(|running| id.is_none_or(|id| id == running.id));
        meant.inspect(|running| running.operation.request_stop(why)).is_some()
    }
}
