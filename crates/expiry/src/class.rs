//! The meaning of a document's root-level `ttl` and the class it gives the document. Only the class
//! and the second of the write are stored, so a later change of the collection's default rewrites
//! nothing.
//!
//! ```text
//!  ttl        lifetime      class when written in second 1000
//!  missing    Inherit       Inherit                   expires at 1000 + default, if there is one
//!  -1         Never         Never
//!  60         After(60)     Explicit { 1060 }         expires at 1060, while TTL is on
//! ```

use document::{Number, ValueRef};

/// The lifetime a writer requests; [`Lifetime::After`] becomes a deadline when the commit gets its
/// sequence number and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// No valid `ttl`: the collection's default applies.
    Inherit,
    /// `ttl` is -1: the document never expires.
    Never,
    /// The document expires this number of seconds after its last write.
    After(i64),
}

/// The expiry class of a stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The document expires by the collection's default TTL.
    Inherit,
    /// The document never expires by the second of its write (`_ts`).
    Never,
    /// The document expires at this second if TTL is on.
    Explicit {
        /// Deadline in seconds since 1970.
        deadline: i64,
    },
}

impl Lifetime {
    /// Returns the expiry class of a document written in second `ts`.
    pub fn class_at(self, ts: i64) -> Class {
        match self {
            Self::Inherit => Class::Inherit,
            Self::Never => Class::Never,
            Self::After(seconds) => Class::Explicit { deadline: ts.saturating_add(seconds) },
        }
    }

    /// Interprets a root-level `ttl` (docs/ttl.md, section 4, the rule for stored values).
    pub fn from_ttl(ttl: Option<ValueRef<'_>>) -> Self {
        match ttl.and_then(meaningful_ttl) {
            None => Self::Inherit,
            Some(-1) => Self::Never,
            Some(seconds) => Self::After(seconds),
        }
    }
}

/// Returns -1 or 1..2147483647 from an int32, int64 or integral double; `None` for anything else.
pub fn meaningful_ttl(value: ValueRef<'_>) -> Option<i64> {
    // Neither API accepts a decimal as `ttl`, even an integral one.
    if matches!(value, ValueRef::Decimal128(_)) {
        return None;
    }
    let seconds = Number::of(value)?.to_i64_exact()?;
    (seconds == -1 || (1..=i64::from(i32::MAX)).contains(&seconds)).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use document::{Decimal128, Value};

    use super::*;

    #[test]
    fn only_whole_numbers_in_range_mean_something() {
        for (value, want) in [
            (Value::Int32(20), Some(20)),
            (Value::Int64(20), Some(20)),
            (Value::Double(20.0), Some(20)),
            (Value::Int32(-1), Some(-1)),
            (Value::Double(-1.0), Some(-1)),
            (Value::Int64(2_147_483_647), Some(2_147_483_647)),
            (Value::Double(20.5), None),
            (Value::Int64(2_147_483_648), None),
            (Value::Int64(2_147_483_649), None),
            (Value::Int32(0), None),
            (Value::Double(-0.0), None),
            (Value::Int32(-5), None),
            (Value::String("20".into()), None),
            (Value::Null, None),
            (Value::Bool(true), None),
            (Value::Double(f64::NAN), None),
            (Value::Double(f64::INFINITY), None),
            (Value::Decimal128(Decimal128::from_i64(20)), None),
            (Value::DateTime(20), None),
        ] {
            assert_eq!(meaningful_ttl(value.as_ref()), want, "{value:?}");
        }
    }
}
