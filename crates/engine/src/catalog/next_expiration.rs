//! When the next document of a collection expires, as far as known: readers of the change log wait
//! until then, and expirations up to now are recorded before the log is read.

use clock::Instant;
use parking_lot::Mutex;

/// The earliest instant at which an expiration of a collection may have to be recorded.
#[derive(Debug)]
pub(crate) struct NextExpiration(Mutex<Due>);

#[derive(Debug)]
struct Due {
    at_ms: i64,
    /// During a search for the next expiration: the earliest one noted since the search began.
    noted_ms: Option<i64>,
}

impl Default for NextExpiration {
    fn default() -> Self {
        // Unknown at first, so a search is due.
        Self(Mutex::new(Due { at_ms: i64::MIN, noted_ms: None }))
    }
}

impl NextExpiration {
    /// Returns the earliest instant at which an expiration may have to be recorded.
    pub(crate) fn at(&self) -> Instant {
        Instant::from_ms(self.0.lock().at_ms)
    }

    /// Notes that a document may expire at this instant. Call it before the commit that writes the
    /// document is visible.
    pub(crate) fn note(&self, at: Instant) {
        let mut due = self.0.lock();
        due.at_ms = due.at_ms.min(at.ms);
        due.noted_ms = due.noted_ms.map(|noted| noted.min(at.ms));
    }

    /// Begins a search. Searches run one after another.
    pub(crate) fn begin_search(&self) {
        self.0.lock().noted_ms = Some(i64::MAX);
    }

    /// Ends a search that has found the next expiration at this instant.
    pub(crate) fn end_search(&self, found: Instant) {
        let mut due = self.0.lock();
        due.at_ms = found.ms.min(due.noted_ms.take().unwrap_or(i64::MAX));
    }
}
