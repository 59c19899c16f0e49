//! Answers as frames. A client reads its caches and its session from the tokens, so an error has
//! them, too: without a sequence number a client takes 404 for a replica that lags behind, and asks
//! again for seconds.

use bytes::Bytes;
use memory::Share;
use rntbd::{AnswerToken, FrameWriter};

use crate::{
    exchange::{Activity, Answer, count_bytes, failure_reply},
    failure::Failure,
    limits::QUOTA,
    reply::Reply,
    session,
    transport::Transport,
};

/// What an answer repeats of its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReturnAddress {
    /// Number of the request on its connection.
    pub(super) id: u32,
    pub(super) activity: [u8; 16],
    /// Whether the answer has no body, as for `Head`.
    pub(super) omits_body: bool,
}

/// Values of all answers, as the gateway sends them.
const SCHEMA_VERSION: &[u8] = b"1.19";
const XP_ROLE: u64 = 1;

/// Writes the frame of an answer and returns its body, which is to be sent after the frame. The
/// memory of the body stays reserved until it is dropped.
pub(super) fn write_answer(answer: Answer, to: ReturnAddress, out: &mut Vec<u8>) -> Bytes {
    let seq = answer.seq();
    let Answer { mut reply, about_items, took, mut held, .. } = answer;
    if reply.continuation.as_ref().is_some_and(|token| usize::from(u16::MAX) < token.len()) {
        // Without its token the rest of the results would silently be missing.
        let activity = Activity::Guid(to.activity).to_string();
        reply = failure_reply(&Failure::answer_too_large(), Transport::Direct, &activity, "");
        held = Share::default();
    }
    let body = match to.omits_body || matches!(reply.status, 204 | 304) {
        true => Bytes::new(),
        false => count_bytes(std::mem::take(&mut reply.body), held),
    };
    let mut frame = FrameWriter::answer(out, u32::from(reply.status), to.activity);
    frame.push_number(AnswerToken::PayloadPresent, u64::from(!body.is_empty()));
    frame.push_number(AnswerToken::TransportRequestId, u64::from(to.id));
    write_sequence(&mut frame, seq);
    if about_items {
        frame.push_text(AnswerToken::PartitionKeyRangeId, session::RANGE.as_bytes());
    }
    write_reply(&mut frame, &reply);
    let ms = took.as_secs_f64() * 1000.0;
    frame.push_double(AnswerToken::BackendRequestDurationMilliseconds, ms);
    frame.finish((!body.is_empty()).then_some(body.len()));
    body
}

/// Writes what a client learns about replicas: there is one, and it has all commits up to `seq`.
fn write_sequence(frame: &mut FrameWriter<'_>, seq: u64) {
    for token in [
        AnswerToken::Lsn,
        AnswerToken::LocalLsn,
        AnswerToken::QuorumAckedLsn,
        AnswerToken::QuorumAckedLocalLsn,
        AnswerToken::GlobalCommittedLsn,
    ] {
        frame.push_number(token, seq);
    }
    frame.push_text(AnswerToken::SessionToken, session::session_version(seq).as_bytes());
    frame.push_number(AnswerToken::CurrentWriteQuorum, 1);
    frame.push_number(AnswerToken::CurrentReplicaSetSize, 1);
    frame.push_number(AnswerToken::NumberOfReadRegions, 0);
    frame.push_number(AnswerToken::XpRole, XP_ROLE);
    frame.push_text(AnswerToken::SchemaVersion, SCHEMA_VERSION);
}

