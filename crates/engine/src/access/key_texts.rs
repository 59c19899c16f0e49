//! How the keys of an index hold texts, compared with the order of texts in a query. An index can
//! serve a condition on a text, or the order of a sort, only if both have the same collation. For
//! values without texts, collations make no difference.

use collation::{Collation, contains_text};
use document::{
    ValueRef,
    key::{TypeOrder, encode},
};

/// How the keys of an index hold texts, for a query.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyTexts<'c> {
    /// Texts in keys sort as in the query: by this collation or, without one, by their bytes.
    Same(Option<&'c Collation>),
    /// The index and the query have different collations.
    Differ,
}

impl<'c> KeyTexts<'c> {
    /// Texts sort by their bytes, in keys and in the query.
    pub(crate) const BYTES: Self = Self::Same(None);

    /// Compares the collation of an index with that of a query.
    pub(crate) fn of(index: Option<&Collation>, query: Option<&'c Collation>) -> Self {
        if index == query { Self::Same(query) } else { Self::Differ }
    }

    /// Returns whether texts in keys sort as in the query.
    pub(crate) fn are_same(self) -> bool {
        matches!(self, Self::Same(_))
    }

    /// Returns whether texts in keys sort by their bytes, as in the query.
    pub(super) fn are_bytes(self) -> bool {
        matches!(self, Self::Same(None))
    }

    /// Returns whether the keys of the index hold the value as the query compares it.
    pub(crate) fn hold(self, value: ValueRef<'_>) -> bool {
        self.are_same() || !contains_text(value)
    }

    /// Returns the collation by which values compare that the keys hold as the query compares them.
    pub(super) fn collation(self) -> Option<&'c Collation> {
        match self {
            Self::Same(collation) => collation,
            Self::Differ => None,
        }
    }

    /// Encodes a value as a component of index keys. The index must hold the value as the query
    /// compares it.
    pub(crate) fn encode_component(self, value: ValueRef<'_>, descending: bool) -> Vec<u8> {
        let mut out = Vec::new();
        push_component(self.collation(), value, descending, &mut out);
        out
    }
}

/// Appends a value as a component of the keys of an index with this collation: texts are replaced
/// by their sort keys.
pub(crate) fn push_component(
    collation: Option<&Collation>,
    value: ValueRef<'_>,
    descending: bool,
    out: &mut Vec<u8>,
) {
    match collation.filter(|_| contains_text(value)) {
        None => encode(value, TypeOrder::Bson, descending, out),
        Some(collation) => {
            encode(collation.key_of_value(value).as_ref(), TypeOrder::Bson, descending, out)
        }
    };
}
