//! Documents and their bytes, counted together.

/// How many documents, and how many bytes they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Documents.
    pub documents: i64,
    /// Bytes of their bodies.
    pub bytes: i64,
}

impl Amount {
    /// One document with this body.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        Self { documents: 1, bytes: i64::try_from(body.len()).unwrap_or(i64::MAX) }
    }

    /// From a stored pair of sums.
    pub(crate) fn from_sums(sums: [i64; 2]) -> Self {
        Self { documents: sums[0], bytes: sums[1] }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            documents: self.documents.saturating_add(other.documents),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// What is left without the other.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            documents: self.documents.saturating_sub(other.documents),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

/// Expired documents whose bytes are still stored: an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreaped {
    /// How much.
    pub amount: Amount,
    /// How long ago the oldest expired, seconds.
    pub oldest_expired_seconds: i64,
}
