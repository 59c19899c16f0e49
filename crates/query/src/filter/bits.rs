//! Tests of the bits of whole numbers (two's complement, sign extended) and of binary data.

use document::{Number, Rounding, ValueRef};

/// Which bits have to be set or clear.
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

/// The positions a test names, lowest first, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask(Vec<u32>);

impl Mask {
    /// From positions in any order.
    pub fn from_positions(mut positions: Vec<u32>) -> Self {
        positions.sort_unstable();
        positions.dedup();
        Self(positions)
    }

    /// The set bits of a number.
    pub fn from_number(number: u64) -> Self {
        Self((0..u64::BITS).filter(|at| number >> at & 1 == 1).collect())
    }

    /// The set bits of bytes, the first byte holding bits 0 to 7.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let set = |at: &u32| byte_bit(bytes, *at);
        let bits = u32::try_from(bytes.len().saturating_mul(8)).unwrap_or(u32::MAX);
        Self((0..bits).filter(set).collect())
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
    pub fn meets(&self, value: ValueRef<'_>) -> bool {
        match value {
            ValueRef::Binary { bytes, .. } => self.holds(|at| byte_bit(bytes, at)),
            value => whole(value).is_some_and(|number| {
                self.holds(|at| if at >= 64 { number < 0 } else { number >> at & 1 == 1 })
            }),
        }
    }

    fn holds(&self, set: impl Fn(u32) -> bool) -> bool {
        let mut bits = self.mask.0.iter().map(|at| set(*at));
        match self.quantity {
            Quantity::AllSet => bits.all(|bit| bit),
            Quantity::AnySet => bits.any(|bit| bit),
            Quantity::AllClear => bits.all(|bit| !bit),
            Quantity::AnyClear => bits.any(|bit| !bit),
        }
    }
}

fn byte_bit(bytes: &[u8], at: u32) -> bool {
    let byte = usize::try_from(at / 8).ok().and_then(|index| bytes.get(index));
    byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

fn whole(value: ValueRef<'_>) -> Option<i64> {
    Number::of(value)?.to_i64_exact()
}

/// A number cut to a whole one: what `$mod` divides.
pub(super) fn truncated(value: ValueRef<'_>) -> Option<i64> {
    match Number::of(value)? {
        Number::Int(v) => Some(v),
        Number::Double(v) => Number::Double(v.trunc()).to_i64_exact(),
        Number::Decimal(v) => v.to_i64(Rounding::Down),
    }
}
