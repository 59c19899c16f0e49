//! A cache of query results that were computed together with a page, but follow it, for use by the
//! next page. Without the cache, each page of a query with DISTINCT, GROUP BY, or an ORDER BY
//! without an index evaluates the whole query again.
//!
//! [`ScanBasis`] decides whether cached results are still valid: the engine compares it with a new
//! view before each use. A write to the container, a change of its settings, or the expiry of any
//! item that was read invalidates them, and the page is computed from scratch. Clients cannot
//! observe the difference.
//!
//! Entries are keyed by continuation token, which is valid for one query, one container and one
//! position. The memory of entries is reserved from the account of operations; the oldest entries
//! are evicted when operations need the memory.

use std::{collections::HashMap, fmt};

use engine::{ScanBasis, ScanOrder, Scanned};
use memory::{Account, Relief, Share};
use parking_lot::Mutex;
use select::statement::{PageLimit, RemainingResults};

use crate::limits::{AHEAD_BYTES, MAX_AHEAD};

/// Results computed in advance for the next page of a query, and the state on which they depend.
#[derive(Debug)]
pub(crate) struct PageAhead {
    /// The results after the page that was sent.
    pub(crate) rest: RemainingResults,
    /// The state of the store that the results depend on.
    pub(crate) basis: ScanBasis,
    /// Statistics of the scan that produced the results. The next page is charged as if it had
    /// scanned the rows itself.
    pub(crate) scanned: Scanned,
    /// The order in which the scan has read the items.
    pub(crate) scan_order: ScanOrder,
}

/// A cache entry with its memory reservation.
struct CacheEntry<P> {
    page: P,
    /// Sequence number of the insertion.
    at: u64,
    bytes: usize,
    /// Released when the entry is dropped.
    _share: Share,
}

struct CacheEntries<P> {
    by_token: HashMap<String, CacheEntry<P>>,
    /// Number of insertions so far.
    kept: u64,
    /// Total bytes of all entries.
    bytes: usize,
}

/// A cache of next pages, keyed by continuation token.
pub(crate) struct PagesAhead<P = PageAhead>(Mutex<CacheEntries<P>>);

impl<P> Default for PagesAhead<P> {
    fn default() -> Self {
        Self(Mutex::new(CacheEntries { by_token: HashMap::new(), kept: 0, bytes: 0 }))
    }
}

impl<P> fmt::Debug for PagesAhead<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PagesAhead").field("bytes", &self.0.lock().bytes).finish_non_exhaustive()
    }
}

impl<P> PagesAhead<P> {
    /// Returns the limits of the results that a query may cache for its next pages; `None` if
    /// memory is scarce.
    pub(crate) fn limit(account: &Account) -> Option<PageLimit> {
        let bytes = Self::max_bytes(account) / 4;
        // Approximate memory of a small result with its overhead.
        let items = bytes / 256;
        (!account.is_scarce() && 0 < items).then_some(PageLimit { items, bytes: bytes / 2 })
    }

    /// Returns the maximum total size of all entries in bytes.
    fn max_bytes(account: &Account) -> usize {
        AHEAD_BYTES.min(account.limit() / 16)
    }

    /// Caches a page for this token if memory allows, and evicts the oldest entries to make space.
    /// `bytes` is the size of the page.
    pub(crate) fn keep(&self, account: &Account, token: &str, page: P, bytes: usize) {
        let bytes = bytes.saturating_add(token.len());
        let most = Self::max_bytes(account);
        if most < bytes {
            return;
        }
        let mut gone = self.free(MAX_AHEAD - 1, most - bytes);
        // Reserving memory may call `relieve`, which takes the lock.
        let Ok(share) = account.share_of(bytes) else { return };
        let mut all = self.0.lock();
        all.kept += 1;
        let held = CacheEntry { page, at: all.kept, bytes, _share: share };
        all.bytes += bytes;
        if let Some(before) = all.by_token.insert(token.to_owned(), held) {
            all.bytes -= before.bytes;
            gone.push(before);
        }
        // Evicted pages are dropped after the lock is released.
        drop(all);
        drop(gone);
    }

    /// Removes and returns the page for this token.
    pub(crate) fn take(&self, token: &str) -> Option<P> {
        let mut all = self.0.lock();
        let held = all.by_token.remove(token)?;
        all.bytes -= held.bytes;
        Some(held.page)
    }

    /// Removes the oldest entries until at most `most` entries of at most `bytes` bytes in total
    /// remain; returns the removed ones.
    fn free(&self, most: usize, bytes: usize) -> Vec<CacheEntry<P>> {
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
        // All entries together may take a sixteenth of the memory account.
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
        assert!(PagesAhead::<usize>::limit(&account).is_none());
    }
}
