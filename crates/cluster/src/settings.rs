//! What a node's machines are told once: who they are, and their times and sizes.

use bytes::Bytes;
use uuid::Uuid;

use crate::rules::Rules;

/// A millisecond of the boot clock.
const MS: u64 = 1_000_000;

/// Who a node is, and its times (nanoseconds of the boot clock) and sizes (bytes). All nodes of a
/// cluster have the same `lease` and `margin`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The cluster's id.
    pub cluster: Uuid,
    /// The shard that it follows or owns.
    pub shard: u32,
    /// The node's id, made with its data directory.
    pub node: Uuid,
    /// What others should know of it: addresses, version, boot id.
    pub about: Bytes,
    /// So many bytes at the beginning of `about` name this directory in this boot of this machine. An
    /// incarnation that said the same is its own former one and over, as it holds the lock of its
    /// directory; one that said something else may be of a copy that runs elsewhere.
    pub place_bytes: usize,
    /// How long a beat lets an owner serve reads.
    pub lease: u64,
    /// How much longer others wait.
    pub margin: u64,
    /// How long after the end of its lease an owner still waits to go on. Then it gives up: whoever waits
    /// for it hears so. Others may own the shard long before.
    pub abandon: u64,
    /// From one beat to the next.
    pub beat: u64,
    /// From one look at the other nodes to the next.
    pub nodes: u64,
    /// From one look at the shard to the next, while it changes.
    pub watch: u64,
    /// From one reading of the journal to the next while entries come.
    pub read: u64,
    /// The same while none come, at first.
    pub idle: u64,
    /// The longest pause between two looks at a shard and readings of its journal where nothing changes. What
    /// nodes say of their terms tells a follower of a change before that.
    pub rest: u64,
    /// The pause before something unanswered is asked again.
    pub again: u64,
    /// How long it lets others go first where a shard is free and its tree does not have all that is
    /// known to be committed: those that have it go first.
    pub patience: u64,
    /// The largest part of an entry.
    pub part_bytes: usize,
    /// Where a segment closes.
    pub segment_bytes: usize,
    /// How much is read of a journal at once.
    pub read_bytes: usize,
    /// A follower reads no further while its tree is this many bytes behind what it has read, or
    pub hold_bytes: u64,
    /// this many entries.
    pub hold_entries: u64,
    /// An owner makes a base when so many bytes of the journal lie behind the last one, and half as many as
    /// it has itself, or
    pub base_bytes: u64,
    /// so many entries.
    pub base_entries: u64,
    /// The size of its pieces.
    pub piece_bytes: usize,
    /// Rules that tests leave out.
    pub(crate) rules: Rules,
}

impl Settings {
    /// With the usual times and sizes.
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
            watch: 250 * MS,
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

    /// Whether a node that said this of itself was this one in this boot of its machine.
    pub(crate) fn was_here(&self, about: &[u8]) -> bool {
        self.place(about) == self.place(&self.about)
    }

    /// What names the directory in what a node says of itself.
    pub(crate) fn place<'a>(&self, about: &'a [u8]) -> &'a [u8] {
        about.get(..self.place_bytes).unwrap_or(about)
    }

    /// How long a beat has to stand still before its lease is over for everybody.
    pub(crate) fn silence(&self) -> u64 {
        self.lease + if self.rules.margin() { self.margin } else { 0 }
    }
}
