//! Snapshots for reads at one cluster time outside of transactions.
//!
//! Such a snapshot is a [`Transaction`] that writes nothing and whose statements all judge expiry at
//! the instant of the snapshot. A document that was live then is therefore shown for as long as the
//! snapshot is kept, to readers that ask for that time.
//!
//! ```text
//!  commits      c1   c2 │ c3              the snapshot has c1 and c2
//!  ─────────────────────●─────────────▶   its time: that of c2, or of expirations at its instant,
//!                    instant              whichever is later
//! ```
//!
//! Commits in flight could extend documents that have expired by the instant. The opening therefore
//! waits for them, a bounded number of times because writers may never pause; documents that could
//! have been extended then fail a read.

use std::sync::Arc;

use clock::Instant;
use memory::Share;
use store::ClusterTime;

use super::{
    factory::ViewFactory,
    live::LiveView,
    open::{Opened, try_open},
    transaction::Transaction,
};
use crate::{
    error::{Error, Halt, Kind},
    intents::IntentTable,
};

/// Number of times for which the opening waits for commits in flight.
const MAX_WAITS: usize = 16;

/// The place of a snapshot in the order of commits and expirations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Historical {
    instant: Instant,
    /// Instant up to which expirations are final in the snapshot.
    stable: Instant,
    /// The snapshot has the commit with this sequence number and all earlier ones.
    seq: u64,
    time: ClusterTime,
}

impl Transaction {
    /// Opens a snapshot of the newest commits, which writes nothing.
    ///
    /// # Errors
    ///
    /// [`Kind::Moved`] if the clock has ended.
    pub(crate) async fn open_historical(
        factory: &ViewFactory,
        intents: Arc<IntentTable>,
        held: Share,
    ) -> Result<Self, Error> {
        // From here on nothing that the snapshot may contain is reaped.
        let transaction = Self::new(factory, intents, held);
        let mut waits = 0;
        loop {
            // The number before the time: if a commit is published in between, the snapshot has a
            // later number and is taken again. The time is that of a commit that the snapshot has.
            let seq = factory.store.published();
            let newest = factory.store.in_flight().published_time();
            // Without collections: their settings are compared when a view of them is opened.
            let Some(opened) = try_open(factory, &mut []).await? else { continue };
            let in_flight = opened.oldest.filter(|(since_ms, _)| *since_ms < opened.instant.ms);
            if waits < MAX_WAITS && (in_flight.is_some() || opened.seq != seq) {
                waits += 1;
                if let Some((_, batch)) = in_flight {
                    factory.store.in_flight().wait_until_finished(batch).await;
                }
                continue;
            }
            let Opened { instant, oldest, seq, snapshot } = opened;
            let stable = oldest.map_or(instant, |(since_ms, _)| Instant::from_ms(since_ms));
            let stable = stable.min(instant);
            let time = newest.max(ClusterTime::of_expiration(instant.ms));
            transaction.begin_at(snapshot, Historical { instant, stable, seq, time });
            return Ok(transaction);
        }
    }

    /// Returns the cluster time of a snapshot for reads outside of transactions.
    pub fn read_time(&self) -> Option<ClusterTime> {
        self.historical().map(|at| at.time)
    }

    /// Returns whether another snapshot for reads outside of transactions has the same commits and
    /// the same instant.
    pub fn is_same_snapshot(&self, other: &Self) -> bool {
        let place = |of: &Self| of.historical().map(|at| (at.instant, at.seq, at.time));
        place(self) == place(other)
    }

    /// Returns why a view cannot decide whether a document has expired: a commit in flight may have
    /// extended it. A later view of an ordinary transaction can decide it.
    pub(super) fn undecided(&self) -> Halt {
        if self.historical().is_none() {
            return Halt::LookAgain;
        }
        let text = "a document expired while it may have been prolonged by a commit that the \
                    snapshot does not have; read from a newer snapshot";
        Error::new(Kind::SnapshotUnavailable, text).into()
    }

    /// Returns the error of a statement after the end.
    pub(super) fn ended_error(&self) -> Error {
        match self.historical() {
            None => Error::new(Kind::TransactionEnded, "the transaction has ended"),
            Some(at) => snapshot_too_old(at.time),
        }
    }

    /// Fails for a snapshot of reads.
    pub(super) fn check_writes(&self) -> Result<(), Error> {
        match self.historical() {
            None => Ok(()),
            Some(_) => Err(Error::new(Kind::Invalid, "a read at a snapshot cannot write")),
        }
    }
}

impl Historical {
    /// Sets the instants of a view that was just opened to those of the snapshot.
    pub(super) fn judge_in(&self, view: &mut LiveView) {
        (view.instant, view.stable, view.in_flight) = (self.instant, self.stable, None);
    }

    /// Returns the instant from which nothing that the snapshot shows may be reaped, and the newest
    /// commit that it certainly has.
    pub(super) fn held_at(&self) -> (Instant, u64) {
        (self.stable, self.seq)
    }

    pub(super) fn instant(&self) -> Instant {
        self.instant
    }
}

/// Returns the error of a read at a time whose snapshot is not kept.
pub fn snapshot_too_old(time: ClusterTime) -> Error {
    let (seconds, increment) = (time.seconds(), time.increment());
    let text = format!(
        "Read timestamp Timestamp({seconds}, {increment}) is older than the oldest available \
         timestamp."
    );
    Error::new(Kind::ViewEnded, text)
}
