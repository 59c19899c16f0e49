//! The two schemas of batches. The order of the columns is part of the format: it gives each column
//! its bit in a row and its token in the name of a sparse column.

use crate::types::Type;

/// How a row stores a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// At a fixed offset. Its bytes are there and zero where the column is absent.
    Fixed,
    /// After the fixed columns, with a length. It has no bytes where the column is absent.
    Variable,
    /// At the end of the row, with its name.
    Sparse,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// The name, which is also the path of a sparse column.
    pub(crate) name: &'static str,
    /// How it is stored.
    pub(crate) storage: Storage,
    /// The type of its values.
    pub(crate) kind: Type,
}

/// A schema. Fixed columns come first, then variable ones, then sparse ones, and the first two
/// kinds are eight at most, so that one byte holds their bits.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The number in the header of each row.
    pub(crate) id: i32,
    /// The columns in order.
    pub(crate) columns: &'static [Column],
}

/// The most columns that a schema has.
pub(crate) const MAX_COLUMNS: usize = 12;

impl Schema {
    /// Returns the number of columns that have a bit.
    pub(crate) fn count_of_bits(&self) -> usize {
        self.columns.iter().filter(|column| column.storage != Storage::Sparse).count()
    }

    /// Returns the number of tokens: one for the empty path, then one for each column.
    pub(crate) fn count_of_tokens(&self) -> u64 {
        1 + self.columns.len() as u64
    }
}

/// Abbreviates a column.
const fn column(name: &'static str, storage: Storage, kind: Type) -> Column {
    Column { name, storage, kind }
}

/// An operation of a batch.
pub(crate) const OPERATION: Schema = Schema {
    id: 2_145_473_648,
    columns: &[
        column("operationType", Storage::Fixed, Type::Int32),
        column("resourceType", Storage::Fixed, Type::Int32),
        column("partitionKey", Storage::Variable, Type::Utf8),
        column("effectivePartitionKey", Storage::Variable, Type::Binary),
        column("id", Storage::Variable, Type::Utf8),
        column("binaryId", Storage::Variable, Type::Binary),
        column("resourceBody", Storage::Variable, Type::Binary),
        column("indexingDirective", Storage::Sparse, Type::Utf8),
        column("ifMatch", Storage::Sparse, Type::Utf8),
        column("ifNoneMatch", Storage::Sparse, Type::Utf8),
        column("timeToLiveInSeconds", Storage::Sparse, Type::Int32),
        column("minimalReturnPreference", Storage::Sparse, Type::Bool),
    ],
};

/// The result of an operation.
pub(crate) const RESULT: Schema = Schema {
    id: 2_145_473_649,
    columns: &[
        column("statusCode", Storage::Fixed, Type::Int32),
        column("subStatusCode", Storage::Fixed, Type::Int32),
        column("eTag", Storage::Variable, Type::Utf8),
        column("resourceBody", Storage::Variable, Type::Binary),
        column("retryAfterMilliseconds", Storage::Sparse, Type::UInt32),
        column("requestCharge", Storage::Sparse, Type::Float64),
    ],
};
