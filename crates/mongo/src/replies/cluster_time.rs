//! `$clusterTime` and `operationTime`, which every reply has if the server is not a standalone one.
//!
//! Drivers return the largest `$clusterTime` that they have seen with each command, and read with
//! `afterClusterTime` their own writes. The time has no signature, because no time of a client
//! is believed: the server's clock follows only its own commits.

use bytes::BytesMut;
use document::{DocBuf, DocBuilder, ValueRef};
use engine::ClusterTime;

/// Adds the cluster time of the last commit on which a reply can depend.
pub(crate) fn with_cluster_time(reply: DocBuf, time: ClusterTime) -> DocBuf {
    let time = ValueRef::Timestamp(time.timestamp());
    let mut times = DocBuilder::new();
    times.document("$clusterTime", |to| {
        to.append("clusterTime", time);
        to.document("signature", |to| {
            to.append("hash", ValueRef::Binary { subtype: 0, bytes: &[0; 20] });
            to.append("keyId", ValueRef::Int64(0));
        });
    });
    times.append("operationTime", time);
    joined(reply, &times.finish())
}

/// Returns a document with the fields of another one at its end. Neither is decoded, since a reply
/// may be large.
fn joined(document: DocBuf, more: &DocBuf) -> DocBuf {
    let mut bytes =
        document.into_bytes().try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
    // The fields of a document are between its length and a closing zero.
    bytes.truncate(bytes.len().saturating_sub(1));
    bytes.extend_from_slice(more.bytes().get(size_of::<u32>()..).unwrap_or_default());
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    if let Some(place) = bytes.first_chunk_mut() {
        *place = len.to_le_bytes();
    }
    DocBuf::from_trusted(bytes.freeze())
}

#[cfg(test)]
mod tests {
    use document::{Value, doc, validate};

    use super::*;

    #[test]
    fn a_reply_has_its_fields_and_then_the_times() {
        let time = Value::Timestamp(5 << 32 | 7);
        let signature = doc! {
            "hash": Value::Binary { subtype: 0, bytes: vec![0; 20] }, "keyId": 0_i64,
        };
        let cluster = doc! { "clusterTime": time.clone(), "signature": signature };
        let wanted = doc! { "n": 1, "ok": 1.0, "$clusterTime": cluster, "operationTime": time };
        let reply = doc! { "n": 1, "ok": 1.0 }.to_buf();
        // Once with bytes that are shared, and once with bytes of its own.
        for reply in [reply.clone(), reply.detached()] {
            let timed = with_cluster_time(reply, ClusterTime::new(5, 7));
            validate(timed.bytes()).unwrap();
            assert_eq!(timed, wanted.to_buf());
        }
    }
}
