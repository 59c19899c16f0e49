//! What goes wrong in a history, and how often.

use fastrand::Rng;

/// A millisecond. All times of the simulation are a tenth of those in production.
pub(super) const MS: u64 = 1_000_000;

/// How one history goes.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// In a thousand: messages that are lost, one way.
    pub(super) lost: u64,
    /// Requests that are done twice.
    pub(super) repeated: u64,
    /// Swaps and writes that are done late.
    pub(super) late: u64,
    /// Swaps that are decided without an answer, and are known to no replica or to few.
    pub(super) torn: u64,
    /// Reads that bring both replicas to the same.
    pub(super) repaired: u64,
    /// The longest usual delay of a message.
    pub(super) delay: u64,
    /// From one happening to the next, at the most.
    pub(super) pause: u64,
    /// How long it lasts, at the most.
    pub(super) longest: Vec<u64>,
    /// What happens then.
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

    /// Swaps come late and are torn, while all else goes well, so that owners go on writing.
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

    /// Nodes stop for long, while all else goes well.
    fn of_pauses() -> Self {
        let (longest, troubles) = (vec![900 * MS], vec![Trouble::Pause]);
        Self { delay: 6 * MS, pause: 400 * MS, longest, troubles, ..Self::none() }
    }

    /// Nothing goes wrong any more.
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

/// Whether something of this frequency in a thousand happens.
pub(super) fn happens(rng: &mut Rng, in_thousand: u64) -> bool {
    0 < in_thousand && rng.u64(..1000) < in_thousand
}

/// Something that goes wrong with a node or a replica.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trouble {
    Pause,
    Kill,
    Cut,
    CutSwaps,
    ReplicaDown,
    HandOver,
    /// Its tree takes nothing for a while, and may have lost its last entries then.
    TreeFails,
}

impl Trouble {
    /// All, the more frequent ones twice.
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
