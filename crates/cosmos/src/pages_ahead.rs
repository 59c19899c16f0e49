//! Results that a query has made beyond the page that was sent, kept for the next page. Without them each
//! page of a query with DISTINCT, GROUP BY, or an ORDER BY that no index serves evaluates the whole query
//! again.
//!
//! Nothing here decides whether results may still be shown: [`ScanBasis`] does, which the engine compares
//! with a new view before each use. A write to the container, a change of its settings, or the expiry of
//! any item that was read makes them useless, and then the page is made as if they were not there. So a
//! client cannot tell whether they were.
//!
//! They are found by the continuation token, which is good for one query, one container and one place.
//! Their memory is taken from the account of operations; the ones that were used longest ago go first
//! when others need it.

use std::{collections::HashMap, fmt};

use engine::{ScanBasis, ScanOrder, Scanned};
use memory::{Account, Relief, Share};
use parking_lot::Mutex;
use select::statement::{PageLimit, Rest};

use crate::limits::{AHEAD_BYTES, MAX_AHEAD};

/// What is kept for the next page of a query.
#[derive(Debug)]
pub(crate) struct PageAhead {
    /// The results behind the page before.
    pub(crate) rest: Rest,
    /// What they rely on.
    pub(crate) basis: ScanBasis,
    /// How the walk went that they are of: the next page costs the same as if it had walked too.
    pub(crate) scanned: Scanned,
    /// The order in which items came.
    pub(crate) comes: ScanOrder,
}

/// One of them, with its memory.
struct Held<P> {
    page: P,
    /// When it was kept, by a count.
    at: u64,
    bytes: usize,
    /// Given back when it is dropped.
    _share: Share,
}

/// All of them.
struct All<P> {
    by_token: HashMap<String, Held<P>>,
    /// How many were ever kept.
    kept: u64,
    /// Bytes of all of them.
    bytes: usize,
}

/// What is kept for the next pages of queries.
pub(crate) struct PagesAhead<P = PageAhead>(Mutex<All<P>>);

impl<P> Default for PagesAhead<P> {
    fn default() -> Self {
        Self(Mutex::new(All { by_token: HashMap::new(), kept: 0, bytes: 0 }))
    }
}

impl<P> fmt::Debug for PagesAhead<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PagesAhead").field("bytes", &self.0.lock().bytes).finish_non_exhaustive()
    }
}

impl<P> PagesAhead<P> {
    /// How much a query may keep beyond a page; `None` where memory is scarce.
    pub(crate) fn room(account: &Account) -> Option<PageLimit> {
        let bytes = Self::most_bytes(account) / 4;
        // About what a small result takes with all that is around it.
        let items = bytes / 256;
        (!account.is_scarce() && 0 < items).then_some(PageLimit { items, bytes: bytes / 2 })
    }

    /// Bytes that all of them may take.
    fn most_bytes(account: &Account) -> usize {
        AHEAD_BYTES.min(account.limit() / 16)
    }

    /// Keeps what the page with this token will need, which takes this many bytes, if there is memory for
    /// it. What was kept longest goes for it.
    pub(crate) fn keep(&self, account: &Account, token: &str, page: P, bytes: usize) {
        let bytes = bytes.saturating_add(token.len());
        let most = Self::most_bytes(account);
        if most < bytes {
            return;
        }
        let mut gone = self.free(MAX_AHEAD - 1, most - bytes);
        // Taking memory may ask for relief, which takes the lock.
        let Ok(share) = account.share_of(bytes) else { return };
        let mut all = self.0.lock();
        all.kept += 1;
        let held = Held { page, at: all.kept, bytes, _share: share };
        all.bytes += bytes;
        if let Some(before) = all.by_token.insert(token.to_owned(), held) {
            all.bytes -= before.bytes;
            gone.push(before);
        }
        // What goes is dropped after the lock is released.
        drop(all);
        drop(gone);
    }

    /// Takes what is kept for the page with this token.
    pub(crate) fn take(&self, token: &str) -> Option<P> {
        let mut all = self.0.lock();
        let held = all.by_token.remove(token)?;
        all.bytes -= held.bytes;
        Some(held.page)
    }

    /// Removes those that were kept longest, until at most this many of so many bytes are left.
    fn free(&self, most: usize, bytes: usize) -> Vec<Held<P>> {
        let mut gone = Vec::new();
        let mut all = self.0.lock();
        while most < all.by_token.len() || bytes < all.bytes {
            let oldest = all.by_token.iter().min_by_key(|(_, held)| held.at);
            let Some(token) = oldest.map(|(token, _)| token.clone()) else { break };
            let Some(held) = all.by_token.remove(&token) else { break };
            all.bytes -= held.bytes;
            gone.push(held);
        }
        gone
    }
}

impl<P: Send> Relief for PagesAhead<P> {
    fn relieve(&self, bytes: usize) {
        let left = self.0.lock().bytes.saturating_sub(bytes);
        drop(self.free(usize::MAX, left));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const MB: usize = 1 << 20;

    fn kept(ahead: &PagesAhead<usize>) -> Vec<usize> {
        let mut all: Vec<usize> = ahead.0.lock().by_token.values().map(|held| held.page).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_or_too_large_ones() {
        let account = Account::new(160 * MB);
        let ahead: PagesAhead<usize> = PagesAhead::default();
        for at in 0..MAX_AHEAD + 3 {
            ahead.keep(&account, &at.to_string(), at, 100);
        }
        assert_eq!(kept(&ahead), (3..MAX_AHEAD + 3).collect::<Vec<_>>());
        // A sixteenth of the account is for all of them.
        for at in 0..4 {
            ahead.keep(&account, &format!("large {at}"), 1000 + at, 3 * MB);
        }
        assert_eq!(kept(&ahead), [1001, 1002, 1003]);
        ahead.keep(&account, "too large", 9, 11 * MB);
        assert_eq!(kept(&ahead), [1001, 1002, 1003]);
        assert!(9 * MB <= account.used_bytes() && account.used_bytes() < 10 * MB);
        assert_eq!(ahead.take("large 2"), Some(1002));
        assert_eq!(ahead.take("large 2"), None);
        assert!(account.used_bytes() < 7 * MB);
    }

    #[test]
    fn others_who_need_memory_get_it() {
        let account = Account::new(160 * MB);
        let ahead: Arc<PagesAhead<usize>> = Arc::default();
        account.relieved_by(&ahead);
        for at in 0..3 {
            ahead.keep(&account, &at.to_string(), at, 3 * MB);
        }
        let mut other = account.share();
        other.set(138 * MB).unwrap();
        assert!(kept(&ahead).len() < 3);
        assert!(PagesAhead::<usize>::room(&account).is_none());
    }
}
