//! Sets of BSON types, the operand of `$type`.

use document::Kind;

/// A set of kinds.
/// One bit for each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeSet(u32);

/// The bit of a kind.
/// Codes of kinds are below 20, but for those of the two keys, which have bits of their own.
fn bit_of(kind: Kind) -> u32 {
    match kind {
        Kind::MinKey => 1 << 30,
        Kind::MaxKey => 1 << 31,
        kind => 1 << (kind as u8),
    }
}

impl TypeSet {
    /// The four kinds of numbers.
    pub fn number_kinds() -> Self {
        let mut set = Self::default();
        [Kind::Double, Kind::Int32, Kind::Int64, Kind::Decimal128]
            .into_iter()
            .for_each(|kind| set.insert(kind));
        set
    }

    /// Adds a kind.
    pub fn insert(&mut self, kind: Kind) {
        self.0 |= bit_of(kind);
    }

    /// Adds the kinds of another set.
    pub fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether a kind is in the set.
    pub fn contains(self, kind: Kind) -> bool {
        self.0 & bit_of(kind) != 0
    }

    /// Whether no kind is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}
