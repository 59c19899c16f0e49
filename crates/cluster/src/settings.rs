//! Configuration of a node's state machines: identity, times and sizes.

use bytes::Bytes;
use uuid::Uuid;

use crate::rules::Rules;

const MS: u64 = 1_000_000;

/// Identity, times (nanoseconds of the boot clock) and sizes (bytes) of a node. All nodes of a
/// cluster have the same `lease` and `margin`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Id of the cluster that the node belongs to.
    pub cluster: Uuid,
    /// The shard that the node's state machines follow or own.
    pub shard: u32,
    /// Id of the node, created with its data directory.
    pub node: Uuid,
    /// Metadata for other nodes: addresses, version, boot id.
    pub about: Bytes,
    /// Length of the prefix of `about` that identifies the data directory in this boot of the
    /// machine. An incarnation with the same prefix is a former one of this node and has ended,
    /// because this process holds the directory's lock; one with another prefix may be a running
    /// copy.
    pub place_bytes: usize,
    /// Time after an applied heartbeat in which an owner may serve reads.
    pub lease: u64,
    /// Time in addition to `lease` for which other nodes wait before they fence a silent owner.
    pub margin: u64,
    /// Time that an owner waits, after the end of its lease, for the lease to be renewed. Then its
    /// term ends and waiting requests fail. Other nodes may own the shard long before.
    pub abandon: u64,
    /// Interval between heartbeats of this node.
    pub beat: u64,
    /// Interval between reads of the node records.
    pub nodes: u64,
    /// Interval between reads of the shard record while it changes.
    pub poll_interval: u64,
    /// Interval between reads of the journal while entries arrive.
    pub read: u64,
    /// Initial interval between reads of the journal while no entries arrive.
    pub idle: u64,
    /// Upper bound of the interval between reads of an unchanged shard record and journal. The
    /// terms in the node records notify a follower of changes earlier.
    pub rest: u64,
    /// Delay after which an unanswered request is sent again.
    pub again: u64,
    /// Time that a node whose tree lacks committed entries waits before it claims a free shard, so
    /// that up-to-date nodes claim it first.
    pub patience: u64,
    /// Maximum size of a part of an entry.
    pub part_bytes: usize,
    /// Size at which a segment is closed.
    pub segment_bytes: usize,
    /// Size of one read of a journal.
    pub read_bytes: usize,
    /// A follower stops reading while its tree is more than this many bytes behind.
    pub hold_bytes: u64,
    /// A follower stops reading while its tree is more than this many entries behind.
    pub hold_entries: u64,
    /// An owner writes a base when the journal since the last base exceeds this many bytes and half
    /// of that base's size.
    pub base_bytes: u64,
    /// An owner also writes a base when the journal since the last base has this many entries.
    pub base_entries: u64,
    /// Size of a piece of a base.
    pub piece_bytes: usize,
    /// Protocol rules that tests can disable.
    pub(crate) rules: Rules,
}

impl Settings {
    /// Creates settings with the default times and sizes.
    pub fn new(cluster: Uuid, shard: u32, node: Uuid, about: Bytes) -> Self {
        Self {
            cluster,
            shard,
            node,
            about,
            place_bytes: usize::MAX,
            lease: 3_000 * MS,
            margin: 500 * MS,
            abandon: 12_000 * MS,
            beat: 750 * MS,
            nodes: 400 * MS,
            poll_interval: 250 * MS,
            read: 50 * MS,
            idle: 250 * MS,
            rest: 4_000 * MS,
            again: 50 * MS,
            patience: 500 * MS,
            part_bytes: 256 << 10,
            segment_bytes: 16 << 20,
            read_bytes: 4 << 20,
            hold_bytes: 32 << 20,
            hold_entries: 1_024,
            base_bytes: 256 << 20,
            base_entries: 1 << 20,
            piece_bytes: 4 << 20,
            rules: Rules::default(),
        }
    }

    /// Returns whether a node record with this metadata was written by this node since its computer
    /// was started.
    pub(crate) fn is_former_self(&self, about: &[u8]) -> bool {
        self.location(about) == self.location(&self.about)
    }

    /// Returns the prefix of a node's metadata that identifies its data directory.
    pub(crate) fn location<'a>(&self, about: &'a [u8]) -> &'a [u8] {
        about.get(..self.place_bytes).unwrap_or(about)
    }

    /// Returns how long a node's heartbeat has to stay unchanged before the node's lease has
    /// expired by the clock of every node.
    pub(crate) fn silence(&self) -> u64 {
        self.lease + if self.rules.margin() { self.margin } else { 0 }
    }
}
