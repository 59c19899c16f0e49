//! Converts batches in HybridRow, which the .NET SDK sends, between their rows and the operations
//! and outcomes of this crate.

use hybrid_row::{Operation, OperationResult, ResultWriter};

use super::{
    operation::{BatchAction, BatchOperation, Kind, OperationBody, check_count},
    response::{OUTCOME_BYTES, Outcome},
};
use crate::{
    etag,
    failure::{Failure, Result},
    headers::is_indexing_directive,
    limits::{MAX_BATCH, MAX_HYBRID_BATCH_BYTES},
};

/// Number of the resource type "document", the only one in batches.
const DOCUMENT: i32 = 2;

/// Parses the operations of a request. The outer error concerns the whole request; an inner error
/// fails a single operation.
pub(super) fn read_operations(body: &[u8]) -> Result<Vec<Result<BatchOperation>>> {
    if MAX_HYBRID_BATCH_BYTES < body.len() {
        return Err(Failure::too_large());
    }
    // Counted first, so that a request with too many operations is refused cheaply.
    check_count(hybrid_row::count_records(body).map_err(invalid)?)?;
    let operations = hybrid_row::read_operations(body).map_err(invalid)?;
    Ok(operations.iter().map(read_operation).collect())
}

/// Returns the number of operations of a request if it is within the limits.
pub(super) fn count_operations(body: &[u8]) -> Option<usize> {
    hybrid_row::count_records(body).ok().filter(|count| (1..=MAX_BATCH).contains(count))
}

/// Returns the failure for an invalid body.
fn invalid(error: hybrid_row::Invalid) -> Failure {
    Failure::bad_request(format!("The batch is not valid HybridRow: {error}."))
}

fn read_operation(row: &Operation<'_>) -> Result<BatchOperation> {
    let number = row.operation_type.unwrap_or(-1);
    let (kind, name) = Kind::of_number(number).ok_or_else(|| {
        Failure::bad_request(format!("A batch operation has the unknown type {number}."))
    })?;
    if row.resource_type != Some(DOCUMENT) {
        return Err(Failure::bad_request("A batch operation is not for a document."));
    }
    for (there, column) in [
        (row.effective_partition_key.is_some(), "effectivePartitionKey"),
        (row.binary_id.is_some(), "binaryId"),
        (row.time_to_live_in_seconds.is_some(), "timeToLiveInSeconds"),
    ] {
        // SDKs send these columns only with internal options, which are not supported.
        if there {
            return Err(Failure::unsupported(&format!("'{column}' of a batch operation")));
        }
    }
    if let Some(directive) = row.indexing_directive.filter(|text| !is_indexing_directive(text)) {
        return Err(Failure::bad_request(format!(
            "Invalid value '{directive}' specified for 'indexingDirective' of a batch operation."
        )));
    }
    let text = |text: Option<&str>| text.map(str::to_owned);
    let body = row.resource_body.map(OperationBody::Bytes);
    // In the service, `ifMatch` of a read has the effect of `ifNoneMatch`.
    let if_none_match = match kind {
        Kind::Read => row.if_none_match.or(row.if_match),
        _ => row.if_none_match,
    };
    Ok(BatchOperation {
        action: BatchAction::new(kind, name, text(row.id), body)?,
        if_match: text(row.if_match),
        if_none_match: text(if_none_match),
        partition_key: text(row.partition_key),
        minimal: row.minimal_return_preference == Some(true),
    })
}

/// Writes the body of a response. The text of a failure is stored as `resourceBody`, because the
/// SDK shows that as the error message of an operation. The outcomes are passed by value, so that
/// each item is freed once it is copied.
pub(super) fn write_outcomes(outcomes: Vec<Outcome>) -> Vec<u8> {
    let bytes = outcomes.iter().map(|outcome| outcome.body.len() + OUTCOME_BYTES).sum();
    let mut writer = ResultWriter::with_capacity(bytes);
    for outcome in outcomes {
        let etag = outcome.version.map(etag::quoted_etag);
        let error = outcome.message.as_deref().map(error_body).unwrap_or_default();
        let body = if outcome.body.is_empty() { &error } else { &outcome.body };
        writer.push(&OperationResult {
            status_code: Some(i32::from(outcome.status)),
            sub_status_code: Some(i32::try_from(outcome.sub_status).unwrap_or_default()),
            etag: etag.as_deref(),
            resource_body: Some(body.as_slice()).filter(|body| !body.is_empty()),
            retry_after_milliseconds: outcome
                .retry_ms
                .map(|ms| u32::try_from(ms).unwrap_or(u32::MAX)),
            request_charge: Some(outcome.request_units as f64 / 100.0),
        });
    }
    writer.finish()
}

/// Returns the list of errors with this text, in the form of Azure Cosmos DB's messages.
fn error_body(text: &str) -> Vec<u8> {
    let mut body = b"{\"Errors\":[".to_vec();
    document::json::write_string(text, &mut body);
    body.extend_from_slice(b"]}");
    body
}
