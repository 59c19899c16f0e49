//! Rejects documents that would have expired before they are written.

use expiry::{Class, Lifetime};

use super::WriteDraft;
use crate::error::{Error, Kind};

impl WriteDraft<'_> {
    /// Rejects a document whose write time is a second in which an earlier setting has expired all
    /// documents: it would be acknowledged but never visible. The settings are those of the view,
    /// and the commit requires that they are unchanged.
    pub(super) fn check_floors(&self, lifetime: Lifetime, since: i64) -> Result<(), Error> {
        let settings = &self.view.state.record.settings;
        let ts = since.min(self.view.instant.seconds());
        let class = lifetime.class_at(ts);
        if settings.expired_for_good(class, ts).is_none() {
            return Ok(());
        }
        let why = match class {
            Class::Explicit { deadline } => format!(
                "its _ts {ts} and its ttl give the deadline {deadline}, and documents of this \
                 collection with a ttl deadline up to {} have expired permanently",
                settings.explicit_floor
            ),
            _ => format!(
                "its _ts is {ts}, and under an earlier time to live of this collection documents \
                 written up to {} have expired permanently",
                settings.inherit_floor
            ),
        };
        let help = "insert it without _ts, or into another collection";
        Err(Error::new(
            Kind::Invalid,
            format!("the document would be expired already: {why}; {help}"),
        ))
    }
}
