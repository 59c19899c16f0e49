//! The context, the first frame of a client, and the server's answer to it.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use rntbd::{ClientContext, RequestHead, ServerContext};

use super::{frame_request::ClientInfo, output::Output};
use crate::{
    exchange::{Activity, failure_reply},
    failure::Failure,
    limits::{DIRECT_IDLE_TIME, HEAD_TIMEOUT},
    transport::Transport,
};

/// Name of the server in its context.
const AGENT: &str = "ebb";
/// Version of the service whose protocol this is; clients report it with each answer.
const SERVICE_VERSION: &str = "version=2.14.0.0";

/// Writes the answer to a context. Returns what the context says; `None` if it is refused.
pub(super) fn answer_context(
    head: &RequestHead,
    tokens: &[u8],
    output: &mut Output,
) -> Option<ClientInfo> {
    let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    let server = ServerContext {
        agent: AGENT,
        version: SERVICE_VERSION,
        idle_s: seconds(DIRECT_IDLE_TIME),
        unauthenticated_s: seconds(HEAD_TIMEOUT),
    };
    let read = ClientContext::read(tokens).map(|read| {
        let version = HeaderValue::from_str(read.client_version).ok()?;
        let agent = HeaderValue::from_str(read.user_agent).ok()?;
        Some((ClientInfo { version, agent }, read.client_version))
    });
    match read {
        Ok(Some((info, version))) => {
            output.write(|out| {
                server.write(out, head.activity, version);
                Bytes::new()
            });
            Some(info)
        }
        refused => {
            let why = refused.map_or_else(
                |invalid| invalid.to_string(),
                |_| "a text has a control character".to_owned(),
            );
            let failure = Failure::bad_request(format!("The context is refused: {why}."));
            let activity = Activity::Guid(head.activity).to_string();
            let reply = failure_reply(&failure, Transport::Direct, &activity, "");
            output.write(|out| {
                server.write_refusal(out, head.activity, reply.status.into(), &reply.body);
                Bytes::new()
            });
            None
        }
    }
}
