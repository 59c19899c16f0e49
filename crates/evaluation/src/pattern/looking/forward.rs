//! Where the match ends that begins at a position, and what its groups hold: all ways beside each
//! other, the one that Perl would prefer in front.
//!
//! It is the simulation of an automaton by the set of its states, in the order of preference (a
//! Pike machine): alternatives come in the order in which they are written, and each state keeps
//! the groups of the first way that came to it.

use regex_automata::nfa::thompson::State;
use regex_automata::util::primitives::StateID;

use super::{
    Steps,
    backward::{Positions, passes},
    machine::Machine,
};
use crate::{
    error::{Error, Kind},
    numbers::PATTERN_REFUSED,
};

/// Spans of a match and of its groups, bytes; `None` for a group without a part in it.
pub(in crate::pattern) type Spans = Vec<Option<(usize, usize)>>;

/// Where groups began and ended so far, two for each.
type Slots = Vec<Option<usize>>;

/// Places that all ways beside each other may hold.
const MAX_SLOTS: usize = 1 << 20;

/// Ways side by side: each state once, with the groups of the first way that came to it.
struct Ways {
    /// In the order in which Perl would try them.
    list: Vec<(StateID, Slots)>,
    /// By state: whether it is in the list.
    has: Vec<bool>,
}

/// What is left to do while a way is followed.
enum Left {
    /// A state to go to.
    Go(StateID),
    /// A slot gets back what it had.
    Restore(usize, Option<usize>),
}

/// Fails when a machine has too many states and groups to be followed forward.
pub(super) fn fits(machine: &Machine) -> Result<(), Error> {
    let slots = machine.nfa.group_info().slot_len();
    if machine.len().saturating_mul(slots) <= MAX_SLOTS {
        return Ok(());
    }
    let text = "Regular expression is invalid: regular expression is too large";
    Err(Error::new(Kind::TooLarge, PATTERN_REFUSED, text))
}

/// What a walk forward over a text needs.
struct ForwardWalk<'a> {
    /// What is walked.
    machine: &'a Machine,
    /// The text.
    bytes: &'a [u8],
    /// By look-ahead: where in the text it matches.
    aheads: &'a [Positions],
}

/// The slots of the match that begins here: where it and its groups begin and end. All ways go on
/// side by side, one byte at a time; when one of them is at its end, the ways behind it are
/// dropped, as Perl would have preferred this one.
pub(super) fn run(
    machine: &Machine,
    text: &str,
    aheads: &[Positions],
    begin: usize,
    steps: &Steps<'_>,
) -> Result<Option<Slots>, Error> {
    let walk = ForwardWalk { machine, bytes: text.as_bytes(), aheads };
    // Two sets: the ways at this byte, and those at the next one.
    let ways = || Ways { list: Vec::new(), has: vec![false; machine.len()] };
    let (mut now, mut next) = (ways(), ways());
    let mut slots = vec![None; machine.nfa.group_info().slot_len()];
    walk.follow(&mut now, machine.nfa.start_anchored(), begin, &mut slots);
    // The best match so far: a way before it in the order may still come to a longer one.
    let mut found = None;
    for at in begin..=walk.bytes.len() {
        if now.list.is_empty() {
            break;
        }
        steps.add(now.list.len().saturating_mul(slots.len() + 1))?;
        for (id, mut slots) in now.list.drain(..) {
            let state = machine.nfa.state(id);
            if matches!(state, State::Match { .. }) {
                // Ways behind this one are less wanted.
                found = Some(slots);
                break;
            }
            let to = match state {
                State::ByteRange { trans } => trans.matches(walk.bytes, at).then_some(trans.next),
                State::Sparse(ways) => ways.matches(walk.bytes, at),
                State::Dense(ways) => ways.matches(walk.bytes, at),
                _ => None,
            };
            if let Some(to) = to {
                walk.follow(&mut next, to, at + 1, &mut slots);
            }
        }
        // The list is empty already; the flags are cleared for the byte after the next.
        now.has.fill(false);
        std::mem::swap(&mut now, &mut next);
    }
    Ok(found)
}

impl ForwardWalk<'_> {
    /// Adds all states that are reached from this one without reading, the preferred ones first.
    /// Groups that begin or end on the way are noted, and put back for the ways that follow: a
    /// stack in place of recursion, since a pattern may nest deeply.
    fn follow(&self, ways: &mut Ways, from: StateID, at: usize, slots: &mut Slots) {
        let mut left = vec![Left::Go(from)];
        while let Some(step) = left.pop() {
            let id = match step {
                Left::Restore(slot, value) => {
                    if let Some(held) = slots.get_mut(slot) {
                        *held = value;
                    }
                    continue;
                }
                Left::Go(id) => id,
            };
            let Some(has) = ways.has.get_mut(id.as_usize()) else { continue };
            if std::mem::replace(has, true) {
                continue;
            }
            let state = self.machine.nfa.state(id);
            if !passes(self.machine, state, self.bytes, at, self.aheads) {
                continue;
            }
            match state {
                State::Look { next, .. } => left.push(Left::Go(*next)),
                State::Capture { next, slot, .. } => {
                    if let Some(held) = slots.get_mut(slot.as_usize()) {
                        left.push(Left::Restore(slot.as_usize(), held.replace(at)));
                    }
                    left.push(Left::Go(*next));
                }
                State::Union { alternates } => {
                    left.extend(alternates.iter().rev().map(|next| Left::Go(*next)));
                }
                State::BinaryUnion { alt1, alt2 } => {
                    left.push(Left::Go(*alt2));
                    left.push(Left::Go(*alt1));
                }
                State::Fail => {}
                _ => ways.list.push((id, slots.clone())),
            }
        }
    }
}
