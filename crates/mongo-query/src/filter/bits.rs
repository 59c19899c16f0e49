//! The operand of the bit tests: a number, binary data or a list of positions, as a mask. Bit 0 is
//! the lowest.
//!
//! ```text
//! {a: {$bitsAllSet: 5}}         bits 0 and 2
//! {a: {$bitsAllSet: [0, 2]}}    the same by position
//! {a: {$bitsAllSet: BinData(0, "BQ==")}}    the same by a byte of 5
//! ```

use document::{ValueRef, shell};
use pipeline::filter::Mask;

use super::number::parse_whole;
use crate::Error;

/// Parses the mask of an operand. `field` is the name of the field: mongod's texts contain it
/// instead of the operator.
///
/// Fails with 9 if a number is negative or has a fraction, and with 2 if a bit position is invalid
/// or the operand has another type.
pub(super) fn parse_mask(field: &str, operator: &str, value: ValueRef<'_>) -> Result<Mask, Error> {
    match value {
        ValueRef::Binary { bytes, .. } => Ok(Mask::from_bytes(bytes)),
        ValueRef::Array(array) => {
            let mut positions = Vec::new();
            for (at, value) in array.iter().enumerate() {
                positions.push(parse_position(at, value)?);
            }
            Ok(Mask::from_positions(positions))
        }
        value if value.is_number() => {
            let number = parse_whole(operator, value).map_err(Error::failed_to_parse)?;
            Ok(Mask::from_number(number.unsigned_abs()))
        }
        value => Err(Error::bad_value(format!(
            "{field} takes an Array, a number, or a BinData but received: {operator}: {}",
            shell(value)
        ))),
    }
}

/// Parses a bit position in a list: a nonnegative integer that fits into 32 bits.
fn parse_position(at: usize, value: ValueRef<'_>) -> Result<u32, Error> {
    let invalid =
        |reason: String| Error::bad_value(format!("Failed to parse bit position. {reason}"));
    let position = parse_whole(&at.to_string(), value).map_err(invalid)?;
    let fits = i32::try_from(position).ok().and_then(|position| u32::try_from(position).ok());
    fits.ok_or_else(|| {
        invalid(format!(
            "bit positions cannot be represented as a 32-bit signed integer: {at}: {}",
            shell(value)
        ))
    })
}
