//! The faults of a simulated history and their frequencies.

use fastrand::Rng;

/// A millisecond in nanoseconds. All times of the simulation are a tenth of those in production.
pub(super) const MS: u64 = 1_000_000;

/// The fault configuration of one history. Frequencies are per thousand.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// Messages that are lost in one direction.
    pub(super) lost: u64,
    /// Requests that are executed twice.
    pub(super) repeated: u64,
    /// Compare-and-swaps and writes that are delayed.
    pub(super) late: u64,
    /// Compare-and-swaps that are decided, but whose reply is lost and whose result reaches few
    /// replicas or none.
    pub(super) torn: u64,
    /// Reads that bring both read replicas to the newest version.
    pub(super) repaired: u64,
    /// Upper bound of the usual message delay.
    pub(super) delay: u64,
    /// Upper bound of the time between two failures of nodes or replicas.
    pub(super) pause: u64,
    /// Possible upper bounds of a failure's duration; one is drawn for each failure.
    pub(super) longest: Vec<u64>,
    /// The failures to choose from.
    pub(super) troubles: Vec<Trouble>,
}

impl Faults {
    pub(super) fn new(rng: &mut Rng) -> Self {
        match rng.u8(..8) {
            0 | 1 => return Self::of_swaps(),
            2 => return Self::of_pauses(),
            _ => {}
        }
        let mut one_of = |values: &[u64]| rng.choice(values).copied().unwrap_or(0);
        Self {
            lost: one_of(&[0, 5, 20, 100, 250]),
            repeated: one_of(&[0, 10, 100]),
            late: one_of(&[0, 10, 50, 200]),
            torn: one_of(&[0, 20, 100, 300]),
            repaired: one_of(&[0, 300, 1000]),
            delay: one_of(&[MS / 2, 2 * MS, 6 * MS]),
            pause: one_of(&[40 * MS, 120 * MS, 400 * MS]),
            longest: vec![20 * MS, 200 * MS, 600 * MS],
            troubles: Trouble::ALL.to_vec(),
        }
    }

    /// Faults of compare-and-swaps only, which are delayed, or decided without a reply. Nothing
    /// else fails, so that owners keep writing.
    fn of_swaps() -> Self {
        Self {
            lost: 0,
            repeated: 0,
            late: 200,
            torn: 300,
            repaired: 0,
            delay: MS,
            pause: 400 * MS,
            longest: vec![900 * MS],
            troubles: vec![Trouble::CutSwaps],
        }
    }

    /// Nodes pause for long, and nothing else fails.
    fn of_pauses() -> Self {
        let (longest, troubles) = (vec![900 * MS], vec![Trouble::Pause]);
        Self { delay: 6 * MS, pause: 400 * MS, longest, troubles, ..Self::none() }
    }

    pub(super) fn none() -> Self {
        Self {
            lost: 0,
            repeated: 0,
            late: 0,
            torn: 0,
            repaired: 1000,
            delay: MS,
            pause: 100 * MS,
            longest: Vec::new(),
            troubles: Vec::new(),
        }
    }
}

/// Returns true with a probability of `in_thousand` / 1000.
pub(super) fn happens(rng: &mut Rng, in_thousand: u64) -> bool {
    0 < in_thousand && rng.u64(..1000) < in_thousand
}

/// A failure of a node or a replica.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trouble {
    Pause,
    Kill,
    Cut,
    CutSwaps,
    ReplicaDown,
    HandOver,
    /// The tree rejects entries for a while, and may then have lost the last entries that it had.
    TreeFails,
}

impl Trouble {
    /// All failures, the more frequent ones twice.
    const ALL: [Self; 9] = [
        Self::Pause,
        Self::Pause,
        Self::Kill,
        Self::Cut,
        Self::CutSwaps,
        Self::CutSwaps,
        Self::ReplicaDown,
        Self::HandOver,
        Self::TreeFails,
    ];
}
