//! Replies to refused and failed requests.

use throughput::request_units;

use crate::{
    failure::{Failure, Fault},
    reply::Reply,
    transport::Transport,
};

/// Returns the reply to a refused or failed request. SDKs use its headers for retries: the
/// sub-status distinguishes failures with the same status, and the retry time is the time to wait.
pub(crate) fn failure_reply(
    failure: &Failure,
    transport: Transport,
    activity: &str,
    path: &str,
) -> Reply {
    let (status, sub_status, code) = failure.fault.on(transport);
    let body = failure.error_body(code, activity, path);
    let mut reply = Reply { seq: failure.seq, sub_status, ..Reply::json(status, body) };
    // A throttled request is not charged.
    if !matches!(failure.fault, Fault::TooManyRequests | Fault::TooManyGuesses) {
        reply.request_units = request_units::of_failure();
    }
    reply.retry_ms = failure.retry_ms;
    reply
}
