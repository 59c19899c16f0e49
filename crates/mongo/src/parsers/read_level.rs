//! The level of a command's read concern, which was checked before (`concern.rs`).

use document::{DocRef, ValueRef};
use engine::ClusterTime;

/// The level of a read concern that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadLevel<'a> {
    /// The command names no level, or `majority`, which is the level of streams.
    Majority,
    /// Another level than `majority` and `snapshot`.
    Other(&'a str),
    /// `snapshot`, with the time if the command names one.
    Snapshot(Option<ClusterTime>),
}

impl ReadLevel<'_> {
    /// Returns the name of the level.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Majority => "majority",
            Self::Other(name) => name,
            Self::Snapshot(_) => "snapshot",
        }
    }
}

/// Returns the level of a command's read concern.
pub(crate) fn read_level(body: DocRef<'_>) -> ReadLevel<'_> {
    let concern = body.get("readConcern").and_then(ValueRef::as_document);
    let Some(concern) = concern else { return ReadLevel::Majority };
    match concern.get("level").and_then(ValueRef::as_str) {
        None | Some("majority") => ReadLevel::Majority,
        Some("snapshot") => ReadLevel::Snapshot(match concern.get("atClusterTime") {
            Some(ValueRef::Timestamp(at)) => Some(ClusterTime::from_timestamp(at)),
            _ => None,
        }),
        Some(other) => ReadLevel::Other(other),
    }
}
