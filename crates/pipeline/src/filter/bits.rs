//! Bit tests of integers (two's complement, sign extended) and of binary data.

use document::{Number, Rounding, ValueRef};

/// The condition on the mask's bits. If the mask is empty, the `All` variants are true and the
/// `Any` variants false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// `$bitsAllSet`: every bit is set.
    AllSet,
    /// `$bitsAnySet`: at least one bit is set.
    AnySet,
    /// `$bitsAllClear`: every bit is clear.
    AllClear,
    /// `$bitsAnyClear`: at least one bit is clear.
    AnyClear,
}

/// The bits of a test: positions, or the set bits of bytes. Positions may be far beyond a number's
/// bits, so they are not converted to bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// Bit positions, ascending; empty if `bytes` is used.
    positions: Vec<u32>,
    /// Bytes whose set bits form the mask.
    bytes: Vec<u8>,
}

impl Mask {
    /// Creates a mask from positions in any order.
    pub fn from_positions(mut positions: Vec<u32>) -> Self {
        positions.sort_unstable();
        positions.dedup();
        Self { positions, bytes: Vec::new() }
    }

    /// Creates a mask from the set bits of a number.
    pub fn from_number(number: u64) -> Self {
        Self::from_bytes(&number.to_le_bytes())
    }

    /// Creates a mask from the set bits of bytes; the first byte contains bits 0 to 7.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { positions: Vec::new(), bytes: bytes.to_vec() }
    }

    /// Returns the positions of the mask's bits.
    pub fn bit_positions(&self) -> impl Iterator<Item = u32> {
        let bits = u32::try_from(self.bytes.len().saturating_mul(8)).unwrap_or(u32::MAX);
        let set = (0..bits).filter(|at| byte_bit(&self.bytes, *at));
        self.positions.iter().copied().chain(set)
    }
}

/// A test of some bits of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitTest {
    /// The condition that the bits have to meet.
    pub quantity: Quantity,
    /// The bits to be tested.
    pub mask: Mask,
}

impl BitTest {
    /// Returns whether a value meets the test; false for types without bits. Bits beyond a number
    /// equal its sign, bits beyond binary data are clear.
    pub fn meets_value(&self, value: ValueRef<'_>) -> bool {
        match value {
            ValueRef::Binary { bytes, .. } => self.holds_for(|at| byte_bit(bytes, at)),
            value => whole_number(value).is_some_and(|number| {
                // Sign extension.
                self.holds_for(|at| if at >= 64 { number < 0 } else { number >> at & 1 == 1 })
            }),
        }
    }

    /// Evaluates the condition; `set` returns whether the bit at a position is set.
    fn holds_for(&self, set: impl Fn(u32) -> bool) -> bool {
        let mut bits = self.mask.bit_positions().map(set);
        match self.quantity {
            Quantity::AllSet => bits.all(|bit| bit),
            Quantity::AnySet => bits.any(|bit| bit),
            Quantity::AllClear => bits.all(|bit| !bit),
            Quantity::AnyClear => bits.any(|bit| !bit),
        }
    }
}

/// Returns whether a bit of these bytes is set; bits beyond them are clear.
fn byte_bit(bytes: &[u8], at: u32) -> bool {
    let byte = usize::try_from(at / 8).ok().and_then(|index| bytes.get(index));
    byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Returns the integer whose bits are tested: doubles must be whole, decimals are rounded. `None`
/// for a fraction; a decimal out of range becomes the least integer.
fn whole_number(value: ValueRef<'_>) -> Option<i64> {
    match Number::of(value)? {
        Number::Decimal(v) => Some(v.to_i64(Rounding::HalfEven).unwrap_or(i64::MIN)),
        number => number.to_i64_exact(),
    }
}

/// Truncates a number to an integer, for `$mod`. `None` for NaN, infinities and numbers out of
/// range.
pub(super) fn truncated_number(value: ValueRef<'_>) -> Option<i64> {
    match Number::of(value)? {
        Number::Int(v) => Some(v),
        Number::Double(v) => Number::Double(v.trunc()).to_i64_exact(),
        Number::Decimal(v) => v.to_i64(Rounding::Down),
    }
}
