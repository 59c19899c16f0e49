//! What an operation holds of the account of all operations: a share for each stage, one for the
//! operation itself, and one for the expression that is being evaluated. How much one expression
//! may hold at all stands in `growth`.
//!
//! Taking memory takes a lock. An expression that holds little never does: the first bytes are not
//! asked for, and after that it asks for an eighth more than it needs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use document::{DocRef, ValueRef};
use memory::{Account, Share, Short};
use parking_lot::Mutex;

use crate::{
    error::{Error, Kind},
    numbers::BUSY,
    size::{Size, readable_bytes},
};

/// Bytes that an expression may hold without asking: most never hold more.
const FREE: usize = 64 * 1024;

impl From<Short> for Error {
    fn from(short: Short) -> Self {
        Self::new(Kind::Short, BUSY, short.to_string())
    }
}

/// Where an operation takes memory from. Clones are of one operation, which evaluates one
/// expression at a time.
#[derive(Clone, Debug, Default)]
pub struct Holding(Arc<HeldShares>);

/// What all clones of a holding share: the account, and two shares taken from it.
#[derive(Debug, Default)]
struct HeldShares {
    /// The account of the operation.
    account: Account,
    /// How much the expression under way may hold by what was taken; spares the lock.
    covered: AtomicUsize,
    /// What expressions took.
    share: Mutex<Share>,
    /// What the operation holds as long as it is there.
    kept: Mutex<Share>,
}

impl Holding {
    /// From this account.
    pub fn from_account(account: &Account) -> Self {
        Self::with_limit(account, usize::MAX)
    }

    /// A holding for parts of the operation that may hold `limit` bytes together.
    pub fn part_within(&self, limit: usize) -> Self {
        Self::with_limit(&self.0.account, limit)
    }

    /// A part of an account, of at most so many bytes.
    fn with_limit(account: &Account, limit: usize) -> Self {
        let account = account.for_operation(limit);
        let (share, kept) = (Mutex::new(account.share()), Mutex::new(account.share()));
        Self(Arc::new(HeldShares { account, covered: AtomicUsize::new(0), share, kept }))
    }

    /// The operation itself holds `bytes` more until it is forgotten.
    pub fn keep_for_operation(&self, bytes: usize) -> Result<(), Short> {
        self.0.kept.lock().grow(bytes)
    }

    /// Bytes that the operation holds.
    pub fn used_bytes(&self) -> usize {
        self.0.account.used_bytes()
    }

    /// Whether `bytes` more would be more than these parts may hold, rather than more than is left
    /// for everybody: the two failures are different errors.
    pub fn is_beyond(&self, bytes: usize) -> bool {
        self.0.account.is_beyond(bytes)
    }

    /// Whether little is left for others.
    pub fn is_scarce(&self) -> bool {
        self.0.account.is_scarce()
    }

    /// A share for a part of the operation that holds memory beside expressions.
    pub fn share(&self) -> Share {
        self.0.account.share()
    }

    /// A share for the tree of a raw document, which takes several times its bytes. Small ones are
    /// not asked for.
    pub fn share_for_tree(&self, document: DocRef<'_>) -> Result<Share, Error> {
        let mut share = self.share();
        if FREE / 4 < readable_bytes(ValueRef::Document(document)) {
            share.grow(Size::of_value(ValueRef::Document(document)).memory)?;
        }
        Ok(share)
    }

    /// No expression is being evaluated any more: what the last one held is given back.
    pub fn release_expression(&self) {
        if self.0.covered.load(Relaxed) != 0 {
            let mut share = self.0.share.lock();
            share.shrink(usize::MAX);
            self.0.covered.store(0, Relaxed);
        }
    }

    /// The expression under way holds `bytes`: fails when they are not there. The share never
    /// shrinks during an evaluation.
    pub fn cover_expression(&self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.0.covered.load(Relaxed).max(FREE) {
            return Ok(());
        }
        let mut share = self.0.share.lock();
        // Each step is an eighth more, so that growing by little is seldom.
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
        let holding = Holding::from_account(&account);
        holding.cover_expression(FREE).unwrap();
        assert_eq!(account.used_bytes(), 0);
        holding.cover_expression(200_000).unwrap();
        assert!(200_000 <= account.used_bytes());
        let before = account.used_bytes();
        holding.cover_expression(100_000).unwrap();
        assert_eq!(account.used_bytes(), before, "the most that it held");
        let mut stage = holding.share();
        stage.grow(500_000).unwrap();
        let short = holding.cover_expression(600_000).unwrap_err();
        assert_eq!((short.kind, short.number), (Kind::Short, BUSY));
        holding.release_expression();
        assert!(account.used_bytes() < 600_000);
        drop((stage, holding));
        assert_eq!(account.used_bytes(), 0);
    }
}
