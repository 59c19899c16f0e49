//! Finds the end of a match from its known start, and the spans of its groups. All alternatives are
//! followed in parallel, in Perl's order of preference.
//!
//! It simulates an automaton by the ordered set of its states (a Pike VM): alternatives are ordered
//! as in the pattern, and each state keeps the groups of the first path that reached it.

use regex_automata::nfa::thompson::State;
use regex_automata::util::primitives::StateID;

use super::{
    StepCounter,
    backward::{Positions, passes},
    machine::Machine,
};
use crate::{error::Error, pattern::text::too_large};

/// Byte spans of a match and of its groups; `None` for a group that did not take part.
pub(in crate::pattern) type Spans = Vec<Option<(usize, usize)>>;

/// Start and end positions of the groups so far, two for each.
type Slots = Vec<Option<usize>>;

/// Maximum number of group positions (slots) that all parallel paths hold together.
const MAX_SLOTS: usize = 1 << 20;

/// The parallel paths: each state once, with the groups of the first path that reached it.
struct ThreadSet {
    /// The paths, in Perl's order of preference.
    list: Vec<(StateID, Slots)>,
    /// For each state, whether it is in `list`.
    has: Vec<bool>,
}

/// A step that remains to be done, on the stack of `follow`.
enum PendingStep {
    Go(StateID),
    /// Restores the previous value of a group position (slot).
    Restore(usize, Option<usize>),
}

/// Fails if the automaton has too many states and groups for a forward scan.
pub(super) fn fits(machine: &Machine) -> Result<(), Error> {
    let slots = machine.nfa.group_info().slot_len();
    if machine.len().saturating_mul(slots) <= MAX_SLOTS {
        return Ok(());
    }
    Err(too_large())
}

/// A forward scan of a text by an automaton with look-ahead.
struct ForwardWalk<'a> {
    machine: &'a Machine,
    bytes: &'a [u8],
    /// For each look-ahead, the positions at which it matches.
    lookaheads: &'a [Positions],
}

/// Returns the start and end positions of the match that starts at `begin` and of its groups. All
/// paths advance in parallel, one byte at a time. When one of them reaches a match state, the paths
/// after it in the order are dropped, because Perl would prefer this one.
pub(super) fn run(
    machine: &Machine,
    text: &str,
    lookaheads: &[Positions],
    begin: usize,
    steps: &StepCounter<'_>,
) -> Result<Option<Slots>, Error> {
    let walk = ForwardWalk { machine, bytes: text.as_bytes(), lookaheads };
    // The paths at this byte, and those at the next one.
    let threads = || ThreadSet { list: Vec::new(), has: vec![false; machine.len()] };
    let (mut now, mut next) = (threads(), threads());
    let mut slots = vec![None; machine.nfa.group_info().slot_len()];
    walk.follow(&mut now, machine.nfa.start_anchored(), begin, &mut slots);
    // The best match so far. A path before it in the order may still lead to a preferred match.
    let mut found = None;
    for at in begin..=walk.bytes.len() {
        if now.list.is_empty() {
            break;
        }
        steps.add(now.list.len().saturating_mul(slots.len() + 1))?;
        for (id, mut slots) in now.list.drain(..) {
            let state = machine.nfa.state(id);
            if matches!(state, State::Match { .. }) {
                // The paths after this one have lower preference and are dropped.
                found = Some(slots);
                break;
            }
            let to = match state {
                State::ByteRange { trans } => trans.matches(walk.bytes, at).then_some(trans.next),
                State::Sparse(transitions) => transitions.matches(walk.bytes, at),
                State::Dense(transitions) => transitions.matches(walk.bytes, at),
                _ => None,
            };
            if let Some(to) = to {
                walk.follow(&mut next, to, at + 1, &mut slots);
            }
        }
        // The list was drained; the flags are cleared for reuse.
        now.has.fill(false);
        std::mem::swap(&mut now, &mut next);
    }
    Ok(found)
}

impl ForwardWalk<'_> {
    /// Adds all states reachable without input, in order of preference. Group boundaries on the way
    /// are recorded, and restored for the alternatives that follow. Uses a stack instead of
    /// recursion, since a pattern may nest deeply.
    fn follow(&self, threads: &mut ThreadSet, from: StateID, at: usize, slots: &mut Slots) {
        let mut left = vec![PendingStep::Go(from)];
        while let Some(step) = left.pop() {
            let id = match step {
                PendingStep::Restore(slot, value) => {
                    if let Some(held) = slots.get_mut(slot) {
                        *held = value;
                    }
                    continue;
                }
                PendingStep::Go(id) => id,
            };
            let Some(has) = threads.has.get_mut(id.as_usize()) else { continue };
            if std::mem::replace(has, true) {
                continue;
            }
            let state = self.machine.nfa.state(id);
            if !passes(self.machine, state, self.bytes, at, self.lookaheads) {
                continue;
            }
            match state {
                State::Look { next, .. } => left.push(PendingStep::Go(*next)),
                State::Capture { next, slot, .. } => {
                    if let Some(held) = slots.get_mut(slot.as_usize()) {
                        left.push(PendingStep::Restore(slot.as_usize(), held.replace(at)));
                    }
                    left.push(PendingStep::Go(*next));
                }
                State::Union { alternates } => {
                    left.extend(alternates.iter().rev().map(|next| PendingStep::Go(*next)));
                }
                State::BinaryUnion { alt1, alt2 } => {
                    left.push(PendingStep::Go(*alt2));
                    left.push(PendingStep::Go(*alt1));
                }
                State::Fail => {}
                _ => threads.list.push((id, slots.clone())),
            }
        }
    }
}
