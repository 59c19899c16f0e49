//! Decides what a writer waits for before an attempt: a turn in its collection, and memory for
//! large documents.
//!
//! ```text
//!  attempt --> a row above LARGE_ROW_BYTES --> Halt::NeedsMemory --> memory --> turn? --> attempt
//!  attempt --> the commit is refused ------------------------------> memory --> turn  --> attempt
//! ```
//!
//! Writers never wait for memory while they hold a turn, so a writer with a turn can finish, and a
//! writer that holds memory and waits for the turn gets it.

use evaluation::Context;

use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    limits::{LARGE_ROW_BYTES, ROW_COPIES},
    read::{Find, Finder},
    row::Row,
    turns::{Turn, Turns},
};

/// The memory and the permits that a writer holds between its attempts.
pub(super) struct WriterTurns<'a> {
    collection: &'a Collection,
    context: &'a Context,
    /// The selection, if the write is to the first matching document in an order.
    first: Option<&'a Find>,
    turn: Option<Turn<'a>>,
    large_writes: &'a Turns,
    /// Memory for rows of up to `largest` bytes.
    memory: Option<Turn<'a>>,
    /// Size of the largest row so far, rounded up; 0 if no row was large.
    largest: usize,
}

impl Engine {
    /// Creates the state of a writer that holds nothing yet. `first` is its selection if it writes
    /// the first document in the selection's order.
    pub(super) fn writer_turns<'a>(
        &'a self,
        collection: &'a Collection,
        first: Option<&'a Find>,
        context: &'a Context,
    ) -> WriterTurns<'a> {
        let large_writes = &self.inner.large_writes;
        let (turn, memory, largest) = (None, None, 0);
        WriterTurns { collection, context, first, turn, large_writes, memory, largest }
    }
}

impl<'a> WriterTurns<'a> {
    /// Returns the context of the operation.
    pub(super) fn context(&self) -> &'a Context {
        self.context
    }

    /// Starts another attempt, after a wait for its memory and its turn.
    ///
    /// A turn is needed if the first document in sort order must be found by a full scan, and an
    /// earlier attempt was refused or another writer holds a turn; so later writers do not overtake
    /// waiting ones. The turn is kept until the operation ends.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`](crate::error::Kind::Conflict) after too many attempts, and
    /// [`Kind::Stopped`](crate::error::Kind::Stopped).
    pub(super) async fn begin_attempt(&mut self, attempts: &mut Attempts) -> Result<(), Error> {
        attempts.begin_next()?;
        if self.lacks_memory() {
            // Waiting for memory with a turn would block the writers that have the memory.
            self.turn = None;
        }
        self.begin_batch().await?;
        let Some(find) = self.first.filter(|find| find.sort.is_some()) else { return Ok(()) };
        let turns = &self.collection.turns;
        let has_lost = !attempts.is_first();
        if self.turn.is_none()
            && (has_lost || turns.is_taken())
            && !Finder::new(&self.collection.state(), find, self.context.collation(), None)?
                .is_sorted()
        {
            self.turn = Some(turns.wait(1, self.context).await?);
        }
        Ok(())
    }

    /// Waits for memory before the next batch of rows, if an earlier batch contained large rows.
    pub(super) async fn begin_batch(&mut self) -> Result<(), Error> {
        if self.lacks_memory() {
            let bytes = self.largest.saturating_mul(ROW_COPIES);
            self.memory = Some(self.large_writes.wait_for_memory(bytes, self.context).await?);
        }
        Ok(())
    }

    /// Releases the memory at the end of a batch, so that a long operation does not block other
    /// writers.
    pub(super) fn end_batch(&mut self) {
        self.memory = None;
    }

    /// Checks that memory is reserved for rows that were found.
    ///
    /// # Errors
    ///
    /// [`Halt::NeedsMemory`] for a large row without memory. The caller must drop the rows and make
    /// another attempt.
    pub(super) fn admit<'r>(
        &mut self,
        rows: impl IntoIterator<Item = &'r Row>,
    ) -> Result<(), Halt> {
        let largest = rows.into_iter().map(|row| row.value.len()).max().unwrap_or(0);
        let is_covered = self.memory.is_some() && largest <= self.largest;
        if LARGE_ROW_BYTES < largest && !is_covered {
            // Two writers that hold memory and wait for more could wait for each other.
            self.memory = None;
            // Rounded up, so that few attempts fail on documents that grow.
            self.largest = largest.next_power_of_two();
            return Err(Halt::NeedsMemory);
        }
        Ok(())
    }

    fn lacks_memory(&self) -> bool {
        self.memory.is_none() && 0 < self.largest
    }
}
