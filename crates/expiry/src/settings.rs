//! A collection's TTL settings: its default, the floors left by earlier defaults (the seconds up to
//! which documents have permanently expired), and its date indexes. No change of them rewrites a
//! document.

use clock::Instant;

use crate::{
    class::Class,
    dates::{DateRule, cutoff_ms},
    floors::{DateFloor, Floors},
    header::Header,
};

/// The default TTL of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultTtl {
    /// TTL is off: nothing expires by `_ts` or by a document's own `ttl`.
    Off,
    /// TTL is on without a default: only documents with their own `ttl` expire.
    Infinite,
    /// TTL is on: documents expire this many seconds after their last write.
    Seconds(i64),
}

/// The rule by which a document expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiryRule {
    /// The default TTL of the collection.
    Default,
    /// The document's own property `ttl`.
    Own,
    /// The date index with this id.
    Date(u32),
}

/// The settings of a collection that, with a document's header and the instant, decide whether the
/// document has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The default TTL that is in effect.
    pub default: DefaultTtl,
    /// Documents of class [`Inherit`](crate::Class::Inherit) whose last write is in this second or
    /// earlier have expired, and a later change of the default does not revive them.
    pub inherit_floor: i64,
    /// Documents of class [`Explicit`](crate::Class::Explicit) with a deadline in this second or
    /// earlier have expired, and a later change of the default does not revive them.
    pub explicit_floor: i64,
    /// Rules of the date indexes, including dropped ones.
    pub dates: Vec<DateRule>,
}

impl std::default::Default for Settings {
    fn default() -> Self {
        Self {
            default: DefaultTtl::Off,
            inherit_floor: i64::MIN,
            explicit_floor: i64::MIN,
            dates: Vec::new(),
        }
    }
}

impl Settings {
    /// Changes the default at an instant; documents that have expired by then stay expired.
    pub fn change_default(&mut self, default: DefaultTtl, at: Instant) {
        // Computed by the old default, before it is replaced.
        let floors = self.floors_at(at);
        self.inherit_floor = floors.inherit_s;
        self.explicit_floor = floors.explicit_s;
        self.default = default;
    }

    /// Makes all documents of class [`Inherit`](crate::Class::Inherit) written in this second or
    /// earlier expire permanently, under every default. The caller ensures that no document is
    /// written in this second afterwards.
    pub fn expire_written_up_to(&mut self, second: i64) {
        self.inherit_floor = self.inherit_floor.max(second);
    }

    /// Returns the rule of a date index, creating it if missing.
    pub fn date_rule(&mut self, index: u32) -> &mut DateRule {
        // A linear search suffices: there are only as many rules as date indexes, including dropped
        // ones.
        let at = match self.dates.iter().position(|rule| rule.index == index) {
            Some(at) => at,
            None => {
                self.dates.push(DateRule::inactive(index));
                self.dates.len() - 1
            }
        };
        &mut self.dates[at]
    }

    /// Returns whether any document can expire under these settings.
    pub fn can_expire(&self) -> bool {
        self.by_class() || !self.dates.is_empty()
    }

    /// Returns whether documents can expire by the default or by their own `ttl`, or have done so
    /// under earlier settings.
    pub fn by_class(&self) -> bool {
        self.default != DefaultTtl::Off
            || self.inherit_floor != i64::MIN
            || self.explicit_floor != i64::MIN
    }

    /// Returns the date indexes by which documents can expire, or have done so under earlier
    /// settings.
    pub fn by_date(&self) -> impl Iterator<Item = &DateRule> {
        self.dates.iter().filter(|rule| rule.after_s.is_some() || !rule.pairs.is_empty())
    }

    /// Returns the floors at an instant: all that has expired by then and must stay expired under
    /// later settings.
    pub fn floors_at(&self, at: Instant) -> Floors {
        let now_s = at.seconds();
        // The stored floor preserves what earlier defaults expired.
        let inherit_s = match self.default {
            DefaultTtl::Seconds(n) => self.inherit_floor.max(now_s.saturating_sub(n)),
            DefaultTtl::Off | DefaultTtl::Infinite => self.inherit_floor,
        };
        let explicit_s = match self.default {
            DefaultTtl::Off => self.explicit_floor,
            DefaultTtl::Infinite | DefaultTtl::Seconds(_) => self.explicit_floor.max(now_s),
        };
        let dates = self.dates.iter().map(|rule| DateFloor {
            index: rule.index,
            floor_ms: rule.after_s.map_or(i64::MIN, |after_s| cutoff_ms(after_s, at)),
            pairs: rule.pairs.clone(),
        });
        Floors { inherit_s, explicit_s, dates: dates.collect() }
    }

    /// Returns the rule by which documents of this class and second expired permanently under an
    /// earlier setting, regardless of the current default.
    pub fn expired_for_good(&self, class: Class, ts: i64) -> Option<ExpiryRule> {
        match class {
            Class::Inherit => (ts <= self.inherit_floor).then_some(ExpiryRule::Default),
            Class::Explicit { deadline } => {
                (deadline <= self.explicit_floor).then_some(ExpiryRule::Own)
            }
            Class::Never => None,
        }
    }

    /// Returns the floors at the instant of a commit, for rows that were written before it.
    pub fn floors_before(&self, stamp: u64, at_ms: i64) -> Floors {
        self.floors_at(Instant::from_ms(at_ms)).bounded_by_stamp(stamp)
    }

    /// Returns the instant at which a document expires: `MIN` if it has permanently expired, `MAX`
    /// if it never expires.
    pub fn expires_at(&self, header: &Header<'_>) -> Instant {
        self.expiry_and_rule(header).0
    }

    /// Returns the instant at which a document expires, and the rule that applies first; no rule if
    /// it never expires.
    pub fn expiry_and_rule(&self, header: &Header<'_>) -> (Instant, Option<ExpiryRule>) {
        if let Some(rule) = self.expired_for_good(header.class, header.ts) {
            return (Instant::MIN, Some(rule));
        }
        let own = match header.class {
            Class::Never => (Instant::MAX, None),
            Class::Inherit => match self.default {
                DefaultTtl::Seconds(n) => {
                    (Instant::from_seconds(header.ts.saturating_add(n)), Some(ExpiryRule::Default))
                }
                DefaultTtl::Off | DefaultTtl::Infinite => (Instant::MAX, None),
            },
            Class::Explicit { deadline } => match self.default {
                DefaultTtl::Off => (Instant::MAX, None),
                DefaultTtl::Infinite | DefaultTtl::Seconds(_) => {
                    (Instant::from_seconds(deadline), Some(ExpiryRule::Own))
                }
            },
        };
        let by_date = header.dates.iter().filter_map(|(index, date_ms)| {
            let rule = self.dates.iter().find(|rule| rule.index == index)?;
            Some((rule.expires_at(header.stamp, date_ms), Some(ExpiryRule::Date(index))))
        });
        // The earliest rule applies; on a tie the class wins over a date index.
        by_date.fold(own, |first, other| if other.0 < first.0 { other } else { first })
    }

    /// Returns whether a document is live at an instant; it has expired from its deadline on,
    /// inclusive.
    pub fn is_live(&self, header: &Header<'_>, at: Instant) -> bool {
        at < self.expires_at(header)
    }
}