/// Writes what differs between replies.
fn write_reply(frame: &mut FrameWriter<'_>, reply: &Reply) {
    frame.push_double(AnswerToken::RequestCharge, reply.request_units as f64 / 100.0);
    if let Some(token) = &reply.continuation {
        frame.push_text(AnswerToken::ContinuationToken, token.as_bytes());
    }
    if let Some(etag) = &reply.etag {
        frame.push_text(AnswerToken::ETag, etag.as_bytes());
    }
    if let Some(count) = reply.count {
        frame.push_number(AnswerToken::ItemCount, count as u64);
    }
    if reply.sub_status != 0 {
        frame.push_number(AnswerToken::SubStatus, u64::from(reply.sub_status));
    }
    if let Some(ms) = reply.retry_ms {
        frame.push_number(AnswerToken::RetryAfterMilliseconds, ms);
    }
    if let Some(seq) = reply.item_seq {
        frame.push_number(AnswerToken::ItemLsn, seq);
        frame.push_number(AnswerToken::ItemLocalLsn, seq);
    }
    if let Some(parent) = &reply.parent {
        frame.push_text(AnswerToken::OwnerFullName, parent.path.as_bytes());
        frame.push_text(AnswerToken::OwnerId, parent.rid.as_bytes());
    }
    if let Some(stored) = &reply.stored {
        frame.push_text(AnswerToken::StorageMaxResourceQuota, QUOTA.as_bytes());
        frame.push_text(AnswerToken::StorageResourceQuotaUsage, stored.usage.as_bytes());
    }
    for (name, text) in &reply.extra {
        let token = match *name {
            "x-ms-documentdb-query-metrics" => AnswerToken::QueryMetrics,
            "x-ms-cosmos-index-utilization" => AnswerToken::IndexUtilization,
            "x-ms-cosmos-query-execution-info" => AnswerToken::QueryExecutionInfo,
            "x-ms-resource-usage" => AnswerToken::StorageResourceQuotaUsage,
            "x-ms-resource-quota" => AnswerToken::StorageMaxResourceQuota,
            "x-ms-alt-content-path" => AnswerToken::OwnerFullName,
            // The other headers have no token.
            _ => continue,
        };
        frame.push_text(token, text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rntbd::{AnswerHead, HEAD_BYTES, Tokens};

    use super::*;
    use crate::reply::{ParentHeaders, StoredHeaders};

    const TO: ReturnAddress = ReturnAddress { id: 7, activity: [9; 16], omits_body: false };

    /// Returns status, tokens by id and body.
    fn written(reply: Reply, to: ReturnAddress) -> (u32, Vec<(u16, Vec<u8>)>, Bytes) {
        let mut out = Vec::new();
        let answer = Answer { known: 40, about_items: true, ..Answer::of_reply(reply) };
        let body = write_answer(answer, to, &mut out);
        let head = AnswerHead::read(out.first_chunk().unwrap(), 1 << 20).unwrap();
        let tokens = &out[HEAD_BYTES..HEAD_BYTES + head.tokens_len];
        let tokens: Vec<_> = Tokens::new(tokens)
            .map(|token| token.map(|token| (token.id, token.value.to_vec())).unwrap())
            .collect();
        let mut ids: Vec<_> = tokens.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), tokens.len(), "no token occurs twice");
        (head.status, tokens, body)
    }

    #[test]
    fn answers_have_the_tokens_that_clients_need() {
        let stored = StoredHeaders { usage: HeaderValue::from_static("u"), of_write: true };
        let reply = Reply {
            seq: 37,
            continuation: Some("c".to_owned()),
            count: Some(3),
            item_seq: Some(36),
            stored: Some(stored),
            parent: ParentHeaders::new("dbs/d", "AAAAAQ=="),
            request_units: 250,
            ..Reply::json(200, b"{}".to_vec())
        };
        let (status, tokens, body) = written(reply.with_etag("\"e\"".to_owned()), TO);
        assert_eq!((status, &body[..]), (200, &b"{}"[..]));
        let token = |wanted: AnswerToken| {
            let found = tokens.iter().find(|(id, _)| *id == wanted.id());
            found.unwrap_or_else(|| panic!("{wanted:?}")).1.clone()
        };
        for wanted in [
            AnswerToken::Lsn,
            AnswerToken::LocalLsn,
            AnswerToken::QuorumAckedLsn,
            AnswerToken::QuorumAckedLocalLsn,
            AnswerToken::GlobalCommittedLsn,
        ] {
            assert_eq!(token(wanted), 37_i64.to_le_bytes(), "{wanted:?}");
        }
        for (wanted, value) in [
            (AnswerToken::SessionToken, b"-1#37".as_slice()),
            (AnswerToken::ContinuationToken, b"c"),
            (AnswerToken::ETag, b"\"e\""),
            (AnswerToken::PartitionKeyRangeId, b"0"),
            (AnswerToken::OwnerFullName, b"dbs/d"),
            (AnswerToken::OwnerId, b"AAAAAQ=="),
            (AnswerToken::StorageResourceQuotaUsage, b"u"),
            (AnswerToken::PayloadPresent, &[1]),
            (AnswerToken::TransportRequestId, &[7, 0, 0, 0]),
            (AnswerToken::CurrentReplicaSetSize, &[1, 0, 0, 0]),
            (AnswerToken::ItemCount, &[3, 0, 0, 0]),
        ] {
            assert_eq!(token(wanted), value, "{wanted:?}");
        }
        assert_eq!(token(AnswerToken::RequestCharge), 2.5_f64.to_le_bytes());
    }

    #[test]
    fn some_answers_have_no_body() {
        for (status, omits_body) in [(204, false), (304, false), (200, true)] {
            let reply = Reply::json(status, b"{}".to_vec());
            let (_, tokens, body) = written(reply, ReturnAddress { omits_body, ..TO });
            assert!(body.is_empty() && tokens.contains(&(0, vec![0])), "{status}");
        }
    }

    #[test]
    fn a_continuation_that_no_token_can_hold_is_a_failure() {
        let long = Some("x".repeat(1 << 16));
        let (status, tokens, body) =
            written(Reply { continuation: long, seq: 5, ..Reply::json(200, b"{}".to_vec()) }, TO);
        assert_eq!(status, 413);
        assert!(tokens.contains(&(0x13, 5_u64.to_le_bytes().to_vec())));
        assert!(body.starts_with(b"{\"code\""));
    }
}
