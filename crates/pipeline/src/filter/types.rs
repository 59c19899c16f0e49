//! Sets of BSON types, the operand of `$type`.

use document::Kind;

/// A set of types, as a bitmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeSet(u32);

/// Returns the bit of a type. Type codes are below 20, except for those of MinKey and MaxKey, which
/// have separate bits.
fn bit_of(kind: Kind) -> u32 {
    match kind {
        Kind::MinKey => 1 << 30,
        Kind::MaxKey => 1 << 31,
        kind => 1 << (kind as u8),
    }
}

impl TypeSet {
    /// Returns the set of the four number types.
    pub fn number_kinds() -> Self {
        let mut set = Self::default();
        [Kind::Double, Kind::Int32, Kind::Int64, Kind::Decimal128]
            .into_iter()
            .for_each(|kind| set.insert(kind));
        set
    }

    /// Adds a type to the set.
    pub fn insert(&mut self, kind: Kind) {
        self.0 |= bit_of(kind);
    }

    /// Adds the types of another set.
    pub fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Returns whether a type is in the set.
    pub fn contains(self, kind: Kind) -> bool {
        self.0 & bit_of(kind) != 0
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}
