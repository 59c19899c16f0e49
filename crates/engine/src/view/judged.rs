//! Documents that the views of a transaction have shown and omitted. Each statement judges expiry
//! at its own instant; the transaction keeps an interval of instants at which all that it was ever
//! shown is true:
//!
//! ```text
//!  first instant
//!  │        e: left out as expired         d: shown, expires
//!  ├────────[──────────────────────────────)──────────▶ time
//!           lo                             hi           lo >= hi: a conflict
//! ```
//!
//! A document that was left out although it was live at the first instant may have been prolonged
//! by others since the snapshot. Then neither answer would have been true, so the end of the
//! statement looks for a later version.

use bytes::Bytes;
use clock::Instant;
use expiry::{Class, Header, Settings};
use parking_lot::Mutex;
use store::Space;

use super::{
    factory::ViewFactory, overlay::FIRST_OWN_STAMP, transaction_errors::expired_meanwhile,
};
use crate::{
    error::{Error, Halt},
    limits::MAX_EXPIRED_MET,
    rules::Rules,
};

/// The instants in milliseconds at which all that was shown is true.
#[derive(Clone, Copy, Debug)]
struct Interval {
    first: i64,
    lo: i64,
    hi: i64,
}

/// A key that was left out although it was live at the first instant, with the stamp of its row.
type MetExpired = (Space, Bytes, u64);

/// What the views of a transaction have shown and left out.
#[derive(Debug)]
pub(super) struct Judged {
    interval: Mutex<Interval>,
    met: Mutex<Vec<MetExpired>>,
    rules: Rules,
}

impl Judged {
    /// Creates the state of a transaction that was shown nothing.
    pub(super) fn new(rules: Rules) -> Self {
        let interval = Interval { first: i64::MAX, lo: i64::MIN, hi: i64::MAX };
        Self { interval: Mutex::new(interval), met: Mutex::default(), rules }
    }

    /// Sets the instant of the first view.
    pub(super) fn begin_at(&self, first: Instant) {
        *self.interval.lock() = Interval { first: first.ms, lo: first.ms, hi: i64::MAX };
    }

    /// Records that a stored document was judged at an instant: `expires_at` is its expiry, and
    /// `place` the space, the key and the stamp that decided it. Returns whether it is live.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`](crate::error::Kind::Conflict) if no instant remains at which all that was
    /// shown is true.
    pub(super) fn judge(
        &self,
        now: Instant,
        expires_at: Instant,
        place: (Space, &[u8], u64),
    ) -> Result<bool, Halt> {
        let is_live = now < expires_at;
        let mut interval = self.interval.lock();
        if is_live {
            interval.hi = interval.hi.min(expires_at.ms);
        } else if interval.first < expires_at.ms {
            interval.lo = interval.lo.max(expires_at.ms);
            let (space, key, stamp) = place;
            let mut met = self.met.lock();
            if MAX_EXPIRED_MET <= met.len() {
                return Err(expired_meanwhile().into());
            }
            met.push((space, Bytes::copy_from_slice(key), stamp));
        }
        match interval.hi <= interval.lo && self.rules.interval() {
            true => Err(expired_meanwhile().into()),
            false => Ok(is_live),
        }
    }

    /// Fails if a document that the statement left out as expired was prolonged, replaced or
    /// removed by others.
    pub(super) async fn end_statement(&self, factory: &ViewFactory) -> Result<(), Error> {
        let met = std::mem::take(&mut *self.met.lock());
        if met.is_empty() || !self.rules.renewals() {
            return Ok(());
        }
        let newest = factory.store.snapshot();
        for (space, key, stamp) in met {
            if stamp_of(newest.get(space, &key).await?)? != Some(stamp) {
                return Err(expired_meanwhile());
            }
        }
        Ok(())
    }
}

/// Returns the stamp of a stored row or entry; `None` for a missing one.
pub(super) fn stamp_of(value: Option<Bytes>) -> Result<Option<u64>, Error> {
    let Some(value) = value else { return Ok(None) };
    Ok(Some(Header::split(&value)?.0.stamp))
}

/// Returns whether a stamp is that of an uncommitted write of the reading transaction.
pub(super) fn is_own_stamp(stamp: u64) -> bool {
    FIRST_OWN_STAMP <= stamp
}

/// Returns whether an uncommitted document is live at an instant. Its lifetime by class has not
/// begun, since it counts from the commit; dates in the document apply.
fn is_own_live(settings: &Settings, header: &Header<'_>, now: Instant) -> bool {
    let ts = now.seconds();
    let class = match header.class {
        Class::Explicit { deadline } => {
            Class::Explicit { deadline: deadline.saturating_sub(header.ts).saturating_add(ts) }
        }
        class => class,
    };
    now < settings.expires_at(&Header { ts, class, ..*header })
}

/// Returns the expiry of an uncommitted document of the reading transaction; `None` if it has
/// expired at this instant.
pub(super) fn judge_own(
    settings: &Settings,
    header: &Header<'_>,
    now: Instant,
    rules: Rules,
) -> Option<Instant> {
    if !rules.own_lifetimes() {
        let expires_at = settings.expires_at(header);
        return (now < expires_at).then_some(expires_at);
    }
    // The commit decides the expiry, so no write relies on it.
    is_own_live(settings, header, now).then_some(Instant::MAX)
}
