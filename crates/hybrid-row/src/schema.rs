//! The two schemas of batches. The order of columns is part of the format: it determines their
//! presence bits and the tokens of sparse columns.

use crate::types::Type;

/// Form in which a row stores a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// The column is at a fixed offset. If it is absent, its bytes are zero.
    Fixed,
    /// The column is after the fixed columns and has a length. If it is absent, it takes no bytes.
    Variable,
    /// The column is at the end of the row, with its path.
    Sparse,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Name of the column, which is also its path if it is sparse.
    pub(crate) name: &'static str,
    pub(crate) storage: Storage,
    pub(crate) kind: Type,
}

/// A schema. Its order is: fixed columns, variable columns, sparse columns. There are at most eight
/// fixed and variable columns, so that their presence bits fit one byte.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Id in the header of each row.
    pub(crate) id: i32,
    pub(crate) columns: &'static [Column],
}

/// Maximum number of columns of a schema.
pub(crate) const MAX_COLUMNS: usize = 12;

impl Schema {
    /// Returns the number of columns that have a presence bit.
    pub(crate) fn count_of_bits(&self) -> usize {
        self.columns.iter().filter(|column| column.storage != Storage::Sparse).count()
    }

    /// Returns the number of tokens: one for the empty path and one per column.
    pub(crate) fn count_of_tokens(&self) -> u64 {
        1 + self.columns.len() as u64
    }
}

const fn column(name: &'static str, storage: Storage, kind: Type) -> Column {
    Column { name, storage, kind }
}

/// Schema of an operation of a batch.
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

/// Schema of an operation's result.
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
