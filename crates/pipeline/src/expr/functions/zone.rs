//! Time zones: fixed offsets, and named zones of the bundled tz database.

use document::ValueRef;
use evaluation::{
    Error, Evaluated,
    calendar::{DAY_MS, DateParts},
};
use jiff::{
    Timestamp,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};

use crate::{invalid_request, shown, type_mismatch};

#[derive(Clone, Debug)]
pub(crate) enum Zone {
    /// A fixed offset in milliseconds east of UTC.
    Fixed(i64),
    /// A zone of the time zone database, such as `Europe/Paris`.
    Named(Box<TimeZone>),
}

impl Zone {
    pub(crate) const UTC: Self = Self::Fixed(0);

    /// Returns the time zone of an argument, a name or an offset; UTC if it was not given, `None`
    /// if it is null. `function` is the name in errors, which differ between the `$date...`
    /// functions and others.
    pub(crate) fn of_argument(got: &Evaluated<'_>, function: &str) -> Result<Option<Self>, Error> {
        if got.is_absent() {
            return Ok(Some(Self::UTC));
        }
        match got.operand() {
            value if value.is_nullish() => Ok(None),
            ValueRef::String(text) => Self::parse_zone(text).map(Some),
            value if function.starts_with("$date") => {
                let kind = value.kind().name();
                Err(type_mismatch(
                    40517,
                    format!("timezone must evaluate to a string, found {kind}"),
                ))
            }
            value => {
                let (kind, value) = (value.kind().name(), shown(value));
                let text = "requires a string for the timezone argument, but was given a";
                Err(type_mismatch(40533, format!("{function} {text} {kind} ({value})")))
            }
        }
    }

    /// Parses `+hh`, `+hhmm`, `+hh:mm`, or a name of the IANA time zone database with the same upper
    /// and lower case as there.
    pub(crate) fn parse_zone(text: &str) -> Result<Self, Error> {
        // Offsets start with a sign, names never do.
        if let Some(offset) = offset_ms(text) {
            return Ok(Self::Fixed(offset));
        }
        if matches!(text, "UTC" | "GMT" | "Etc/UTC") {
            return Ok(Self::UTC);
        }
        match TimeZone::get(text) {
            // The library ignores case, MongoDB does not.
            Ok(zone) if zone.iana_name() == Some(text) => Ok(Self::Named(Box::new(zone))),
            _ => Err(invalid_request(
                40485,
                format!("unrecognized time zone identifier: \"{text}\""),
            )),
        }
    }

    /// Returns the offset of local time from UTC at an instant, in milliseconds.
    pub(crate) fn offset_at(&self, ms: i64) -> i64 {
        match self {
            Self::Fixed(offset) => *offset,
            Self::Named(zone) => Timestamp::from_millisecond(within_range(ms))
                .map_or(0, |at| i64::from(zone.to_offset(at).seconds()) * 1000),
        }
    }

    /// Returns the local time of an instant, in milliseconds.
    pub(crate) fn to_local(&self, ms: i64) -> i64 {
        ms.saturating_add(self.offset_at(ms))
    }

    /// Returns the instant of a local time. In a gap the offset before it is used; an ambiguous
    /// time is the later instant.
    pub(crate) fn to_instant(&self, local: i64) -> i64 {
        let offset = match self {
            Self::Fixed(offset) => *offset,
            Self::Named(zone) => civil_time(local).map_or(0, |at| {
                let offset = match zone.to_ambiguous_zoned(at).offset() {
                    AmbiguousOffset::Unambiguous { offset } => offset,
                    // A local time that was skipped.
                    AmbiguousOffset::Gap { before, .. } => before,
                    // A local time that occurred twice.
                    AmbiguousOffset::Fold { after, .. } => after,
                };
                i64::from(offset.seconds()) * 1000
            }),
        };
        local.saturating_sub(offset)
    }
}

/// Maps a date into the range of the time zone database, to a date with the same offset: the
/// calendar repeats every 400 years. Dates before the range map to its start, since no zone changed
/// its offset then.
fn within_range(ms: i64) -> i64 {
    const CYCLE: i64 = 146_097 * DAY_MS;
    /// The first millisecond of the year 9999, in milliseconds since 1970.
    const YEAR_9999: i64 = 253_370_764_800_000;
    /// The start of the year -9998, in milliseconds since 1970.
    const YEAR_9998_BEFORE: i64 = -377_673_580_800_000;
    if ms < YEAR_9999 {
        return ms.max(YEAR_9998_BEFORE);
    }
    ms - ((ms - YEAR_9999) / CYCLE + 1) * CYCLE
}

/// Converts a local time for the time zone library; `None` if it is out of range.
fn civil_time(local: i64) -> Option<DateTime> {
    let at = DateParts::parts_of(within_range(local));
    DateTime::new(
        i16::try_from(at.year).ok()?,
        i8::try_from(at.month).ok()?,
        i8::try_from(at.day).ok()?,
        i8::try_from(at.hour).ok()?,
        i8::try_from(at.minute).ok()?,
        i8::try_from(at.second).ok()?,
        i32::try_from(at.millisecond).ok()? * 1_000_000,
    )
    .ok()
}

/// Returns the milliseconds of a numeric offset; `None` for other text. The ranges of hours and
/// minutes are not checked.
pub(crate) fn offset_ms(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = text.get(1..)?.chars().filter(|c| *c != ':').collect();
    // `+hh` and `+hhmm`, or `+hh:mm` with its colon in the middle.
    let shape = matches!(text.len(), 3 | 5) || (text.len() == 6 && text.get(3..4) == Some(":"));
    if !shape || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 = digits
        .get(2..)
        .filter(|rest| !rest.is_empty())
        .map_or(Some(0), |rest| rest.parse().ok())?;
    Some(sign * (hours * 60 + minutes) * 60_000)
}
