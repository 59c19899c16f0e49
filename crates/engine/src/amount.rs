//! A number of documents together with their size.

/// A number of documents and their total size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of documents in this amount.
    pub documents: i64,
    /// Total size of the documents' bodies in bytes.
    pub bytes: i64,
}

impl Amount {
    /// Returns the amount of one document: its count 1 and its size.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        Self { documents: 1, bytes: i64::try_from(body.len()).unwrap_or(i64::MAX) }
    }

    /// Creates an amount from a stored pair: documents and bytes.
    pub(crate) fn from_sums(sums: [i64; 2]) -> Self {
        Self { documents: sums[0], bytes: sums[1] }
    }

    /// Returns the sum of both amounts.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            documents: self.documents.saturating_add(other.documents),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// Returns the difference of both amounts.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            documents: self.documents.saturating_sub(other.documents),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

/// Estimate of the expired documents whose bytes are still stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreaped {
    /// Number and size of the documents.
    pub amount: Amount,
    /// Seconds since the first of these documents expired.
    pub oldest_expired_seconds: i64,
}
