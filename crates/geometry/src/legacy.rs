//! Points as pairs of numbers: `[x, y]`, or an object whose first two fields are numbers.

use document::{Number, ValueRef};

use crate::FlatPoint;

/// Parses a pair. Further elements are an error unless `may_have_more` is set.
///
/// # Errors
///
/// The text of the fault.
pub fn parse_pair(value: ValueRef<'_>, may_have_more: bool) -> Result<FlatPoint, String> {
    let (first, second, third) = match value {
        ValueRef::Array(array) => {
            let mut parts = array.iter();
            (parts.next(), parts.next(), parts.next())
        }
        ValueRef::Document(fields) => {
            let mut parts = fields.iter().map(|(_, value)| value);
            (parts.next(), parts.next(), parts.next())
        }
        other => {
            let kind = other.kind().name();
            return Err(format!("Point must be an array or object, instead got type {kind}"));
        }
    };
    let number = |part: Option<ValueRef<'_>>| {
        part.and_then(Number::of).map(Number::to_f64).ok_or_else(|| {
            let kind = part.map_or("missing", |part| part.kind().name());
            format!("Point must only contain numeric elements, instead got type {kind}")
        })
    };
    let point = FlatPoint { x: number(first)?, y: number(second)? };
    if !point.x.is_finite() || !point.y.is_finite() {
        return Err("Point coordinates must be finite numbers".to_owned());
    }
    if third.is_some() && !may_have_more {
        return Err("Point must only contain two numeric elements".to_owned());
    }
    Ok(point)
}
