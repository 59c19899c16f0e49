//! Bounds the size of the change log: the oldest records of a log that is too large expire.
//!
//! They expire as records beyond the retention do: a commit raises the floor of the log's
//! collection (the second up to which its rows have expired for good), however many records there
//! are. The next view does not show them, and compactions drop them. A floor is a second, so a
//! commit is kept or dropped as a whole.
//!
//! ```text
//!  records by second    ●●●  ●●  ●●●● │ ●●●  ●●●●  ●●  ●●●●●   ▶ now
//!                            expired  └ floor: three quarters of the bound are kept
//! ```
//!
//! The position of a reader that waits is as old as its last read, although it has missed nothing.
//! So a pass that finds the log too large first wakes all readers, which then read up to now, and
//! the next pass raises the floor to a second before that.

use std::sync::Arc;

use expiry::Floors;
use store::Stamp;

use crate::{
    amount::Amount,
    catalog::{CollectionState, CounterState, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, Halt},
    retry::read_in_view,
    view::LiveView,
};

/// Size that a record has besides its body: key, header, and overhead of a store in memory.
const RECORD_BYTES: i64 = 256;

/// Seconds whose records exceed the bound.
struct Excess {
    /// The records up to this second have expired already.
    expired_s: i64,
    /// The records up to this second are to expire.
    until_s: i64,
    /// Second of the view in which the sizes were read.
    now_s: i64,
}

impl Engine {
    /// Lets the oldest change records expire if the log is larger than its bound, and keeps three
    /// quarters of the bound. Takes effect with the second call for the same excess.
    pub(crate) async fn drop_old_changes(&self) -> Result<(), Error> {
        let Some(kept) = self.kept_log() else { return Ok(()) };
        let (max, woken_s) = (kept.log.max_bytes(), kept.log.all_woken_s());
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let found = read_in_view!(self, &kept.records, |view| {
            view.excess_changes(max, woken_s.saturating_sub(1)).await
        });
        // The view is closed here: the commit needs a fence, which waits for views.
        let Some(excess) = found?.0 else { return Ok(()) };
        kept.log.wake_all_in(excess.now_s);
        let until_s = excess.until_s;
        if until_s <= excess.expired_s {
            return Ok(());
        }
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            if until_s <= state.record.settings.inherit_floor {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                // Records of later commits in the same second must not have expired.
                let before_commit = stamp.at_ms.div_euclid(1000).saturating_sub(1);
                record.settings.expire_written_up_to(until_s.min(before_commit));
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        self.change_record(&kept.records, &*edit).await?;
        Ok(())
    }
}

impl LiveView {
    /// Returns which records of the log expire so that the rest takes three quarters of `max`
    /// bytes, none of them later than `latest_s`; `None` if all take at most `max` bytes.
    async fn excess_changes(&self, max: i64, latest_s: i64) -> Result<Option<Excess>, Halt> {
        let record = &self.state.record;
        if !matches!(record.counters, CounterState::Ready(_)) {
            return Ok(None);
        }
        let expired_s = record.settings.floors_at(self.instant).inherit_s;
        let total = self.total_amount().await?;
        if self.size_after(total, expired_s).await? <= max {
            return Ok(None);
        }
        // The least second in `low..=high` up to which enough has expired, or `high`.
        let (mut low, mut high) = (expired_s, latest_s);
        while low.saturating_add(1) < high {
            let middle = low.saturating_add(high.saturating_sub(low) / 2);
            if self.size_after(total, middle).await? <= max / 4 * 3 {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(Some(Excess { expired_s, until_s: high, now_s: self.instant.seconds() }))
    }

    /// Returns the size of the records that were written after a second, of `total` records.
    async fn size_after(&self, total: Amount, second: i64) -> Result<i64, Halt> {
        let before = Floors { inherit_s: second, ..Floors::NONE };
        let rest = total.minus(self.expired_amount(&before).await?);
        Ok(rest.bytes.saturating_add(rest.documents.saturating_mul(RECORD_BYTES)))
    }
}
