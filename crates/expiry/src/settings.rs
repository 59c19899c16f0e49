//! A collection's TTL state: its default, what earlier defaults made expire for good, and its date
//! indexes. Changing any of it touches no document.

use clock::Instant;

use crate::{
    class::Class,
    dates::{DateRule, cutoff_ms},
    floors::{DateFloor, Floors},
    header::Header,
};

/// The collection's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultTtl {
    /// TTL is off: nothing expires by `_ts` or its own `ttl`.
    Off,
    /// On, without a default: only documents with their own `ttl` expire.
    Infinite,
    /// On: documents expire this many seconds after their last write.
    Seconds(i64),
}

/// What ends a document's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiryRule {
    /// The collection's default.
    Default,
    /// Its own `ttl`.
    Own,
    /// A date index.
    Date(u32),
}

/// All that decides the life of a collection's documents besides their headers and the instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The default in force.
    pub default: DefaultTtl,
    /// Documents of class inherit with `_ts` up to this second have expired for good.
    pub inherit_floor: i64,
    /// Documents of class explicit with a deadline up to this second have expired for good.
    pub explicit_floor: i64,
    /// Date indexes, dropped ones included.
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
    /// Changes the default at an instant; what has expired then stays expired.
    pub fn change_default(&mut self, default: DefaultTtl, at: Instant) {
        // By the old default, before it goes.
        let floors = self.floors_at(at);
        self.inherit_floor = floors.inherit_s;
        self.explicit_floor = floors.explicit_s;
        self.default = default;
    }

    /// The rule of a date index, made when there is none.
    pub fn date_rule(&mut self, index: u32) -> &mut DateRule {
        // There are as many rules as date indexes, dropped ones included: a handful.
        let at = match self.dates.iter().position(|rule| rule.index == index) {
            Some(at) => at,
            None => {
                self.dates.push(DateRule::inactive(index));
                self.dates.len() - 1
            }
        };
        &mut self.dates[at]
    }

    /// Whether any document can expire at all under these settings.
    pub fn can_expire(&self) -> bool {
        self.by_class() || !self.dates.is_empty()
    }

    /// Whether documents can expire, or have expired, by their class.
    pub fn by_class(&self) -> bool {
        self.default != DefaultTtl::Off
            || self.inherit_floor != i64::MIN
            || self.explicit_floor != i64::MIN
    }

    /// Date indexes by which documents can expire, or have expired.
    pub fn by_date(&self) -> impl Iterator<Item = &DateRule> {
        self.dates.iter().filter(|rule| rule.after_s.is_some() || !rule.pairs.is_empty())
    }

    /// What has expired for good at an instant.
    pub fn floors_at(&self, at: Instant) -> Floors {
        let now_s = at.seconds();
        // The stored floor keeps what earlier defaults made expire.
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

    /// The rule by an earlier setting of which all documents of this class and second have expired for good,
    /// whatever the default is now.
    pub fn expired_for_good(&self, class: Class, ts: i64) -> Option<ExpiryRule> {
        match class {
            Class::Inherit => (ts <= self.inherit_floor).then_some(ExpiryRule::Default),
            Class::Explicit { deadline } => {
                (deadline <= self.explicit_floor).then_some(ExpiryRule::Own)
            }
            Class::Never => None,
        }
    }

    /// The instant at which a document expires: `MIN` when it has expired for good, `MAX` when
    /// never.
    pub fn expires_at(&self, header: &Header<'_>) -> Instant {
        self.expiry_and_rule(header).0
    }

    /// The same, and the rule that ends it first; `None` when nothing does.
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
        // The earliest ends it; of equal ones its class is named.
        by_date.fold(own, |first, other| if other.0 < first.0 { other } else { first })
    }

    /// Whether a document is live at an instant: expired from its deadline on, inclusive.
    pub fn is_live(&self, header: &Header<'_>, at: Instant) -> bool {
        at < self.expires_at(header)
    }
}
