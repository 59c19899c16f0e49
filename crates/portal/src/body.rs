//! Reads request bodies completely, within size and time limits.

use std::time::Duration;

use axum::{
    body::Body,
    http::{StatusCode, header, request::Parts},
};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::error::{Error, Result};

/// Longest time for a body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Reads a body of at most `limit` bytes. 413 if it is larger, before reading it if its length is
/// declared; 408 if it takes longer than [`BODY_TIMEOUT`]; 400 if the client disconnects.
pub(crate) async fn read_body(parts: &Parts, body: Body, limit: usize) -> Result<Bytes> {
    let claimed = parts.headers.get(header::CONTENT_LENGTH).and_then(|text| text.to_str().ok());
    if claimed.and_then(|text| text.parse::<usize>().ok()).is_some_and(|len| limit < len) {
        return Err(Error::too_large());
    }
    let slow = |_| {
        let message = "timed out reading the request body";
        Error::new(StatusCode::REQUEST_TIMEOUT, "Timeout", message)
    };
    let collected = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, limit).collect()).await;
    match collected.map_err(slow)? {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Error::too_large()),
        Err(_) => Err(Error::bad_request("the request body ended early")),
    }
}
