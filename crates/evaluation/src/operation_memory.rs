//! The memory that an operation reserves from the account of all operations: a share for each
//! stage, one for the operation itself, and one for the expression that is being evaluated. The
//! limit of one expression is in `growth`.
//!
//! Reserving memory takes a lock. Expressions that need little never do: the first bytes need no
//! reservation, and beyond them each reservation is an eighth larger than needed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use document::{DocRef, ValueRef};
use memory::{Account, InsufficientMemory, Share};
use parking_lot::Mutex;

use crate::{
    error::{Error, Kind, numbers::BUSY},
    size::{Size, readable_bytes},
};

/// Bytes that an expression may hold without a reservation, which suffice for most.
const FREE: usize = 64 * 1024;

impl From<InsufficientMemory> for Error {
    fn from(short: InsufficientMemory) -> Self {
        Self::new(Kind::Short, BUSY, short.to_string())
    }
}

/// The source of an operation's memory. Clones belong to the same operation, which evaluates one
/// expression at a time.
#[derive(Clone, Debug, Default)]
pub struct OperationMemory(Arc<HeldShares>);

/// The memory reservations, shared by all clones.
#[derive(Debug, Default)]
struct HeldShares {
    account: Account,
    /// Bytes already reserved for the current expression; growth within them needs no lock.
    covered: AtomicUsize,
    /// Memory reserved by expression evaluation.
    share: Mutex<Share>,
    /// Memory reserved for the duration of the operation.
    kept: Mutex<Share>,
}

impl OperationMemory {
    /// Creates the memory of an operation that uses this account.
    pub fn from_account(account: &Account) -> Self {
        Self::with_limit(account, usize::MAX)
    }

    /// Creates the memory for parts of the operation that together may hold `limit` bytes.
    pub fn part_within(&self, limit: usize) -> Self {
        Self::with_limit(&self.0.account, limit)
    }

    /// Creates the memory of an operation with a limit in bytes, from an account.
    fn with_limit(account: &Account, limit: usize) -> Self {
        let account = account.for_operation(limit);
        let (share, kept) = (Mutex::new(account.share()), Mutex::new(account.share()));
        Self(Arc::new(HeldShares { account, covered: AtomicUsize::new(0), share, kept }))
    }

    /// Reserves `bytes` more until the operation ends.
    pub fn keep_for_operation(&self, bytes: usize) -> Result<(), InsufficientMemory> {
        self.0.kept.lock().grow(bytes)
    }

    /// Returns the bytes that the operation holds.
    pub fn used_bytes(&self) -> usize {
        self.0.account.used_bytes()
    }

    /// Returns whether `bytes` more would exceed the limit that was set for this part of the
    /// operation. If not, a failed reservation is due to the memory available to all operations,
    /// which is a different error.
    pub fn is_beyond(&self, bytes: usize) -> bool {
        self.0.account.is_beyond(bytes)
    }

    /// Returns whether little memory is available to other operations.
    pub fn is_scarce(&self) -> bool {
        self.0.account.is_scarce()
    }

    /// Returns an empty share for a part of the operation that holds memory besides expressions.
    pub fn share(&self) -> Share {
        self.0.account.share()
    }

    /// Returns a share for the tree of a raw document, which takes several times the document's
    /// bytes. Small documents need no reservation.
    pub fn share_for_tree(&self, document: DocRef<'_>) -> Result<Share, Error> {
        let mut share = self.share();
        if FREE / 4 < readable_bytes(ValueRef::Document(document)) {
            share.grow(Size::of_value(ValueRef::Document(document)).memory)?;
        }
        Ok(share)
    }

    /// Releases the memory of the last expression when its evaluation has ended.
    pub fn release_expression(&self) {
        if self.0.covered.load(Relaxed) != 0 {
            let mut share = self.0.share.lock();
            share.shrink(usize::MAX);
            self.0.covered.store(0, Relaxed);
        }
    }

    /// Reserves `bytes` for the current expression; fails if they are not available. The share
    /// never shrinks during an evaluation.
    pub fn cover_expression(&self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.0.covered.load(Relaxed).max(FREE) {
            return Ok(());
        }
        let mut share = self.0.share.lock();
        // An eighth more, so that small increments rarely take the lock.
        share.set(bytes.saturating_add(bytes / 8)).or_else(|_| share.set(bytes))?;
        self.0.covered.store(share.held_bytes(), Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_takes_what_it_holds_and_gives_it_back() {
        let account = Account::new(1 << 20);
        let operation_memory = OperationMemory::from_account(&account);
        operation_memory.cover_expression(FREE).unwrap();
        assert_eq!(account.used_bytes(), 0);
        operation_memory.cover_expression(200_000).unwrap();
        assert!(200_000 <= account.used_bytes());
        let before = account.used_bytes();
        operation_memory.cover_expression(100_000).unwrap();
        assert_eq!(account.used_bytes(), before, "the most that it held");
        let mut stage = operation_memory.share();
        stage.grow(500_000).unwrap();
        let short = operation_memory.cover_expression(600_000).unwrap_err();
        assert_eq!((short.kind, short.number), (Kind::Short, BUSY));
        operation_memory.release_expression();
        assert!(account.used_bytes() < 600_000);
        drop((stage, operation_memory));
        assert_eq!(account.used_bytes(), 0);
    }
}
