//! Operations and results of batches, each encoded as a row. The caller interprets their numbers
//! and texts.

use crate::{
    Result,
    record_io::{Records, push_record, push_segment},
    row::{Values, read_row, write_row},
    schema::{OPERATION, RESULT},
    types::Value,
};

/// An operation as a client sends it; absent columns are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation<'a> {
    /// Number of the operation's type.
    pub operation_type: Option<i32>,
    /// Number of the resource's type.
    pub resource_type: Option<i32>,
    /// Partition key as JSON text; only in bulk requests.
    pub partition_key: Option<&'a str>,
    /// Hash of the partition key, which may be sent instead of the key itself.
    pub effective_partition_key: Option<&'a [u8]>,
    /// The id of the resource.
    pub id: Option<&'a str>,
    /// The id as bytes, which may be sent instead of `id`.
    pub binary_id: Option<&'a [u8]>,
    /// The resource, or a patch of it.
    pub resource_body: Option<&'a [u8]>,
    /// Indexing directive of the resource.
    pub indexing_directive: Option<&'a str>,
    /// The ETag that the resource must have.
    pub if_match: Option<&'a str>,
    /// The ETag that the resource must not have.
    pub if_none_match: Option<&'a str>,
    /// Time to live of the resource in seconds.
    pub time_to_live_in_seconds: Option<i32>,
    /// Whether the result omits the resource.
    pub minimal_return_preference: Option<bool>,
}

/// The result of an operation as a server sends it; absent columns are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OperationResult<'a> {
    /// The HTTP status of the operation.
    pub status_code: Option<i32>,
    /// Sub-status, which distinguishes failures with the same HTTP status.
    pub sub_status_code: Option<i32>,
    /// ETag of the resource, including its quotes.
    pub etag: Option<&'a str>,
    /// The resource, or the error of a failed operation.
    pub resource_body: Option<&'a [u8]>,
    /// Milliseconds after which the client may retry.
    pub retry_after_milliseconds: Option<u32>,
    /// Charge of the operation in request units.
    pub request_charge: Option<f64>,
}

/// Counts the records of a stream. It reads only their headers, so that a stream with too many
/// records can be refused cheaply.
pub fn count_records(stream: &[u8]) -> Result<usize> {
    Records::new(stream)?.try_fold(0, |count, record| record.map(|_| count + 1))
}

/// Decodes the operations of a request.
pub fn read_operations(stream: &[u8]) -> Result<Vec<Operation<'_>>> {
    let rows = Records::new(stream)?;
    rows.map(|record| Ok(Operation::from_values(&read_row(&OPERATION, record?.check()?)?)))
        .collect()
}

/// Decodes the results of a response.
pub fn read_results(stream: &[u8]) -> Result<Vec<OperationResult<'_>>> {
    let rows = Records::new(stream)?;
    rows.map(|record| Ok(OperationResult::from_values(&read_row(&RESULT, record?.check()?)?)))
        .collect()
}

/// Encodes a request with these operations.
pub fn write_operations(operations: &[Operation<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    push_segment(&mut out);
    for operation in operations {
        push_record(&mut out, |out| write_row(&OPERATION, &operation.to_values(), out));
    }
    out
}

/// An encoder of a response, result by result.
#[derive(Debug)]
pub struct ResultWriter {
    out: Vec<u8>,
}

impl ResultWriter {
    /// Creates an encoder whose buffer has this capacity.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut out = Vec::with_capacity(bytes);
        push_segment(&mut out);
        Self { out }
    }

    /// Appends the result of the next operation.
    pub fn push(&mut self, result: &OperationResult<'_>) {
        push_record(&mut self.out, |out| write_row(&RESULT, &result.to_values(), out));
    }

    /// Returns the encoded response of the batch.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}

impl<'a> Operation<'a> {
    /// Converts a row of the schema `OPERATION`.
    fn from_values(values: &Values<'a>) -> Self {
        let [
            operation_type,
            resource_type,
            partition_key,
            effective_partition_key,
            id,
            binary_id,
            resource_body,
            indexing_directive,
            if_match,
            if_none_match,
            time_to_live_in_seconds,
            minimal_return_preference,
        ] = *values;
        Self {
            operation_type: int(operation_type),
            resource_type: int(resource_type),
            partition_key: text(partition_key),
            effective_partition_key: bytes(effective_partition_key),
            id: text(id),
            binary_id: bytes(binary_id),
            resource_body: bytes(resource_body),
            indexing_directive: text(indexing_directive),
            if_match: text(if_match),
            if_none_match: text(if_none_match),
            time_to_live_in_seconds: int(time_to_live_in_seconds),
            minimal_return_preference: match minimal_return_preference {
                Some(Value::Bool(value)) => Some(value),
                _ => None,
            },
        }
    }

    /// Converts to a row in the column order of `OPERATION`.
    fn to_values(self) -> Values<'a> {
        [
            self.operation_type.map(Value::Int32),
            self.resource_type.map(Value::Int32),
            self.partition_key.map(Value::Utf8),
            self.effective_partition_key.map(Value::Binary),
            self.id.map(Value::Utf8),
            self.binary_id.map(Value::Binary),
            self.resource_body.map(Value::Binary),
            self.indexing_directive.map(Value::Utf8),
            self.if_match.map(Value::Utf8),
            self.if_none_match.map(Value::Utf8),
            self.time_to_live_in_seconds.map(Value::Int32),
            self.minimal_return_preference.map(Value::Bool),
        ]
    }
}

impl<'a> OperationResult<'a> {
    /// Converts a row of the schema `RESULT`.
    fn from_values(values: &Values<'a>) -> Self {
        let [status_code, sub_status_code, etag, resource_body, retry_after, charge, ..] = *values;
        Self {
            status_code: int(status_code),
            sub_status_code: int(sub_status_code),
            etag: text(etag),
            resource_body: bytes(resource_body),
            retry_after_milliseconds: match retry_after {
                Some(Value::UInt32(value)) => Some(value),
                _ => None,
            },
            request_charge: match charge {
                Some(Value::Float64(value)) => Some(value),
                _ => None,
            },
        }
    }

    /// Converts to a row in the column order of `RESULT`.
    fn to_values(self) -> Values<'a> {
        let mut values = Values::default();
        let row = [
            self.status_code.map(Value::Int32),
            self.sub_status_code.map(Value::Int32),
            self.etag.map(Value::Utf8),
            self.resource_body.map(Value::Binary),
            self.retry_after_milliseconds.map(Value::UInt32),
            self.request_charge.map(Value::Float64),
        ];
        for (value, given) in values.iter_mut().zip(row) {
            *value = given;
        }
        values
    }
}

/// Returns the value of an int32 column.
fn int(value: Option<Value<'_>>) -> Option<i32> {
    match value {
        Some(Value::Int32(number)) => Some(number),
        _ => None,
    }
}

/// Returns the value of a utf8 column.
fn text<'a>(value: Option<Value<'a>>) -> Option<&'a str> {
    match value {
        Some(Value::Utf8(text)) => Some(text),
        _ => None,
    }
}

/// Returns the value of a binary column.
fn bytes<'a>(value: Option<Value<'a>>) -> Option<&'a [u8]> {
    match value {
        Some(Value::Binary(bytes)) => Some(bytes),
        _ => None,
    }
}
