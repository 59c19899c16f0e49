//! Tests of the bits of whole numbers (two's complement, sign extended) and of binary data.

use document::{Number, Rounding, ValueRef};

/// Which bits have to be set or clear.
/// With no bits named, `all` holds and `any` does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Every named bit is set.
    AllSet,
    /// A named bit is set.
    AnySet,
    /// Every named bit is clear.
    AllClear,
    /// A named bit is clear.
    AnyClear,
}

/// The bits a test names: positions, or the set bits of bytes.
/// Positions may be far beyond a number's bits, so that they are not made into bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// Numbers of bits, ascending; empty where bytes say it.
    positions: Vec<u32>,
    /// Bytes whose set bits are meant.
    bytes: Vec<u8>,
}

impl Mask {
    /// From positions in any order.
    pub fn from_positions(mut positions: Vec<u32>) -> Self {
        positions.sort_unstable();
        positions.dedup();
        Self { positions, bytes: Vec::new() }
    }

    /// The set bits of a number.
    /// Bits of the number as 64 bits.
    pub fn from_number(number: u64) -> Self {
        Self::from_bytes(&number.to_le_bytes())
    }

    /// The set bits of bytes, the first byte holding bits 0 to 7.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { positions: Vec::new(), bytes: bytes.to_vec() }
    }

    /// The positions of the bits that the mask names.
    pub fn bit_positions(&self) -> impl Iterator<Item = u32> {
        let bits = u32::try_from(self.bytes.len().saturating_mul(8)).unwrap_or(u32::MAX);
        let set = (0..bits).filter(|at| byte_bit(&self.bytes, *at));
        self.positions.iter().copied().chain(set)
    }
}

/// A test of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitTest {
    /// What has to hold for the named bits.
    pub quantity: Quantity,
    /// The bits.
    pub mask: Mask,
}

impl BitTest {
    /// Whether a value has such bits; false for what has no bits.
    /// Bits beyond a number are its sign, bits beyond binary data are clear.
    pub fn meets_value(&self, value: ValueRef<'_>) -> bool {
        match value {
            ValueRef::Binary { bytes, .. } => self.holds_for(|at| byte_bit(bytes, at)),
            value => whole_number(value).is_some_and(|number| {
                // Two's complement goes on with the sign for ever.
                self.holds_for(|at| if at >= 64 { number < 0 } else { number >> at & 1 == 1 })
            }),
        }
    }

    /// Whether what is asked of the named bits holds, where `set` says which are set.
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

/// Whether a bit of these bytes is set; bits beyond them are clear.
fn byte_bit(bytes: &[u8], at: u32) -> bool {
    let byte = usize::try_from(at / 8).ok().and_then(|index| bytes.get(index));
    byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// The whole number whose bits are tested: doubles have to be whole, decimals are rounded.
/// `None` for a fraction; a decimal out of range is the least integer.
fn whole_number(value: ValueRef<'_>) -> Option<i64> {
    match Number::of(value)? {
        Number::Decimal(v) => Some(v.to_i64(Rounding::HalfEven).unwrap_or(i64::MIN)),
        number => number.to_i64_exact(),
    }
}

/// A number cut to a whole one: what `$mod` divides.
/// `None` for NaN, infinities and what does not fit.
pub(super) fn truncated_number(value: ValueRef<'_>) -> Option<i64> {
    match Number::of(value)? {
        Number::Int(v) => Some(v),
        Number::Double(v) => Number::Double(v.trunc()).to_i64_exact(),
        Number::Decimal(v) => v.to_i64(Rounding::Down),
    }
}
